package gp_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/gp"
	"bootbench/internal/need"
	"bootbench/linalg"
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
	count, target := make([]float64, 12), make([]float64, 12)
	for i := range count {
		count[i], target[i] = float64(rng.IntN(3)), 5+rng.NormFloat64()
	}
	tr := need.One(gp.NewTrainer(k, 0.2, true))(t)
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
	full := need.One(gp.FitFull(k, 0.2, true, count, target))(t)
	if off := farthest(full, fit(t, tr, count, target)); !(off < 1e-11) {
		t.Errorf("the fit to all data is off by %g", off)
	}
}
