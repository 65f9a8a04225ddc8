package linalg

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// Sym is a symmetric N x N matrix of float64 that shares its storage with a
// scratch triangle of the same size.
//
// The matrix lives in an upper triangle, row by row, shifted one place to the right; the strict lower part
// and the freed diagonal hold a complete lower triangle of scratch space. One array of N(N+1) numbers
// therefore carries both K and a factorisation of a matrix built from it:
//
//	row i:   s_i0 ... s_ii | K_ii K_i,i+1 ... K_i,N-1
//
// A factorisation (an Engine, or a full-data fit) overwrites the scratch triangle, so two of them must not
// run on one Sym at the same time.
type Sym struct {
	n, stride int
	data      []float64
	claims    atomic.Int64 // number of Claims of the scratch triangle
	users     sync.RWMutex // its present writer or readers, only tried, never waited for
}

// NewSym copies a symmetric matrix.
func NewSym(a mat.Symmetric) *Sym {
	s := ZeroSym(a.SymmetricDim())
	for i := range s.n {
		row := s.Row(i)
		for j := range row {
			row[j] = a.At(i, i+j)
		}
	}
	return s
}

// ZeroSym returns a zero symmetric matrix of order n >= 0. It allocates about 8 n^2 bytes; see SymBytes.
func ZeroSym(n int) *Sym {
	if n < 0 {
		panic("linalg: negative order")
	}
	stride := PaddedStride(n + 1)
	if n == 0 {
		return &Sym{stride: stride}
	}
	return &Sym{n: n, stride: stride, data: make([]float64, (n-1)*stride+n+1)}
}

// SymBytes is the memory in bytes that ZeroSym(n) takes.
func SymBytes(n int) int64 {
	return 8 * int64(n) * int64(PaddedStride(n+1))
}

// PaddedStride is n rounded up to an odd number of cache lines, so that walking down a column never returns
// to the same cache set.
func PaddedStride(n int) int { return 8 * ((n+7)/8 | 1) }

// SymFromDense copies the row-major n x n matrix a into a Sym. It refuses
// entries that are not finite and pairs with |a_ij - a_ji| > tol max|a|.
func SymFromDense(n int, a []float64, tol float64) (*Sym, error) {
	if len(a) != n*n {
		return nil, fmt.Errorf("a matrix of %d numbers is not %d x %d", len(a), n, n)
	}
	largest := 0.0
	for k, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("entry (%d, %d) is %v", k/n+1, k%n+1, v)
		}
		largest = math.Max(largest, math.Abs(v))
	}
	s := ZeroSym(n)
	for i := 0; i < n; i++ {
		row := s.Row(i)
		for j := i; j < n; j++ {
			if math.Abs(a[i*n+j]-a[j*n+i]) > tol*largest {
				return nil, fmt.Errorf("matrix is not symmetric: entries (%d, %d) = %v and (%d, %d) = %v "+
					"differ", i+1, j+1, a[i*n+j], j+1, i+1, a[j*n+i])
			}
			row[j-i] = (a[i*n+j] + a[j*n+i]) / 2
		}
	}
	return s, nil
}

// N is the order of the matrix. SymmetricDim, Dims and T make s a mat.Symmetric of gonum.
func (s *Sym) N() int                 { return s.n }
func (s *Sym) SymmetricDim() int      { return s.n }
func (s *Sym) Dims() (rows, cols int) { return s.n, s.n }
func (s *Sym) T() mat.Matrix          { return s }

// At returns element (i, j).
func (s *Sym) At(i, j int) float64 {
	if j < i {
		i, j = j, i
	}
	return s.data[i*s.stride+j+1]
}

// Set sets elements (i, j) and (j, i).
func (s *Sym) Set(i, j int, v float64) {
	if j < i {
		i, j = j, i
	}
	s.data[i*s.stride+j+1] = v
}

// Row is the stored part of row i: elements (i, i) to (i, n-1). It is a view.
func (s *Sym) Row(i int) []float64 {
	return s.data[i*s.stride+i+1 : i*s.stride+s.n+1]
}

// Raw is a view of the matrix for BLAS: row-major, upper triangle.
func (s *Sym) Raw() blas64.Symmetric {
	return blas64.Symmetric{Uplo: gblas.Upper, N: s.n, Stride: s.stride, Data: s.data[min(1, s.n):]}
}

// Claim takes over the scratch triangle before it is overwritten, and numbers the claims.
func (s *Sym) Claim() int64 { return s.claims.Add(1) }

// ErrBusy: the scratch triangle is in use.
var ErrBusy = errors.New(
	"the kernel matrix is in use by another solve, full fit or read-out at this moment, which work in the " +
		"same memory: let one end before the next begins, or build a model for each")

// Reserve locks the scratch triangle of k until release is called, or fails at once with ErrBusy. A kernel
// that is not dense has none, and is not locked.
func Reserve(k Kernel) (release func(), err error) {
	return lock(k, (*sync.RWMutex).TryLock, (*sync.RWMutex).Unlock)
}

// Share is Reserve for readers, who share the triangle.
func Share(k Kernel) (release func(), err error) {
	return lock(k, (*sync.RWMutex).TryRLock, (*sync.RWMutex).RUnlock)
}

func lock(k Kernel, try func(*sync.RWMutex) bool, unlock func(*sync.RWMutex)) (func(), error) {
	s := SymOf(k)
	switch {
	case s == nil:
		return func() {}, nil
	case !try(&s.users):
		return nil, ErrBusy
	}
	return func() { unlock(&s.users) }, nil
}

// Scratch is the scratch triangle that shares the array: row-major, lower triangle with its diagonal, a view.
// Its content belongs to the last Claim.
func (s *Sym) Scratch() blas64.Symmetric {
	return blas64.Symmetric{Uplo: gblas.Lower, N: s.n, Stride: s.stride, Data: s.data}
}

// AddDiag adds v to every diagonal element.
func (s *Sym) AddDiag(v float64) {
	for i := 0; i < s.n; i++ {
		s.data[i*s.stride+i+1] += v
	}
}

// Diag copies the diagonal into dst, which must have length N.
func (s *Sym) Diag(dst []float64) {
	for i := range dst {
		dst[i] = s.data[i*s.stride+i+1]
	}
}

// CheckSemidefinite reports, as *PivotError, that an eigenvalue lies below -share of the
// largest diagonal element. It overwrites the scratch triangle.
func (s *Sym) CheckSemidefinite(share float64) error {
	s.Claim()
	t, slack := s.Scratch(), share*slices.Max(append(Diagonal(s), 0))
	for i := range s.n {
		row := t.Data[i*t.Stride : i*t.Stride+i+1]
		for j := range row {
			row[j] = s.At(j, i)
		}
		row[i] += slack
	}
	if slack == 0 {
		return nil // no diagonal: the engines refuse other elements
	}
	if minor := blas.Bound().Potrf(gblas.Lower, t.N, t.Data, t.Stride); minor != 0 {
		return &PivotError{Minor: minor, N: s.n}
	}
	return nil
}

// Submatrix is the principal submatrix of the listed rows, in a lower triangle.
func (s *Sym) Submatrix(rows []int) blas64.General {
	a := newGeneral(len(rows), len(rows))
	for i := range rows {
		for j := range i + 1 {
			core.Row(a, i)[j] = s.At(rows[i], rows[j])
		}
	}
	return a
}
