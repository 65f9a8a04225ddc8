package linalg

import (
	"errors"
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Kernel is a positive semidefinite matrix over N sites: dense (Sym), or a low-rank factor and a diagonal
// (LowRankPlusDiag), each with a bias or without.
type Kernel interface {
	// N is the order.
	N() int
	// At is element (i, j).
	At(i, j int) float64
	// Check reports, as *EntryError, the first element that is not finite, or a diagonal element below zero.
	Check() error
	// Submatrix is the principal submatrix of the listed sites: its lower triangle at least.
	Submatrix(sites []int) blas64.General
	// Engine makes an engine on this kernel.
	Engine() Engine
}

// Diagonal is the diagonal of k.
func Diagonal(k Kernel) []float64 {
	diagonal := make([]float64, k.N())
	for i := range diagonal {
		diagonal[i] = k.At(i, i)
	}
	return diagonal
}

// Eigenvalues are the eigenvalues of the principal submatrix of the listed sites, ascending.
func Eigenvalues(k Kernel, sites []int) (values []float64, err error) {
	if k == nil {
		return nil, errors.New("linalg: there is no matrix")
	}
	a := k.Submatrix(sites)
	values = make([]float64, a.Rows)
	blas.SingleThreaded(func() {
		if !blas.Bound().Eigenvalues(gblas.Lower, a.Rows, a.Data, a.Stride, values) {
			err = fmt.Errorf("the eigenvalues of a matrix of order %d did not converge", a.Rows)
		}
	})
	return values, err
}

// EntryError reports an element that is not finite, or a negative diagonal element.
type EntryError struct {
	I, J  int // its row and column, from 0, I <= J
	Value float64
}

func (e *EntryError) Error() string {
	if e.I == e.J {
		return fmt.Sprintf("kernel of input %d with itself is %v, must be finite and >= 0", e.I+1, e.Value)
	}
	return fmt.Sprintf("kernel of inputs %d and %d is %v", e.I+1, e.J+1, e.Value)
}

// Check reports the first element that is not finite, or a diagonal element below zero.
func (s *Sym) Check() error {
	for i := range s.n {
		row := s.Row(i)
		if err := CheckDiagonal(i, row[0]); err != nil {
			return err
		}
		for j, k := range row {
			if math.IsNaN(k) || math.IsInf(k, 0) {
				return &EntryError{I: i, J: i + j, Value: k}
			}
		}
	}
	return nil
}

// CheckDiagonal refuses, as *EntryError, a diagonal element that is negative or not finite.
func CheckDiagonal(i int, k float64) error {
	if !(k >= 0) || math.IsInf(k, 1) {
		return &EntryError{I: i, J: i, Value: k}
	}
	return nil
}

func (s *Sym) Engine() Engine { return NewCholeskyEngine(s) }

// Columns is a positive semidefinite matrix of order N by columns, as pivoted Cholesky factorisation needs
// it.
type Columns interface {
	// N is the order.
	N() int
	// Diagonal writes the diagonal into dst, length N.
	Diagonal(dst []float64) error
	// Columns writes the columns of the listed sites into the rows of dst, len(sites) x N row-major.
	Columns(dst []float64, sites []int) error
}

func (s *Sym) Diagonal(dst []float64) error {
	s.Diag(dst)
	return nil
}

func (s *Sym) Columns(dst []float64, sites []int) error {
	for r, site := range sites {
		column := dst[r*s.n : (r+1)*s.n]
		for i := range site {
			column[i] = s.At(i, site)
		}
		copy(column[site:], s.Row(site))
	}
	return nil
}

// Blocks is a positive semidefinite matrix of order N by rectangles, as a rank needs it for its part.
type Blocks interface {
	// N is the order.
	N() int
	// GramDiagonal writes the diagonal into dst, length N.
	GramDiagonal(dst []float64) error
	// Block writes elements (rows[r], cols[c]) into dst[r*stride+c]. Elements of the diagonal may be wrong.
	// The caller checks for elements that are not finite.
	Block(dst []float64, stride int, rows, cols []int)
}
