package main

import (
	"cmp"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"

	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
)

// sharedKernels are models of cells whose kernel matrices serve other cells, too: those that differ in the
// loss.
type sharedKernels struct {
	app   *app
	held  []sharedKernel
	bytes int64
}

// sharedKernel is a specification and its model.
type sharedKernel struct {
	spec model.Spec
	*model.Model
}

// serves reports whether specifications differ in the loss at most.
func (k *sharedKernel) serves(spec model.Spec) bool {
	spec.Loss, spec.Then = k.spec.Loss, nil
	return reflect.DeepEqual(k.spec, spec)
}

// mostHeld bounds the kernel matrices that wait for other cells.
const mostHeld = 256 << 20

// machine is that of a problem, on a kernel matrix that is there if one is.
func (k *sharedKernels) machine(p *problem) (answer.Machine, error) {
	for _, known := range k.held {
		if known.serves(p.spec) {
			m, err := known.WithLoss(p.spec.Loss)
			if err != nil {
				return nil, err
			}
			j := answer.Of(m, p.test)
			return j, k.app.describe(j, p)
		}
	}
	n := int64(p.spec.Set.N())
	if k.bytes += 8 * n * n; k.bytes > mostHeld {
		k.held, k.bytes = nil, 8*n*n
		debug.FreeOSMemory() // what the machine has left bounds the next matrix
	}
	m, err := k.app.build(p)
	if err != nil {
		return nil, err
	}
	if j, single := m.(*answer.Job); single && j.Gram() != nil {
		given := p.spec
		given.Then = nil
		k.held = append(k.held, sharedKernel{given, j.Model})
	}
	return m, nil
}

// gridFolds cross-validates the cells of a grid by exact fits. Cells that differ in C alone are a path, which
// is cross-validated as a whole: its fits start from one another.
type gridFolds struct {
	*sharedKernels
	cells []gridCell
	done  map[int]report.GridCell // of paths, until they are asked for
}

// answer is that of cell i.
func (g *gridFolds) answer(i int, label string) (report.GridCell, error) {
	if cell, known := g.done[i]; known {
		delete(g.done, i)
		return cell, nil
	}
	g.app.console.Progress(label, 0, 1)
	m, err := g.machine(g.cells[i].problem)
	if err != nil {
		return report.GridCell{}, err
	}
	path := []int{i}
	if j, single := m.(*answer.Job); single && j.Gram() != nil {
		path = g.path(i)
	}
	all, err := g.validate(m, i, path)
	if err != nil {
		return report.GridCell{}, err
	}
	for k, at := range path {
		examples := &calibration.Errors{Each: all[k].Points.Error, Weights: m.First().Set.Weights}
		all[k].Points, all[k].Calibration = nil, nil // in no table
		g.done[at] = report.GridCell{Values: g.cells[at].values, Validation: all[k], Examples: examples}
	}
	cell := g.done[i]
	g.app.spent(&cell.Validation.Cost)
	delete(g.done, i)
	return cell, nil
}

// validate cross-validates the cells of a path, of which m is the machine of cell i.
func (g *gridFolds) validate(m answer.Machine, i int, path []int) ([]*report.CrossValidation, error) {
	ctx, v := g.app.ctx, g.folds()
	if len(path) == 1 {
		r, err := m.CrossValidate(ctx, v)
		if err != nil {
			return nil, err
		}
		one := answer.AsValidation(r)
		if one.Status != answer.Complete {
			err = ctx.Err() // some folds are none to keep
		}
		return []*report.CrossValidation{one}, err
	}
	jobs, factors := make([]*answer.Job, len(path)), make([]float64, len(path))
	for k, at := range path {
		other := m
		if at != i {
			var err error
			if other, err = g.machine(g.cells[at].problem); err != nil {
				return nil, err
			}
		}
		jobs[k], factors[k] = other.First(), g.cells[at].c()/g.cells[path[0]].c()
	}
	return answer.CrossValidatePath(ctx, jobs, factors, v)
}

// folds are those of every cell.
func (g *gridFolds) folds() answer.Validation {
	o, set := g.app.options, g.cells[0].problem.spec.Set
	v := answer.Validation{Design: resample.Design{N: set.N(), Group: set.Groups, Stratum: set.Strata},
		Folds: tune.DefaultFolds, Repeats: 1, Seed: o.seed, Workers: runtime.GOMAXPROCS(0), Metrics: o.metrics,
		ErrorsAlone: len(o.metrics) == 0}
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

// path are the cells that differ from cell i in C alone, by C.
func (g *gridFolds) path(i int) (path []int) {
	only := func(l loss.Loss) loss.Parameters {
		p, _ := loss.ParametersOf(l)
		p.C = 0
		return p
	}
	own := sharedKernel{spec: g.cells[i].problem.spec}
	own.spec.Then = nil
	for k := range g.cells {
		other := g.cells[k].problem.spec
		if k == i || g.cells[i].c() > 0 && own.serves(other) &&
			other.Loss.Name() == own.spec.Loss.Name() && only(other.Loss) == only(own.spec.Loss) {
			path = append(path, k)
		}
	}
	slices.SortStableFunc(path, func(a, b int) int { return cmp.Compare(g.cells[a].c(), g.cells[b].c()) })
	return path
}
