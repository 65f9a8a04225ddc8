package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// TestThin: the products of a Thin are those of its definition, added up site by site, to the rounding of its
// precision times the sum of sizes; of a range of sites, of panels of several heights, and nothing else is
// written.
func TestThin(t *testing.T) {
	if ThinWork(1) == 0 {
		t.Skip("no such kernels")
	}
	for _, rank := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 25, 31, 47, 48, 49, 100} {
		for _, n := range []int{1, 5, 16, 239, 240, 241, 500} {
			for single, tol := range map[bool]float64{false: 1e-15, true: 5e-7} {
				t.Run(fmt.Sprintf("rank=%d/n=%d/single=%t", rank, n, single), func(t *testing.T) {
					checkThin(t, rank, n, single, tol)
				})
			}
		}
	}
}

func checkThin(t *testing.T, rank, n int, single bool, tol float64) {
	rng := rand.New(rand.NewPCG(uint64(rank), uint64(n)))
	const height = 16
	m, rows := Thin{Single: single}, [][]float64(nil)
	for first := 0; first < rank; first += height {
		p := blas64.General{Rows: min(height, rank-first), Cols: n, Stride: n + 3, Data: normals(height*(n+3), rng)}
		m.Panels = append(m.Panels, p)
		for r := range p.Rows {
			rows = append(rows, p.Data[r*p.Stride:r*p.Stride+n])
		}
	}
	root, work := normals(n, rng), make([]float64, ThinWork(rank))
	for i := range work {
		work[i] = math.NaN() // left behind by whoever
	}
	first, last := n/7, n-n/9
	sum, lower := square(rank, rng), square(rank, rng)
	before := append([]float64(nil), sum.Data...)
	m.AddGram(sum, root, first, last, work)
	for p := range rank {
		for q := range sum.Stride {
			want, size := before[p*sum.Stride+q], 0.0
			for i := first; i < last && q <= p; i++ {
				term := rows[p][i] * rows[q][i] * root[i] * math.Abs(root[i])
				want, size = want+term, size+math.Abs(term)
			}
			near(t, fmt.Sprintf("gram %d %d", p, q), sum.Data[p*sum.Stride+q], want,
				4*tol*(math.Abs(want)+size)*math.Sqrt(float64(last-first)))
		}
	}
	norms, products, kept := normals(n, rng), normals(n, rng), blas64.General{Rows: rank, Cols: n, Stride: n + 1,
		Data: normals(rank*(n+1), rng)}
	before, beforeKept := append([]float64(nil), norms...), append([]float64(nil), kept.Data...)
	copy(products, norms)
	m.Norms(norms, lower, kept, first, last, work)
	m.Forms(products, lower, first, last, work)
	for i := range n {
		if i < first || i >= last {
			near(t, "norm of another site", norms[i], before[i], 0)
			near(t, "form of another site", products[i], before[i], 0)
		} else {
			checkForms(t, rows, lower, i, norms[i], products[i], tol)
		}
	}
	for k, v := range kept.Data {
		if q, i := k/kept.Stride, k%kept.Stride; i < first || i >= last {
			near(t, "kept of another site", v, beforeKept[k], 0)
		} else {
			want := 0.0
			for p := range q + 1 {
				want += lower.Data[q*lower.Stride+p] * rows[p][i]
			}
			near(t, "kept", v, want, 40*tol*float64(rank))
		}
	}
}

func checkForms(t *testing.T, rows [][]float64, lower blas64.General, i int, norm, form, tol float64) {
	t.Helper()
	wantNorm, wantForm, size := 0.0, 0.0, 0.0
	for q := range rows {
		v, most := 0.0, 0.0
		for p := range q + 1 {
			term := lower.Data[q*lower.Stride+p] * rows[p][i]
			v, most = v+term, most+math.Abs(term)
		}
		wantNorm, wantForm, size = wantNorm+v*v, wantForm+v*rows[q][i],
			size+most*(math.Abs(v)+most+math.Abs(rows[q][i]))
	}
	near(t, "norm", norm, wantNorm, 4*tol*size)
	near(t, "form", form, wantForm, 4*tol*size)
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func normals(n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// square has room beyond its columns.
func square(n int, rng *rand.Rand) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n + 2, Data: normals(n*(n+2), rng)}
}
