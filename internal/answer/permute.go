package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// enoughArrangements are the fewest of which one of twenty is a p-value of 0.05.
const enoughArrangements = 20

// shuffle is the permutation of the targets of a column, numbers or classes, the same for all columns.
func (v *Validation) shuffle(column *dataset.Column) *resample.Permuted {
	return &resample.Permuted{Y: column.Y, Within: v.Design.Stratum, Group: v.Design.Group,
		Labels: column.Levels != nil, Seed: v.Seed}
}

// permuted are the data with the targets as they are, and then with each permutation of them.
func (v *Validation) permuted(s *Study) ([]*dataset.Set, error) {
	set, count := s.Model.Set, 1+v.Permutations
	if err := linalg.CheckMemory(8*int64(count)*int64(set.N()*len(set.Columns)), s.Model.MaxBytes,
		fmt.Sprintf("%d permutations of the targets", v.Permutations)); err != nil {
		return nil, err
	}
	all := []*dataset.Set{set}
	for k := range v.Permutations {
		of := *set
		of.Columns = slices.Clone(set.Columns)
		for c := range of.Columns {
			of.Columns[c].Y = v.shuffle(&set.Columns[c]).Targets(k)
		}
		all = append(all, &of)
	}
	return all, nil
}

// permute adds the p-value of no relation between inputs and targets, by a statistic that is the same
// function of the data and of their permutations: the error by the same folds of a model that was given, or,
// if the model was chosen, the error where each fold is judged by the cell of the search's grid that is best
// on the others.
func permute(ctx context.Context, s *Study, v Validation, a *report.Answer) error {
	moved := v.shuffle(&s.Model.Set.Columns[0])
	what := moved.What()
	if arrangements := moved.Arrangements(); arrangements < enoughArrangements {
		a.Add(report.FewPermuted.Check(arrangements, "take more "+what, "there are only %.0f arrangements "+
			"of %s: the p-value cannot be below %.2g", arrangements, what, 1/arrangements))
	}
	sets, err := v.permuted(s)
	if err != nil {
		return err
	}
	var found []float64
	switch spec := s.Model.Spec; {
	case v.Again != nil || spec.Pairs || s.several() && v.Choose != nil:
		if v.Again != nil {
			what += ", the model chosen again for each"
		}
		found, err = permuteOneByOne(ctx, s, v, sets)
	case len(spec.Chosen) > 0:
		grid := cells(spec)
		if v.Repeats, v.Choose = 1, nil; len(grid) > 1 {
			grid = grid[1:]
		}
		if !loss.TraitsOf(spec.Loss).Quadratic && v.Given == nil && v.Design.Block == 0 { // to save time
			if v.Folds > tune.DefaultFolds || v.Single {
				v.Folds, v.Single = tune.DefaultFolds, false
			}
		}
		if what += fmt.Sprintf(", the model chosen again without each fold among %d",
			len(grid)); s.scalesChosen() {
			what += " with one length scale"
		}
		found, err = permuteTogether(ctx, s, v, sets, grid)
	default:
		found, err = permuteTogether(ctx, s, v, sets, nil)
	}
	if err != nil {
		return err
	}
	setPValue(a, found)
	if ctx.Err() != nil {
		a.Status = Cancelled
	}
	a.NullHypothesis = fmt.Sprintf("targets do not depend on features: %d permutations of %s", a.Permutations,
		what)
	return nil
}

// permuteOneByOne are the errors on each set of the model that Again chooses there, or of the study's.
func permuteOneByOne(ctx context.Context, s *Study, v Validation, sets []*dataset.Set) ([]float64, error) {
	mutex, done := sync.Mutex{}, 0
	v.Permutations, v.Metrics, v.ErrorsAlone, v.Workers = 0, nil, true, 1
	found, failed := make([]float64, len(sets)), make([]error, len(sets))
	blas.SingleThreaded(func() {
		linalg.Parallel(len(sets), func(k int) {
			if found[k] = math.NaN(); ctx.Err() != nil {
				return
			}
			found[k], failed[k] = errorOf(ctx, s, sets[k], v)
			mutex.Lock()
			defer mutex.Unlock()
			done++
			s.Progress(fmt.Sprintf("permutation %d of %d", done-1, len(sets)-1), done, len(sets))
		})
	})
	if err := cmp.Or(failed...); err != nil && ctx.Err() == nil {
		return nil, err
	}
	return found, nil
}

// errorOf is the error of the model that is chosen on a set.
func errorOf(ctx context.Context, s *Study, set *dataset.Set, v Validation) (float64, error) {
	spec, err := s.Model.Spec, error(nil)
	if spec.Set = set; v.Again != nil {
		spec, err = s.chosenFor(ctx, set, v.Again)
	}
	if err != nil {
		return math.NaN(), err
	}
	other, err := New(ctx, spec, s.Test)
	if err != nil {
		return math.NaN(), err
	}
	a, err := other.CrossValidate(ctx, v)
	if err != nil || a == nil {
		return math.NaN(), err
	}
	return float64(a.Error), nil
}

// together is the largest number of fits whose left-out predictions are held at the same time.
const together = 1 << 15

