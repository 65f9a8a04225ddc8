package linalg

import (
	"errors"
	"fmt"
	"math"
)

// PivotError reports a matrix that should be positive definite and is not.
type PivotError struct {
	Minor int // order of the first leading minor that is not positive definite
	N     int // order of the matrix
}

func (e *PivotError) Error() string {
	return fmt.Sprintf("Cholesky factorisation broke down at pivot %d of %d: the kernel matrix is not positive semidefinite there; "+
		"add a jitter to its diagonal", e.Minor, e.N)
}

// ErrUpdate reports a low-rank update that would lose accuracy.
var ErrUpdate = errors.New("low-rank update would lose accuracy")

// SiteError reports an unusable site parameter.
type SiteError struct {
	Site  int // 0-based
	Value float64
}

func (e *SiteError) Error() string {
	return fmt.Sprintf("site parameter d of site %d is %v, must be finite and >= 0", e.Site+1, e.Value)
}

// checkSites refuses site parameters that no G can have.
func checkSites(d []float64, n int) error {
	if len(d) != n {
		return fmt.Errorf("%d site parameters for %d sites", len(d), n)
	}
	for i, v := range d {
		if !(v >= 0) || math.IsInf(v, 1) {
			return &SiteError{Site: i, Value: v}
		}
	}
	return nil
}
