package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
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

// mostCells bounds a grid, and mostHeld the memory of the kernel matrices that its cells share.
const mostCells, mostHeld = 100000, 256 << 20

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

// rowRun is a command whose answer is a table: it computes the rows one by one, and delivers the finished
// ones at the end, also after an interrupt.
type rowRun[R any] struct {
	tasks    []bench.Task[R]
	together int // number of consecutive tasks of one shard
	document report.Result
	status   func(row R) string            // of its solve; nil: none
	record   func(row *R) any              // pointers to a row's parts for the journal; nil: its JSON
	finish   func(rows []R, complete bool) // completes the document
}

// deliverRows runs the command: all rows, or the rows of this shard.
func deliverRows[R any](a *app, c rowRun[R]) {
	for i, t := range c.tasks {
		a.tasks.require(i/c.together, t.Name, keyOf(t.Key))
	}
	var rows []R
	err := steps.Run(func() {
		if len(a.tasks.missing) == 0 {
			c.compute(a, &rows)
		}
		if len(a.tasks.missing) > 0 || a.tasks.sharded() {
			steps.Check(fits.ErrElsewhere)
		}
	})
	if len(rows) == 0 || a.tasks.sharded() {
		steps.Check(err)
	}
	c.finish(rows, err == nil)
	switch a.deliver(c.document); {
	case isInterrupt(a, err):
		a.status = exitInterrupted
	case err != nil:
		a.status = exitFailed
		steps.Check(err)
	}
}

// compute computes the rows. It ends at the first error.
func (c *rowRun[R]) compute(a *app, rows *[]R) {
	for i, t := range c.tasks {
		steps.Check(a.ctx.Err())
		a.console.Tasks(i, len(c.tasks))
		var row R
		record := any(&row)
		if c.record != nil {
			record = c.record(&row)
		}
		if !a.tasks.do(i/c.together, keyOf(t.Key), record, func() { row = steps.Must(t.Run(a.ctx)) }) {
			continue
		}
		*rows = append(*rows, row)
		if c.status != nil {
			a.ended(c.status(row))
		}
		a.mustFinish()
	}
}

// task is a row that the command computes.
func task[R any](name, key string, run func() R) bench.Task[R] {
	return bench.Task[R]{Name: name, Key: key, Run: func(context.Context) (r R, err error) {
		err = steps.Run(func() { r = run() })
		return r, err
	}}
}

// estimateKey encodes everything that an estimate depends on.
func estimateKey(spec *model.Spec, test loss.Test, q answer.Question) string {
	return spec.Key(q.Scheme, "estimate", q.Metrics, q.Solve.Tolerance, q.Solve.MaxSweeps, test.Name(),
		q.Level,
		q.NoPoints, q.Key())
}

// growingRatios are the sizes of subsamples of n rows for the extrapolation to more rows: five from a fifth
// of the rows, but at least ten rows or, for fewer than 22, half of the last. Features and targets are scaled
// by all rows, which makes the error of a model of fewer than ten by up to a third too low.
func growingRatios(n int) (ratios []float64) {
	const sizes, last = 5, 0.9
	first := max(0.2, min(10/float64(n), last/2))
	for k := range sizes {
		ratios = append(ratios, first+(last-first)*float64(k)/(sizes-1))
	}
	return ratios
}

// fewRows is the number of rows up to which growing takes fewRowsResamples: fits are quick, and many are
// needed for the standard error over data sets (fits.MostJackknifed), which takes fits without each pair of
// rows.
const fewRows, fewRowsResamples = fits.MostJackknifed, 1000

func runCurve(a *app, o *options, data []string) {
	q := o.question()
	size, growing := standard.DefaultSample, !o.Given("ratio", "scheme", "blocks", "folds")
	if growing { // extrapolate to more rows, by the errors of the examples
		o.scheme, o.ratios = resample.Subsample{}.Name(), nil
		size, q.NoPoints = upTo(3000), false // takes about 20 s on two cores
	}
	o.checkScheme(o.ratios...)
	p := a.read(o, data[0], size)
	if n := p.spec.Set.N(); growing {
		units := n
		if groups := p.spec.Set.Groups; groups != nil {
			units = 1 + slices.Max(groups)
		} else if n <= fewRows && !o.Given("refine") {
			q.Resamples = fewRowsResamples
		}
		if o.ratios = growingRatios(n); units <= fewRows || units < n {
			o.ratios = whole(o.ratios, units)
		}
	}
	path := &answer.Path{}
	for i, ratio := range o.ratios {
		q.Scheme = o.designed(ratio, p.spec.Set)
		q.Label = fmt.Sprintf("ratio %.4g, %d of %d", q.Scheme.Mean(), i+1, len(o.ratios))
		path.Questions = append(path.Questions, q)
	}
	path.Study = a.build(a.ctx, p)
	a.openJournal(p)
	set := path.Model.Set
	doc := &report.Curve{Command: "curve", Subject: path.Subject, Scheme: q.Scheme.Name(),
		TestLoss: path.Test.Name(), Grows: growing}
	if len(set.Columns) > 1 {
		doc.Notes = append(slices.Clone(doc.Notes), "errors are in standard deviations of each target")
	}
	var tasks []bench.Task[report.Answer]
	for i, q := range path.Questions {
		name := fmt.Sprintf("%s, ratio %v", set.Name, q.Scheme.Mean())
		key := estimateKey(&path.Model.Spec, path.Test, q)
		tasks = append(tasks, task(name, key, func() report.Answer {
			return *row(a, path.Study, steps.Must(path.At(a.ctx, i)))
		}))
	}
	deliverRows(a, rowRun[report.Answer]{
		tasks: tasks, together: answer.PathLength, document: doc,
		status: func(e report.Answer) string { return e.Status },
		finish: func(results []report.Answer, complete bool) {
			doc.Time, doc.Results, doc.Status = path.Times, results, completeness(complete)
			for _, e := range results {
				doc.Time.Solve += e.Time.Solve
				doc.AddOf(fmt.Sprintf("ratio %.4g", e.Ratio), &e.Findings)
			}
			if complete && len(path.Model.Spec.Chosen) > 0 && !o.Given("blocks") {
				doc.Headline = headline(a, path.Study, &doc.Findings)
			}
			doc.Add(answer.FewChecks(set)...)
			if growing && complete {
				doc.Growth = answer.Growth(set.N(), results)
			}
			for i := range results {
				if e := &results[i]; o.asked.NoPoints && e.Refined != nil {
					e.Points, e.Refined.Points = nil, nil
				}
			}
		},
	})
}

// headline is the error of the model of all rows, nil if there is none; the findings then say why.
func headline(a *app, s *answer.Study, f *report.Findings) *report.Headline {
	h, err := s.Headline(a.ctx, a.options.asked.Seed, a.options.asked.Level)
	if err != nil && a.ctx.Err() == nil {
		f.Add(report.NotComputed.Check(1, "estimate the model alone", "the error of the model of all rows "+
			"is not known: %v", err))
	}
	if h != nil {
		f.Add(h.Said...)
	}
	return h
}

// whole are the nearest ratios that draw a whole number of rows or groups, and leave at least one out.
func whole(ratios []float64, units int) (nearest []float64) {
	for _, ratio := range ratios {
		drawn := min(max(1, math.Round(ratio*float64(units))), float64(units-1))
		nearest = append(nearest, drawn/float64(units))
	}
	return slices.Compact(nearest)
}

func completeness(complete bool) string {
	if complete {
		return answer.Complete
	}
	return answer.Cancelled
}
