package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/bench"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// accuracyStudy solves and retrains 168 models: seven data sets, eight losses, two kernels,
// ratios 0.5, 1 and 2.
func accuracyStudy(f *flag.FlagSet) func(context.Context, *output) {
	names := f.String("data", "",
		"only these `sets`, of crabs,wisconsin,sonar,pima,boston,friedman1,waves; default: all")
	var s model.RetrainSettings
	// 5000 resamples keep the relative noise of left-out errors at a third of a percent.
	f.IntVar(&s.Resamples, "resamples", 5000, "retrainings of each model")
	f.Uint64Var(&s.Seed, "seed", 0, "of the resamples")
	f.IntVar(&s.Workers, "workers", 0, "retrainings at a time; default: one for each processor")
	return func(ctx context.Context, o *output) {
		var rows []accuracyRow
		for _, spec := range accuracyModels(*names) {
			for _, ratio := range []float64{0.5, 1, 2} {
				if err := steps.Run(func() {
					rows = append(rows, judgeModel(ctx, spec, resample.Poisson{Ratio: ratio}, s))
				}); err != nil {
					steps.Check(fmt.Errorf("%s, %s loss, ratio %v: %w", spec.Set.Name, spec.Loss.Name(),
						ratio, err))
				}
			}
		}
		summarizeAccuracy(o, rows, s.Resamples)
		writeCSV(o, "accuracy.csv", rows)
		o.figures(accuracyFigure(rows))
	}
}

// accuracyRow is one cell of the survey: a data set, a loss, a kernel width and a ratio.
type accuracyRow struct {
	report.Setup
	Width float64 `json:"gamma_d"` // gamma times the number of features
	report.Solve
	TheoryError report.Number `json:"theory_error"`
	report.Retrained
	// VarianceRatio is the median over sites of the theory's variance over retraining's. VarianceError
	// is the root mean square over sites of their relative difference, the noise of retraining subtracted.
	VarianceRatio float64 `json:"variance_ratio"`
	VarianceError float64 `json:"variance_error"`
}

// errorOff is the relative error of the theory's left-out error.
func (r accuracyRow) errorOff() float64 { return float64(r.TheoryError/r.RetrainError) - 1 }

// accuracyModels are the models of the survey on the named sets, or on all: four classification sets with
// four losses, three regression sets with four, each with two kernels.
func accuracyModels(names string) (specs []model.Spec) {
	known := []string{"crabs", "wisconsin", "sonar", "pima", "boston", "synthetic:friedman1,n=300",
		"synthetic:waves,n=300,noise=0.3"}
	for _, name := range pick("data", names, known, report.ShortName) {
		set := steps.Must(dataset.Load(name, dataset.Options{}))
		mean, sd := stat.PopMeanStdDev(set.Columns[0].Y, nil)
		// For numbers the noise is a third of the targets' standard deviation, and the losses are comparable.
		losses := []loss.Loss{loss.Square{Noise: sd * sd / 9},
			loss.EpsInsensitive{C: 5 / sd, Epsilon: 0.1 * sd},
			loss.Huber{C: 9 / (sd * sd), Epsilon: 0.3 * sd}, loss.LeastAbsolute{C: 3 / sd}}
		k := kernel.Spec{Kind: kernel.RBF, Amplitude: sd * sd, Constant: mean * mean}
		if !set.AreNumbers() {
			losses = []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 1}, loss.SquaredHinge{C: 1},
				loss.Logistic{C: 1}}
			k = kernel.Spec{Kind: kernel.RBF, Amplitude: 1}
		}
		for _, l := range losses {
			for _, width := range []float64{0.25, 1} {
				k.Gamma = width / float64(set.D())
				specs = append(specs, model.Spec{Set: set, Standardize: true, Loss: l, Kernel: k})
			}
		}
	}
	return specs
}

