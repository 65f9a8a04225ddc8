package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
)

// TestSquares32: products in single precision are those of the engine to some 1e-6 of the largest,
// for x of one sign and of both, whether L^-1 R' is kept or not. No other engine has them, nor any
// without kernels.
func TestSquares32(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(3, 12))
	f := mustFactorise(t, SymColumns{plane(n, 0.3, rng)}, RankOptions{Tol: 1e-4})
	d, x := drawSites(n, siteRegimes["even"], rng), drawSites(n, siteRegimes["even"], rng)
	mixed := append([]float64(nil), x...)
	for i := 0; i < n; i += 3 {
		mixed[i] *= -2
	}
	for _, keep := range []bool{true, false} {
		e := NewLowRankEngine(f)
		if !keep {
			e.solved.Data = nil
		}
		if err := e.Factorize(d); err != nil {
			t.Fatal(err)
		}
		single := e.Squares32()
		if (single == nil) != (blas.ThinWork(1) == 0) {
			t.Fatalf("single precision is had: %v", single != nil)
		}
		if single == nil {
			continue
		}
		for _, x := range [][]float64{x, mixed, make([]float64, n)} {
			want, got := make([]float64, n), make([]float64, n)
			e.MulVecSquaredOffDiag(want, x)
			single.MulVecSquaredOffDiag(got, x)
			largest := math.Max(floats.Max(want), -floats.Min(want))
			if off := floats.Distance(got, want, math.Inf(1)); off > 3e-6*largest {
				t.Errorf("kept %v: off by %g of %g", keep, off, largest)
			}
		}
	}
	for _, e := range []Engine{NewCholeskyEngine(plane(n, 0.3, rng)), newBiasEngine(NewLowRankEngine(f))} {
		if e.Squares32() != nil {
			t.Errorf("%T has products in single precision", e)
		}
	}
}
