package model

import (
	"errors"
	"fmt"
	"math"

	"bootbench/internal/calibration"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// check refuses invalid settings and data.
func (s *Spec) check() error {
	if s.Set == nil || s.Loss == nil {
		return errors.New("there is no data set or no loss")
	}
	if err := s.Set.Design().Check(); err != nil {
		return err
	}
	for _, c := range s.Set.Columns {
		if len(c.Y) != s.Set.N() {
			return fmt.Errorf("%d targets for %d examples", len(c.Y), s.Set.N())
		}
		if err := CheckTargets(c.Y); err != nil {
			return err
		}
	}
	if err := s.checkLoss(); err != nil {
		return err
	}
	if !s.Measure.IsError() {
		if _, err := calibration.ParseMeasure(s.Measure.String()); err != nil {
			return fmt.Errorf("Spec.Measure %w", err)
		} else if len(s.Set.Levels()) != 2 {
			return fmt.Errorf("Spec.Measure %v judges two labels", s.Measure)
		}
	}
	switch precomputed := s.Kernel.Kind == kernel.Precomputed; {
	case precomputed && s.Standardize:
		return errors.New("a precomputed kernel matrix cannot be standardised")
	case precomputed && s.Set.Sparse != nil:
		return errors.New("a precomputed kernel matrix cannot be sparse")
	}
	return s.checkStorage()
}

// checkLoss refuses a loss that is invalid, or does not match the targets, the weights or the bias.
func (s *Spec) checkLoss() error {
	labels, err := needsLabels(s.Loss)
	if err != nil {
		return err
	}
	if err := s.checkWeights(); err != nil {
		return err
	}
	if err := s.Set.Check(labels); err != nil {
		return err
	}
	if _, ok := s.Loss.(gp.Likelihood); ok && s.Bias {
		return fmt.Errorf(
			"a posterior mean, as of %s, has no bias: take Spec.Bias false, or Kernel.Constant for a "+
				"penalised one", s.Loss.Name())
	}
	return nil
}

// checkWeights refuses weights that do not match the examples or the loss.
func (s *Spec) checkWeights() error {
	weights := s.Set.Weights
	if weights == nil {
		return nil
	}
	if len(weights) != s.Set.N() {
		return fmt.Errorf("%d weights for %d examples", len(weights), s.Set.N())
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return fmt.Errorf("the weight of row %d is %v: weights are finite and above 0", i+1, w)
		}
	}
	_, err := loss.Times(s.Loss, 2)
	return err
}

// CheckTargets refuses targets that are not finite or too large.
func CheckTargets(y []float64) error {
	const largest = 1e50 // its fourth power is finite
	for i, v := range y {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("target of row %d is %v", i+1, v)
		case math.Abs(v) > largest:
			return fmt.Errorf("target of row %d is %v, beyond %g: give it in larger units", i+1, v, largest)
		}
	}
	return nil
}

// A diagonal element of the kernel matrix is 0 or lies between these, so that products of two are finite. A
// precomputed matrix may have negative eigenvalues down to -indefinite times its largest diagonal element,
// the rounding to six digits.
const (
	leastDiagonal, mostDiagonal = 1e-100, 1e101
	indefinite                  = 1e-6
)

// checkKernel refuses an invalid kernel matrix. It overwrites the scratch triangle.
func checkKernel(m *Model) error {
	diagonal := make([]float64, m.Sites())
	switch {
	case m.Form() == Exact:
		m.Gram().Diag(diagonal)
	case m.inputs != nil:
		if err := m.inputs.Diagonal(diagonal); err != nil {
			return err
		}
	default:
		return nil // distributed: its engine checks
	}
	for site, k := range diagonal {
		if k != 0 && !(k >= leastDiagonal && k <= mostDiagonal) {
			return fmt.Errorf("%s: the kernel of row %d with itself is %g, must be 0 or lie between %g and "+
				"%g: scale it", m.Set.Name, m.First[site]+1, k, leastDiagonal, mostDiagonal)
		}
	}
	if err := checkHardMargins(m, diagonal); err != nil {
		return err
	}
	if m.Kernel.Kind != kernel.Precomputed || m.Form() != Exact {
		return nil
	}
	var pivot *linalg.PivotError
	if err := m.Gram().CheckSemidefinite(indefinite); errors.As(err, &pivot) {
		return fmt.Errorf("%s: the precomputed kernel matrix is not positive semidefinite: pivot %d of %d, "+
			"row %d; a jitter on its diagonal would repair rounding",
			m.Set.Name, pivot.Minor, pivot.N, m.First[pivot.Minor-1]+1)
	}
	return nil
}

// checkHardMargins refuses hard margins that contradict each other at one site.
func checkHardMargins(m *Model, diagonal []float64) error {
	if !math.IsInf(loss.TraitsOf(m.Loss).C, 1) {
		return nil
	}
	for i, site := range m.Site {
		switch first := m.First[site]; {
		case diagonal[site] == 0:
			return &svm.InfeasibleError{I: i, J: -1}
		case m.Y[i] != m.Y[first]:
			return &svm.InfeasibleError{I: first, J: i}
		}
	}
	return nil
}
