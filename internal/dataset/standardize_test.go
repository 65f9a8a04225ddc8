package dataset

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// exactMoments computes mean and population standard deviation with 2000 bits, by the textbook formula.
func exactMoments(column []float64) (mean, sd float64) {
	number := func() *big.Float { return new(big.Float).SetPrec(2000) }
	sum, squares, n := number(), number(), number().SetInt64(int64(len(column)))
	for _, v := range column {
		b := number().SetFloat64(v)
		sum.Add(sum, b)
		squares.Add(squares, number().Mul(b, b))
	}
	m := number().Quo(sum, n)
	variance := squares.Quo(squares, n)
	variance.Sub(variance, number().Mul(m, m))
	if variance.Sign() < 0 {
		variance.SetInt64(0)
	}
	mean, _ = m.Float64()
	sd, _ = number().Sqrt(variance).Float64()
	return mean, sd
}

// Rounding of each of n <= 50 terms bounds the relative error of mean and standard deviation by a few n eps =
// 1e-14; the mean is judged on the scale of the largest value, the deviation too, since a spread that is
// small beside the values inherits their rounding.
func TestMomentsAgainstExactArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Pow(10, rapid.Float64Range(-290, 290).Draw(t, "scale"))
		column := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 50).Draw(t, "column")
		largest := 0.0
		for i := range column {
			column[i] *= scale
			largest = math.Max(largest, math.Abs(column[i]))
		}
		wantMean, wantSD := exactMoments(column)
		_, z := Standardize(linalg.Matrix{Rows: len(column), Cols: 1, Stride: 1, Data: column})
		if math.Abs(z.Mean[0]-wantMean) > 1e-14*largest || math.Abs(z.SD[0]-wantSD) > 1e-14*largest {
			t.Fatalf("%+v, want %v and %v", z, wantMean, wantSD)
		}
	})
}

// TestStandardize: columns get mean 0 and deviation 1, constant ones become 0, in new inputs too, and extreme
// values stay within bounds.
func TestStandardize(t *testing.T) {
	s := testutil.Must(Open("boston"))(t)
	before := slices.Clone(s.X.Data)
	z, scaler := Standardize(s.X)
	again, err := scaler.Apply(s.X)
	if err != nil || !slices.Equal(again.Data, z.Data) || !slices.Equal(before, s.X.Data) {
		t.Errorf("Apply differs from Standardize, or the inputs were changed (%v)", err)
	}
	for j := range s.D() { // N = 506 values of order one: N eps = 1e-13
		if mean, sd := exactMoments(mat.Col(nil, j, z)); math.Abs(mean) > 1e-13 || math.Abs(sd-1) > 1e-13 {
			t.Errorf("%s: mean %v, sd %v", s.Features[j], mean, sd)
		}
	}
	x := linalg.NewMatrix(1000, 2)
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[1] = 0.1, float64(i) // the rounded mean of 0.1 need not be 0.1
	}
	z, scaler = Standardize(x)
	fresh, err := scaler.Apply(linalg.Matrix{Rows: 1, Cols: 2, Stride: 2, Data: []float64{7, 499.5}})
	if err != nil || scaler.SD[0] != 0 || scaler.Mean[0] != 0.1 || z.At(7, 0) != 0 ||
		!slices.Equal(fresh.Data, []float64{0, 0}) {
		t.Errorf("mean %v, sd %v, new input %v, %v", scaler.Mean[0], scaler.SD[0], fresh.Data, err)
	}
	const largest, least = math.MaxFloat64, math.SmallestNonzeroFloat64
	for _, column := range [][]float64{{-largest, largest, largest}, {0, least}, {1, 1 + 0x1p-52},
		{1e-310, 3e-310}} {
		z, _ := Standardize(linalg.Matrix{Rows: len(column), Cols: 1, Stride: 1, Data: column})
		for _, v := range z.Data { // among n values none is more than sqrt(n) deviations away
			if !(math.Abs(v) <= 2) {
				t.Errorf("%v became %v", column, z.Data)
			}
		}
	}
	empty, scaler := Standardize(linalg.NewMatrix(0, 3))
	if empty.Rows != 0 || len(scaler.SD) != 3 {
		t.Error("no rows")
	}
	_, err = scaler.Apply(linalg.NewMatrix(1, 2))
	wantError(t, err, "2 features", "has 3")
}
