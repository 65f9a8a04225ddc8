package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/testutil"
)

// byDifferences compares a derivative by the logarithm of a hyperparameter, which moved multiplies by a
// factor, with differences of a value: of fourth order in steps of 1e-3, they err by some 1e-12
// of the fifth derivative, and by rounding over 1e-3.
func byDifferences(t *testing.T, s Spec, value func(s Spec) float64, what string, got float64,
	moved func(s *Spec, factor float64)) {
	t.Helper()
	at := func(step float64) float64 {
		moving := s
		moving.LengthScale = append([]float64(nil), s.LengthScale...)
		moved(&moving, math.Exp(step*1e-3))
		return value(moving)
	}
	want := (8*(at(1)-at(-1)) - (at(2) - at(-2))) / 12e-3
	if math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
		t.Errorf("%v by %s: %g, differences %g", s.Kind, what, got, want)
	}
}

// TestGradient: the derivatives of sum_ij W_ij K_ij by the logarithm of every hyperparameter
// are the ones by differences of Gram matrices.
func TestGradient(t *testing.T) {
	const m, d = 23, 4
	rng := rand.New(rand.NewPCG(16, 2))
	x := blas64.General{Rows: m, Cols: d, Stride: d, Data: make([]float64, m*d)}
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	copy(row(x, 5), row(x, 9)) // at a distance of 0
	w := blas64.General{Rows: m, Cols: m, Stride: m, Data: make([]float64, m*m)}
	for i := range m {
		for j := range i + 1 {
			w.Data[i*m+j] = rng.NormFloat64()
			w.Data[j*m+i] = w.Data[i*m+j]
		}
	}
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
		value := func(s Spec) float64 {
			k := testutil.Must(gramOf(s, x))(t)
			sum := 0.0
			for i := range m {
				for j := range m {
					sum += w.Data[i*m+j] * k.At(i, j)
				}
			}
			return sum
		}
		check := func(what string, got float64, moved func(s *Spec, factor float64)) {
			t.Helper()
			byDifferences(t, s, value, what, got, moved)
		}
		in := mustPrepare(t, s, dense(x))
		g := in.Gradient(w)
		check("amplitude", g.Amplitude,
			func(s *Spec, f float64) { s.Amplitude = s.WithDefaults(1).Amplitude * f })
		check("constant", g.Constant, func(s *Spec, f float64) { s.Constant *= f })
		if s.Coef0 > 0 {
			check("coef0", g.Coef0, func(s *Spec, f float64) { s.Coef0 *= f })
		}
		check("jitter", g.Jitter, func(s *Spec, f float64) { s.Jitter *= f })
		if s.Gamma > 0 {
			check("gamma", g.Gamma, func(s *Spec, f float64) { s.Gamma *= f })
		}
		for k := range s.LengthScale {
			check("length scale", g.LengthScale[k], func(s *Spec, f float64) { s.LengthScale[k] *= f })
		}
	}
}

// TestGradientsAgree: sparse inputs have the derivatives of the same dense ones, up to rounding, and a
// precomputed matrix the derivatives by its own hyperparameters.
func TestGradientsAgree(t *testing.T) {
	const m, d = 23, 4
	rng := rand.New(rand.NewPCG(16, 3))
	sparse, x := thin(rng, m, d, 0.6)
	half := gaussian(rng, m, m)
	w := general(m, m)
	for i := range m {
		for j := range m {
			row(w, i)[j] = row(half, i)[j] + row(half, j)[i]
		}
	}
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
