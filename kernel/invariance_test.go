package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"bootbench/internal/need"

	_ "bootbench/internal/fixedseed"
)

// drawInputs draws up to 12 inputs of up to 4 features between -4 and 4, on a
// grid so that some of them coincide and shifts by whole numbers are exact.
func drawInputs(t *rapid.T) blas64.General {
	x := general(rapid.IntRange(1, 12).Draw(t, "m"), rapid.IntRange(1, 4).Draw(t, "d"))
	for i := range x.Data {
		x.Data[i] = float64(rapid.IntRange(-64, 64).Draw(t, "x")) / 16
	}
	return x
}

// drawSpec draws one of the specs for d features.
func drawSpec(t *rapid.T, d int) Spec {
	all := specs(d)
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	return all[rapid.SampledFrom(sorted(names)).Draw(t, "spec")]
}

func sorted(names []string) []string {
	for i := range names {
		for j := i; j > 0 && names[j] < names[j-1]; j-- {
			names[j], names[j-1] = names[j-1], names[j]
		}
	}
	return names
}

// same compares the Gram matrices of a over x and of b over y, element (i, j)
// of the first with (to(i), to(j)) of the second.
func same(t *rapid.T, a Spec, x blas64.General, b Spec, y blas64.General, to func(int) int) {
	k, l := gram(t, a, x), gram(t, b, y)
	for i := range x.Rows {
		for j := range x.Rows {
			if !near(k(i, j), l(to(i), to(j)), agree) {
				t.Fatalf("%v and %v at (%d, %d)", k(i, j), l(to(i), to(j)), i, j)
			}
		}
	}
}

func gram(t *rapid.T, s Spec, x blas64.General) func(i, j int) float64 {
	k := need.One(s.Gram(x))(t)
	return k.At
}

func itself(i int) int { return i }

// mapped is x with every number v of feature j replaced by f(j, v).
func mapped(x blas64.General, f func(j int, v float64) float64) blas64.General {
	y := general(x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range row(x, i) {
			row(y, i)[j] = f(j, v)
		}
	}
	return y
}

// TestTranslationLeavesDistanceKernels: a radial kernel does not depend on the origin.
func TestTranslationLeavesDistanceKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawInputs(t)
		s := drawSpec(t, x.Cols)
		if !s.Kind.radial() {
			t.Skip("depends on the origin")
		}
		shift := float64(rapid.IntRange(-1<<30, 1<<30).Draw(t, "shift"))
		same(t, s, x, s, mapped(x, func(j int, v float64) float64 { return v + shift*float64(j+1) }), itself)
	})
}

// TestUnitsCancelAgainstLengthScales: x_j and L_j in other units give the same kernel.
func TestUnitsCancelAgainstLengthScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawInputs(t)
		a := Spec{Kind: rapid.SampledFrom([]Kind{RBF, Matern12, Matern32, Matern52}).Draw(t, "kind"),
			LengthScale: make([]float64, x.Cols)}
		b := Spec{Kind: a.Kind, LengthScale: make([]float64, x.Cols)}
		unit := make([]float64, x.Cols)
		for j := range unit {
			unit[j] = math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log unit"))
			a.LengthScale[j] = rapid.Float64Range(0.3, 5).Draw(t, "length scale")
			b.LengthScale[j] = a.LengthScale[j] * unit[j]
		}
		same(t, a, x, b, mapped(x, func(j int, v float64) float64 { return v * unit[j] }), itself)
	})
}

// A k + B + J on the diagonal, for any A, B, J, from the matrix of k alone.
func TestAmplitudeConstantJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawInputs(t)
		s := drawSpec(t, x.Cols)
		s.Amplitude, s.Constant, s.Jitter = 1, 0, 0
		bare := gram(t, s, x)
		s.Amplitude = rapid.Float64Range(0.01, 100).Draw(t, "amplitude")
		s.Constant = rapid.Float64Range(0, 10).Draw(t, "constant")
		s.Jitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		full := gram(t, s, x)
		for i := range x.Rows {
			for j := range x.Rows {
				want := s.Amplitude*bare(i, j) + s.Constant
				if i == j {
					want += s.Jitter
				}
				if !near(full(i, j), want, 1e-15) {
					t.Fatalf("K(%d, %d) = %v, want %v", i, j, full(i, j), want)
				}
			}
		}
	})
}
