package dataset

import (
	"fmt"
	"math"
	"slices"
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
	s := (&Set{X: x}).Standardizer()
	return s.transform(x), s
}

// Standardizer is the map that standardises the inputs of s.
func (s *Set) Standardizer() Standardizer {
	mean, sd := columnMoments(s.X)
	return Standardizer{Mean: mean, SD: sd}
}

// Apply maps new inputs (M x D) by what was learnt from the training inputs.
// A column that was constant there becomes 0 whatever the new values are: the
// training set says nothing of its scale.
func (s Standardizer) Apply(x Matrix) (Matrix, error) {
	if x.Cols != len(s.Mean) {
		return Matrix{}, &Error{Err: fmt.Errorf("inputs with %d features, the training set has %d", x.Cols,
			len(s.Mean))}
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

// PopulationSD returns the D population standard deviations (division by N) of the
// inputs, 0 for constant features.
func (s *Set) PopulationSD() []float64 {
	_, sd := columnMoments(s.X)
	return sd
}

// columnMoments are the means and the population standard deviations of the columns of a matrix. It works on
// values scaled by a power of two to at most 1, so that no square overflows or vanishes. The second pass
// removes the rounding of the first means.
func columnMoments(x Matrix) (mean, sd []float64) {
	mean, sd = make([]float64, x.Cols), make([]float64, x.Cols)
	if x.Rows == 0 {
		return mean, sd
	}
	low, high := slices.Clone(x.Row(0)), slices.Clone(x.Row(0))
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	exponent := make([]int, x.Cols)
	for j := range exponent {
		_, exponent[j] = math.Frexp(max(-low[j], high[j]))
	}
	average := func(term func(e float64) float64) []float64 {
		total := make([]float64, x.Cols)
		for i := range x.Rows {
			for j, v := range x.Row(i) {
				total[j] += term(math.Ldexp(v, -exponent[j]) - mean[j])
			}
		}
		for j := range total {
			total[j] /= float64(x.Rows)
		}
		return total
	}
	for range 2 {
		for j, rest := range average(func(e float64) float64 { return e }) {
			mean[j] += rest
		}
	}
	for j, square := range average(func(e float64) float64 { return e * e }) {
		mean[j], sd[j] = math.Ldexp(mean[j], exponent[j]), math.Ldexp(math.Sqrt(square), exponent[j])
		if low[j] == high[j] {
			mean[j], sd[j] = low[j], 0
		}
	}
	return mean, sd
}
