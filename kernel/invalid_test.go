package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// TestValidate: every setting out of range, or of no use to the kind, is refused by its name.
func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		spec Spec
		part string
	}{
		{Spec{Kind: -1}, "kind -1"},
		{Spec{Kind: Precomputed + 1}, "not known"},
		{Spec{Gamma: -1}, "gamma"},
		{Spec{Gamma: nan}, "gamma"},
		{Spec{Gamma: inf}, "gamma"},
		{Spec{Gamma: 1, LengthScale: []float64{1}}, "not both"},
		{Spec{LengthScale: []float64{1, 2}}, "2 length scales for 3 features"},
		{Spec{LengthScale: []float64{1, 2, 3, 4}}, "4 length scales"},
		{Spec{LengthScale: []float64{0}}, "length scale 1"},
		{Spec{LengthScale: []float64{1, 2, -3}}, "length scale 3"},
		{Spec{LengthScale: []float64{1, nan, 3}}, "length scale 2"},
		{Spec{LengthScale: []float64{inf}}, "length scale 1"},
		{Spec{LengthScale: []float64{1e-310}}, "length scale 1"},
		{Spec{Amplitude: -1}, "amplitude"},
		{Spec{Amplitude: nan}, "amplitude"},
		{Spec{Constant: -1}, "constant"},
		{Spec{Constant: inf}, "constant"},
		{Spec{Jitter: -1e-9}, "jitter"},
		{Spec{Kind: Poly, Degree: -1}, "degree"},
		{Spec{Kind: Poly, Coef0: -1}, "coef0"},
		{Spec{Degree: 2}, "no degree"},
		{Spec{Kind: Matern12, Coef0: 2}, "no coef0"},
		{Spec{Kind: Linear, Gamma: 1}, "no gamma"},
		{Spec{Kind: Poly, LengthScale: []float64{1}}, "no length scale"},
		{Spec{Kind: Precomputed, LengthScale: []float64{1}}, "no length scale"},
	} {
		expectError(t, c.spec.Validate(3), c.part)
	}
	expectError(t, Spec{}.Validate(0), "no features")
	for name, s := range specs(3) {
		if err := s.Validate(3); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Spec{Kind: Precomputed}).Validate(0); err != nil {
		t.Error(err)
	}
}

// TestParseKind: names and kinds are each other's inverse; other names are refused.
func TestParseKind(t *testing.T) {
	for k := RBF; k <= Precomputed; k++ {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("%v: %v, %v", k, got, err)
		}
	}
	if _, err := ParseKind("gauss"); err == nil {
		t.Error("gauss is no kind")
	}
	if got := Kind(9).String(); got != "Kind(9)" {
		t.Error(got)
	}
}

// TestGramRefuses: shapes that do not fit, no inputs, entries that are not finite, and covariances that
// overflow, at whatever step, are refused with what and where: the first such pair.
func TestGramRefuses(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		x    blas64.General
		part string
	}{
		{Spec{}, general(0, 3), "no inputs"},
		{Spec{}, blas64.General{Rows: 3, Stride: 1}, "no features"},
		{Spec{}, blas64.General{Rows: -1, Cols: 2, Stride: 2}, "-1 x 2"},
		{Spec{}, blas64.General{Rows: 2, Cols: 3, Stride: 2, Data: make([]float64, 9)}, "stride"},
		{Spec{}, blas64.General{Rows: 2, Cols: 3, Stride: 3, Data: make([]float64, 5)}, "5 numbers"},
		{Spec{Gamma: -1}, general(2, 2), "gamma"},
		{Spec{Kind: Precomputed}, general(2, 2), "no inputs"},
		{Spec{Kind: Linear}, inputs([]float64{1, 2}, []float64{3, math.NaN()}), "row 2, feature 2"},
		{Spec{}, inputs([]float64{1, math.Inf(-1)}), "row 1, feature 2"},
		{Spec{Kind: Poly, Degree: 20}, inputs([]float64{1}, []float64{2}, []float64{1e10}), "rows 3 and 3"},
		{Spec{Kind: Linear}, inputs([]float64{1}, []float64{1e154}, []float64{-1e155}), "rows 2 and 3"},
		{Spec{}, inputs([]float64{0}, []float64{0}, []float64{0}, []float64{1e200}), "rows 1 and 4"},
		{Spec{Kind: Matern52}, inputs([]float64{1e308}, []float64{-1e308}), "rows 1 and 2"},
		{Spec{Kind: Matern12, Gamma: 1e308}, inputs([]float64{0}, []float64{0}, []float64{1e100}),
			"rows 1 and 3"},
		{Spec{Kind: Linear, Amplitude: 1e300}, inputs([]float64{1}, []float64{1e9}), "rows 1 and 2"},
		{Spec{Kind: Linear}, longRow(many, 1e200), "rows 515 and 515"},
	} {
		_, err := gramOf(c.spec, c.x)
		expectError(t, err, c.part)
	}
}

// many is a number of inputs that goroutines share.
const many = 515

// longRow is m inputs that are zero except the last.
func longRow(m int, last float64) blas64.General {
	x := general(m, 1)
	x.Data[m-1] = last
	return x
}

// Distances that are huge, yet squares of numbers, give covariance zero.
func TestFarApart(t *testing.T) {
	x := inputs([]float64{0}, []float64{1.3e154}) // r^2 is finite, 5 r^2 is not
	for _, kind := range []Kind{RBF, Matern12, Matern32, Matern52} {
		if k := mustGram(t, Spec{Kind: kind}, x); k.At(0, 1) != 0 || k.At(1, 1) != 1 {
			t.Errorf("%v: %v and %v", kind, k.At(0, 1), k.At(1, 1))
		}
	}
}

// TestCrossRefusesBadInputs: the same for new inputs, and for results that have no room.
func TestCrossRefusesBadInputs(t *testing.T) {
	in := mustPrepare(t, Spec{}, dense(general(4, 2)))
	for _, c := range []struct {
		z, dst blas64.General
		part   string
	}{
		{general(3, 1), general(3, 4), "1 features"},
		{general(3, 2), general(4, 3), "4 x 3, not 3 x 4"},
		{general(3, 2), blas64.General{Rows: 3, Cols: 4, Stride: 4}, "0 numbers"},
		{inputs([]float64{0, math.NaN()}), general(1, 4), "row 1, feature 2"},
		{inputs([]float64{0, 0}, []float64{0, 1e200}), general(2, 4), "new row 2 and training row 1"},
	} {
		expectError(t, in.Cross(dense(c.z), c.dst), c.part)
	}
	expectError(t, in.Cross(sparseOf(general(1, 2)), general(1, 4)), "they are sparse")
	long := mustPrepare(t, Spec{Kind: Linear}, dense(longRow(many, 1e200)))
	expectError(t, long.Cross(dense(inputs([]float64{1e200})), general(1, many)),
		"new row 1 and training row 515")
	line := mustPrepare(t, Spec{Kind: Linear}, dense(inputs([]float64{1}, []float64{1e200})))
	expectError(t, line.Diagonal(make([]float64, 3)), "3 variances of 2")
	expectError(t, line.Diagonal(make([]float64, 2)), "row 2 with itself")
}
