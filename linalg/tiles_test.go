package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// TestLowerGram: one band, several, and a rest, element by element. Sums of n products
// of normal numbers err by some n^1/2 roundings.
func TestLowerGram(t *testing.T) {
	for _, n := range []int{0, 1, bandRows, bandRows + 1, 3*bandRows + 5} {
		rng := rand.New(rand.NewPCG(71, uint64(n)))
		square := func() blas64.General {
			return blas64.General{Rows: n, Cols: n, Stride: max(1, n), Data: make([]float64, n*n)}
		}
		a, c := square(), square()
		for i := range a.Data {
			a.Data[i], c.Data[i] = rng.NormFloat64(), math.NaN()
		}
		LowerGram(c, a)
		if n > bandRows { // and by dsyrk, which OpenBLAS takes on one thread
			blas.SingleThreaded(func() { LowerGram(c, a) })
		}
		for i := range n {
			for j := range i + 1 {
				want := 0.0
				for k := range n {
					want += a.Data[i*n+k] * a.Data[j*n+k]
				}
				if got := c.Data[i*n+j]; !(math.Abs(got-want) <= 1e-13*float64(n)) {
					t.Fatalf("order %d, element (%d, %d): %g, want %g", n, i, j, got, want)
				}
			}
		}
	}
}
