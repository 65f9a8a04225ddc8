package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/loo"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/svm"
	"bootbench/internal/train"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// estimatorRun judges estimates of a classifier's error: a set is split at random many times, the classifier
// trained on one half, and the estimates from that half set against its error on the other.
type estimatorRun struct {
	set    *dataset.Set
	c      float64 // of the hinge loss; Inf: the hard margin
	gamma  float64 // 0: 1/d
	splits int
	folds  int
	seed   uint64
}

// estimatorStudy judges leave-one-out, cross-validation and the analytic bootstrap by held-out data.
func estimatorStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	e := &estimatorRun{folds: 10}
	f.Float64Var(&e.c, "C", 1, "of the hinge loss; Inf is the hard margin")
	f.Float64Var(&e.gamma, "gamma", 0, "of the kernel, on standardised features; default: 1/d")
	f.IntVar(&e.splits, "splits", 50, "number of random splits")
	f.Uint64Var(&e.seed, "seed", 0, "of the splits")
	return func(ctx context.Context, paths []string, o *output) (err error) {
		if len(paths) != 1 || e.splits < 1 {
			return fmt.Errorf("takes one DATA and at least one split, not %d and %d", len(paths), e.splits)
		}
		if e.set, err = dataset.Load(paths[0], dataset.Options{}); err != nil {
			return err
		}
		truth, estimates, err := e.run(ctx)
		if err != nil {
			return err
		}
		return e.write(o, truth, estimates)
	}
}

// estimate is what one estimator says of one split.
type estimate struct {
	name      string
	error     float64
	seconds   float64 // without the kernel matrix
	retrained float64 // share of examples or folds that were left out of a training
	failed    bool    // the solve did not converge
}

// train is the number of examples on which a split trains.
func (e *estimatorRun) train() int { return e.set.N() / 2 }

// run gives the held-out error and all estimates, split by split.
func (e *estimatorRun) run(ctx context.Context) (truth []float64, estimates [][]estimate, err error) {
	rng := rand.New(rand.NewPCG(e.seed, 0))
	for range e.splits {
		drawn, others, err := e.set.Split(e.train(), rng)
		if err != nil {
			return nil, nil, err
		}
		h, err := e.half(drawn)
		if err != nil {
			return nil, nil, err
		}
		held, err := h.holdOut(others)
		if err != nil {
			return nil, nil, err
		}
		for _, add := range []func() error{func() error { return h.bootstrap(ctx) },
			func() error { return h.leaveOneOut(ctx) },
			func() error { return h.crossValidation(rng.Perm(drawn.N()), e.folds) }, ctx.Err} {
			if err := add(); err != nil {
				return nil, nil, err
			}
		}
		truth, estimates = append(truth, held), append(estimates, h.estimates)
	}
	return truth, estimates, nil
}

// trainedHalf is the half of a split that the classifier is trained on, and what it tells of the error.
type trainedHalf struct {
	model     *model.Model
	c         float64
	rows      *svm.Rows
	fitted    []float64 // predictor by example
	estimates []estimate
}

// half builds the classifier, a margin without bias, which is what the analytic bootstrap is for.
func (e *estimatorRun) half(drawn *dataset.Set) (*trainedHalf, error) {
	if slices.Min(drawn.Y) == slices.Max(drawn.Y) {
		return nil, fmt.Errorf("a half of %d examples holds one class only", drawn.N())
	}
	spec := model.Spec{Set: drawn, Standardize: true, Loss: loss.Hinge{C: e.c},
		Kernel: kernel.Spec{Gamma: e.gamma}}
	if math.IsInf(e.c, 1) {
		spec.Loss = loss.HardMargin{}
	}
	if e.gamma == 0 {
		spec.Kernel.Gamma = 1 / float64(drawn.D())
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	rows, err := svm.NewRows(m.Gram())
	return &trainedHalf{model: m, c: e.c, rows: rows}, err
}

func (h *trainedHalf) add(name string, error float64, took time.Duration, retrained float64) {
	h.estimates = append(h.estimates, estimate{name: name, error: error, seconds: took.Seconds(),
		retrained: retrained})
}

// holdOut trains once, for the held-out error and the apparent one.
func (h *trainedHalf) holdOut(others *dataset.Set) (held float64, err error) {
	began := time.Now()
	r, err := h.model.Fit(model.FitSettings{Tolerance: loo.DefaultTolerance})
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return 0, err
	}
	wrong := 0.0
	for i, label := range h.model.Set.Y {
		f := r.F[h.model.Site[i]]
		h.fitted = append(h.fitted, f)
		wrong += loss.ZeroOne{}.Value(f, label)
	}
	h.add("apparent", wrong/float64(len(h.fitted)), time.Since(began), 0)
	err = h.model.Cross(model.Dense(blas64.General(others.X)), func(first int, rows []float64) error {
		m := h.model.Sites()
		for i := range len(rows) / m {
			held += loss.ZeroOne{}.Value(floats.Dot(rows[i*m:(i+1)*m], r.Weight), others.Y[first+i])
		}
		return nil
	})
	return held / float64(others.N()), err
}

// largeRatio is used instead of an infinite ratio in the analytic bootstrap.
const largeRatio = 20

