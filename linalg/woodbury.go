package linalg

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// RankUpdate changes d by delta at the listed sites. The sites that grow and those that shrink are moved one
// group after the other, so that each group needs one Cholesky factor of the order of the group:
//
//	G+ = G - U S^-1 U',  U = G_J |delta|^1/2,  S = I + |delta|^1/2 G_JJ |delta|^1/2   (M03-65)
//
// and for shrinking sites the same with both signs changed. It refuses where G comes
// from the low-rank factor.
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

// updateGroup moves the sites whose delta has the given sign.
func (e *CholeskyEngine) updateGroup(sites []int, delta []float64, sign float64) error {
	w := &e.update
	if !w.choose(e.sites.D, sites, delta, sign) {
		return nil
	}
	e.gatherColumns()
	if !w.solve(e.k.N(), sign) || !w.diagonals(e.sites.D, e.sites.Chi, e.sites.B, sign) {
		return ErrUpdate
	}
	n, a := e.k.N(), len(w.sites)
	u := blas64.General{Rows: n, Cols: a, Stride: a, Data: w.u[:n*a]}
	blas64.Syrk(gblas.NoTrans, -sign, u, 1, e.k.Scratch())
	e.clearDiagonal()
	copy(e.sites.Chi, w.chi)
	copy(e.sites.B, w.b)
	e.sites.MoveTo(w.moved)
	return nil
}

// gatherColumns fills U = G_J |delta|^1/2, row by row.
func (e *CholeskyEngine) gatherColumns() {
	w := &e.update
	n, a := e.k.N(), len(w.sites)
	w.u = slices.Grow(w.u[:0], n*a)[:n*a]
	w.s = slices.Grow(w.s[:0], a*a)[:a*a]
	w.chi, w.b = slices.Grow(w.chi[:0], n)[:n], slices.Grow(w.b[:0], n)[:n]
	s := e.k.Scratch()
	eachRow(n, func(i int) {
		for k, j := range w.sites {
			g := s.Data[max(i, j)*s.Stride+min(i, j)]
			if i == j {
				g = e.sites.Chi[i]
			}
			w.u[i*a+k] = g * w.magnitude[k]
		}
	})
}

// update is the workspace of RankUpdate: u holds N rows of the columns of G that
// belong to the moved sites, s the small matrix between them.
type update struct {
	u, s      []float64
	chi, b    []float64 // after the move
	moved     []float64 // d after the move
	sites     []int
	magnitude []float64 // |delta|^1/2
}

// minKept is how much of b_i an update may take away. b is corrected by
// differences, so a larger loss would cost digits of the cavity c = b/chi.
const minKept = 1e-3

// choose lists the sites that move in the direction of sign.
func (w *update) choose(d []float64, sites []int, delta []float64, sign float64) bool {
	w.sites, w.magnitude = w.sites[:0], w.magnitude[:0]
	w.moved = append(w.moved[:0], d...)
	for k, site := range sites {
		if delta[k]*sign > 0 {
			w.sites = append(w.sites, site)
			w.magnitude = append(w.magnitude, math.Sqrt(math.Abs(delta[k])))
			w.moved[site] += delta[k]
		}
	}
	return len(w.sites) > 0
}

// solve replaces U by U L^-T with S = L L'. It reports false when S is not
// positive definite: the shrinking sites would fall below d = 0.
func (w *update) solve(n int, sign float64) bool {
	a := len(w.sites)
	for r, i := range w.sites {
		for c := 0; c <= r; c++ {
			w.s[r*a+c] = sign * w.magnitude[r] * w.u[i*a+c]
		}
		w.s[r*a+r]++
	}
	if blas.Bound().Potrf(gblas.Lower, a, w.s, a) != 0 {
		return false
	}
	l := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: a, Stride: a, Data: w.s}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, blas64.General{Rows: n, Cols: a, Stride: a, Data: w.u[:n*a]})
	return true
}

// diagonals computes chi and b after the update, from those at d, and reports
// whether they kept their accuracy.
func (w *update) diagonals(d, chi, b []float64, sign float64) bool {
	n, a := len(d), len(w.sites)
	safe := true
	for i := 0; i < n; i++ {
		drop := 0.0
		for _, u := range w.u[i*a : (i+1)*a] {
			drop += u * u
		}
		drop *= sign
		w.chi[i] = chi[i] - drop
		w.b[i] = b[i] + d[i]*drop - (w.moved[i]-d[i])*w.chi[i]
		safe = safe && w.moved[i] >= 0 && w.chi[i] > minKept*chi[i] && w.b[i] > minKept*b[i]
	}
	return safe
}
