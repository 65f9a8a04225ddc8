package linalg

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/internal/testutil"
)

// TestCoupler: the products of Newton's method against sums over the elements of G and C from the reference,
// on factors with a remainder, with V kept and not, with a bias and not, and on a small kernel matrix, whose
// G o C is in single precision. Elements of C_ij are compared with (C_ii C_jj)^1/2.
func TestCoupler(t *testing.T) {
	const n = 30
	whole := gaussianGram(n, false, seeded(3))
	factor := func(rank int) *LowRankPlusDiag {
		return testutil.Must(PivotedCholesky(context.Background(), whole, RankOptions{MaxRank: rank}))(t)
	}
	for name, c := range map[string]struct {
		rank            int // 0: the whole matrix
		unkept, biased  bool
		accuracy, crude float64 // of G o G, and of C
	}{
		"rank 1":                {rank: 1, accuracy: 1e-12, crude: 1e-12},
		"rank 7":                {rank: 7, accuracy: 1e-12, crude: 1e-12},
		"rank 7, R only":        {rank: 7, unkept: true, accuracy: 1e-11, crude: 1e-11},
		"rank 7, bias":          {rank: 7, biased: true, accuracy: 1e-11, crude: 1e-11},
		"rank 7, bias, R only":  {rank: 7, biased: true, unkept: true, accuracy: 1e-11, crude: 1e-11},
		"all columns":           {rank: n, accuracy: 1e-10, crude: 1e-10},
		"small, if it has them": {accuracy: 1e-12, crude: 1e-6},
	} {
		for _, regime := range []string{"even", "zeros"} {
			t.Run(fmt.Sprintf("%s/d=%s", name, regime), func(t *testing.T) {
				rng := seeded(5)
				d, u := drawSites(n, siteRegimes[regime], rng), drawSites(n, siteRegimes["even"], rng)
				k, constant := Kernel(whole), 0.0
				if c.rank > 0 {
					k = factor(c.rank)
				} else if blas.SmallWork(n) == 0 {
					t.Skip("this backend has no kernels for small orders")
				}
				dense := whole
				if f := FactorOf(k); f != nil {
					dense = f.Dense()
				}
				if c.biased {
					k, constant = WithBias(k), flat
				}
				e := k.Engine()
				if low, _ := lowRankOf(e); c.unkept {
					low.solved = blas64.General{}
				}
				testutil.Check(t, e.Factorize(d))
				e.FormG()
				coupler := NewCoupler(e)
				coupler.Couple(u)
				g, _ := referenceWith(dense, constant, d)
				covariance := make([]float64, n*n)
				for i := range n {
					for j := range n {
						for m := range n {
							covariance[i*n+j] += g[i*n+m] * u[m] * g[m*n+j]
						}
					}
				}
				x, y, f := normals(n, rng), normals(n, rng), normals(n, rng)
				dst := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
				coupler.MulCoupled(&dst, x, y, f)
				for i := range n {
					var want, scale [3]float64
					for j := range n {
						if j == i {
							continue
						}
						gij, cij := g[i*n+j], covariance[i*n+j]
						unit := math.Sqrt(g[i*n+i] * g[j*n+j])
						cross := math.Sqrt(covariance[i*n+i] * covariance[j*n+j])
						for at, term := range [3]float64{gij * gij * x[j],
							gij*gij*y[j] - 2*gij*cij*x[j], gij * f[j]} {
							want[at] += term
						}
						scale[0] += unit * unit * math.Abs(x[j])
						scale[1] += unit * unit * math.Abs(y[j])
						scale[1] += unit * cross * math.Abs(x[j]) * c.crude / c.accuracy
						scale[2] += unit * math.Abs(f[j])
					}
					for at := range dst {
						if off := math.Abs(dst[at][i] - want[at]); !(off <= c.accuracy*scale[at]) {
							t.Errorf("product %d at %d: %g, want %g", at, i, dst[at][i], want[at])
						}
					}
				}
			})
		}
	}
	if NewCoupler(failed{}) != nil {
		t.Error("an engine without products of its own has a coupler")
	}
}
