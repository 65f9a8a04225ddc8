package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/solver"
)

// growingRatios are the sizes of subsamples from which the error of more rows is extrapolated.
const growingRatios = "0.2:0.9:5"

// growingSample is the number of rows from which that is done in about 20 s on two cores.
func growingSample(spec model.Spec) int {
	if n := spec.Set.N(); n <= 3000 {
		return n
	}
	return 2000
}

// curve is a model that is solved at a list of ratios.
type curve struct {
	*answer.Job
	joint    answer.Joint    // nil: one target
	settings answer.Settings // of the next solve: it starts from the last one's solution
	built    *model.Model    // before a solve has asked for a finer factor
	last     int             // number of the ratio that was solved last
	schemes  []resample.Scheme
	growing  bool // asks what more rows would do
	noPoints bool // in the document
}

// runCurve reads DATA and builds its model, and solves at every ratio.
func runCurve(a *app, o *options, data []string) (err error) {
	c := &curve{last: -1}
	if o.scheme == (resample.KFold{}).Name() {
		return usage.Errorf("--scheme kfold has no ratio to vary; estimate takes it")
	}
	if c.settings, err = o.answers(); err != nil {
		return err
	}
	if c.growing = !o.Given("ratio", "scheme", "blocks", "folds"); c.growing {
		o.scheme = resample.Subsample{}.Name()
		o.Default("ratio", growingRatios)
		c.noPoints, c.settings.NoPoints = o.noPoints, false // the power law takes the examples' errors
	}
	if err := o.checkScheme(o.ratios...); err != nil {
		return err
	}
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
	}
	if c.growing || o.sample != "" {
		if err := o.draw(p, growingSample); err != nil {
			return err
		}
	}
	for _, ratio := range o.ratios {
		scheme, err := o.designed(ratio, p.spec.Set)
		if err != nil {
			return err
		}
		c.schemes = append(c.schemes, scheme)
	}
	if p.joint() {
		if c.joint, err = a.buildJoint(p); err == nil {
			c.Job = c.joint.First()
			c.Subject = c.joint.Subject()
			if p.spec.Set.Further != nil {
				c.Subject.Notes = append(slices.Clone(c.Subject.Notes),
					"errors are in standard deviations of each target")
			}
		}
	} else {
		c.Job, err = a.build(p)
	}
	if err != nil {
		return err
	}
	if err := a.openJournal(p.choice); err != nil {
		return err
	}
	if err := c.Fit(); err != nil {
		return err
	}
	c.built = c.Model
	return c.solveAll(a)
}

// solveAll computes the rows and prints.
func (c *curve) solveAll(a *app) error {
	var tasks []bench.Task[report.Estimate]
	for i, scheme := range c.schemes {
		name := fmt.Sprintf("%s, ratio %v", c.Set.Name, scheme.Mean())
		tasks = append(tasks, task(name, estimateKey(&c.Spec, scheme, c.Test, c.settings),
			func() (report.Estimate, error) { return c.estimate(a, i) }))
	}
	doc := &report.Curve{Command: "curve", Subject: c.Subject, Scheme: c.schemes[0].Name(),
		TestLoss: c.Test.Name()}
	var shown report.RowDocument[report.Estimate] = doc
	if c.growing {
		shown = report.Growing{Curve: doc}
	}
	return printRows(a, rowRun[report.Estimate]{
		tasks: tasks, together: pathLength, document: shown, csv: "curve.csv",
		status: func(e report.Estimate) string { return e.Status },
		finish: func(results []report.Estimate, complete bool) (json any, warnings []string) {
			doc.Time = c.Times
			for _, e := range results {
				doc.Time.Solve += e.Time.Solve
				for _, text := range e.Warnings {
					if !c.growing || text != e.Refined.Warning() { // whose theory is not shown
						warnings = append(warnings, fmt.Sprintf("ratio %.4g: %s", e.Ratio, text))
					}
				}
			}
			doc.Results, doc.Status = results, completeness(complete)
			if c.growing && complete {
				doc.Growth = c.growth(results)
			}
			for i := range results {
				if e := &results[i]; c.noPoints && e.Refined != nil {
					e.Points, e.Refined.Points = nil, nil
				}
			}
			a.spent(&doc.Cost)
			return doc, warnings
		},
	})
}

