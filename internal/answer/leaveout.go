package answer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// LeaveOneOut implements Machine: for the square loss in closed form, for margin losses by package leaveout.
func (j *Job) LeaveOneOut(ctx context.Context, method leaveout.Method, all bool) (report.Answer, error) {
	r := &report.LeaveOneOut{Command: "loo", Subject: j.Subject, Outcome: report.Outcome{Warnings: []string{}}}
	j.Progress("training", 0, 1)
	began := time.Now()
	var err error
	p, _ := loss.ParametersOf(j.Loss)
	switch t := loss.TraitsOf(j.Loss); {
	case t.Quadratic:
		err = leaveOutSquare(j, t.Noise, r)
	case t.Margin:
		err = leaveOutLabels(ctx, j, method, all, leaveout.Problem{C: t.C, Classes: p.ClassWeights}, r)
	default:
		err = model.InputError(fmt.Errorf("loo is for --loss hard, hinge and square, not for %s", j.Loss.Name()))
	}
	j.Times.Solve = time.Since(began).Seconds()
	r.Time = j.Times
	return r, err
}

// leaveOutSquare is leave-one-out for the square loss.
func leaveOutSquare(j *Job, noise float64, r *report.LeaveOneOut) error {
	began := time.Now()
	residuals, err := gp.Residuals(j.Matrix(), j.Site, j.Y, j.Set.Weights, noise)
	if err != nil {
		return err
	}
	left := j.targets()
	for i, v := range residuals {
		left[i] -= v
		residuals[i] = v * v
	}
	r.LeaveOneOutMethod = report.LeaveOneOutMethod{
		Method: "closed form", Skipped: len(residuals),
		Quote:   report.Quote{Error: null.Float(stat.Mean(residuals, j.Set.Weights))},
		Seconds: time.Since(began).Seconds(), Status: leaveout.Complete.String(),
	}
	judgeLeftOut(j, r, loss.SquareTest{}, residuals)
	r.Points.OOBMean = left
	return nil
}

// judgeLeftOut compares the errors of left-out examples with the baseline.
func judgeLeftOut(j *Job, r *report.LeaveOneOut, test loss.Test, perExample []float64) {
	j.Test = test
	r.Quality = j.quality(r.Error, perExample, nil)
	r.Quote = report.NewQuote(test.Name(), r.Error, r.Quality, nil)
	warn(&r.Warnings, r.Quality.Warning(r.Error))
	r.Points = &report.Points{Names: j.Set.RowNames, Error: perExample, Target: j.targets()}
}

// leaveOutLabels is leave-one-out for classifiers.
func leaveOutLabels(ctx context.Context, j *Job, method leaveout.Method, all bool, p leaveout.Problem,
	r *report.LeaveOneOut) (err error) {
	k, err := j.Dense()
	if err == nil {
		p.Kernel, err = svm.NewRows(k)
	}
	if err != nil {
		return err
	}
	p.Set, r.Bias = train.Set{Y: j.Y, Site: j.Site, Weight: j.Set.Weights, Bias: j.Bias}, j.Bias
	settings := leaveout.Settings{Method: method,
		Progress: func(done, total int) { j.Progress("leaving out", done, total) }}
	results := make([]*leaveout.Result, 1)
	if all {
		results, err = leaveout.Compare(ctx, p, settings)
	} else {
		results[0], err = leaveout.Estimate(ctx, p, settings)
	}
	var infeasible *svm.InfeasibleError
	if errors.As(err, &infeasible) {
		return model.InputError(err)
	}
	if err != nil {
		return err
	}
	shown := fillLeftOut(j.Set.Weights, r, results, all)
	if shown.Retrained+shown.Skipped == 0 {
		return ctx.Err()
	}
	// a high bound does not mean worse than a constant
	if shown.Status != leaveout.Cancelled && shown.Method != leaveout.XiAlpha {
		judgeLeftOut(j, r, loss.ZeroOne{}, shown.Loss)
	}
	return nil
}

// fillLeftOut writes results into the report, and returns the one that the report shows.
func fillLeftOut(weights []float64, r *report.LeaveOneOut, results []*leaveout.Result, all bool) (
	shown *leaveout.Result) {
	for _, result := range results {
		var over calibration.Quality
		over.Over(result.Loss, weights, nil)
		row := report.LeaveOneOutMethod{
			Quote:  report.NewQuote(loss.ZeroOne{}.Name(), null.Float(result.Error), &over, nil),
			Method: result.Method.String(), Errors: result.Errors,
			Retrained: result.Retrained, Skipped: result.Skipped, Recall: null.Float(result.Recall),
			Precision: null.Float(result.Precision), Rho: result.Rho, Unheld: result.BiasFree,
			Seconds: result.Elapsed.Seconds(), Status: result.Status.String(),
		}
		for _, i := range result.Ties {
			row.Ties = append(row.Ties, i+1)
		}
		if all {
			r.Methods = append(r.Methods, row)
		}
		if shown == nil || result.Method == leaveout.Fast && result.Retrained+result.Skipped > 0 {
			shown, r.LeaveOneOutMethod, r.SupportVectors, r.Violation = result, row, result.SupportVectors,
				null.Float(result.Violation)
		}
	}
	for _, result := range results {
		if result.Status == leaveout.Inexact {
			r.Warnings = append(r.Warnings, leaveout.ErrInexact.Error())
		}
		if result.Status != leaveout.Complete {
			r.Status = result.Status.String()
		}
	}
	return shown
}
