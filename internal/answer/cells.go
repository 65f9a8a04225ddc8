package answer

import (
	"cmp"
	"context"
	"reflect"
	"runtime/debug"
	"slices"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// Kernels are kernel matrices, held whole, that models with other losses share.
type Kernels struct {
	MostBytes int64 // 0: none is held; else their memory, or the last one's if that alone takes more
	held      []heldKernel
	bytes     int64
}

// largeKernel is the number of bytes of a matrix for which memory is freed at once.
const largeKernel = 64 << 20

// heldKernel is a model with the specification that it was built from.
type heldKernel struct {
	spec model.Spec
	*model.Model
}

// New is a study of a model with a test loss, on a kernel matrix that is held, if possible.
func (k *Kernels) New(ctx context.Context, spec model.Spec, test loss.Test) (*Study, error) {
	for _, known := range k.held {
		if known.spec.Loss = spec.Loss; reflect.DeepEqual(known.spec, spec) {
			m, err := known.WithLoss(spec.Loss)
			if err != nil {
				return nil, err
			}
			return Of(m, test), ctx.Err()
		}
	}
	n := int64(spec.Set.N())
	if k.bytes += 8 * n * n; k.bytes > k.MostBytes && k.held != nil {
		if k.held, k.bytes = nil, 8*n*n; k.bytes > largeKernel {
			debug.FreeOSMemory() // for the next matrix
		}
	}
	s, err := New(ctx, spec, test)
	if err == nil && s.Model.Gram() != nil && k.MostBytes > 0 {
		k.held = append(k.held, heldKernel{spec, s.Model})
	}
	return s, err
}

// Cells are the models of a grid, cross-validated by exact fits without the same folds. Cells that differ
// only in C, with one function and one whole kernel matrix, are cross-validated together: each fit starts
// from the fit of the last one.
type Cells struct {
	study func(cell int) (*Study, error)
	paths [][]int
	known map[int]*report.Answer // of paths, not asked for yet
}

// NewCells are cells of these specifications, of which study builds the studies.
func NewCells(specs []model.Spec, study func(cell int) (*Study, error)) *Cells {
	return &Cells{study, Paths(specs), map[int]*report.Answer{}}
}

// CrossValidate cross-validates a cell.
func (c *Cells) CrossValidate(ctx context.Context, cell int, v Validation) (*report.Answer, error) {
	if c.known[cell] == nil {
		s, err := c.study(cell)
		if err != nil {
			return nil, err
		}
		of := slices.IndexFunc(c.paths, func(path []int) bool { return slices.Contains(path, cell) })
		path := c.paths[of]
		if p, _ := loss.ParametersOf(s.Model.Loss); len(path) < 2 || p.C == 0 || s.several() ||
			s.Model.Gram() == nil {
			a, err := s.CrossValidate(ctx, v)
			return a, cmp.Or(err, ctx.Err())
		}
		if err := c.along(ctx, path, v); err != nil {
			return nil, err
		}
	}
	a := c.known[cell]
	delete(c.known, cell)
	return a, nil
}

func (c *Cells) along(ctx context.Context, path []int, v Validation) error {
	studies, factors := make([]*Study, len(path)), make([]float64, len(path)) // of C
	for k, cell := range path {
		var err error
		if studies[k], err = c.study(cell); err != nil {
			return err
		}
		p, _ := loss.ParametersOf(studies[k].Model.Loss)
		first, _ := loss.ParametersOf(studies[0].Model.Loss)
		factors[k] = p.C / first.C
	}
	first := studies[0].part(0)
	folds, err := v.folds(first.model.Set)
	if err != nil {
		return err
	}
	around := resample.KFold{Folds: folds.Period(), N: first.model.Set.N()}
	results, err := model.RetrainPath(ctx, first.model, around, factors, v.settings(first, folds))
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	for k, s := range studies {
		s.Times.Retrain += results[k].Stats.Elapsed.Seconds()
		c.known[path[k]] = v.report(s.part(0), folds, &model.Retraining{Averages: results[k],
			Method: model.Single})
	}
	return nil
}

// GivenWeights are the class weights that all of some models of two labels have, by which tune judges models,
// too; nil: none are given, or they differ.
func GivenWeights(specs []model.Spec, test loss.Test) *loss.ClassWeights {
	first, _ := loss.ParametersOf(specs[0].Loss)
	for _, spec := range specs {
		if p, _ := loss.ParametersOf(spec.Loss); p.ClassWeights != first.ClassWeights {
			return nil
		}
	}
	w := first.ClassWeights
	if w.Negative == w.Positive || len(specs[0].Set.Levels()) != 2 || !loss.TraitsOf(test).Steps {
		return nil
	}
	return &w
}

// Weighted are errors of the rows of a set times class weights, nil for none.
func Weighted(w *loss.ClassWeights, set *dataset.Set, each []float64) []float64 {
	if w == nil {
		return each
	}
	weighted := slices.Clone(each)
	for i, y := range set.Targets(0) {
		weighted[i] *= w.ClassWeight(y)
	}
	return weighted
}

// Paths are the numbers of the specifications, together of those that differ only in C, or the noise, of
// their loss: by C. They share a kernel matrix, if it is whole.
func Paths(specs []model.Spec) (all [][]int) {
	var alike []model.Spec
	c := make([]float64, len(specs))
	for k, spec := range specs {
		if p, known := loss.ParametersOf(spec.Loss); known && p.C+p.Noise > 0 {
			c[k], p.C, p.Noise = p.C, 1, 1
			spec.Loss, _ = loss.ByName(spec.Loss.Name(), p)
		}
		spec.Then = nil
		at := slices.IndexFunc(alike, func(other model.Spec) bool { return reflect.DeepEqual(spec, other) })
		if at < 0 {
			at, alike, all = len(all), append(alike, spec), append(all, nil)
		}
		all[at] = append(all[at], k)
	}
	for _, path := range all {
		slices.SortStableFunc(path, func(a, b int) int { return cmp.Compare(c[a], c[b]) })
	}
	return all
}