// growth is what twice the rows would do, if all errors are those of exact subsamples.
func (c *curve) growth(results []report.Estimate) *calibration.Growth {
	var sizes []calibration.SizeError
	for _, e := range results {
		if e.Refined == nil {
			return nil
		}
		sizes = append(sizes, calibration.SizeError{Ratio: e.Ratio, Error: float64(e.Error),
			SE: float64(e.Refined.SE), Each: e.Refined.Points.Error})
	}
	n, all := c.Set.N(), cmp.Or(c.Subject.RowsTotal, c.Set.N())
	return calibration.NewGrowth(sizes, n, all, 2*all)
}

// completeness is the status of an answer in parts.
func completeness(complete bool) string {
	if complete {
		return answer.Complete
	}
	return answer.Cancelled
}

// pathLength is the number of ratios whose solves start from one another. The next solve
// starts anew, so that the answer does not depend on where a run was interrupted, nor on
// which ratios another process has: shards have such paths as a whole.
const pathLength = 5

// estimate is the estimate at ratio number i. The solve after it starts from its solution.
func (c *curve) estimate(a *app, i int) (report.Estimate, error) {
	if c.joint != nil {
		return c.estimateJoint(a, i)
	}
	if err := c.follow(a, i); err != nil {
		return report.Estimate{}, err
	}
	e, solution, err := c.Estimate(a.ctx, c.at(i), c.label(i))
	if err == nil && solution.Status == solver.Cancelled {
		err = a.ctx.Err() // half a solve is none to keep
	}
	if err != nil {
		return report.Estimate{}, err
	}
	a.spent(&e.Cost)
	c.solved(i, solution)
	return *e, nil
}

// estimateJoint is the answer about several classes or targets at ratio number i, by exact resamples.
func (c *curve) estimateJoint(a *app, i int) (report.Estimate, error) {
	began := time.Now()
	r, err := c.joint.Estimate(a.ctx, c.at(i))
	if err != nil {
		return report.Estimate{}, err
	}
	e := answer.AsEstimate(r)
	e.Time.Solve = time.Since(began).Seconds()
	a.spent(&e.Cost)
	return *e, nil
}

// follow has the solve at ratio number i start where its path leads to: ratios that were
// looked up are solved again.
func (c *curve) follow(a *app, i int) (err error) {
	if i%pathLength == 0 {
		c.last, c.settings.Solve.From = i-1, nil
		if c.Model != c.built {
			c.Model = c.built
			err = c.Fit()
		}
	}
	if c.last == i-1 || err != nil {
		return err
	}
	if err := c.follow(a, i-1); err != nil {
		return err
	}
	solution, err := c.Solve(a.ctx, c.at(i-1), c.label(i-1))
	if err == nil && solution.Status == solver.Cancelled {
		err = a.ctx.Err()
	}
	if err == nil {
		c.solved(i-1, solution)
	}
	return err
}

// solved notes where the next solve starts.
func (c *curve) solved(i int, solution *solver.Solution) {
	c.last, c.settings.Solve.From = i, nil
	if solution.Status == solver.Converged {
		c.settings.Solve.From = solution
	}
}

// at are the settings at ratio number i.
func (c *curve) at(i int) answer.Settings {
	s := c.settings
	s.Scheme = c.schemes[i]
	return s
}

func (c *curve) label(i int) string {
	return fmt.Sprintf("ratio %.4g, %d of %d", c.schemes[i].Mean(), i+1, len(c.schemes))
}
