package gp

import (
	"fmt"
	"math"
	"slices"

	"bootbench/blas"
	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
)

// PivotError reports a training matrix K_aa + diag(s2/k_a) that is not
// positive definite to working precision.
type PivotError struct {
	// Site is the site (from 0) at which the Cholesky factorisation stopped.
	Site int
	// Pivot is what was left of its diagonal element: zero, negative or NaN.
	Pivot float64
	// Jitter is a value that, added to the diagonal of K, repairs a matrix that
	// is positive semidefinite but for rounding. It is NaN where Pivot is NaN.
	Jitter float64
}

func (e *PivotError) Error() string {
	if math.IsNaN(e.Jitter) {
		return fmt.Sprintf("the kernel matrix is not finite at or before site %d", e.Site+1)
	}
	return fmt.Sprintf("the training matrix is not positive definite: pivot %.3g at site %d; "+
		"a larger noise, or a jitter of about %.0e on the kernel's diagonal, would repair rounding",
		e.Pivot, e.Site+1, e.Jitter)
}

// system is the linear system of one training set. Its upper triangle is
// gathered from the kernel matrix and factorised in place; the array is kept
// from one training set to the next.
type system struct {
	kernel *linalg.Sym
	n      int // order
	stride int
	a      []float64 // n x n, row-major, upper triangle
}

// resize makes room for order n, with some headroom because the number of
// active sites varies from one resample to the next.
func (s *system) resize(n, most int) {
	s.n, s.stride = n, paddedStride(n)
	if n*s.stride <= len(s.a) {
		return
	}
	roomy := min(n+n/16+8, max(n, most))
	s.a = nil // let the old array go before the new one comes
	s.a = make([]float64, roomy*paddedStride(roomy))
}

// paddedStride is n rounded up to an odd number of cache lines.
func paddedStride(n int) int {
	return 8 * ((n+7)/8 | 1)
}

// gather fills the triangle with K_pq over the sites index[p], index[q], p <= q.
// The index is ascending; repeated entries are allowed.
func (s *system) gather(index []int) {
	raw := s.kernel.Raw()
	for p, i := range index {
		from := raw.Data[i*raw.Stride : i*raw.Stride+raw.N]
		to := s.a[p*s.stride+p : p*s.stride+len(index)]
		for q, j := range index[p:] {
			to[q] = from[j]
		}
	}
}

// addDiagonal adds v to diagonal element p.
func (s *system) addDiagonal(p int, v float64) { s.a[p*s.stride+p] += v }

// solve factorises the triangle and overwrites b with the solution of the
// system. diagonal(p) is diagonal element p before factorisation, and index
// the site of each row; both serve the error message alone.
func (s *system) solve(b []float64, index []int, diagonal func(p int) float64) error {
	if s.n == 0 {
		return nil
	}
	bound := blas.Bound()
	if minor := bound.Potrf(gonum.Upper, s.n, s.a, s.stride); minor != 0 {
		return s.pivotError(minor-1, index, diagonal)
	}
	bound.Dtrsv(gonum.Upper, gonum.Trans, gonum.NonUnit, s.n, s.a, s.stride, b, 1)
	bound.Dtrsv(gonum.Upper, gonum.NoTrans, gonum.NonUnit, s.n, s.a, s.stride, b, 1)
	return checkSolution(b, index)
}

// pivotError describes a factorisation that stopped at row p: rows 0 to p-1 of
// the factor are final there, so the pivot can be formed again.
func (s *system) pivotError(p int, index []int, diagonal func(p int) float64) error {
	pivot, largest := diagonal(p), 0.0
	for q := 0; q < p; q++ {
		pivot -= s.a[q*s.stride+p] * s.a[q*s.stride+p]
	}
	for q := range index {
		largest = math.Max(largest, diagonal(q))
	}
	return newPivotError(index[p], pivot, largest, len(index))
}

// newPivotError suggests a jitter of ten times what rounding (n units in the
// last place of the largest diagonal element) and the pivot itself ask for,
// rounded up to a power of ten.
func newPivotError(site int, pivot, largest float64, n int) *PivotError {
	const ulp = 0x1p-52
	need := 10 * (math.Abs(pivot) + float64(n)*ulp*largest)
	return &PivotError{Site: site, Pivot: pivot, Jitter: math.Pow(10, math.Ceil(math.Log10(need)))}
}

// checkSolution finds what a factorisation lets through: NaN in the matrix or
// the targets, and overflow.
func checkSolution(b []float64, index []int) error {
	p := slices.IndexFunc(b, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if p < 0 {
		return nil
	}
	return fmt.Errorf("the training at site %d gave %v: the kernel matrix or a target is not finite", index[p]+1, b[p])
}
