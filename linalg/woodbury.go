package linalg

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// RankUpdate changes d by delta at the listed sites: first the sites of one sign of delta, then the sites of
// the other. Each group needs one Cholesky factor of its order:
//
//	G+ = G - U S^-1 U',  U = G_J |delta|^1/2,  S = I + |delta|^1/2 G_JJ |delta|^1/2   (M03-65)
//
// with both signs changed for decreasing d. It refuses if G is from the low-rank factor.
func (e *CholeskyEngine) RankUpdate(sites []int, delta []float64) error {
	if e.singular.inUse {
		return ErrUpdate
	}
	e.FormG()
	for _, sign := range []float64{1, -1} {
		if err := e.updateGroup(sites, delta, sign); err != nil {
			return err
		}
	}
	return nil
}

// minKept is the least ratio of b_i after and before an update: b is updated by differences, and a smaller
// one would make the cavity c = b/chi inaccurate.
const minKept = 1e-3

// updateGroup updates the sites with delta of the given sign.
func (e *CholeskyEngine) updateGroup(all []int, delta []float64, sign float64) error {
	var sites []int
	var magnitude []float64 // |delta|^1/2
	d := slices.Clone(e.sites.D)
	for k, site := range all {
		if delta[k]*sign > 0 {
			sites, magnitude = append(sites, site), append(magnitude, math.Sqrt(math.Abs(delta[k])))
			d[site] += delta[k]
		}
	}
	if len(sites) == 0 {
		return nil
	}
	u := e.columns(sites, magnitude)
	if !divideByRoot(u, sites, magnitude, sign) {
		return ErrUpdate
	}
	chi, b := make([]float64, len(d)), make([]float64, len(d))
	for i := range d {
		drop := 0.0
		for _, v := range core.Row(u, i) {
			drop += v * v
		}
		drop *= sign
		chi[i] = e.sites.Chi[i] - drop
		b[i] = e.sites.B[i] + e.sites.D[i]*drop - (d[i]-e.sites.D[i])*chi[i]
		if !(d[i] >= 0 && chi[i] > minKept*e.sites.Chi[i] && b[i] > minKept*e.sites.B[i]) {
			return ErrUpdate
		}
	}
	blas.Syrk(gblas.NoTrans, -sign, u, 1, e.k.Scratch())
	e.clearDiagonal()
	copy(e.sites.Chi, chi)
	copy(e.sites.B, b)
	e.sites.MoveTo(d)
	return nil
}

// columns is U = G_J diag(magnitude), N x len(sites), in the engine's workspace.
func (e *CholeskyEngine) columns(sites []int, magnitude []float64) blas64.General {
	n, a := e.k.N(), len(sites)
	e.update = slices.Grow(e.update[:0], n*a)[:n*a]
	u, s := blas64.General{Rows: n, Cols: a, Stride: a, Data: e.update}, e.k.Scratch()
	eachRow(n, func(i int) {
		row := core.Row(u, i)
		for k, j := range sites {
			g := s.Data[max(i, j)*s.Stride+min(i, j)]
			if i == j {
				g = e.sites.Chi[i]
			}
			row[k] = g * magnitude[k]
		}
	})
	return u
}

// divideByRoot replaces U by U L^-T with S = L L'. It returns false if S is not positive definite: d would
// become negative.
func divideByRoot(u blas64.General, sites []int, magnitude []float64, sign float64) bool {
	s := contiguous(u.Cols, u.Cols)
	for r, i := range sites {
		for c := range r + 1 {
			core.Row(s, r)[c] = sign * magnitude[r] * core.Row(u, i)[c]
		}
		core.Row(s, r)[r]++
	}
	if factorizeLower(s) != nil {
		return false
	}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, lowerOf(s), u)
	return true
}
