// Package linalg computes the matrix at the heart of the theory,
//
//	G = (K^-1 + diag(d))^-1,                                  (M03-36)
//
// for changing site precisions d, without inverting K.
//
// As in gonum, a nil matrix or engine, an index or a slice that does not fit, and a method of a zero value
// that a function of the package makes, panic.
package linalg

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg/internal/core"
)

// Engine computes G = (K^-1 + diag(d))^-1 for one Gram matrix K of order N and a vector d >= 0 that changes.
// An engine is not safe for concurrent use; it runs in parallel inside.
//
// Factorize computes the diagonal of G; FormG then computes all of G from the same factorisation. They are
// separate because most iterations need only the diagonal. Costs are CholeskyEngine's; lowRankEngine
// states its costs. Dense has the additional methods of dense engines.
type Engine interface {
	// Factorize computes G at d, exactly. It costs 2N^3/3 flops. It refuses entries
	// of d that are negative or not finite, and a K that is not positive
	// semidefinite (*PivotError); G is then undefined until the next Factorize.
	Factorize(d []float64) error

	// FormG computes all of G unless that is done. It costs N^3/3 more flops.
	FormG()

	// Valid reports whether the engine holds G: not after a failed Factorize, nor, for a dense engine, after
	// another claim of K's scratch triangle.
	Valid() bool

	// Precisions returns the d of G, length N, the engine's own slice.
	Precisions() []float64

	// Diag returns chi = diag(G) and b = 1 - d chi, both without cancellation. The slices belong to the
	// engine: read-only, valid until G changes.
	Diag() (chi, b []float64)

	// MulOffDiag is dst = x (G - diag(G)) for the B rows of x; both are B x N and must not overlap.
	// MulVecSquaredOffDiag is dst_i = sum_{j != i} G_ij^2 x_j. Cavities need the products without the
	// diagonal, whose subtraction would cancel; for the full product add chi_i x_i or chi_i^2 x_i. Both need
	// all of G.
	MulOffDiag(dst, x blas64.General)
	MulVecSquaredOffDiag(dst, x []float64)

	// Rows copies rows first, first+1, ... of G into dst. It needs all of G and is safe for concurrent use.
	Rows(dst blas64.General, first int)
}

// Single is an engine that knows single precision.
type Single interface {
	Engine

	// FactorizeSingle is Factorize and FormG in single precision, at half the cost: the relative error of G
	// is about SingleError(d). The error is ErrSingle if single precision does not suffice, or the backend
	// has none; G is then undefined.
	FactorizeSingle(d []float64) error

	// SingleError is the expected relative error of FactorizeSingle's chi and b at d, +Inf if it refuses.
	SingleError(d []float64) float64
}

// Dense is an engine on a dense K.
type Dense interface {
	Single

	// RankUpdate changes d by delta at the listed sites and G with it, exactly (Woodbury, M03-65), at N^2
	// len(sites) flops. It calls FormG if necessary. An update that would lose accuracy is refused with
	// ErrUpdate; G is then the one of Precisions, after none or part of the change.
	RankUpdate(sites []int, delta []float64) error

	// UseFactor makes later factorisations at large d more accurate on a K that is singular within rounding:
	// see CholeskyEngine. It returns the numerical rank of K if the engine has computed it, else N, and
	// whether a factorisation at d would use the factor; with a nil d it only returns the rank.
	UseFactor(d []float64, maxBytes int64) (rank int, used bool)
}

// Parallel runs f(0) ... f(n-1) on up to GOMAXPROCS goroutines. Tasks are started in order and must write to
// disjoint memory, so that the result does not depend on the number of goroutines.
func Parallel(n int, f func(task int)) { core.Parallel(n, f) }

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
