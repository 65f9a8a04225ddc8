package core

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Update is the workspace of RankUpdate: U holds N rows of the columns of G that
// belong to the moved sites, S the small matrix between them.
type Update struct {
	U, S      []float64
	Chi, B    []float64 // after the move
	Moved     []float64 // d after the move
	Sites     []int
	Magnitude []float64 // |delta|^1/2
}

// Reserve takes from p the room for up to the given number of moved sites of n, if there
// is less.
func (w *Update) Reserve(p *Plan, n, moved int) {
	if moved > 0 && cap(w.U) < n*moved {
		p.Vectors(n*moved, &w.U)
		p.Vectors(moved*moved, &w.S)
	}
	if len(w.Chi) < n {
		p.Vectors(n, &w.Chi, &w.B)
		w.Moved = append(p.Vector(n)[:0], w.Moved...)
	}
}

// Bytes is the memory that is reserved.
func (w *Update) Bytes() int64 {
	return 8 * int64(cap(w.U)+cap(w.S)+cap(w.Chi)+cap(w.B)+cap(w.Moved))
}

// minKept is how much of b_i an update may take away. b is corrected by
// differences, so a larger loss would cost digits of the cavity c = b/chi.
const minKept = 1e-3

// Choose lists the sites that move in the direction of sign.
func (w *Update) Choose(d []float64, sites []int, delta []float64, sign float64) bool {
	w.Sites, w.Magnitude = w.Sites[:0], w.Magnitude[:0]
	w.Moved = append(w.Moved[:0], d...)
	for k, site := range sites {
		if delta[k]*sign > 0 {
			w.Sites = append(w.Sites, site)
			w.Magnitude = append(w.Magnitude, math.Sqrt(math.Abs(delta[k])))
			w.Moved[site] += delta[k]
		}
	}
	return len(w.Sites) > 0
}

// Solve replaces U by U L^-T with S = L L'. It reports false when S is not
// positive definite: the shrinking sites would fall below d = 0.
func (w *Update) Solve(n int, sign float64) bool {
	a := len(w.Sites)
	w.S = w.S[:a*a]
	for r, i := range w.Sites {
		for c := 0; c <= r; c++ {
			w.S[r*a+c] = sign * w.Magnitude[r] * w.U[i*a+c]
		}
		w.S[r*a+r]++
	}
	if blas.Bound().Potrf(gblas.Lower, a, w.S, a) != 0 {
		return false
	}
	l := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: a, Stride: a, Data: w.S}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, blas64.General{Rows: n, Cols: a, Stride: a, Data: w.U[:n*a]})
	return true
}

// Diagonals computes chi and b after the update, from those at d, and reports
// whether they kept their accuracy.
func (w *Update) Diagonals(d, chi, b []float64, sign float64) bool {
	n, a := len(d), len(w.Sites)
	safe := true
	for i := 0; i < n; i++ {
		drop := 0.0
		for _, u := range w.U[i*a : (i+1)*a] {
			drop += u * u
		}
		drop *= sign
		w.Chi[i] = chi[i] - drop
		w.B[i] = b[i] + d[i]*drop - (w.Moved[i]-d[i])*w.Chi[i]
		safe = safe && w.Moved[i] >= 0 && w.Chi[i] > minKept*chi[i] && w.B[i] > minKept*b[i]
	}
	return safe
}

// Accept takes over d, chi and b after an update.
func (s *Sites) Accept(w *Update) {
	copy(s.Chi, w.Chi)
	copy(s.B, w.B)
	s.MoveTo(w.Moved)
}