// permuteTogether are the errors on each of the sets where every fold is judged by the specification that has
// the least error on the other folds; without any the study's model judges all. Errors that ctx ends are NaN.
func permuteTogether(ctx context.Context, s *Study, v Validation, sets []*dataset.Set, of []model.Spec) (
	[]float64, error) {
	var all, folds []trial
	var weights []float64
	for _, set := range sets {
		if folds == nil || !set.AreNumbers() { // folds within classes
			var err error
			if folds, err = v.trials(set); err != nil {
				return nil, err
			}
		}
		for _, t := range folds {
			sum := 0.0
			for _, i := range t.without[:t.tested] {
				sum += calibration.WeightOf(set.Weights, i)
			}
			all, weights = append(all, trial{t.without, t.tested, set}), append(weights, sum)
		}
	}
	each := len(folds)
	if err := linalg.CheckMemory(8*int64(len(all))*int64(1+len(of)), s.Model.MaxBytes,
		fmt.Sprintf("the errors of %d fits", len(all)*max(1, len(of)))); err != nil {
		return nil, err
	}
	var errors [][]float64
	var failed error
	kernels := &Kernels{MostBytes: 1}
	for c := range max(1, len(of)) {
		s.Progress("permutations", c, max(1, len(of)))
		judged, own := s, []float64(nil)
		if failed = nil; of != nil {
			judged, failed = kernels.New(ctx, of[c], s.Test)
		}
		if failed == nil {
			own, failed = judged.sums(ctx, &v, all, of != nil)
		}
		if ctx.Err() != nil && of != nil { // the choice lacks some
			return nil, nil
		}
		if failed == nil {
			errors = append(errors, own)
		}
	}
	if len(errors) == 0 {
		return nil, failed
	}
	found := make([]float64, len(sets))
	for k := range found {
		first, end := k*each, (k+1)*each
		for fold := first; fold < end; fold++ {
			found[k] += errors[bestOfOthers(errors, first, end, fold)][fold] / floats.Sum(weights[first:end])
		}
	}
	return found, nil
}

// cells are the chosen specification, and the grid from which its search began, the same for all rows.
func cells(spec model.Spec) []model.Spec {
	p := tune.Problem{Spec: spec}
	names, _ := spec.Searched()
	for _, name := range names {
		if name == "length-scale" && len(spec.Kernel.LengthScale) > 1 { // one for all features
			name, p.Spec.Kernel.LengthScale = "gamma", nil
		}
		p.Over = append(p.Over, tune.Axis{Name: name})
	}
	grid, err := tune.Cells(p)
	if err != nil || len(names) == 0 {
		return []model.Spec{spec}
	}
	return append([]model.Spec{spec}, grid...)
}

// tieBreaker multiplies bounded square losses of fields that break the ties of errors of labels: as many
// candidates and permutations have the same number of wrong labels, p-values would be too large.
const tieBreaker = 1e-6

// sums are the sums of the losses of each trial, times the weights of the rows, if wanted without ties.
func (s *Study) sums(ctx context.Context, v *Validation, all []trial, untied bool) (sums []float64,
	err error) {
	parts, set := s.parts(), s.Model.Set
	untied = untied && (s.classes() || loss.TraitsOf(s.Test).Steps)
	for some := range slices.Chunk(all, together) {
		fields, err := s.fields(ctx, v, some)
		if err != nil {
			return nil, err
		}
		losses := s.judged(some, fields)
		for r, t := range some {
			sum, near := 0.0, 0.0
			for k, i := range t.without[:t.tested] {
				w := calibration.WeightOf(set.Weights, i)
				sum += w * losses[0][r][k]
				for q := 0; untied && q < len(parts); q++ {
					label := -1.0
					if int(t.of.Columns[0].Y[i]) == parts[q].level() {
						label = 1
					}
					near += w * math.Min(1, math.Pow(fields[r][k*len(parts)+q]-label, 2)/4)
				}
			}
			sums = append(sums, sum+tieBreaker*near)
		}
	}
	return sums, nil
}

// bestOfOthers is the first candidate with the least sum of errors on the folds first to end-1 but one.
func bestOfOthers(errors [][]float64, first, end, but int) (least int) {
	value := math.Inf(1)
	for c, own := range errors {
		others := floats.Sum(own[first:end]) - own[but]
		if others < value-tieTolerance*math.Abs(value) || math.IsInf(value, 1) {
			least, value = c, others
		}
	}
	return least
}

// setPValue sets the p-value (1 + #)/(1 + P), # the number of P permutations of the targets with at most the
// same error (Ojala and Garriga 2010), given the error of the targets as they are, and then of permutations;
// unknown ones are NaN.
func setPValue(a *report.Answer, errors []float64) {
	if len(errors) == 0 || math.IsNaN(errors[0]) {
		return
	}
	known := slices.DeleteFunc(errors[1:], math.IsNaN)
	if a.Permutations = len(known); a.Permutations > 0 {
		asGood := floats.Count(func(e float64) bool { return e <= errors[0]*(1+tieTolerance) }, known)
		a.PValue = report.NumberOf(float64(1+asGood) / float64(1+a.Permutations))
	}
}
