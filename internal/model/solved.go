package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bootbench/internal/dataset"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
)

// Solved is a Gaussian-process regression with the inverse of its kernel matrix: examples are left out, or
// added, without retraining.
type Solved struct {
	spec    Spec    // of standardised inputs and centred targets
	mean    float64 // of the targets
	scale   *dataset.Standardizer
	inverse *gp.Inverse
}

// NewSolved inverts the matrix of a model of the square loss without a bias, at n^3 operations and 16 n^2
// bytes. Inputs must be dense and distinct. Every error is bad input.
func NewSolved(ctx context.Context, spec Spec) (*Solved, error) {
	m, err := buildSolvable(ctx, spec)
	if err != nil {
		return nil, err
	}
	s, set := &Solved{spec: m.Spec, mean: m.Mean}, *m.Set
	s.spec.Standardize, s.spec.NormalizeTarget, s.spec.Set = false, false, &set
	if set.Columns = []dataset.Column{{Name: m.Name, Y: m.Y}}; m.Standardize {
		x, scale := dataset.Standardize(m.Set.X)
		set.X, s.scale = x, &scale
	}
	if s.inverse, err = m.Inverse(); err != nil {
		return nil, InputError(err)
	}
	return s, nil
}

// buildSolvable builds a model that NewSolved and Append can invert, or returns an error.
func buildSolvable(ctx context.Context, spec Spec) (*Model, error) {
	m, err := Build(ctx, spec)
	if err == nil && len(m.Functions) > 1 {
		err = InputError(errors.New("examples are left out and added for one target, not for several"))
	} else if err == nil && !(CanDowndate(m) && !m.Bias && m.Set.Sparse == nil) {
		err = InputError(errors.New("examples are left out and added by the inverse of the square loss " +
			"without a bias, on dense inputs that differ"))
	}
	return m, err
}

// N is the number of examples.
func (s *Solved) N() int {
	if s.inverse == nil {
		return 0
	}
	return s.spec.Set.N()
}

// errUnsolved is the answer of a Solved that NewSolved has not made.
var errUnsolved = InputError(errors.New("there is no regression: Solve makes one"))

// Append adds k examples at the end, by k n^2 operations and a kernel matrix. Features and targets are
// standardised like the first ones. After an error s is unchanged.
func (s *Solved) Append(ctx context.Context, more *dataset.Set) error {
	if s.inverse == nil || more == nil {
		return errUnsolved
	}
	set, n, k := *s.spec.Set, s.N(), more.N()
	switch {
	case more.Sparse != nil || k == 0 || more.D() != set.D():
		return InputError(fmt.Errorf("%d rows of %d features cannot be added to rows of %d features: both "+
			"must be dense", k, more.D(), set.D()))
	case len(more.Columns) != 1:
		return InputError(fmt.Errorf("rows with %d targets cannot be added to rows with one",
			len(more.Columns)))
	case (more.Weights == nil) != (set.Weights == nil):
		return InputError(errors.New("either all rows have weights or none: rows that are added, too"))
	}
	x := more.X
	if s.scale != nil {
		var err error
		if x, err = s.scale.Apply(x); err != nil {
			return InputError(err)
		}
	}
	all := linalg.NewMatrix(n+k, set.D())
	y := slices.Clip(set.Columns[0].Y)
	for i := range n {
		copy(all.Row(i), set.X.Row(i))
	}
	for i, v := range more.Targets(0) {
		copy(all.Row(n+i), x.Row(i))
		y = append(y, v-s.mean)
	}
	weights := slices.Repeat([]float64{1}, k)
	set.Columns = []dataset.Column{{Name: set.Columns[0].Name, Y: y}}
	if set.X = all; more.Weights != nil {
		weights = more.Weights
		set.Weights = append(slices.Clip(set.Weights), weights...)
	}
	set.RowNames, set.Groups, set.Strata, set.Folds = nil, nil, nil, nil
	spec := s.spec
	spec.Set = &set
	m, err := buildSolvable(ctx, spec)
	if err != nil {
		return err
	}
	if err := s.inverse.Append(m.Gram(), loss.TraitsOf(m.Loss).Noise, weights); err != nil {
		return InputError(err)
	}
	s.spec = spec
	return nil
}

// LeaveOut is the prediction of a model of the other examples for those with these numbers, from 0, by
// |rows|^3/3 operations.
func (s *Solved) LeaveOut(rows ...int) ([]float64, error) {
	if s.inverse == nil {
		return nil, errUnsolved
	}
	n := s.N()
	weight, f := s.inverse.Weights(), make([]float64, n)
	for _, i := range rows {
		if i < 0 || i >= n {
			return nil, InputError(fmt.Errorf("there is no example %d of %d to leave out", i, n))
		}
		weight[i] = 0
	}
	if err := (&gp.Downdate{Inverse: s.inverse}).Fit(train.Set{Y: s.spec.Set.Columns[0].Y, Weight: weight},
		f); err != nil {
		return nil, err
	}
	left := make([]float64, len(rows))
	for k, i := range rows {
		left[k] = f[i] + s.mean
	}
	return left, nil
}
