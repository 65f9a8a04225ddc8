package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// gridCell is a model and a scheme at a value of every axis.
type gridCell struct {
	values   []string
	problem  *problem
	question answer.Question
}

func runGrid(a *app, o *options, data []string) {
	q, axes, set := o.question(), gridAxes(o), a.loadData(o, data[0])
	drawn := &problem{spec: model.Spec{Set: set}}
	preset, _ := model.PresetFor(set)
	var size sampler
	if len(axes) == 0 {
		search := o.search(set)
		if axes = defaultAxes(search); len(axes) == 0 {
			refuse("--over is required: the flags leave nothing that a grid varies by default")
		}
		drawn.spec, size = search.Spec, q.DefaultSample
		preset = model.Preset{Loss: search.Spec.Loss} // a search ignores the presets of data sets
	}
	q.Scheme = o.designed(o.ratio, set)
	o.draw(a.ctx, drawn, size)
	g := &grid{app: a, by: o.by, axes: axes, drawn: drawn}
	own := steps.Must(with(o.Settings(func(name string) bool {
		return isRecorded(name) && name != "backend"
	}), a.command)) // with a value of every axis
	var specs []model.Spec
	for _, values := range combinations(axes) {
		for k, axis := range axes {
			steps.Check(take(own.FlagSet, []string{axis.Name + "=" + values[k]}))
		}
		p, q := own.given(set, preset), own.question()
		p.spec.Set, p.spec.FitsAlone = drawn.spec.Set, o.by == tune.Folds
		q.Scheme, q.NoPoints = own.designed(own.ratio, p.spec.Set), true
		steps.Check((&tune.Problem{Spec: p.spec, By: o.by, Test: p.test}).Check())
		g.cells, specs = append(g.cells, gridCell{values, p, q}), append(specs, p.spec)
	}
	a.kernels.MostBytes = mostHeld
	g.validated = answer.NewCells(specs, func(i int) (s *answer.Study, err error) {
		err = steps.Run(func() { s = a.build(a.ctx, g.cells[i].problem) })
		return s, err
	})
	g.weights = answer.GivenWeights(specs, g.cells[0].problem.test)
	a.openJournal(&problem{flags: o})
	g.solve()
}

func gridAxes(o *options) (axes []report.GridAxis) {
	cells := 1
	for _, text := range o.over {
		name, list, ok := strings.Cut(text, "=")
		if !ok || list == "" {
			refuse("--over %q is not NAME=VALUES", text)
		}
		steps.Check(usage.OneOf("over", name, flagLists["over-grid"]...))
		switch {
		case name == "ratio" && o.by == tune.Folds:
			refuse("--over ratio: --by cv trains in folds, which have no ratio")
		case o.Given(name):
			refuse("--%s and --over %s cannot both be given", name, name)
		case slices.ContainsFunc(axes, func(a report.GridAxis) bool { return a.Name == name }):
			refuse("--over %s is given twice", name)
		}
		values, err := gridValues(list)
		if err != nil {
			refuse("--over %s: %w", name, err)
		}
		if cells *= len(values); cells > mostCells {
			refuse("--over: more than %d combinations", mostCells)
		}
		axes = append(axes, report.GridAxis{Name: name, Values: values})
	}
	return axes
}

// defaultAxes is the initial grid of a search over what is not given.
func defaultAxes(p *tune.Problem) (axes []report.GridAxis) {
	for _, a := range p.Over {
		axis := report.GridAxis{Name: a.Name}
		for _, v := range tune.Grid(&p.Spec, a.Name) {
			axis.Values = append(axis.Values, strconv.FormatFloat(v, 'g', 4, 64))
		}
		axes = append(axes, axis)
	}
	return axes
}

// gridValues reads "a:b:count" or a list "a,b,c" as texts for a flag.
func gridValues(text string) (values []string, err error) {
	list := strings.Split(text, ",")
	if strings.Contains(text, ":") {
		var steps []float64
		if _, err := flags.ReadSteps(&steps)(text); err != nil {
			return nil, err
		}
		list = nil
		for _, v := range steps {
			list = append(list, strconv.FormatFloat(v, 'g', 6, 64))
		}
	}
	seen := map[string]bool{"": true}
	for _, v := range list {
		if v = strings.TrimSpace(v); seen[v] {
			return nil, fmt.Errorf("%q holds a value twice or none, to six digits", text)
		}
		seen[v], values = true, append(values, v)
	}
	return values, nil
}

