package main

import (
	"errors"
	"math"
	"time"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/loo"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/svm"
	"bootbench/loss"
)

// looFlags say how examples are left out.
type looFlags struct {
	method string
}

// allMethods is the name for a comparison of the methods.
const allMethods = "all"

func looCommand(a *app) *cobra.Command {
	var m modelFlags
	var l looFlags
	cmd := &cobra.Command{
		Use:   "loo DATA",
		Short: "Leave-one-out error of a classifier: exact, fast, bounded, approximate",
		Long: `loo tells how often a classifier errs on an example that it was not trained on.

  exact    retrains without every example, starting from the training on all
  fast     the same answer; retrains without the examples that a bound leaves
           open
  xialpha  counts 2 a R^2 + xi >= 1 over dual weights a and slacks xi, from one
           training: never below exact
  approx   moves every margin as leaving out its example would if the other
           support vectors kept their sides (Opper and Winther), from one
           training; for a hard margin the limit of the analytic bootstrap at
           large ratios
  all      a table of these

The model is the one that estimate judges, with a bias unless --no-bias is given. For
the square loss the answer is the mean square of the left-out residuals, in closed
form.`,
		Example: `  bootbench loo crabs --loss hinge --C 10 --method all
  bootbench loo sonar --method approx
  bootbench loo pima --loss hinge --C 1 --method xialpha --json -`,
		Args: oneData,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			j, err := readJob(a, &m, args[0])
			if err != nil {
				return err
			}
			return leaveOneOut(a, j, &l)
		},
	}
	f := cmd.Flags()
	m.only = lossWords("loo")
	m.register(f)
	f.StringVar(&l.method, "method", "fast", "how, `METHOD`: exact, fast, xialpha, approx or all")
	registerOut(cmd, "")
	return cmd
}

func (l *looFlags) check() error {
	names := []string{allMethods}
	for _, m := range loo.Methods() {
		names = append(names, m.String())
	}
	return usage.OneOf("method", l.method, names...)
}

// settings are those of one method, or of the comparison.
func (l *looFlags) settings(a *app) loo.Settings {
	settings := loo.Settings{
		Progress: func(done, total int) { a.console.Progress("leaving out", done, total) },
	}
	for _, m := range loo.Methods() {
		if m.String() == l.method {
			settings.Method = m
		}
	}
	return settings
}

// leaveOneOut leaves out and prints.
func leaveOneOut(a *app, j *job, l *looFlags) error {
	r := &report.LeaveOneOut{Command: "loo", Subject: j.report, Warnings: []string{}}
	a.console.Progress("training", 0, 1)
	began := time.Now()
	var err error
	switch training := j.Loss.(type) {
	case loss.Square:
		err = squareResiduals(a, j, training.Noise, r)
	case loss.HardMargin:
		err = leaveOutLabels(a, j, l, loo.Problem{C: math.Inf(1), Bias: j.Bias}, r)
	case loss.Hinge:
		err = leaveOutLabels(a, j, l,
			loo.Problem{C: training.C, ClassWeight: training.ClassWeight, Bias: j.Bias}, r)
	default:
		err = usage.Errorf("loo is for --loss hard, hinge and square, not for %s", j.Loss.Name())
	}
	if err != nil {
		return err
	}
	j.times.Solve = time.Since(began).Seconds()
	r.Cost = a.cost(j.times)
	if err := a.print(r); err != nil {
		return err
	}
	a.console.Warn(r.Warnings...)
	if r.Status == loo.Cancelled.String() {
		a.interrupted()
	}
	page := &report.Page{Answers: []report.Document{r}, Warnings: r.Warnings, Figures: r.Figures()}
	if r.Points != nil {
		page.Answers = append(page.Answers, &report.Examples{Points: r.Points, Labels: r.Labels})
	}
	return a.page(page)
}

