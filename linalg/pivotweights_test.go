package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
)

// TestPivotWeights: the kernel sum over the pivots is that over all sites, of the kernel of the factor at a
// new input.
func TestPivotWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	at := func(a, b float64) float64 { return 2 + math.Exp(-(a-b)*(a-b)) }
	x, w, k := make([]float64, 40), make([]float64, 40), ZeroSym(40)
	for i := range x {
		x[i], w[i] = 4*rng.Float64(), rng.NormFloat64()
		for j := range x[:i+1] {
			k.Set(i, j, at(x[i], x[j]))
		}
	}
	for _, rank := range []int{1, 3, 8} {
		f := testutil.Must(PivotedCholesky(t.Context(), k, RankOptions{MaxRank: rank}))(t)
		f.AddDiag(0.1)
		v := f.PivotWeights(w)
		for range 5 {
			z, all, sum := 4*rng.Float64(), make([]float64, 40), 0.0
			toPivots := make([]float64, rank)
			for q, site := range f.Pivots() {
				toPivots[q] = at(z, x[site])
				sum += v[q] * toPivots[q]
			}
			f.Coordinates(toPivots)
			f.Vectors(all, toPivots)
			if want := floats.Dot(all, w); !(math.Abs(sum-want) <= 1e-8*(1+math.Abs(want))) {
				t.Errorf("rank %d at %g: %v, over all sites %v", rank, z, sum, want)
			}
		}
	}
}