// combinations are all combinations of values of the axes, the last axis fastest.
func combinations(axes []report.GridAxis) [][]string {
	all := [][]string{nil}
	for _, a := range axes {
		var longer [][]string
		for _, values := range all {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(values), v))
			}
		}
		all = longer
	}
	return all
}

// grid is a table of models, evaluated one by one.
type grid struct {
	app       *app
	by        tune.By
	axes      []report.GridAxis
	cells     []gridCell
	validated *answer.Cells      // the cells, by exact fits
	drawn     *problem           // the sample
	weights   *loss.ClassWeights // that all cells have; nil: none
}

func (g *grid) solve() {
	a, o := g.app, g.app.options
	set, test := g.cells[0].problem.spec.Set, g.cells[0].problem.test
	doc := &report.Grid{
		Command: "grid", Data: set.Name, N: set.N(), D: set.D(), Task: set.Task(),
		TestLoss: test.Name(), By: g.by.String(), Over: g.axes,
	}
	if others := g.drawn.others; others != nil {
		doc.Sample, doc.RowsTotal = set.N(), set.N()+others.N()
	}
	var tasks []bench.Task[report.GridCell]
	for i := range g.cells {
		c := &g.cells[i]
		name := (&report.GridCell{Values: c.values}).Name(g.axes)
		c.question.Label = fmt.Sprintf("%s, %d of %d", name, i+1, len(g.cells))
		key := fmt.Sprint("grid by ", g.by, o.folds, o.asked.Seed) + " " + name + ": " +
			estimateKey(&c.problem.spec, test, c.question)
		tasks = append(tasks, task(name+" of "+set.Name, key, func() (cell report.GridCell) {
			err := steps.Run(func() { cell = g.answer(i) })
			later := isInterrupt(a, err) || errors.Is(err, linalg.ErrMemory) && a.tasks.Journal != nil
			if later || i == 0 && errors.Is(err, model.ErrInput) { // a failure of the whole grid
				steps.Check(err)
			}
			if err != nil {
				return report.GridCell{Values: c.values, Failure: oneLine(err.Error())}
			}
			return cell
		}))
	}
	deliverRows(a, rowRun[report.GridCell]{
		tasks: tasks, together: 1, document: doc,
		record: func(c *report.GridCell) any { // documents lack the errors of the examples
			return &struct {
				Cell     *report.GridCell
				Examples **report.Examples
			}{c, &c.Examples}
		},
		finish: func(cells []report.GridCell, complete bool) {
			doc.Results, doc.Status = cells, completeness(complete)
			compareCells(doc)
			sumUpGrid(a, doc)
			if complete && doc.Best != nil {
				doc.Headline = g.headline(doc)
			}
		},
	})
}

func (g *grid) answer(i int) report.GridCell {
	c := &g.cells[i]
	if g.by == tune.Folds {
		return g.validate(i)
	}
	e := row(g.app, g.app.build(g.app.ctx, c.problem), c.question)
	cell := report.GridCell{Values: c.values, Estimate: e}
	if examples := e.Examples; len(examples.Each) > 1 && !floats.HasNaN(examples.Each) {
		cell.Examples = &examples
		if g.by == tune.LeftOut {
			g.weigh(&cell)
		}
	}
	if e.Refined != nil {
		e.Refined.Points = nil
	}
	if g.by == tune.LeftOut {
		return cell
	}
	one := tune.Problem{Spec: c.problem.spec, By: g.by, Test: c.problem.test,
		Scheme: func(int) (resample.Scheme, error) { return c.question.Scheme, nil }}
	cell.Objective = report.NumberOf(steps.Must(tune.Value(g.app.ctx, one, c.question.Solve.Tolerance)))
	return cell
}

