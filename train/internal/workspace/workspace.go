// Package workspace is what the trainers svm, gp and erm share inside: memory that is used again by the next
// training, the kernel matrix between the active sites, the examples by site, and the detection of a stall.
package workspace

import (
	"math"

	"bootbench/train"
)

// Resize returns s with length n, in new memory only where the old does not suffice, undefined.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// ResizeAll is Resize of several slices.
func ResizeAll(n int, slices ...*[]float64) {
	for _, s := range slices {
		*s = Resize(*s, n)
	}
}

// Reuse is a Result on m sites in the memory of r, undefined.
func Reuse(r *train.Result, m int) train.Result {
	return train.Result{Weight: Resize(r.Weight, m), F: Resize(r.F, m)}
}

// Progress detects that a maximisation has stalled. The zero value is ready.
type Progress struct {
	residual, objective float64
	begun               bool
	idle                int
}

// Update records an iteration, and returns the number since the last one with progress: a residual below 0.9
// times the smallest before, or an objective above the largest before by more than rounding.
func (p *Progress) Update(residual, objective float64) (idle int) {
	better := residual < 0.9*p.residual || objective > p.objective+1e-14*math.Abs(p.objective)
	if !p.begun {
		p.begun, better = true, true
		p.residual, p.objective = residual, objective
	}
	p.residual, p.objective = min(p.residual, residual), max(p.objective, objective)
	if p.idle++; better {
		p.idle = 0
	}
	return p.idle
}
