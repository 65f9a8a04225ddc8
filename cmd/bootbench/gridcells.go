package main

import (
	"cmp"
	"reflect"
	"runtime/debug"
	"slices"

	"gonum.org/v1/gonum/floats"

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
func (g *grid) study(p *problem) (*answer.Study, error) {
	for _, known := range g.held {
		if known.spec.Loss = p.spec.Loss; reflect.DeepEqual(known.spec, p.spec) {
			m, err := known.WithLoss(p.spec.Loss)
			if err != nil {
				return nil, err
			}
			s := answer.Of(m, p.test)
			addOrigin(g.app, s, p)
			return s, g.app.ctx.Err()
		}
	}
	n := int64(p.spec.Set.N())
	if g.bytes += 8 * n * n; g.bytes > mostHeld {
		g.held, g.bytes = nil, 8*n*n
		debug.FreeOSMemory() // for the next matrix
	}
	s, err := g.app.build(g.app.ctx, p)
	if err == nil && s.Model.Gram() != nil {
		g.held = append(g.held, sharedKernel{p.spec, s.Model})
	}
	return s, err
}

// answer evaluates cell i.
func (g *grid) answer(i int) (cell report.GridCell, err error) {
	c := &g.cells[i]
	if cell, known := g.done[i]; known {
		delete(g.done, i)
		return cell, nil
	}
	s, err := g.study(c.problem)
	if err != nil {
		return cell, err
	}
	if g.by == tune.Folds {
		return g.validate(s, i)
	}
	e, err := row(g.app, s, c.question)
	if err != nil {
		return cell, err
	}
	cell = report.GridCell{Values: c.values, Estimate: e}
	if examples := e.Examples; len(examples.Each) > 1 && !floats.HasNaN(examples.Each) {
		cell.Examples = &examples
	}
	if e.Refined != nil {
		e.Refined.Points = nil
	}
	if g.by == tune.LeftOut {
		return cell, nil
	}
	objective, err := tune.Value(g.app.ctx, tune.Problem{Spec: c.problem.spec, By: g.by, Test: c.problem.test,
		Scheme: func(int) (resample.Scheme, error) { return c.question.Scheme, nil }},
		c.question.Solve.Tolerance)
	cell.Objective = report.NumberOf(objective)
	return cell, err
}

// validate cross-validates cell i by exact fits, on its machine. Cells that differ only in C are a path and
// cross-validated together: each fit starts from the last.
func (g *grid) validate(s *answer.Study, i int) (cell report.GridCell, err error) {
	g.app.console.Progress(g.cells[i].question.Label, 0, 1)
	path := []int{i}
	if len(s.Model.Functions) == 1 && s.Model.Gram() != nil {
		path = g.path(i)
	}
	var all []*report.Answer
	if len(path) == 1 {
		r, err := s.CrossValidate(g.app.ctx, g.folds())
		if err != nil {
			return cell, err
		}
		all = append(all, r)
		// incomplete folds are not kept
		if err := g.app.ctx.Err(); err != nil && all[0].Status != answer.Complete {
			return cell, err
		}
	} else {
		studies, factors := make([]*answer.Study, len(path)), make([]float64, len(path))
		for k, at := range path {
			if studies[k], err = g.study(g.cells[at].problem); err != nil {
				return cell, err
			}
			factors[k] = g.cells[at].c() / g.cells[path[0]].c()
		}
		if all, err = answer.CrossValidatePath(g.app.ctx, studies, factors, g.folds()); err != nil {
			return cell, err
		}
	}
	for k, at := range path {
		examples := &report.Examples{Each: all[k].Examples.Each, Weights: s.Model.Set.Weights}
		all[k].Points, all[k].Calibration = nil, nil // not in tables
		g.done[at] = report.GridCell{Values: g.cells[at].values, Validation: all[k], Examples: examples}
	}
	cell = g.done[i]
	delete(g.done, i)
	g.app.spent(&cell.Validation.Cost)
	return cell, nil
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
func (g *grid) path(i int) (path []int) {
	alike := func(k int) model.Spec { // with one C
		spec := g.cells[k].problem.spec
		if p, known := loss.ParametersOf(spec.Loss); known && p.C > 0 {
			p.C = 1
			spec.Loss, _ = loss.ByName(spec.Loss.Name(), p) // a loss with its parameters
		}
		return spec
	}
	for k := range g.cells {
		if k == i || g.cells[i].c() > 0 && reflect.DeepEqual(alike(i), alike(k)) {
			path = append(path, k)
		}
	}
	slices.SortStableFunc(path, func(a, b int) int { return cmp.Compare(g.cells[a].c(), g.cells[b].c()) })
	return path
}
