package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/predict"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

func estimateCommand(a *app) *cobra.Command {
	var t theoryFlags
	var law lawFlags
	cmd := &cobra.Command{
		Use:   "estimate DATA",
		Short: "Left-out error, .632 and the law of predictions over resamples, without retraining",
		Long: `estimate averages over all resamples of DATA without retraining: the test error
of examples that a resample leaves out (Efron's leave-one-out bootstrap), .632
and .632+, and for every example the mean and the variance over resamples of the
prediction there and its own left-out error.

The points of the JSON document are in the order of the file.`,
		Example: `  bootbench estimate boston
  bootbench estimate sonar --ratio 0.5 --json - --no-points
  bootbench estimate houses.csv --loss square --noise 0.5 --length-scale 2
  bootbench estimate synthetic:friedman1,n=200 --loss square --noise 1 --test-loss absolute
  bootbench estimate - --loss square --noise 0.5 --out results < houses.csv`,
		Args: oneData,
		RunE: func(cmd *cobra.Command, args []string) error { return runEstimate(a, cmd, args, &t, &law) },
	}
	t.registerSolve(a, cmd)
	t.scheme.register(cmd.Flags())
	t.test.registerLevel(cmd.Flags())
	law.register(cmd.Flags(), "examples")
	registerOut(cmd, "points.csv")
	return cmd
}

// runEstimate reads flags and DATA before it estimates.
func runEstimate(a *app, cmd *cobra.Command, args []string, t *theoryFlags, law *lawFlags) error {
	p, err := t.plan()
	if err := cmp.Or(err, t.test.checkLevel(), law.check()); err != nil {
		return err
	}
	j, err := readSolvable(a, t, args[0], &p)
	if err != nil {
		return err
	}
	if err := openFits(a, cmd, args, j, &p.refine); err != nil {
		return err
	}
	if err := law.checkRows(j.Set.N(), int64(t.model.maxMemory)); err != nil {
		return err
	}
	return estimateOnce(a, j, p, law)
}

// readSolvable reads DATA and builds its model, for one solve, and adds to the plan how DATA is
// redrawn.
func readSolvable(a *app, t *theoryFlags, path string, p *plan) (*job, error) {
	if err := t.scheme.check(t.scheme.ratio); err != nil {
		return nil, err
	}
	of, err := readProblem(a, &t.model, &t.test, path)
	if err != nil {
		return nil, err
	}
	if p.scheme, err = t.scheme.of(t.scheme.ratio, of.spec.Set.N()); err != nil {
		return nil, err
	}
	if _, exact := of.spec.Loss.(loss.Proximal); exact && p.refine.resamples > 0 {
		of.spec.Then = func(m *model.Model) int64 {
			return refit.NeedToRefine(m, refit.RefineSettings{Resamples: p.refine.resamples})
		}
	}
	return buildJob(a, of)
}

// estimateOnce solves once and prints.
func estimateOnce(a *app, j *job, p plan, law *lawFlags) error {
	law.collects(&p.refine)
	if _, err := fitAll(a, j); err != nil { // before the solve: both use the same scratch memory
		return err
	}
	e, solution, err := estimateAt(a, j, p, "solve")
	if done, err := a.ended(err); done {
		return err
	}
	if err := j.addLaws(e, law, solution); err != nil {
		return err
	}
	e.Warnings = withWarning(e.Warnings, e.Quality.Warning(e.Quote.Error))
	e.Warnings = withWarning(e.Warnings, j.fewWarning())
	lead := fmt.Sprintf("A model trained on a resample errs by %v (%s loss) on examples that it has not seen.",
		e.Quote, e.TestLoss)
	r := pointsAnswer(e, lead, e.Warnings, e.Points, e.Labels)
	if j.Set.Task == dataset.Classification {
		r.page.Figures = append(r.page.Figures, report.ROCFigure(solution.OutOfBag().Mean, j.Set.Y)...)
	}
	r.page.Figures = append(r.page.Figures, report.ReliabilityFigure(e.Calibration)...)
	return a.deliver(r)
}

// addLaws adds what is asked for of the laws at the examples.
func (j *job) addLaws(e *report.Estimate, law *lawFlags, s *solver.Solution) error {
	points := lawPoints{
		Points: e.Points, law: func(i int) loss.Distribution { return s.Distribution(j.Site[i]) },
		place: func(i int) int { return j.Site[i] }, width: j.Sites(), shift: j.TargetMean,
	}
	if points.Points == nil {
		points.Points = &report.Points{Names: j.Set.RowNames}
	}
	var refined *report.Points
	if e.Refined != nil {
		refined = e.Refined.Points
	}
	law.add(points, refined)
	return law.writeCovariance(func() (blas64.General, error) {
		c, err := predict.Covariances(j.Model, s, nil)
		if err != nil {
			return c, err
		}
		return j.exampleCovariances(c), nil
	})
}

// pointsAnswer is an answer with values per example, unless these are nil.
func pointsAnswer(d report.Document, lead string, warnings []string, points *report.Points,
	labels *dataset.Classes) answer {
	r := answer{document: d, warnings: warnings, page: report.Page{Lead: []string{lead},
		Answers: []report.Document{d}}}
	if points != nil {
		r.csv, r.writeCSV, r.page.Figures = "points.csv", points.WriteCSV, report.PointFigures("points", points)
		r.page.Answers = append(r.page.Answers, &report.Examples{Points: points, Labels: labels})
	}
	return r
}