func (g *grid) validate(i int) report.GridCell {
	g.app.console.Progress(g.cells[i].question.Label, 0, 1)
	a := steps.Must(g.validated.CrossValidate(g.app.ctx, i, g.folds())) // no incomplete folds
	a.Points, a.Calibration = nil, nil                                  // not in tables
	g.app.spent(&a.Cost)
	cell := report.GridCell{Values: g.cells[i].values, Validation: a,
		Examples: &report.Examples{Each: a.Examples.Each, Weights: g.drawn.spec.Set.Weights}}
	g.weigh(&cell)
	return cell
}

// weigh multiplies the errors that judge a cell by the class weights, if all cells have the same.
func (g *grid) weigh(c *report.GridCell) {
	if g.weights != nil {
		c.Examples.Each = answer.Weighted(g.weights, g.drawn.spec.Set, c.Examples.Each)
		c.Objective = report.NumberOf(stat.Mean(c.Examples.Each, c.Examples.Weights))
	}
}

func (g *grid) folds() answer.Validation {
	o, set := g.app.options, g.cells[0].problem.spec.Set
	v := answer.Validation{Design: resample.Design{N: set.N(), Group: set.Groups, Stratum: set.Strata},
		Folds: tune.DefaultFolds, Repeats: 1, Seed: o.asked.Seed, Metrics: o.asked.Metrics,
		ErrorsAlone: len(o.asked.Metrics) == 0}
	if o.Given("folds") {
		v.Folds = o.folds
	}
	return v
}

// headline is the error of the model that is best on all rows, corrected for its choice among the cells.
func (g *grid) headline(doc *report.Grid) *report.Headline {
	p := *g.cells[*doc.Best].problem
	p.others, p.spec.Chosen = g.drawn.others, nil
	for _, axis := range g.axes {
		if axis.Name != "ratio" && len(axis.Values) > 1 {
			p.spec.Chosen = append(p.spec.Chosen, axis.Name)
		}
	}
	var s *answer.Study
	err := steps.Run(func() { s = g.app.build(g.app.ctx, &p) })
	if g.app.ctx.Err() != nil {
		return nil
	}
	if err != nil {
		doc.Add(report.NotComputed.Check(1, "estimate the best model", "the error of the best model on all "+
			"rows is not known: %v", err))
		return nil
	}
	if len(p.spec.Chosen) > 0 {
		for k, c := range doc.Results {
			const farWorse = 3 // standard errors: not chosen without a few rows
			if d := c.Difference; d == nil || d.Value <= farWorse*d.StandardError {
				s.Candidates = append(s.Candidates, g.cells[k].problem.spec)
			}
		}
	}
	return headline(g.app, s, &doc.Findings)
}

// compareCells finds the best converged cell, the first of equals, and compares the left-out errors of the
// others with its errors.
func compareCells(g *report.Grid) {
	for i := range g.Results {
		if v := g.Results[i].Value(); v == v && (g.Best == nil || v < g.Results[*g.Best].Value()) {
			g.Best = &i
		}
	}
	if g.Best == nil || g.Results[*g.Best].Examples == nil {
		return
	}
	for i := range g.Results {
		if c := &g.Results[i]; i != *g.Best && c.Examples != nil {
			c.Difference = calibration.Compare(*c.Examples, *g.Results[*g.Best].Examples, defaultLevel)
		}
	}
}

// sumUpGrid collects the warnings and the cost of all cells; failed and unconverged cells change the exit
// status.
func sumUpGrid(a *app, g *report.Grid) {
	for i := range g.Results {
		c := &g.Results[i]
		if v := c.Validation; v != nil {
			g.Time.Gram += v.Time.Gram
			g.Time.Retrain += v.Time.Retrain
			continue
		}
		if c.Estimate == nil {
			g.Add(report.CellFailed.Check(1, "leave this cell out, or do what the text says",
				"%s: failed: %s", c.Name(g.Over), c.Failure))
			a.status = exitFailed
			continue
		}
		a.ended(c.Estimate.Status)
		g.Time.Gram += c.Estimate.Time.Gram
		g.Time.Fit += c.Estimate.Time.Fit
		g.Time.Solve += c.Estimate.Time.Solve
		g.AddOf(c.Name(g.Over), &c.Estimate.Findings)
	}
}