// judgeModel solves, and retrains in batches.
func judgeModel(ctx context.Context, spec model.Spec, scheme resample.Scheme,
	s model.RetrainSettings) accuracyRow {
	m := steps.Must(model.Build(context.Background(), spec))
	theory := steps.Must(m.Solve(ctx, scheme, solver.Settings{}))
	s.Tests = []loss.Test{model.DefaultTest(spec.Set)}
	leftOut, _ := theory.LeftOut(s.Tests[0])
	variances := slices.Clone(theory.Var)
	reference, err := model.RetrainAround(ctx, m, theory, scheme, s)
	steps.Check(cmp.Or(err, ctx.Err()))
	var quotients []float64
	for i, v := range reference.Variance {
		if v > 0 {
			quotients = append(quotients, variances[i]/v)
		}
	}
	return accuracyRow{
		Setup: bench.NewSetup(spec.Set.Name, m, scheme), Width: spec.Kernel.Gamma * float64(spec.Set.D()),
		Solve: report.NewSolve(theory), TheoryError: report.Number(leftOut),
		Retrained:     bench.NewRetrained(reference.Averages),
		VarianceRatio: bench.Median(quotients),
		VarianceError: bench.NewVarianceAccuracy(variances, reference.Averages).VarianceError,
	}
}

// summarizeAccuracy summarises the differences of theory and retraining over many cells.
func summarizeAccuracy(o *output, rows []accuracyRow, resamples int) {
	var off, ratio, rms []float64
	converged, within := 0, 0
	for _, r := range rows {
		if r.Status == solver.Converged.String() {
			converged++
		}
		if math.Abs(float64(r.TheoryError-r.RetrainError)) <= 2*float64(r.RetrainSE) {
			within++
		}
		off = append(off, math.Abs(r.errorOff()))
		ratio = append(ratio, math.Abs(r.VarianceRatio-1))
		rms = append(rms, r.VarianceError)
	}
	fmt.Fprintf(o, "%d of %d solves converged. Median over the cells: left-out error off by %.1f%%, ratio "+
		"of the variances per point off by %.1f%% (root mean square over points %.1f%%), against %d "+
		"retrainings a cell. In %d cells the errors differ by at most two standard errors of retraining; "+
		"the largest difference is %.0f%%.\n",
		converged, len(rows), 100*bench.Median(off), 100*bench.Median(ratio), 100*bench.Median(rms),
		resamples, within, 100*slices.Max(off))
}

// accuracyFigure shows the ratios of the theory's errors and variances to retraining's, by loss.
func accuracyFigure(rows []accuracyRow) *report.Figure {
	x := report.Axis{Label: "left-out error by retraining, relative to the largest of its set"}
	errors := report.Panel{X: x, Y: report.Axis{Label: "theory over retraining"}}
	variances := report.Panel{X: x, Y: report.Axis{Label: "median ratio of variances"}}
	largest := map[string]float64{}
	for _, r := range rows {
		largest[r.Data] = max(largest[r.Data], float64(r.RetrainError))
	}
	for _, r := range rows {
		i := slices.IndexFunc(errors.Series, func(s report.Series) bool { return s.Label == r.Loss })
		if i < 0 {
			i = len(errors.Series)
			errors.Series = append(errors.Series, report.Series{Label: r.Loss, Mark: report.Dots, Colour: i})
			variances.Series = append(variances.Series, report.Series{Mark: report.Dots, Colour: i})
		}
		at := float64(r.RetrainError) / largest[r.Data]
		errors.Series[i].AddErr(at, 1+r.errorOff(), 2*float64(r.RetrainSE/r.RetrainError))
		variances.Series[i].Add(at, r.VarianceRatio)
	}
	return &report.Figure{
		Name: "accuracy", Title: "the theory beside retraining",
		Caption: "Every cell of the survey: the theory's left-out error over that of retraining with two " +
			"standard errors of the latter, and the median over points of the ratio of the variances.",
		Panels: []report.Panel{errors, variances},
	}
}