// bootstrap solves the theory at ratio 1 and at a large one. For the large one a soft margin's C is divided
// by the ratio: an example that is drawn k times has the box k C.
func (h *trainedHalf) bootstrap(ctx context.Context) error {
	for _, ratio := range []float64{1, largeRatio} {
		m := *h.model
		if hinge, soft := m.Loss.(loss.Hinge); soft {
			hinge.C /= ratio
			m.Loss = hinge
		}
		began := time.Now()
		solution, err := m.Solve(ctx, resample.Poisson{Ratio: ratio}, solver.Settings{})
		if err != nil {
			return err
		}
		leftOut, _ := solution.LeftOut(loss.ZeroOne{})
		took := time.Since(began)
		h.add(fmt.Sprintf("bootstrap, ratio %g", ratio), leftOut, took, 0)
		h.estimates[len(h.estimates)-1].failed = solution.Status.Err() != nil
		if ratio == 1 {
			combined := solver.Combine632(leftOut, loss.ZeroOne{}, h.model.Set.Y, h.fitted, nil)
			h.add(".632", combined.Err632, took, 0)
			h.add(".632+", combined.Err632Plus, took, 0)
		}
	}
	return nil
}

// leaveOneOut runs the methods of package loo.
func (h *trainedHalf) leaveOneOut(ctx context.Context) error {
	p := loo.Problem{Kernel: h.rows, Site: h.model.Site, Y: h.model.Set.Y, C: h.c,
		ClassWeight: loss.ClassWeights{}.ClassWeight}
	results, err := loo.Compare(ctx, p, loo.Settings{})
	if err != nil {
		return err
	}
	for _, r := range results {
		name := "leave-one-out, " + r.Method.String()
		if r.Rho > 0 {
			name += fmt.Sprintf(", rho %g", r.Rho)
		}
		h.add(name, r.Error, r.Elapsed, float64(r.Retrained)/float64(len(p.Y)))
	}
	return nil
}

// crossValidation predicts each fold's examples by a training on all others.
func (h *trainedHalf) crossValidation(order []int, folds int) error {
	began := time.Now()
	trainer := svm.NewTrainer(h.rows)
	y, site, n := h.model.Set.Y, h.model.Site, len(order)
	wrong := 0.0
	for fold := range folds {
		held := order[fold*n/folds : (fold+1)*n/folds]
		p := svm.Problem{Y: y, Site: site, C: slices.Repeat([]float64{h.c}, n)}
		for _, i := range held {
			p.C[i] = 0
		}
		r, err := trainer.Train(p, train.Settings{Tolerance: loo.DefaultTolerance})
		if err == nil {
			err = r.Status.Err()
		}
		if err != nil {
			return err
		}
		for _, i := range held {
			wrong += loss.ZeroOne{}.Value(r.F[site[i]], y[i])
		}
	}
	h.add(fmt.Sprintf("%d-fold cross-validation", folds), wrong/float64(n), time.Since(began), 1)
	return nil
}

// estimatorScore is one estimator's record against the held-out error of the same split.
type estimatorScore struct {
	Estimator string
	Mean      float64
	Bias      float64 // mean of estimate - held-out error
	BiasSE    float64
	RMS       float64 // root mean square of that difference
	SD        float64 // standard deviation of the estimate over splits
	Seconds   float64
	Retrained float64
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
	s.Mean, s.SD = meanSD(errors)
	s.Bias, s.BiasSE = meanSD(off)
	s.BiasSE /= n
	return s
}

// meanSD is the mean and the standard deviation, 0 of a single value.
func meanSD(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}

func (e *estimatorRun) write(o *output, truth []float64, splits [][]estimate) error {
	unfinished := 0
	for _, each := range slices.Concat(splits...) {
		if each.failed {
			unfinished++
		}
	}
	mean, sd := meanSD(truth)
	fmt.Fprintf(o, "%s: %d splits into %d examples to train on and %d held out, whose error is %s, standard "+
		"error %.2g; %d solves did not converge\n\n", report.ShortName(e.set.Name), len(splits), e.train(),
		e.set.N()-e.train(), number(mean), sd/math.Sqrt(float64(len(splits))), unfinished)
	var scores []estimatorScore
	var cells [][]string
	var series []report.Series
	for k := range splits[0] {
		s := score(truth, splits, k)
		scores = append(scores, s)
		cells = append(cells, []string{s.Estimator, fmt.Sprintf("%.4f", s.Mean), fmt.Sprintf("%+.4f", s.Bias),
			fmt.Sprintf("%.4f", s.BiasSE), fmt.Sprintf("%.4f", s.RMS), fmt.Sprintf("%.4f", s.SD), seconds(s.Seconds),
			fmt.Sprintf("%.1f%%", 100*s.Retrained)})
		series = append(series, report.Series{Label: s.Estimator, Mark: report.Dots, Colour: k,
			X: []float64{s.Seconds}, Y: []float64{s.RMS}})
	}
	if err := o.table([]string{"estimator", "mean", "bias", "+-", "rms", "sd",
		"seconds", "retrained"}, cells); err != nil {
		return err
	}
	if err := writeCSV(o, "estimators.csv", scores); err != nil {
		return err
	}
	fmt.Fprintln(o, "bias, rms: mean and root mean square of the estimate less the held-out error of the "+
		"same split")
	return o.figures(report.NewFigure("estimators", "cost and accuracy of the estimates",
		"Every estimate of the error against the time that it takes, judged by held-out data over random splits.",
		report.Axis{Label: "seconds", Log: true}, report.Axis{Label: "root mean square error of the estimate"},
		series...))
}
