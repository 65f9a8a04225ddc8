package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/solver"
)

// growingRatios are the sizes of subsamples for the extrapolation to more rows.
const growingRatios = "0.2:0.9:5"

// growingSample is the number of rows for which that takes about 20 s on two cores.
func growingSample(_ context.Context, spec model.Spec) int {
	if n := spec.Set.N(); n <= 3000 {
		return n
	}
	return 2000
}

// curve is a model that is solved at a list of ratios.
type curve struct {
	*answer.Study
	question answer.Question // without the scheme
	last     int             // number of the last estimated ratio
	schemes  []resample.Scheme
	growing  bool // extrapolate to more rows
	noPoints bool // no points in the document
}

// runCurve reads DATA and builds its model, and solves at every ratio.
func runCurve(a *app, o *options, data []string) (err error) {
	c := &curve{last: -1}
	if o.scheme == (resample.KFold{}).Name() {
		return usage.Errorf("--scheme kfold has no ratio to vary; estimate takes it")
	}
	if c.question, err = o.question(); err != nil {
		return err
	}
	if c.growing = !o.Given("ratio", "scheme", "blocks", "folds"); c.growing {
		o.scheme = resample.Subsample{}.Name()
		o.Default("ratio", growingRatios)
		c.noPoints, c.question.NoPoints = o.asked.NoPoints, false // the power law needs the examples' errors
	}
	if err := o.checkScheme(o.ratios...); err != nil {
		return err
	}
	size := standard.DefaultSample
	if c.growing {
		size = growingSample
	}
	p, err := a.read(o, data[0], size)
	if err != nil {
		return err
	}
	if groups := p.spec.Set.Groups; c.growing && groups != nil && !o.Given("ratio") {
		o.ratios = wholeGroups(o.ratios, 1+slices.Max(groups))
	}
	for _, ratio := range o.ratios {
		scheme, err := o.designed(ratio, p.spec.Set)
		if err != nil {
			return err
		}
		c.schemes = append(c.schemes, scheme)
	}
	if c.Study, err = a.build(a.ctx, p); err != nil {
		return err
	}
	if err := a.openJournal(p.choice); err != nil {
		return err
	}
	return c.solveAll(a)
}

// wholeGroups are the nearest ratios that draw a whole number of groups, and leave at least one out.
func wholeGroups(ratios []float64, groups int) (whole []float64) {
	for _, ratio := range ratios {
		drawn := min(max(1, math.Round(ratio*float64(groups))), float64(groups-1))
		whole = append(whole, drawn/float64(groups))
	}
	return slices.Compact(whole)
}

// solveAll computes the rows and prints.
func (c *curve) solveAll(a *app) error {
	var tasks []bench.Task[report.Answer]
	for i, scheme := range c.schemes {
		name, q := fmt.Sprintf("%s, ratio %v", c.Study.Model.Set.Name, scheme.Mean()), c.question
		q.Scheme = scheme
		tasks = append(tasks, task(name, estimateKey(&c.Study.Model.Spec, c.Test, q),
			func() (report.Answer, error) { return c.estimate(a, i) }))
	}
	doc := &report.Curve{Command: "curve", Subject: c.Subject, Scheme: c.schemes[0].Name(),
		TestLoss: c.Test.Name()}
	if len(c.Study.Model.Set.Columns) > 1 {
		doc.Notes = append(slices.Clone(doc.Notes), "errors are in standard deviations of each target")
	}
	var shown report.RowResult[report.Answer] = doc
	if c.growing {
		shown = report.Growing{Curve: doc}
	}
	return printRows(a, rowRun[report.Answer]{
		tasks: tasks, together: pathLength, document: shown,
		status: func(e report.Answer) string { return e.Status },
		finish: func(results []report.Answer, complete bool) (warnings []string) {
			doc.Time = c.Times
			for _, e := range results {
				doc.Time.Solve += e.Time.Solve
				for _, text := range e.Warnings {
					warnings = append(warnings, fmt.Sprintf("ratio %.4g: %s", e.Ratio, text))
				}
			}
			if few := answer.FewWarning(c.Study.Model.Set); few != "" {
				warnings = append(warnings, few)
			}
			doc.Results, doc.Status = results, completeness(complete)
			if c.growing && complete {
				doc.Growth = growth(c.Study.Model.Set.N(), results)
			}
			for i := range results {
				if e := &results[i]; c.noPoints && e.Refined != nil {
					e.Points, e.Refined.Points = nil, nil
				}
			}
			return warnings
		},
	})
}

// growth extrapolates to twice the rows, if all errors are from exact subsamples.
func growth(n int, results []report.Answer) *report.Growth {
	var sizes []calibration.SizeError
	for _, e := range results {
		if e.Refined == nil {
			return nil
		}
		sizes = append(sizes, calibration.SizeError{Ratio: e.Ratio, Error: float64(e.Error),
			SE: float64(e.Refined.SE), Each: e.Refined.Points.Error})
	}
	return calibration.NewGrowth(sizes, n)
}

// completeness is the status of an answer in parts.
func completeness(complete bool) string {
	if complete {
		return answer.Complete
	}
	return answer.Cancelled
}

// pathLength is the number of consecutive ratios whose solves each start from the last one. The next solve
// starts independently, so that the answer depends neither on interruptions nor on shards, which have
// complete paths.
const pathLength = 5

// estimate is the estimate at ratio number i.
func (c *curve) estimate(a *app, i int) (report.Answer, error) {
	if err := c.follow(a, i); err != nil {
		return report.Answer{}, err
	}
	e, err := a.row(c.Study, c.at(i))
	if err != nil {
		return report.Answer{}, err
	}
	c.last = i
	return *e, nil
}

// follow prepares the start of the solve at ratio number i: previous ratios of its path that were looked up
// are solved again.
func (c *curve) follow(a *app, i int) error {
	switch {
	case i%pathLength == 0 || len(c.Study.Model.Functions) > 1:
		c.Restart()
		return nil
	case c.last == i-1:
		return nil
	}
	err := c.follow(a, i-1)
	if err == nil {
		err = c.Solve(a.ctx, c.at(i-1))
	}
	return err
}

// at are the settings at ratio number i, with a start from the last solution.
func (c *curve) at(i int) answer.Question {
	q := c.question
	q.Scheme = c.schemes[i]
	q.Label = fmt.Sprintf("ratio %.4g, %d of %d", q.Scheme.Mean(), i+1, len(c.schemes))
	if c.Solution != nil && c.Solution.Status == solver.Converged {
		q.Solve.From = c.Solution
	}
	return q
}
