package linalg

import (
	"context"
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// Limits of the numerical low-rank factor.
const (
	trustedSum  = 1e6         // sum of d_i K_ii up to which B is factorised
	factorTol   = 8 * 0x1p-52 // mean residual, relative to the mean K_ii, that counts as rounding
	regular     = 1e-6        // smallest pivot from which on a K of full rank is regular
	smallFactor = 600         // N up to which any rank is accepted; beyond it at most N/2
)

// UseFactor makes later factorisations with sum d_i K_ii > 1e6 use the numerical low-rank factor of K, K = R
// R' within rounding, computed by the first of them. The rounding of B = I + d^1/2 K d^1/2, about 1e-16 sum
// d_i K_ii, is then large compared with the smallest eigenvalues of B, near 1 for a nearly singular K; G from
// R has no cancellation (see lowRankEngine), at 6 N r^2 + N^2 r flops. The rank r returned is N if no factor
// is in use: none was needed yet, K has full rank without small pivots, the rank is not low, or the factor
// would take more than maxBytes (0: the free memory; below 0: none). used reports whether a factorisation at
// d uses R; with a nil d only the rank is returned.
func (e *CholeskyEngine) UseFactor(d []float64, maxBytes int64) (rank int, used bool) {
	if d != nil {
		e.singular.wary, e.singular.maxBytes = true, maxBytes
		e.k.Diag(e.kdiag)
		used = e.singular.needed(e.k, e.kdiag, d)
	}
	if e.singular.factor == nil {
		return e.k.N(), used
	}
	return e.singular.factor.k.rank, used
}

// nearlySingular is an engine's state for a K that is singular within rounding.
type nearlySingular struct {
	factor   *lowRankEngine // on the numerical low-rank factor of K, see UseFactor
	wary     bool           // factorisations at large d use it
	maxBytes int64          // limit of its memory
	tried    bool           // the factor was computed or refused
	inUse    bool           // G comes from it
}

// needed reports whether a factorisation at d uses R, and computes R at its first use.
func (s *nearlySingular) needed(k *Sym, kdiag, d []float64) bool {
	if !s.wary || !(blas64.Dot(core.Vector(d), core.Vector(kdiag)) > trustedSum) {
		return false
	}
	if !s.tried {
		s.tried = true
		s.factor = findFactor(k, s.maxBytes)
	}
	return s.factor != nil
}

// findFactor is an engine on the numerical low-rank factor of k, nil if that is useless. Eigenvalues of
// smooth kernels decay at most geometrically: first a quarter of the rank must reach a quarter of the digits.
func findFactor(k *Sym, maxBytes int64) *lowRankEngine {
	n := k.N()
	if maxBytes == 0 {
		maxBytes = Room(0)
	}
	if maxBytes <= 0 || n == 0 {
		return nil
	}
	most := n
	if n > smallFactor {
		most = n / 2
		quarter := RankOptions{Tol: math.Pow(factorTol, 0.25), MaxRank: most / 4, MaxBytes: maxBytes}
		if _, err := PivotedCholesky(context.Background(), k, quarter); err != nil {
			return nil
		}
	}
	whole := RankOptions{Tol: factorTol, MaxRank: most, MaxBytes: maxBytes, rounding: factorTol}
	factor, err := PivotedCholesky(context.Background(), k, whole)
	if err != nil || factor.rank == n && smallestPivot(factor) > regular*slices.Max(Diagonal(k)) {
		return nil
	}
	clear(factor.residual) // rounding
	return newLowRankEngine(factor, true)
}

// factorizeLowRank computes chi and b by the engine on R, and G = R M^-1 R'.
func (e *CholeskyEngine) factorizeLowRank(d []float64) error {
	if err := e.singular.factor.Factorize(d); err != nil {
		return err
	}
	copy(e.sites.Chi, e.singular.factor.chi)
	copy(e.sites.B, e.singular.factor.b)
	e.form = func() { blas.Syrk(gblas.Trans, 1, e.singular.factor.solved, 0, e.k.Scratch()) }
	return nil
}