// squareResiduals is leave-one-out for the square loss.
func squareResiduals(a *app, j *job, noise float64, r *report.LeaveOneOut) error {
	began := time.Now()
	residuals, err := loo.Residuals(j.Matrix(), j.Site, j.Set.Y, noise)
	if err != nil {
		return err
	}
	left, square := j.targets(), 0.0
	for i, v := range residuals {
		left[i] -= v
		residuals[i] = v * v
		square += v * v / float64(len(residuals))
	}
	r.LeaveOneOutMethod = report.LeaveOneOutMethod{
		Method: "closed form", Error: null.Float(square), Skipped: len(residuals),
		Seconds: time.Since(began).Seconds(), Status: loo.Complete.String(),
	}
	j.judgeLeftOut(r, loss.SquareTest{}, residuals)
	r.Points.OOBMean = left
	return nil
}

// judgeLeftOut puts errors of examples left out in proportion.
func (j *job) judgeLeftOut(r *report.LeaveOneOut, test loss.Test, perExample []float64) {
	j.test = test
	r.Quality = j.quality(r.Error, perExample)
	r.Warnings = withWarning(r.Warnings, r.Quality.Warning(r.Error))
	r.Points = &report.Points{Names: j.Set.RowNames, Error: perExample, Target: j.targets()}
}

// leaveOutLabels is leave-one-out for classifiers, by one method or by all.
func leaveOutLabels(a *app, j *job, l *looFlags, p loo.Problem, r *report.LeaveOneOut) error {
	kernel, err := svm.NewRows(j.Gram())
	if err != nil {
		return err
	}
	p.Kernel, p.Site, p.Y = kernel, j.Site, j.Set.Y
	settings := l.settings(a)
	var results []*loo.Result
	if l.method == allMethods {
		results, err = loo.Compare(a.ctx, p, settings)
	} else {
		var result *loo.Result
		if result, err = loo.Estimate(a.ctx, p, settings); err == nil {
			results = []*loo.Result{result}
		}
	}
	var infeasible *svm.InfeasibleError
	switch {
	case errors.As(err, &infeasible):
		return usage.Wrap(err)
	case err != nil:
		return err
	}
	shown := fillLeftOut(a, r, results, l.method == allMethods)
	r.Bias = p.Bias
	// a bound is no worse than a constant by being high
	if shown.Status != loo.Cancelled && shown.Method != loo.XiAlpha {
		j.judgeLeftOut(r, loss.ZeroOne{}, shown.ZeroOne())
	}
	return nil
}

// fillLeftOut writes results into the report, and returns the one that it is of.
func fillLeftOut(a *app, r *report.LeaveOneOut, results []*loo.Result, all bool) (shown *loo.Result) {
	for _, result := range results {
		row := leftOutReport(result)
		if all {
			r.Methods = append(r.Methods, row)
		}
		if !all || result.Method == loo.Fast || len(results) == 1 {
			shown, r.LeaveOneOutMethod, r.SupportVectors, r.Violation = result, row, result.SupportVectors,
				null.Float(result.Violation)
		}
		if result.Status == loo.Inexact {
			a.status = exitNotConverged
			r.Warnings = append(r.Warnings, result.Status.Err().Error())
		}
		if result.Status == loo.Cancelled {
			r.Status = row.Status
		}
	}
	return shown
}

func leftOutReport(result *loo.Result) report.LeaveOneOutMethod {
	row := report.LeaveOneOutMethod{
		Method: result.Method.String(), Error: null.Float(result.Error), Errors: result.Errors,
		Retrained: result.Retrained, Skipped: result.Skipped,
		Recall: null.Float(result.Recall), Precision: null.Float(result.Precision),
		Rho: result.Rho, Unheld: result.BiasFree,
		Seconds: result.Elapsed.Seconds(), Status: result.Status.String(),
	}
	for _, i := range result.Ties {
		row.Ties = append(row.Ties, i+1)
	}
	return row
}
