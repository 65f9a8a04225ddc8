package linalg

import (
	"errors"
	"fmt"

	"bootbench/linalg/internal/core"
)

// PivotError reports a matrix that should be positive definite and is not.
type PivotError struct {
	Minor int // order of the first leading minor that is not positive definite
	N     int // order of the matrix
}

func (e *PivotError) Error() string {
	return fmt.Sprintf("Cholesky factorisation broke down at pivot %d of %d: the kernel matrix is not "+
		"positive semidefinite there; "+
		"add a jitter to its diagonal", e.Minor, e.N)
}

// ErrUpdate reports a low-rank update that would lose accuracy.
var ErrUpdate = errors.New("low-rank update would lose accuracy")

// SiteError reports an unusable site parameter.
type SiteError = core.SiteError
