package gp

import (
	"fmt"
	"math"
	"slices"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// PivotError reports a training matrix K_aa + diag(s2/k_a) that is not positive definite, as rounded.
type PivotError struct {
	// Site is the site (from 0) at which the Cholesky factorisation stopped.
	Site int
	// Pivot is zero, negative or NaN.
	Pivot float64
	// Jitter, added to the diagonal of K, repairs a failure by rounding. It is NaN if Pivot is.
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

// system is the linear system (K_aa + diag(ridge)) x = b of one training set. The zero uplo means the upper
// triangle, in an array that the system owns and keeps for the next training set.
type system struct {
	kernel *linalg.Sym
	uplo   gonum.Uplo // triangle of a
	n      int        // order
	stride int
	a      []float64 // n x n, row-major: the matrix without the ridge, then its Cholesky factor
}

// gather fills the upper triangle with K between the listed sites, ascending, repeated entries allowed. most
// bounds their number in later calls, which varies between resamples.
func (s *system) gather(site []int, most int) {
	n := len(site)
	s.uplo, s.n, s.stride = gonum.Upper, n, workspace.ResizeSquare(&s.a, n, most)
	workspace.GatherUpper(s.a, s.stride, s.kernel, site)
}

// solve overwrites b with the solution x, after factorise. If biased, it solves S x + bias = b, sum x = 0, S
// = K_aa + diag(ridge): x = S^-1 (b - bias), bias = 1'S^-1 b/1'S^-1 1. site is the site of each row, for
// errors.
func (s *system) solve(b []float64, site train.Sites, biased bool) (bias float64, err error) {
	if s.n == 0 {
		return 0, nil
	}
	workspace.SolveFactored(s.uplo, s.a, s.stride, b)
	if biased {
		ones := slices.Repeat([]float64{1}, s.n)
		workspace.SolveFactored(s.uplo, s.a, s.stride, ones)
		bias = floats.Sum(b) / floats.Sum(ones)
		floats.AddScaled(b, -bias, ones)
	}
	p := slices.IndexFunc(b, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if p >= 0 { // factorisations do not detect NaN in the matrix or the targets, and overflow
		err = fmt.Errorf("the training at site %d gave %v: the kernel matrix or a target is not finite",
			site.At(p)+1, b[p])
	}
	return bias, err
}

// factorise adds the ridge and overwrites the matrix with its Cholesky factor.
func (s *system) factorise(site train.Sites, ridge []float64) error {
	if s.n == 0 {
		return nil
	}
	for p, v := range ridge[:s.n] {
		s.a[p*s.stride+p] += v
	}
	if minor := blas.Bound().Potrf(s.uplo, s.n, s.a, s.stride); minor != 0 {
		return s.pivotError(minor-1, site, ridge)
	}
	return nil
}

// invert overwrites the Cholesky factor with the upper triangle of the inverse matrix, and mirrors it.
func (s *system) invert() blas64.General {
	blas.Bound().Trtri(gonum.Upper, s.n, s.a, s.stride)
	blas.Bound().Lauum(gonum.Upper, s.n, s.a, s.stride)
	both := blas64.Symmetric{N: s.n, Stride: s.stride, Data: s.a}
	workspace.TransposeUpper(both, both)
	return blas64.General{Rows: s.n, Cols: s.n, Stride: s.stride, Data: s.a}
}

// pivotError describes a factorisation that stopped at row p. It recomputes the pivot from rows (columns) 0
// to p-1 of the factor, which are final. The jitter suggested is ten times the rounding (n units in the last
// place of the largest diagonal element) and the deficit of the pivot, rounded up to a power of ten.
func (s *system) pivotError(p int, site train.Sites, ridge []float64) error {
	diagonal := func(q int) float64 { return s.kernel.At(site.At(q), site.At(q)) + ridge[q] }
	pivot, largest := diagonal(p), 0.0
	for q := range p {
		l := s.a[q*s.stride+p]
		if s.uplo == gonum.Lower {
			l = s.a[p*s.stride+q]
		}
		pivot -= l * l
	}
	for q := range s.n {
		largest = max(largest, diagonal(q))
	}
	const ulp = 0x1p-52
	need := 10 * (math.Abs(pivot) + float64(s.n)*ulp*largest)
	return &PivotError{Site: site.At(p), Pivot: pivot, Jitter: math.Pow(10, math.Ceil(math.Log10(need)))}
}
