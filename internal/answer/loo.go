package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// LeaveOneOut is the answer of leaving each example out: for the square loss in closed form, for margin
// losses of two classes by methods of package leaveout; for several classes and for
// targets by exact fits.
func (s *Study) LeaveOneOut(ctx context.Context, methods ...leaveout.Settings) (*report.Answer, error) {
	if s.several() {
		return validate(ctx, s, "loo", Validation{Single: true,
			Design: resample.Design{N: s.Model.Set.N()}})
	}
	p, began := s.part(0), time.Now()
	a := &report.Answer{Command: "loo", Subject: s.Subject, LeftOneOut: &report.LeftOneOut{},
		Quote: &report.Quote{}, SupportVectors: new(int)}
	s.Progress("training", 0, 1)
	var err error
	switch training := s.Model.Loss.(type) {
	case loss.Square:
		err = leaveOutSquare(p, training.Noise, a)
	case loss.HardMargin:
		err = leaveOutLabels(ctx, p, methods, leaveout.Problem{C: math.Inf(1)}, a)
	case loss.Hinge:
		err = leaveOutLabels(ctx, p, methods, leaveout.Problem{C: training.C,
			Classes: training.ClassWeights}, a)
	default:
		err = model.InputError(fmt.Errorf("loo is for the losses hard, hinge and square, not for %s",
			s.Model.Loss.Name()))
	}
	s.Times.Solve = time.Since(began).Seconds()
	a.Time = s.Times
	return a, err
}

func leaveOutSquare(p *part, noise float64, a *report.Answer) error {
	began := time.Now()
	release, err := linalg.Reserve(p.model.Matrix())
	if err != nil {
		return err
	}
	defer release()
	of, err := gp.NewLeftOut(p.model.Matrix(), p.model.Site, p.model.Y, p.model.Set.Weights, nil, noise)
	if err != nil {
		return err
	}
	left, residuals := slices.Clone(p.targets()), of.Error
	for i, v := range residuals {
		left[i] -= v
		residuals[i] = v * v
	}
	a.Method, a.Status, a.LeftOneOut.Skipped = "closed form", string(leaveout.Complete), len(residuals)
	a.Skipped = &a.LeftOneOut.Skipped
	a.LeftOneOut.Seconds = time.Since(began).Seconds()
	judgeLeftOut(p, a, loss.SquareTest{}, stat.Mean(residuals, p.model.Set.Weights), residuals)
	a.Points.OOBMean = left
	return nil
}

// judgeLeftOut compares the errors of left-out examples with the baseline.
func judgeLeftOut(p *part, a *report.Answer, test loss.Test, mean float64, perExample []float64) {
	p.judge(a, &fits.TestError{Test: test, Error: mean, Examples: perExample}, nil, nil, p.model.Set.Groups)
	a.TestLoss = test.Name()
	p.study.caution(a)
	a.Points = &report.Points{Names: p.model.Set.RowNames, Error: perExample}
	a.Points.Target.Numbers = p.targets()
}

func leaveOutLabels(ctx context.Context, p *part, methods []leaveout.Settings, problem leaveout.Problem,
	a *report.Answer) error {
	k, err := p.model.Dense()
	if err == nil {
		problem.Kernel, err = svm.NewRows(k)
	}
	if err != nil {
		return err
	}
	problem.Set = train.Set{Y: p.model.Y, Site: p.model.Site, Weight: p.model.Set.Weights, Bias: p.model.Bias}
	a.LeftOneOut.Bias, a.TestLoss = p.model.Bias, loss.ZeroOne{}.Name()
	var results []*leaveout.Result
	for _, settings := range methods {
		settings.Progress = p.study.counting("leaving out")
		result, err := leaveout.Estimate(ctx, problem, settings)
		var infeasible *svm.InfeasibleError
		if errors.As(err, &infeasible) {
			return model.InputError(err)
		}
		if err != nil {
			return err
		}
		if results = append(results, result); result.Status == leaveout.Cancelled {
			break
		}
	}
	shown := fillLeftOut(p, a, results, len(methods) > 1)
	if shown.Retrained+shown.Skipped == 0 {
		return ctx.Err()
	}
	// a high bound does not mean worse than a constant
	if shown.Status != leaveout.Cancelled && shown.Method != leaveout.XiAlpha {
		judgeLeftOut(p, a, loss.ZeroOne{}, shown.Error, shown.Loss)
		a.Points.Margin = shown.Margin
	} else {
		a.Points = &report.Points{Names: p.model.Set.RowNames}
	}
	a.Points.Alpha, a.Points.Slack, a.Points.Bound = shown.Alpha, shown.Slack, shown.Bound
	return nil
}

// fillLeftOut writes results into the answer, and returns the one that it shows.
func fillLeftOut(p *part, a *report.Answer, results []*leaveout.Result, all bool) (shown *leaveout.Result) {
	status := ""
	for _, result := range results {
		var over report.Quality
		over.ExampleSE, over.Effective = calibration.StandardError(result.Loss, p.model.Set.Weights, nil)
		row := report.LeaveMethod{Method: string(result.Method), Status: string(result.Status),
			Quote: report.NewQuote(loss.ZeroOne{}.Name(), report.Number(result.Error), &over, nil),
			LeftOutRows: report.LeftOutRows{Errors: result.Errors,
				Retrained: result.Retrained, Skipped: result.Skipped, Recall: report.Number(result.Recall),
				Precision: report.Number(result.Precision), Rho: result.Rho, Unheld: result.BiasFree,
				Seconds: result.Elapsed.Seconds()}}
		for _, i := range result.Ties {
			row.Ties = append(row.Ties, i+1)
		}
		if all {
			a.Methods = append(a.Methods, row)
		}
		if shown == nil || result.Method == leaveout.Fast && result.Retrained+result.Skipped > 0 {
			shown, a.Method, a.Status, a.Quote = result, row.Method, row.Status, &row.Quote
			a.LeftOutRows, a.Violation = row.LeftOutRows, report.Number(result.Violation)
			a.Skipped = &a.LeftOneOut.Skipped
			*a.SupportVectors = result.SupportVectors
		}
		if result.Status == leaveout.Inexact {
			a.Add(report.NotConverged.Check(1, "take another tolerance, or a softer margin",
				"leave-one-out: a training missed its tolerance"))
		}
		if result.Status != leaveout.Complete {
			status = string(result.Status)
		}
	}
	a.Status = cmp.Or(status, a.Status)
	return shown
}
