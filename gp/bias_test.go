package gp_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/gp"
	"bootbench/internal/need"
	"bootbench/linalg"
	"bootbench/train"
)

// shifted is k + c.
func shifted(k *linalg.Sym, c float64) *linalg.Sym {
	s := linalg.NewSym(k.N())
	for i := range k.N() {
		for j := range i + 1 {
			s.Set(i, j, k.At(i, j)+c)
		}
	}
	return s
}

// limit extrapolates answers for K + c to infinite c, from c = most, a tenth and a hundredth of it. From 1e4
// what is left are terms in 1e-9 and 100 times the rounding of the last, 1e-12.
func limit(t *testing.T, k *linalg.Sym, most float64, answer func(k *linalg.Sym) []float64) []float64 {
	t.Helper()
	var f [3][]float64
	for i, c := range []float64{most / 100, most / 10, most} {
		f[i] = slices.Clone(answer(shifted(k, c)))
	}
	at := make([]float64, len(f[0]))
	for i := range at {
		first, second := (10*f[1][i]-f[0][i])/9, (10*f[2][i]-f[1][i])/9
		at[i] = (100*second - first) / 99
	}
	return at
}

// TestBiasIsLimit: regression with a bias is the limit of that with K + c, on some sites
// and, by the fit to all data, on all; the weights sum to 0.
func TestBiasIsLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	k := rbf(rng, 12)
	count, target := make([]int, 12), make([]float64, 12)
	for i := range count {
		count[i], target[i] = rng.IntN(3), 5+rng.NormFloat64()
	}
	tr := need.One(gp.NewBiasedTrainer(k, 0.2))(t)
	got := fit(t, tr, count, target)
	want := limit(t, k, 1e4, func(k *linalg.Sym) []float64 {
		return fit(t, newTrainer(t, k, 0.2), count,
			target)
	})
	if off := farthest(got, want); !(off < 1e-7) {
		t.Errorf("the fit is off by %g", off)
	}
	sum := 0.0
	for _, a := range tr.Alpha() {
		sum += a
	}
	if sum > 1e-12 || sum < -1e-12 {
		t.Errorf("the weights sum to %g", sum)
	}
	for i := range count {
		count[i]++
	}
	full := need.One(gp.FitFullWithBias(k, 0.2, count, target))(t)
	if off := farthest(full, fit(t, tr, count, target)); !(off < 1e-11) {
		t.Errorf("the fit to all data is off by %g", off)
	}
}

// TestBiasedPosterior: so is expectation propagation, for a likelihood that is log-concave
// and one that is not; and labels of one class leave the bias without a posterior.
// Tolerance 1e-5: the tilted moments are known to what a grid over a cavity as wide as K + 1e3 gives, and
// the limit is one of third order.
func TestBiasedPosterior(t *testing.T) {
	rng := rand.New(rand.NewPCG(42, 1))
	k := rbf(rng, 10)
	set := train.Set{Y: make([]float64, 10), Weight: make([]float64, 10)}
	for i := range set.Y {
		set.Y[i], set.Weight[i] = float64(2*(i%2)-1), float64(rng.IntN(3))
	}
	set.Weight[0], set.Weight[1] = 1, 2
	posterior := func(k *linalg.Sym, l gp.Likelihood, newEP func(*linalg.Sym, gp.Likelihood) (*gp.EP,
		error)) []float64 {
		e := need.One(newEP(k, l))(t)
		r := need.One(e.Fit(set, gp.EPSettings{Tolerance: 1e-10}))(t)
		if r.Status != train.Converged {
			t.Fatal(l.Name(), r.Status, r.Residual)
		}
		return r.Mean
	}
	for _, l := range []gp.Likelihood{probit(), student(0.4)} {
		if testing.Short() && l.Name() == "student" {
			continue // a second of quadrature
		}
		got := slices.Clone(posterior(k, l, gp.NewBiasedEP))
		want := limit(t, k, 1e3, func(k *linalg.Sym) []float64 { return posterior(k, l, gp.NewEP) })
		if off := farthest(got, want); !(off < 1e-5) {
			t.Errorf("%s: off by %g", l.Name(), off)
		}
	}
	for i := range set.Y {
		set.Y[i] = 1
	}
	e := need.One(gp.NewBiasedEP(k, probit()))(t)
	if _, err := e.Fit(set, gp.EPSettings{}); !errors.Is(err, train.ErrNoFiniteBias) {
		t.Errorf("labels of one class: %v", err)
	}
}
