package linalg

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
)

// smoothGram is exp(-(x-x')^2/2) on n points within one length scale: of rank
// 8 to 12 within rounding.
func smoothGram(n int, rng *rand.Rand) *Sym {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.Float64()
	}
	k := NewSym(n)
	for i := range x {
		for j := i; j < n; j++ {
			k.Set(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])/2))
		}
	}
	return k
}

// denseFactor is R, N x rank row-major.
func denseFactor(k *LowRankPlusDiag) []float64 {
	f, q := make([]float64, k.n*k.rank), 0
	for _, p := range k.panels {
		for r := range p.Rows {
			for i := range k.n {
				f[i*k.rank+q] = p.Data[r*p.Stride+i]
			}
			q++
		}
	}
	return f
}

// referenceOfFactor is G = R (I + R' d R)^-1 R', row-major, and 1 - d_i G_ii in 300
// bits.
func referenceOfFactor(k *LowRankPlusDiag, d []float64) (g, b []float64) {
	f := denseFactor(k)
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	n, r := k.n, k.rank
	a := make([][]*big.Float, r) // [I + R' d R | R']
	for p := range r {
		a[p] = make([]*big.Float, r+n)
		for q := range r {
			a[p][q] = num(0)
			if p == q {
				a[p][q] = num(1)
			}
			for i := range n {
				v := num(d[i])
				v.Mul(v, num(f[i*r+p]))
				a[p][q].Add(a[p][q], v.Mul(v, num(f[i*r+q])))
			}
		}
		for i := range n {
			a[p][r+i] = num(f[i*r+p])
		}
	}
	for p := range r { // positive definite: no pivoting
		for q := range r {
			if p == q {
				continue
			}
			factor := num(0).Quo(a[q][p], a[p][p])
			for j := p; j < r+n; j++ {
				a[q][j].Sub(a[q][j], num(0).Mul(factor, a[p][j]))
			}
		}
	}
	g, b = make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			v := num(0)
			for p := range r {
				w := num(f[i*r+p])
				v.Add(v, w.Mul(w, num(0).Quo(a[p][r+j], a[p][p])))
			}
			g[i*n+j], _ = v.Float64()
			if i == j {
				b[i], _ = num(1).Sub(num(1), v.Mul(v, num(d[i]))).Float64()
			}
		}
	}
	return g, b
}

// withFactor is an engine that goes by the factor of K where d is large.
func withFactor(k *Sym) *CholeskyEngine {
	e := NewCholeskyEngine(k)
	e.UseFactor(make([]float64, k.N()), 0)
	return e
}

// TestUseFactorReadOuts: with R R' in the place of K, exactly as rounded, chi, b
// and G are those of 300-bit arithmetic at d of up to 1e16, where b falls to 1e-16
// and K itself would no longer factorise. What is lost is rounding times the
// condition of I + R' d R after its columns are scaled, a few decades.
func TestUseFactorReadOuts(t *testing.T) {
	const n = 20
	for name, draw := range map[string]func(rng *rand.Rand) float64{
		"1e8":     func(*rand.Rand) float64 { return 1e8 },
		"1e16":    func(*rand.Rand) float64 { return 1e16 },
		"decades": func(rng *rand.Rand) float64 { return math.Pow(10, 20*rng.Float64()-8) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(31, 1))
			f := withFactor(smoothGram(n, rng))
			d := make([]float64, n)
			for i := range d {
				d[i] = draw(rng)
			}
			if err := f.Factorize(d); err != nil {
				t.Fatal(err)
			}
			factor := f.singular.factor.k
			if factor.rank < 6 || factor.rank > 14 || !f.singular.inUse {
				t.Fatalf("rank %d", factor.rank)
			}
			for i := range n {
				for j := range n {
					if off := factor.At(i, j) - f.k.At(i, j); math.Abs(off) > 1e-14 {
						t.Errorf("R R' at %d, %d is off by %g", i, j, off)
					}
				}
			}
			chi, b := f.Diag()
			g, wantB := referenceOfFactor(factor, d)
			f.FormG()
			row := make([]float64, n)
			for i := range n {
				if e := relative(chi[i], g[i*n+i], 0); e > 1e-4 {
					t.Errorf("chi %d: %g, want %g", i, chi[i], g[i*n+i])
				}
				if e := relative(b[i], wantB[i], 1e-14); e > 1e-3 {
					t.Errorf("b %d: %g, want %g", i, b[i], wantB[i])
				}
				f.Row(row, i)
				for j, v := range row {
					if e := math.Abs(v-g[i*n+j]) / math.Sqrt(g[i*n+i]*g[j*n+j]); e > 1e-4 {
						t.Errorf("G %d %d: %g, want %g", i, j, v, g[i*n+j])
					}
				}
			}
		})
	}
}

