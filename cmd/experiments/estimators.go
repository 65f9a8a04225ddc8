package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// estimatorRun tests estimates of a classifier's error: a set is split at random many times, the classifier
// trained on one half, and the estimates from that half compared with its error on the other.
type estimatorRun struct {
	set           *dataset.Set
	c, gamma      float64 // of the hinge loss, Inf for the hard margin; of the kernel, 0 for 1/d
	splits, folds int
	seed          uint64
}

// estimatorStudy tests leave-one-out, cross-validation and the analytic bootstrap by held-out data.
func estimatorStudy(f *flag.FlagSet) func(context.Context, []string, *output) {
	e := &estimatorRun{folds: 10}
	f.Float64Var(&e.c, "C", 1, "of the hinge loss; Inf is the hard margin")
	f.Float64Var(&e.gamma, "gamma", 0, "of the kernel, on standardised features; default: 1/d")
	f.IntVar(&e.splits, "splits", 50, "number of random splits")
	f.Uint64Var(&e.seed, "seed", 0, "of the splits")
	return func(ctx context.Context, paths []string, o *output) {
		if len(paths) != 1 || e.splits < 2 {
			check(fmt.Errorf("takes one DATA and at least two splits, not %d and %d", len(paths), e.splits))
		}
		e.set = must(dataset.Load(paths[0], dataset.Options{}))
		truth, estimates := e.run(ctx)
		e.write(o, truth, estimates)
	}
}

// estimate is one estimator's estimate on one split.
type estimate struct {
	name      string
	error     float64
	seconds   float64 // without the kernel matrix
	retrained float64 // fraction of examples or folds that were left out of a training
	failed    bool    // the solve did not converge
}

// run computes the held-out error and all estimates, split by split.
func (e *estimatorRun) run(ctx context.Context) (truth []float64, estimates [][]estimate) {
	rng := rand.New(rand.NewPCG(e.seed, 0))
	for range e.splits {
		drawn, others := e.set.Split(e.set.N()/2, rng)
		j := e.classifier(drawn)
		truth = append(truth, heldOut(j, others))
		estimates = append(estimates, slices.Concat(bootstraps(ctx, j), leaveOneOut(ctx, j),
			[]estimate{crossValidation(ctx, j, e.folds, rng.Uint64())}))
		check(ctx.Err())
	}
	return truth, estimates
}

// classifier is a margin without bias, as the analytic bootstrap requires.
func (e *estimatorRun) classifier(drawn *dataset.Set) *answer.Study {
	if slices.Min(drawn.Columns[0].Y) == slices.Max(drawn.Columns[0].Y) {
		check(fmt.Errorf("a half of %d examples holds one class only", drawn.N()))
	}
	spec := model.Spec{Set: drawn, Standardize: true, Loss: loss.Hinge{C: e.c},
		Kernel: kernel.Spec{Gamma: cmp.Or(e.gamma, 1/float64(drawn.D()))}}
	if math.IsInf(e.c, 1) {
		spec.Loss = loss.HardMargin{}
	}
	return must(answer.New(context.Background(), spec, loss.ZeroOne{}))
}

// heldOut is the error of the classifier on the other half.
func heldOut(j *answer.Study, others *dataset.Set) (wrong float64) {
	fit := must(j.Model.Fit(context.Background(), model.FitSettings{Tolerance: leaveout.DefaultTolerance}))
	check(fit.Status.Err())
	f := must(must(j.Predictor(&fit.Result)).Predict(others))
	for i, y := range others.Targets(0) {
		wrong += loss.ZeroOne{}.Value(f[i], y)
	}
	return wrong / float64(others.N())
}

// largeRatio replaces an infinite ratio in the analytic bootstrap.
const largeRatio = 20

// bootstraps are the apparent error, and the theory at ratio 1 and at a large one. For the large one a soft
// margin's C is divided by the ratio: an example drawn k times has the box k C.
func bootstraps(ctx context.Context, j *answer.Study) []estimate {
	solve := func(j *answer.Study, ratio float64) *report.Answer {
		e := must(j.Estimate(ctx, answer.Question{Scheme: resample.Poisson{Ratio: ratio}, NoPoints: true,
			Theory: answer.Yes}))
		check(ctx.Err())
		return e
	}
	scaled := j
	if hinge, soft := j.Loss.(loss.Hinge); soft {
		hinge.C /= largeRatio
		scaled = answer.Of(must(j.WithLoss(hinge)), j.Test)
	}
	e, large := solve(j, 1), solve(scaled, largeRatio)
	took := e.Time.Solve
	return []estimate{
		{name: "apparent", error: float64(e.Apparent), seconds: e.Time.Fit},
		{name: "bootstrap, ratio 1", error: float64(*e.TestError), seconds: took,
			failed: !report.Done(e.Status)},
		{name: ".632", error: float64(e.Err632), seconds: took},
		{name: ".632+", error: float64(e.Err632Plus), seconds: took},
		{name: fmt.Sprintf("bootstrap, ratio %d", largeRatio), error: float64(*large.TestError),
			seconds: large.Time.Solve, failed: !report.Done(large.Status)},
	}
}

