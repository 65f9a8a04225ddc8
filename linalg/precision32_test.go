package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
	"bootbench/internal/testutil"
)

// TestSingle: the diagonals and G o G in single precision are as far off as
// SingleError says, on smooth kernels and on one so narrow that its products
// leave the range of float32; and a later Factorize knows nothing of it.
func TestSingle(t *testing.T) {
	if _, ok := blas.Bound().(blas.Single); !ok {
		e := NewCholeskyEngine(gaussianGram(5, false, rand.New(rand.NewPCG(1, 1))))
		if err := e.FactorizeSingle(make([]float64, 5)); !errors.Is(err, ErrSingle) ||
			!math.IsInf(e.SingleError(make([]float64, 5)), 1) {
			t.Errorf("a backend without single precision: error %v", err)
		}
		return
	}
	const n = 300
	rng := rand.New(rand.NewPCG(12, 1))
	narrow := symmetric(n, func(i, j int) float64 { return math.Exp(-2 * float64(j-i)) })
	for name, k := range map[string]*Sym{"smooth": gaussianGram(n, false, rng),
		"twins": gaussianGram(n, true, rng), "narrow": narrow} {
		for _, level := range []float64{0.01, 1, 1000} {
			d := drawSites(n, siteRegimes["even"], rng)
			for i := range d {
				d[i] *= level
			}
			want, e := NewCholeskyEngine(k), NewCholeskyEngine(k)
			square := func(e *CholeskyEngine) []float64 {
				e.FormG()
				dst := make([]float64, n)
				e.MulVecSquaredOffDiag(dst, d)
				return dst
			}
			testutil.Check(t, want.Factorize(d))
			wantSquare := square(want)
			if err := e.FactorizeSingle(d); err != nil {
				t.Fatalf("%s, d = %g: %v", name, level, err)
			}
			gotSquare, rounding := square(e), e.SingleError(d)
			chi, b := e.Diag()
			for i := range d {
				// 1 - d chi + d chi' = 1 - d (chi - chi'): b and d chi share their error.
				off := math.Max(math.Abs(b[i]-want.sites.B[i]), d[i]*math.Abs(chi[i]-want.sites.Chi[i]))
				if off > 4*rounding {
					t.Fatalf("%s, d = %g, site %d: off by %.1e, %.1e announced",
						name, level, i, off, rounding)
				}
				if off := math.Abs(gotSquare[i]-wantSquare[i]) * d[i]; off > 20*rounding {
					t.Fatalf("%s, d = %g, site %d: G o G off by %.1e, %.1e announced",
						name, level, i, off, rounding)
				}
			}
			testutil.Check(t, e.Factorize(d))
			e.FormG()
			compareEngines(t, e, want, 0)
		}
	}
}

// TestSingleRefuses what float32 cannot carry: too large a d_i K_ii, and a site with K_ii = 0.
func TestSingleRefuses(t *testing.T) {
	const n = 20
	k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 2)))
	e := NewCholeskyEngine(k)
	d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(1, 3)))
	d[3] = 1e9
	if r := e.SingleError(d); !math.IsInf(r, 1) {
		t.Errorf("d = %g: error %g", d[3], r)
	}
	d[3] = -1
	if err := e.FactorizeSingle(d); err == nil {
		t.Error("a negative d is accepted")
	}
	d[3] = 1
	for j := range n {
		k.Set(3, j, 0)
	}
	if r := e.SingleError(d); !math.IsInf(r, 1) {
		t.Errorf("K_ii = 0: error %g", r)
	}
}
