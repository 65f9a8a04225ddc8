package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/report"
	"bootbench/resample"
	"bootbench/solver"
)

// predictFlags say what is predicted and how it is printed.
type predictFlags struct {
	inputs string
	level  float64
	csv    string
}

func predictCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var v solverFlags
	var t testFlags
	var p predictFlags
	cmd := &cobra.Command{
		Use:   "predict DATA --test FILE",
		Short: "Mean, variance and interval of predictions over resamples, at new inputs",
		Long: `predict gives the law over resamples of the prediction at new inputs: its mean,
its variance and the interval that holds LEVEL of it, taken as normal.

These figures are the sampling variability of the estimator, how much its
prediction would change with another resample. They are no prediction interval:
the noise of a new target is not in them. For a classifier p_negative is the share
of resamples whose classifier says -1.

The new inputs have the features of DATA; a CSV file names them in its header, in
any order. Where they have targets too, the test loss is printed: averaged over
resamples, and that of the mean prediction.`,
		Example: `  bootbench predict houses.csv --test new.csv --loss square --noise 0.5
  bootbench predict houses.csv --test new.csv --loss square --noise 0.5 --level 0.9 --csv -
  bootbench predict houses.csv --test new.csv --loss square --noise 0.5 --checkpoint houses.checkpoint --resume --quiet
  bootbench predict synthetic:friedman1,n=200 --test synthetic:friedman1,n=50,seed=2 --loss square --noise 1 --json predicted.json`,
		Args: oneData,
	}
	m.register(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&p.inputs, "test", "", "new inputs: a file (`FILE`), - for standard input, or a set like DATA; required")
	f.Float64Var(&p.level, "level", 0.95, "share of the law within the interval, `LEVEL` between 0 and 1")
	f.StringVar(&p.csv, "csv", "", "write the predictions as CSV to `FILE`; with - to standard output, and nothing else there; default: none")
	r.register(f)
	t.register(f)
	v.register(f)
	v.registerTrace(s, f)
	m.registerEngine(f)
	s.registerCheckpoint(cmd)
	s.registerOut(cmd, "points.csv")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := v.settings()
		if err != nil {
			return err
		}
		if err := p.check(s, args[0]); err != nil {
			return err
		}
		s.checkpoint.aboutSolve(settings)
		sub, scheme, err := s.resampled(&m, &r, &t, args[0])
		if err != nil {
			return err
		}
		inputs, err := m.inputs(s, p.inputs, sub.Set)
		if err := s.agree(err); err != nil {
			return err
		}
		return s.predict(sub, inputs, scheme, settings, p, t.noPoints)
	}
	return cmd
}

func (p *predictFlags) check(s *session, data string) error {
	p.csv = s.own(p.csv)
	switch {
	case p.inputs == "":
		return usagef("--test is required: the new inputs")
	case p.inputs == "-" && data == "-":
		return usagef("DATA and --test cannot both be standard input")
	case !(p.level > 0 && p.level < 1):
		return usagef("--level is %v, must lie between 0 and 1", p.level)
	case p.csv == "-" && s.toStdout():
		return usagef("--csv and --json cannot both take standard output")
	}
	if p.csv == "" || p.csv == "-" {
		return nil
	}
	return s.checkFile("csv", p.csv)
}

// predict solves, predicts and prints.
func (s *session) predict(sub *subject, inputs *dataset.Inputs, scheme resample.Scheme, settings solver.Settings, p predictFlags, noPoints bool) error {
	began := time.Now()
	solution, err := s.solve(sub, scheme, settings, "solve")
	if err != nil {
		return err
	}
	sub.times.Solve = time.Since(began).Seconds()
	began = time.Now()
	points, err := s.predictions(sub, inputs, solution)
	if err != nil {
		return err
	}
	sub.times.Predict = time.Since(began).Seconds()
	addInterval(points, p.level)
	if sub.Set.Task == dataset.Classification {
		addVote(points)
	}
	r := &report.Prediction{
		Command: "predict", Subject: sub.report, Resampling: resamplingReport(scheme, sub.Set.N()),
		Convergence: sub.convergenceReport(solution), Test: inputs.Name, Count: len(points.Mean), Level: p.level,
		Points: points, Warnings: sub.warnings(scheme, solution.Warnings),
	}
	judge(r, sub, inputs.Y)
	if p.csv == "-" {
		s.bars.clear()
		if err := points.WriteCSV(s.stdout); err != nil {
			return err
		}
	} else if p.csv != "" {
		if err := report.WriteFile(p.csv, points.WriteCSV); err != nil {
			return err
		}
	}
	if err := s.file("points.csv", points.WriteCSV); err != nil {
		return err
	}
	figure := report.PredictionFigure(points, p.level)
	if noPoints {
		r.Points = nil
	}
	r.Cost = s.cost(sub.times)
	if p.csv != "-" {
		if err := s.text(func(w io.Writer) error { return report.WriteText(w, r) }); err != nil {
			return err
		}
	}
	s.warn(r.Warnings)
	if err := s.document(r); err != nil {
		return err
	}
	return s.page(&report.Page{
		Lead:    []string{fmt.Sprintf("The law over resamples of the trained predictor at %d new inputs.", r.Count)},
		Answers: []report.Document{r}, Warnings: r.Warnings, Figures: figure, Files: []string{"points.csv"},
	})
}

// predictions are mean and variance at the new inputs, batch after batch.
func (s *session) predictions(sub *subject, inputs *dataset.Inputs, solution *solver.Solution) (*report.Points, error) {
	points := &report.Points{Mean: []float64{}, Variance: []float64{}}
	err := sub.CrossInputs(inputs, func(first int, rows []float64) error {
		s.bars.show("predict", first, inputs.M())
		mean, variance := solution.Predict(rows)
		points.Mean = append(points.Mean, mean...)
		points.Variance = append(points.Variance, variance...)
		s.poll()
		return s.ctx.Err()
	})
	return points, err
}

// addInterval adds the interval that holds level of a normal law.
func addInterval(p *report.Points, level float64) {
	reach := math.Sqrt2 * math.Erfinv(level)
	for i, mean := range p.Mean {
		sd := math.Sqrt(p.Variance[i])
		p.SD = append(p.SD, sd)
		p.Lower = append(p.Lower, mean-reach*sd)
		p.Upper = append(p.Upper, mean+reach*sd)
	}
}

// addVote adds the probability over resamples that the classifier, the sign of
// the predictor, says -1 (M04-20).
func addVote(p *report.Points) {
	for i, mean := range p.Mean {
		p.Negative = append(p.Negative, loss.ZeroOne{}.Gaussian(mean, p.Variance[i], 1))
	}
}

// judge adds targets and their losses, where there are targets.
func judge(r *report.Prediction, sub *subject, targets []float64) {
	if targets == nil {
		return
	}
	r.TestLoss, r.Points.Target = sub.test.Name(), targets
	expected, bagged := 0.0, 0.0
	for i, y := range targets {
		mean, variance := r.Points.Mean[i], r.Points.Variance[i]
		expectation := sub.test.Gaussian(mean, variance, y)
		r.Points.Error = append(r.Points.Error, expectation)
		expected += expectation / float64(len(targets))
		bagged += sub.test.Value(mean, y) / float64(len(targets))
	}
	r.TestError, r.BaggedError = &expected, &bagged
}
