package paper

import (
	"context"
	"time"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loo"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/svm"
)

// LeaveOneOutRow is a row of the leave-one-out lecture's table: how many trainings the
// fast method needs, and what it and the exact one take. Seconds include the
// training on all data, not the kernel matrix.
type LeaveOneOutRow struct {
	Data                 string
	N                    int
	Errors               int
	Retrained            float64 // share of the examples
	FastS, ExactS        float64 // wall times in seconds
	ExactErrors          int
	TrainS               float64 // one training on all data
	GammaD, C            float64
	LinearKernel         bool
	XiAlpha, Approximate int // errors by the xi-alpha estimate (rho = 2) and by the approximation
}

// LeaveOneOutTable is the lecture's table on the data at hand: the embedded
// classification sets with C = 1 and gamma = 1/d, and text-like documents with a
// linear kernel; soft margins with bias.
func LeaveOneOutTable(ctx context.Context, s Settings) ([]LeaveOneOutRow, error) {
	r, err := newRun(ctx, s)
	if err != nil {
		return nil, err
	}
	names := []string{"sonar", "pima", "crabs", "wisconsin", "synthetic:text,n=1000,d=2000"}
	var rows []LeaveOneOutRow
	for i, name := range names {
		r.tell("leave-one-out, "+name, i, len(names))
		set, err := dataset.Load(name, dataset.Options{})
		if err != nil {
			return nil, err
		}
		row, err := leftOut(ctx, set)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// leftOut runs every method on a set.
func leftOut(ctx context.Context, set *dataset.Set) (LeaveOneOutRow, error) {
	row := LeaveOneOutRow{Data: set.Name, N: set.N(), GammaD: 1, C: 1, LinearKernel: set.Sparse != nil}
	spec := model.Spec{Set: set, Standardize: set.Sparse == nil, Loss: loss.Hinge{C: row.C},
		Kernel: kernel.Spec{Gamma: row.GammaD / float64(set.D())}}
	if row.LinearKernel {
		spec.Kernel = kernel.Spec{Kind: kernel.Linear}
	}
	m, err := model.Build(spec)
	if err != nil {
		return row, err
	}
	rows, err := svm.NewRows(m.Gram)
	if err != nil {
		return row, err
	}
	problem := loo.Problem{Kernel: rows, Site: m.Site, Y: set.Y, C: row.C, Bias: true}
	for _, method := range []loo.Method{loo.Exact, loo.Fast, loo.XiAlpha, loo.Approximate} {
		began := time.Now()
		result, err := loo.Estimate(ctx, problem, loo.Settings{Method: method})
		if err != nil {
			return row, err
		}
		if result.Status == loo.Cancelled {
			return row, ctx.Err()
		}
		seconds := time.Since(began).Seconds()
		switch method {
		case loo.Exact:
			row.ExactErrors, row.ExactS = result.Errors, seconds
		case loo.Fast:
			row.Errors, row.FastS = result.Errors, seconds
			row.Retrained = float64(result.Retrained) / float64(result.Retrained+result.Skipped)
		case loo.XiAlpha:
			row.XiAlpha, row.TrainS = result.Errors, seconds
		case loo.Approximate:
			row.Approximate = result.Errors
		}
	}
	return row, nil
}
