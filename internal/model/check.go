package model

import (
	"errors"
	"fmt"
	"math"

	"bootbench/internal/svm"
	"bootbench/kernel"
	"bootbench/linalg"
)

// A diagonal element of the kernel matrix is 0 or lies between these, so that products of
// two of them are numbers. A precomputed matrix may have negative eigenvalues up to
// indefinite of its largest diagonal element: what printing six digits makes.
const (
	leastDiagonal, mostDiagonal = 1e-100, 1e101
	indefinite                  = 1e-6
)

// checkKernel refuses a kernel matrix that no command could use. It overwrites the scratch triangle.
func (m *Model) checkKernel() error {
	diagonal := make([]float64, m.Sites())
	switch {
	case m.Form() == Exact:
		m.Gram().Diag(diagonal)
	case m.inputs != nil:
		if err := m.inputs.Diagonal(diagonal); err != nil {
			return err
		}
	default:
		return nil // spread: its engine checks
	}
	for site, k := range diagonal {
		if k != 0 && !(k >= leastDiagonal && k <= mostDiagonal) {
			return fmt.Errorf("%s: the kernel of row %d with itself is %g, must be 0 or lie between %g and %g: "+
				"scale it", m.Set.Name, m.First[site]+1, k, leastDiagonal, mostDiagonal)
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
		return fmt.Errorf("%s: the precomputed kernel matrix is not positive semidefinite: pivot %d of %d, row "+
			"%d; a jitter on its diagonal would repair rounding",
			m.Set.Name, pivot.Minor, pivot.N, m.First[pivot.Minor-1]+1)
	}
	return nil
}

// checkHardMargins refuses hard margins that contradict each other at one site.
func checkHardMargins(m *Model, diagonal []float64) error {
	if c, ok := marginCost(m.Loss); !ok || !math.IsInf(c, 1) {
		return nil
	}
	for i, site := range m.Site {
		switch first := m.First[site]; {
		case diagonal[site] == 0:
			return &svm.InfeasibleError{I: i, J: -1}
		case m.Set.Y[i] != m.Set.Y[first]:
			return &svm.InfeasibleError{I: first, J: i}
		}
	}
	return nil
}