// leaveOneOut runs all methods.
func leaveOneOut(ctx context.Context, j *answer.Study) (all []estimate) {
	for _, r := range must(j.LeaveOneOut(ctx, leaveout.Fast, true)).Methods {
		name := "leave-one-out, " + r.Method
		if r.Rho > 0 {
			name += fmt.Sprintf(", rho %g", r.Rho)
		}
		all = append(all, estimate{name: name, error: float64(r.Error), seconds: r.Seconds,
			retrained: float64(r.Retrained) / float64(j.Set.N())})
	}
	return all
}

// crossValidation predicts each fold's examples by a training on all others.
func crossValidation(ctx context.Context, j *answer.Study, folds int, seed uint64) estimate {
	r := must(j.CrossValidate(ctx, answer.Validation{Design: resample.Design{N: j.Set.N()}, Folds: folds,
		Repeats: 1, Seed: seed, Workers: 1, ErrorsAlone: true}))
	return estimate{name: fmt.Sprintf("%d-fold cross-validation", folds), error: float64(r.Error),
		seconds: r.Time.Retrain, retrained: 1}
}

// estimatorScore compares one estimator with the held-out errors of the same splits: the estimates' Mean and
// SD over the splits, and mean and root mean square of the estimates less the held-out errors.
type estimatorScore struct {
	Estimator string  `json:"estimator"`
	Mean      float64 `json:"mean"`
	Bias      float64 `json:"bias"`
	BiasSE    float64 `json:"bias_se"`
	RMS       float64 `json:"rms"`
	SD        float64 `json:"sd"`
	Seconds   float64 `json:"seconds"`
	Retrained float64 `json:"retrained"`
}

// score averages the estimates of number k over splits.
func score(truth []float64, splits [][]estimate, k int) estimatorScore {
	var errors, off, seconds, retrained []float64
	for i, split := range splits {
		e := split[k]
		errors, off = append(errors, e.error), append(off, e.error-truth[i])
		seconds, retrained = append(seconds, e.seconds), append(retrained, e.retrained)
	}
	n := math.Sqrt(float64(len(splits)))
	s := estimatorScore{Estimator: splits[0][k].name, RMS: floats.Norm(off, 2) / n,
		Seconds: stat.Mean(seconds, nil), Retrained: stat.Mean(retrained, nil)}
	s.Mean, s.SD = stat.MeanStdDev(errors, nil)
	s.Bias, s.BiasSE = stat.MeanStdDev(off, nil)
	s.BiasSE /= n
	return s
}

func (e *estimatorRun) write(o *output, truth []float64, splits [][]estimate) {
	unfinished := 0
	for _, each := range slices.Concat(splits...) {
		if each.failed {
			unfinished++
		}
	}
	mean, sd := stat.MeanStdDev(truth, nil)
	n := e.set.N()
	fmt.Fprintf(o, "%s: %d splits into %d examples to train on and %d held out, whose error is %.5g, "+
		"standard error %.2g; %d solves did not converge\n\n", report.ShortName(e.set.Name), len(splits), n/2,
		n-n/2, mean, sd/math.Sqrt(float64(len(splits))), unfinished)
	var scores []estimatorScore
	var series []report.Series
	table := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "estimator\tmean\tbias\t+-\trms\tsd\tseconds\tretrained")
	for k := range splits[0] {
		s := score(truth, splits, k)
		scores = append(scores, s)
		fmt.Fprintf(table, "%s\t%.4f\t%+.4f\t%.4f\t%.4f\t%.4f\t%.3g\t%.1f%%\n", s.Estimator, s.Mean, s.Bias,
			s.BiasSE, s.RMS, s.SD, s.Seconds, 100*s.Retrained)
		series = append(series, report.Series{Label: s.Estimator, Mark: report.Dots, Colour: k,
			X: []float64{s.Seconds}, Y: []float64{s.RMS}})
	}
	check(table.Flush())
	writeCSV(o, "estimators.csv", scores)
	fmt.Fprintln(o, "bias, rms: mean and root mean square of the estimate less the held-out error of the "+
		"same split")
	o.figures(report.NewFigure("estimators", "cost and accuracy of the estimates",
		"Every estimate of the error against the time that it takes, judged by held-out data over random "+
			"splits.", report.Axis{Label: "seconds", Log: true},
		report.Axis{Label: "root mean square error of the estimate"},
		series...))
}
