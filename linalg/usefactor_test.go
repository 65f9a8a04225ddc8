package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
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

// withFactor is an engine that goes by the factor of K where d is large.
func withFactor(k *Sym) *CholeskyEngine {
	e := NewCholeskyEngine(k)
	e.UseFactor(make([]float64, k.N()), 0)
	return e
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
