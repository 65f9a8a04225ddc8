package main

import (
	"reflect"
	"runtime/debug"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
)

// sharedKernel is a specification and its model, whose kernel matrix is reused for other losses.
type sharedKernel struct {
	spec model.Spec
	*model.Model
}

// mostHeld bounds the memory of the kernel matrices kept for other cells.
const mostHeld = 256 << 20

// study is the study of a cell, on an existing kernel matrix if possible.
func (g *grid) study(p *problem) *answer.Study {
	for _, known := range g.held {
		if known.spec.Loss = p.spec.Loss; reflect.DeepEqual(known.spec, p.spec) {
			s := answer.Of(steps.Must(known.WithLoss(p.spec.Loss)), p.test)
			addOrigin(g.app, s, p)
			steps.Check(g.app.ctx.Err())
			return s
		}
	}
	n := int64(p.spec.Set.N())
	if g.bytes += 8 * n * n; g.bytes > mostHeld {
		g.held, g.bytes = nil, 8*n*n
		debug.FreeOSMemory() // for the next matrix
	}
	s := g.app.build(g.app.ctx, p)
	if s.Model.Gram() != nil {
		g.held = append(g.held, sharedKernel{p.spec, s.Model})
	}
	return s
}

// answer evaluates cell i.
func (g *grid) answer(i int) report.GridCell {
	c := &g.cells[i]
	if cell, known := g.done[i]; known {
		delete(g.done, i)
		return cell
	}
	s := g.study(c.problem)
	if g.by == tune.Folds {
		return g.validate(s, i)
	}
	e := row(g.app, s, c.question)
	cell := report.GridCell{Values: c.values, Estimate: e}
	if examples := e.Examples; len(examples.Each) > 1 && !floats.HasNaN(examples.Each) {
		cell.Examples = &examples
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

// validate cross-validates cell i by exact fits, on its machine. Cells that differ only in C are a path and
// cross-validated together: each fit starts from the last.
func (g *grid) validate(s *answer.Study, i int) report.GridCell {
	g.app.console.Progress(g.cells[i].question.Label, 0, 1)
	path := []int{i}
	if len(s.Model.Functions) == 1 && s.Model.Gram() != nil {
		path = g.path(i)
	}
	studies := []*answer.Study{s}
	if len(path) > 1 {
		studies = nil
		for _, at := range path {
			studies = append(studies, g.study(g.cells[at].problem))
		}
	}
	all := steps.Must(answer.CrossValidatePath(g.app.ctx, studies, g.folds())) // no incomplete folds
	for k, at := range path {
		examples := &report.Examples{Each: all[k].Examples.Each, Weights: s.Model.Set.Weights}
		all[k].Points, all[k].Calibration = nil, nil // not in tables
		g.done[at] = report.GridCell{Values: g.cells[at].values, Validation: all[k], Examples: examples}
	}
	cell := g.done[i]
	delete(g.done, i)
	g.app.spent(&cell.Validation.Cost)
	return cell
}

// folds are the folds of every cell.
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

// c is C of a cell, 0 if its loss has none.
func (c *gridCell) c() float64 {
	p, _ := loss.ParametersOf(c.problem.spec.Loss)
	return p.C
}

// path are the cells that differ from cell i only in C, sorted by C.
func (g *grid) path(i int) []int {
	if g.paths == nil {
		specs := make([]model.Spec, len(g.cells))
		for k := range g.cells {
			specs[k] = g.cells[k].problem.spec
		}
		g.paths = answer.Paths(specs)
	}
	for _, path := range g.paths {
		if g.cells[i].c() > 0 && slices.Contains(path, i) {
			return path
		}
	}
	return []int{i}
}