// TestUseFactorWhereNotNeeded: where d is small, or K of full rank, B is factorised as
// before, to the last bit; where R is used, updates are refused.
func TestUseFactorWhereNotNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	for _, c := range []struct {
		k *Sym
		d float64
	}{{smoothGram(30, rng), 100}, {gaussianGram(5, false, rng), 1e9}} {
		n := c.k.N()
		d := make([]float64, n)
		for i := range d {
			d[i] = c.d
		}
		e := NewCholeskyEngine(c.k)
		if err := e.Factorize(d); err != nil {
			t.Fatal(err)
		}
		f := withFactor(c.k)
		chi, b := append([]float64(nil), e.sites.Chi...), append([]float64(nil), e.sites.B...)
		if err := f.Factorize(d); err != nil {
			t.Fatal(err)
		}
		for i := range chi {
			if f.sites.Chi[i] != chi[i] || f.sites.B[i] != b[i] {
				t.Fatalf("n = %d: chi %g, %g; b %g, %g", n, f.sites.Chi[i], chi[i], f.sites.B[i], b[i])
			}
		}
		if err := f.RankUpdate([]int{1}, []float64{0.1}); err != nil && !errors.Is(err, ErrUpdate) {
			t.Error(err)
		}
	}
	f := withFactor(smoothGram(30, rng))
	d := make([]float64, 30)
	d[3] = 1e9
	if err := f.Factorize(d); err != nil {
		t.Fatal(err)
	}
	if err := f.RankUpdate([]int{1}, []float64{0.1}); !errors.Is(err, ErrUpdate) {
		t.Errorf("update: %v", err)
	}
	d[3] = math.NaN()
	if err := f.Factorize(d); err == nil {
		t.Error("NaN passes")
	}
}

func BenchmarkUseFactor(b *testing.B) {
	for _, n := range []int{200, 500} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			f := withFactor(smoothGram(n, rand.New(rand.NewPCG(31, 3))))
			d := make([]float64, n)
			for i := range d {
				d[i] = 1e9
			}
			for b.Loop() {
				if err := f.Factorize(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSingleProducts: a G of single precision serves every product,
// and errs as announced, also at sites whose d float32 cannot carry.
func TestSingleProducts(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(61, 1))
	k := gaussianGram(n, false, rng)
	d := drawSites(n, siteRegimes["even"], rng)
	d[3], d[70] = 0, 1e-30
	e := NewCholeskyEngine(k)
	if _, ok := blas.Bound().(blas.Single); !ok {
		if err := e.FactorizeSingle(d); !errors.Is(err, ErrSingle) {
			t.Errorf("a backend without single precision: %v", err)
		}
		return
	}
	if err := e.FactorizeSingle(d); err != nil {
		t.Fatal(err)
	}
	copied := symmetricCopy(k)
	want, rounding := NewCholeskyEngine(copied), e.SingleError(d)
	if err := want.Factorize(d); err != nil {
		t.Fatal(err)
	}
	want.FormG()
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for what, product := range map[string]func(e Engine, dst []float64){
		"G x":       func(e Engine, dst []float64) { e.MulVecOffDiag(dst, x) },
		"(G o G) x": func(e Engine, dst []float64) { e.MulVecSquaredOffDiag(dst, x) },
		"row":       func(e Engine, dst []float64) { e.Row(dst, 3) },
	} {
		a, b := make([]float64, n), make([]float64, n)
		product(e, a)
		product(want, b)
		largest := 0.0
		for _, v := range b {
			largest = math.Max(largest, math.Abs(v))
		}
		for i, v := range b {
			if math.Abs(a[i]-v) > 40*rounding*largest {
				t.Fatalf("%s, element %d: %g, in double precision %g; %.1e announced", what, i, a[i], v, rounding)
			}
		}
	}
	if err := e.Factorize(d); err != nil {
		t.Fatal(err)
	}
	e.FormG()
	compareEngines(t, e, want, 0)
}

// TestUseFactorBudget: a factor that would take more than its room is not made, whether
// there is none from the start or the rank grows past it. B is factorised
// then.
func TestUseFactorBudget(t *testing.T) {
	const n = 120
	rng := rand.New(rand.NewPCG(61, 2))
	k := smoothGram(n, rng) // of rank 8 to 12
	d := make([]float64, n)
	for i := range d {
		d[i] = 1e6
	}
	for room, want := range map[int64]bool{-1: false, 1: false, LowRankBytes(n, 4): false,
		LowRankBytes(n, 20): true, 0: true} {
		e := NewCholeskyEngine(k)
		rank, used := e.UseFactor(d, room)
		if used != want {
			t.Errorf("room %d: a factor is made: %v", room, used)
		}
		if want {
			if rank > 20 {
				t.Errorf("room %d: rank %d", room, rank)
			}
			continue
		}
		plain := NewCholeskyEngine(symmetricCopy(k))
		got, wanted := e.Factorize(d), plain.Factorize(d)
		if rank != n || (got == nil) != (wanted == nil) {
			t.Errorf("room %d: rank %d, %v and %v", room, rank, got, wanted)
		}
		if got == nil {
			e.FormG()
			plain.FormG()
			compareEngines(t, e, plain, 0)
		}
	}
}

// symmetricCopy is k with a scratch triangle of its own.
func symmetricCopy(k *Sym) *Sym {
	c := NewSym(k.N())
	for i := range k.N() {
		copy(c.Row(i), k.Row(i))
	}
	return c
}
