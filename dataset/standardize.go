package dataset

import (
	"fmt"
	"math"
)

// Standardizer is the affine map that takes each feature of a training set to
// mean 0 and population standard deviation 1.
type Standardizer struct {
	// Mean and SD hold the D means and population standard deviations
	// (division by N) of the training inputs; SD is 0 where a column is constant.
	Mean []float64 `json:"mean"`
	SD   []float64 `json:"sd"`
}

// Standardize returns a standardised copy of the inputs and the map that made
// it. Constant columns become 0.
func Standardize(x Matrix) (Matrix, Standardizer) {
	s := NewStandardizer(x)
	return s.transform(x), s
}

// NewStandardizer is the map alone.
func NewStandardizer(x Matrix) Standardizer {
	s := Standardizer{Mean: make([]float64, x.Cols), SD: make([]float64, x.Cols)}
	for j := range x.Cols {
		s.Mean[j], s.SD[j] = columnMoments(x, j)
	}
	return s
}

// Apply maps new inputs (M x D) by what was learnt from the training inputs.
// A column that was constant there becomes 0 whatever the new values are: the
// training set says nothing of its scale.
func (s Standardizer) Apply(x Matrix) (Matrix, error) {
	if x.Cols != len(s.Mean) {
		return Matrix{}, &Error{Err: fmt.Errorf("inputs with %d features, the training set has %d", x.Cols, len(s.Mean))}
	}
	return s.transform(x), nil
}

func (s Standardizer) transform(x Matrix) Matrix {
	z := NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		s.Row(z.Row(i), x.Row(i))
	}
	return z
}

// Row maps the features x of one input into dst, which x may be.
func (s Standardizer) Row(dst, x []float64) {
	for j, v := range x {
		dst[j] = 0
		if s.SD[j] > 0 {
			// Halved, the difference of two float64 cannot overflow.
			dst[j] = 2 * ((v/2 - s.Mean[j]/2) / s.SD[j])
		}
	}
}

// PopulationSD returns the D population standard deviations (division by N) of
// the columns, 0 for constant ones.
func PopulationSD(x Matrix) []float64 {
	sd := make([]float64, x.Cols)
	for j := range sd {
		_, sd[j] = columnMoments(x, j)
	}
	return sd
}

// columnMoments is the mean and the population standard deviation of column j.
// It works on values scaled by a power of two to at most 1, so that no square
// overflows or vanishes. The second pass removes the rounding of the first mean.
func columnMoments(x Matrix, j int) (mean, sd float64) {
	if x.Rows == 0 {
		return 0, 0
	}
	low, high := x.At(0, j), x.At(0, j)
	for i := range x.Rows {
		low, high = math.Min(low, x.At(i, j)), math.Max(high, x.At(i, j))
	}
	if low == high {
		return low, 0
	}
	_, exponent := math.Frexp(math.Max(-low, high))
	n := float64(x.Rows)
	for range 2 {
		rest := 0.0
		for i := range x.Rows {
			rest += math.Ldexp(x.At(i, j), -exponent) - mean
		}
		mean += rest / n
	}
	squares := 0.0
	for i := range x.Rows {
		e := math.Ldexp(x.At(i, j), -exponent) - mean
		squares += e * e
	}
	return math.Ldexp(mean, exponent), math.Ldexp(math.Sqrt(squares/n), exponent)
}
