package main

import (
	"context"
	"flag"
	"fmt"
	"math"

	"bootbench/bench"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
)

// estimatorStudy judges estimates of a classifier's error (leave-one-out, cross-validation,
// analytic bootstrap) by held-out data over random halves.
func estimatorStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	s := bench.EstimatorSettings{Folds: 10}
	c := f.Float64("C", 1, "of the hinge loss; Inf is the hard margin")
	gamma := f.Float64("gamma", 0, "of the kernel, on standardised features; default: 1/d")
	f.IntVar(&s.Splits, "splits", 50, "number of random splits")
	f.Uint64Var(&s.Seed, "seed", 0, "of the splits")
	return func(ctx context.Context, paths []string, o *output) error {
		if len(paths) != 1 {
			return fmt.Errorf("takes one DATA, not %d", len(paths))
		}
		set, err := dataset.Load(paths[0], dataset.Options{})
		if err != nil {
			return err
		}
		spec := model.Spec{Set: set, Standardize: true, Loss: loss.Hinge{C: *c}, Kernel: kernel.Spec{Gamma: *gamma}}
		if math.IsInf(*c, 1) {
			spec.Loss = loss.HardMargin{}
		}
		if *gamma == 0 {
			spec.Kernel.Gamma = 1 / float64(set.D())
		}
		s.Train = set.N() / 2
		j, err := bench.CompareEstimators(ctx, spec, s)
		if err != nil {
			return err
		}
		return writeEstimators(o, j)
	}
}

func writeEstimators(o *output, j *bench.EstimatorComparison) error {
	fmt.Fprintf(o, "%s: %d splits into %d examples to train on and %d held out, whose error is %s, "+
		"standard error "+
		"%.2g; %d solves did not converge\n\n", report.ShortName(j.Data), j.Splits, j.Train, j.HeldOut,
		number(j.Truth), j.TruthSE, j.UnfinishedTheory)
	var cells [][]string
	var series []report.Series
	for i, v := range j.Estimators {
		cells = append(cells, []string{v.Estimator, fmt.Sprintf("%.4f", v.Mean), fmt.Sprintf("%+.4f", v.Bias),
			fmt.Sprintf("%.4f", v.BiasSE), fmt.Sprintf("%.4f", v.RMS), fmt.Sprintf("%.4f", v.SD), seconds(v.Seconds),
			fmt.Sprintf("%.1f%%", 100*v.Retrained)})
		series = append(series, report.Series{Label: v.Estimator, Mark: report.Dots, Colour: i,
			X: []float64{v.Seconds}, Y: []float64{v.RMS}})
	}
	if err := o.table([]string{"estimator", "mean", "bias", "+-", "rms", "sd", "seconds", "retrained"},
		cells); err != nil {
		return err
	}
	fmt.Fprintln(o, "bias, rms: mean and root mean square of the estimate less the held-out error of the "+
		"same split")
	if err := csv(o, "estimators.csv", j.Estimators); err != nil {
		return err
	}
	return o.figures(report.NewFigure("estimators", "cost and accuracy of the estimates",
		"Every estimate of the error against the time that it takes, judged by held-out data over random splits.",
		report.Axis{Label: "seconds", Log: true}, report.Axis{Label: "root mean square error of the estimate"},
		series...))
}
