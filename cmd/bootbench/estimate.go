package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"bootbench/dataset"
	"bootbench/report"
	"bootbench/resample"
	"bootbench/solver"
)

func estimateCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var v solverFlags
	var t testFlags
	cmd := &cobra.Command{
		Use:   "estimate DATA",
		Short: "Left-out error, .632 and the law of predictions over resamples, without retraining",
		Long: `estimate averages over all resamples of DATA without retraining: the test error
of examples that a resample leaves out (Efron's leave-one-out bootstrap), .632
and .632+, and for every example the mean and the variance over resamples of the
prediction there and its own left-out error.

The points of the JSON document are in the order of the file.

A long solve that may be stopped is given --checkpoint FILE, and --resume, on the
same command line, to go on from there when it runs again.`,
		Example: `  bootbench estimate boston
  bootbench estimate boston --noise 0.1 --ratio 0.5 --json - --no-points
  bootbench estimate houses.csv --loss square --noise 0.5 --length-scale 2
  bootbench estimate synthetic:friedman1,n=200 --loss square --noise 1 --amplitude 25 --constant 200 --test-loss absolute
  bootbench estimate synthetic:friedman1,n=500 --loss square --noise 1 --checkpoint solve.checkpoint
  bootbench estimate synthetic:friedman1,n=500 --loss square --noise 1 --checkpoint solve.checkpoint --resume --quiet
  bootbench estimate - --loss square --noise 0.5 --out results < houses.csv`,
		Args: oneData,
	}
	m.register(cmd.Flags())
	r.register(cmd.Flags())
	t.register(cmd.Flags())
	t.registerLevel(cmd.Flags())
	v.register(cmd.Flags())
	v.registerTrace(s, cmd.Flags())
	m.registerEngine(cmd.Flags())
	s.registerCheckpoint(cmd)
	s.registerOut(cmd, "points.csv")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := v.settings()
		if err != nil {
			return err
		}
		if err := t.checkLevel(); err != nil {
			return err
		}
		s.checkpoint.aboutSolve(settings)
		sub, scheme, err := s.resampled(&m, &r, &t, args[0])
		if err != nil {
			return err
		}
		return s.estimate(sub, scheme, settings, &t)
	}
	return cmd
}

// estimate solves once and prints.
func (s *session) estimate(sub *subject, scheme resample.Scheme, settings solver.Settings, t *testFlags) error {
	fitted, err := s.fit(sub) // before the solve: both use the same scratch memory
	if err != nil {
		return err
	}
	e, _, err := s.estimateAt(sub, scheme, settings, fitted, "solve", t)
	if err != nil {
		return err
	}
	if err := s.print(e); err != nil {
		return err
	}
	s.warn(e.Warnings)
	lead := fmt.Sprintf("A model trained on a resample errs by %.5g (%s loss) on examples that it has not seen.", e.TestError, e.TestLoss)
	return s.pointsPage(e, lead, e.Warnings, e.Points)
}

// pointsPage writes the page of an answer with values per example into --out,
// and the values.
func (s *session) pointsPage(a report.Document, lead string, warnings []string, points *report.Points) error {
	if points == nil {
		return s.page(&report.Page{Lead: []string{lead}, Answers: []report.Document{a}, Warnings: warnings})
	}
	if err := s.file("points.csv", points.WriteCSV); err != nil {
		return err
	}
	return s.page(&report.Page{
		Lead: []string{lead}, Answers: []report.Document{a}, Warnings: warnings,
		Figures: report.PointFigures("points", points), Files: []string{"points.csv"},
	})
}

// estimateAt is the answer for one resampling scheme, and the solution that the
// next solve can start from. fitted is the fit to all data at the sites.
func (s *session) estimateAt(sub *subject, scheme resample.Scheme, settings solver.Settings, fitted []float64, label string, t *testFlags) (*report.Estimate, *solver.Solution, error) {
	began := time.Now()
	solution, err := s.solve(sub, scheme, settings, label)
	if err != nil {
		return nil, nil, err
	}
	mean, left := solution.LeftOut(sub.test)
	errors := solver.Combine632(mean, sub.test, sub.Set.Y, sub.perExample(fitted))
	e := &report.Estimate{
		Command: "estimate", Subject: sub.report, Resampling: resamplingReport(scheme, sub.Set.N()),
		Errors:      errorsReport(sub.test, errors),
		Convergence: sub.convergenceReport(solution), Warnings: sub.warnings(scheme, solution.Warnings),
	}
	ensemble := solution.OutOfBag()
	e.BaggedError, _ = ensemble.MeanLoss(sub.test)
	if sub.Set.Task == dataset.Classification {
		vote, _ := ensemble.VoteError()
		e.VoteError = &vote
	}
	if !t.noPoints {
		e.Level = t.level
		if e.Points, err = sub.points(solution, ensemble, left, t.level); err != nil {
			return nil, nil, err
		}
	}
	times := sub.times
	times.Solve = time.Since(began).Seconds()
	e.Cost = s.cost(times)
	return e, solution, nil
}

// points are the read-outs per example, with intervals of the given level.
func (sub *subject) points(solution *solver.Solution, ensemble solver.Ensemble, left []float64, level float64) (*report.Points, error) {
	p := &report.Points{
		Mean: solution.PerExample(solution.Mean), Variance: solution.PerExample(solution.Var), Error: left, OOBMean: ensemble.Mean,
	}
	intervals, err := solution.PercentileIntervals(level)
	if err != nil {
		return nil, err
	}
	for example := range left {
		interval := intervals[solution.SiteOf(example)]
		p.Lower, p.Upper = append(p.Lower, interval.Low), append(p.Upper, interval.High)
	}
	if sub.Set.Task == dataset.Classification {
		p.OOBVote, p.Vote = ensemble.Vote, solution.PerExample(solution.Votes())
	}
	return p, nil
}
