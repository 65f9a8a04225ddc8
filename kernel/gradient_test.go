package kernel

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/testutil"
)

// TestGradient: the derivatives of sum_ij W_ij K_ij by the logarithm of every hyperparameter are the ones by
// differences of Gram matrices, of fourth order in steps of 1e-3: they err by some 1e-12 of the fifth
// derivative, and by rounding over 1e-3.
func TestGradient(t *testing.T) {
	const m, d = 23, 4
	rng := rand.New(rand.NewPCG(16, 2))
	x, w := gaussian(rng, m, d), weights(rng, m)
	copy(row(x, 5), row(x, 9)) // at a distance of 0
	scales := []float64{0.7, 1.5, 4, 2}
	for _, s := range []Spec{
		{Kind: RBF, LengthScale: scales, Amplitude: 3, Constant: 0.5, Jitter: 0.1},
		{Kind: RBF, Gamma: 0.3}, {Kind: Matern12, Gamma: 0.3, Constant: 2},
		{Kind: Matern12, LengthScale: scales},
		{Kind: Matern32, LengthScale: scales, Jitter: 1},
		{Kind: Matern52, LengthScale: scales, Amplitude: 0.2},
		{Kind: Matern52, Gamma: 1}, {Kind: RationalQuadratic, LengthScale: scales},
		{Kind: RationalQuadratic, Gamma: 2},
		{Kind: Linear, Amplitude: 2, Constant: 1, Jitter: 0.3},
		{Kind: Poly, Gamma: 0.2, Coef0: 1, Amplitude: 2}, {Kind: Poly, Gamma: 0.2, Degree: 1},
		{Kind: Poly, Gamma: 0.4, Degree: 2, Constant: 1},
	} {
		s.Amplitude = cmp.Or(s.Amplitude, 1)
		g := mustPrepare(t, s, dense(x)).Gradient(w)
		for _, name := range []string{"amplitude", "constant", "jitter", "coef0", "gamma", "length-scale"} {
			for feature := range max(1, len(s.LengthScale)) {
				number := s.Named(name, feature)
				if number == nil || name != "length-scale" && feature > 0 {
					continue
				}
				at := func(step float64) (sum float64) {
					moving := s
					moving.LengthScale = slices.Clone(s.LengthScale)
					*moving.Named(name, feature) *= math.Exp(step * 1e-3)
					k := mustGram(t, moving, x)
					for i := range m {
						for j := range m {
							sum += w.Data[i*m+j] * k.At(i, j)
						}
					}
					return sum
				}
				want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / 12e-3
				if got := *g.Named(name, feature); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("%v by %s %d: %g, differences %g", s.Kind, name, feature, got, want)
				}
			}
		}
	}
}

// weights is a symmetric matrix of random numbers.
func weights(rng *rand.Rand, m int) blas64.General {
	half, w := gaussian(rng, m, m), general(m, m)
	for i := range m {
		for j := range m {
			row(w, i)[j] = row(half, i)[j] + row(half, j)[i]
		}
	}
	return w
}

// TestGradientsAgree: sparse inputs have the derivatives of the same dense ones, up to rounding, and a
// precomputed matrix the derivatives by its own hyperparameters.
func TestGradientsAgree(t *testing.T) {
	const m, d = 23, 4
	rng := rand.New(rand.NewPCG(16, 3))
	sparse, x := thin(rng, m, d, 0.6)
	w := weights(rng, m)
	for name, s := range specs(d) {
		in := mustPrepare(t, s, dense(x))
		want, got := in.Gradient(w), mustPrepare(t, s, sparse).Gradient(w)
		given := in.spec.Gradient(testutil.Must(in.Gram(t.Context()))(t), w)
		pairs := [][2]float64{{got.Gamma, want.Gamma}, {got.Coef0, want.Coef0},
			{got.Amplitude, want.Amplitude}, {got.Constant, want.Constant}, {got.Jitter, want.Jitter},
			{given.Amplitude, want.Amplitude}, {given.Constant, want.Constant}, {given.Jitter, want.Jitter}}
		for k, slope := range want.LengthScale {
			pairs = append(pairs, [2]float64{got.LengthScale[k], slope})
		}
		for k, pair := range pairs {
			if !near(pair[0], pair[1], 1e-10) {
				t.Errorf("%s, derivative %d: %g, want %g", name, k, pair[0], pair[1])
			}
		}
	}
}
