package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
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

// radialKinds are the kinds that depend on distance.
var radialKinds = []Kind{RBF, Matern12, Matern32, Matern52, RationalQuadratic}

// same compares the Gram matrices of a over x and of b over y.
func same(t *rapid.T, a Spec, x blas64.General, b Spec, y blas64.General) {
	k, l := testutil.Must(gramOf(a, x))(t), testutil.Must(gramOf(b, y))(t)
	for i := range x.Rows {
		for j := range x.Rows {
			if !near(k.At(i, j), l.At(i, j), agree) {
				t.Fatalf("%v and %v at (%d, %d)", k.At(i, j), l.At(i, j), i, j)
			}
		}
	}
}

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
		s := Spec{Kind: rapid.SampledFrom(radialKinds).Draw(t, "kind")}
		shift := float64(rapid.IntRange(-1<<30, 1<<30).Draw(t, "shift"))
		same(t, s, x, s, mapped(x, func(j int, v float64) float64 { return v + shift*float64(j+1) }))
	})
}

// TestUnitsCancelAgainstLengthScales: x_j and L_j in other units give the same kernel.
func TestUnitsCancelAgainstLengthScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawInputs(t)
		a := Spec{Kind: rapid.SampledFrom(radialKinds).Draw(t, "kind"),
			LengthScale: make([]float64, x.Cols)}
		b := Spec{Kind: a.Kind, LengthScale: make([]float64, x.Cols)}
		unit := make([]float64, x.Cols)
		for j := range unit {
			unit[j] = math.Exp(rapid.Float64Range(-20, 20).Draw(t, "log unit"))
			a.LengthScale[j] = rapid.Float64Range(0.3, 5).Draw(t, "length scale")
			b.LengthScale[j] = a.LengthScale[j] * unit[j]
		}
		same(t, a, x, b, mapped(x, func(j int, v float64) float64 { return v * unit[j] }))
	})
}
