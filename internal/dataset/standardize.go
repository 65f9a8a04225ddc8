package dataset

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
)

// Standardizer maps each feature of a training set to mean 0 and population standard deviation 1.
type Standardizer struct {
	// Mean and SD hold the D means and population standard deviations; SD is 0 for a constant column.
	Mean []float64 `json:"mean"`
	SD   []float64 `json:"sd"`
}

// Standardize returns a standardised copy of the inputs and the map that made it. Constant columns become 0.
func Standardize(x linalg.Matrix) (linalg.Matrix, Standardizer) {
	s := (&Set{X: x}).Standardizer()
	z, _ := s.Apply(x) // the number of features matches
	return z, s
}

// Standardizer is the map that standardises the inputs of s.
func (s *Set) Standardizer() Standardizer {
	z := Standardizer{Mean: make([]float64, s.X.Cols), SD: make([]float64, s.X.Cols)}
	for j := range s.X.Cols {
		z.Mean[j], z.SD[j] = moments(mat.Col(nil, j, s.X), s.Weights)
	}
	return z
}

// moments are the mean and the population standard deviation of values, which are scaled by a power of two to
// at most 1, so that no square overflows or vanishes. Weights are 1 if there are none.
func moments(values, weights []float64) (mean, sd float64) {
	if len(values) == 0 {
		return 0, 0
	}
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return low, 0
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(values))
	}
	_, exponent := math.Frexp(max(-low, high))
	total := floats.Sum(weights)
	average := func(term func(deviation float64) float64) (sum float64) {
		for i, v := range values {
			sum += weights[i] * term(math.Ldexp(v, -exponent)-mean)
		}
		return sum / total
	}
	for range 2 { // the second removes the rounding of the first
		mean += average(func(e float64) float64 { return e })
	}
	variance := average(func(e float64) float64 { return e * e })
	return math.Ldexp(mean, exponent), math.Ldexp(math.Sqrt(variance), exponent)
}

// Apply maps new inputs (M x D) by the training set's moments. A column that was constant there becomes 0:
// its scale is unknown.
func (s Standardizer) Apply(x linalg.Matrix) (linalg.Matrix, error) {
	if x.Cols != len(s.Mean) {
		return linalg.Matrix{}, errorIn("", "inputs with %d features, the training set has %d", x.Cols,
			len(s.Mean))
	}
	z := linalg.NewMatrix(x.Rows, x.Cols)
	for i := range x.Rows {
		to := z.Row(i)
		for j, v := range x.Row(i) {
			if s.SD[j] > 0 {
				to[j] = 2 * ((v/2 - s.Mean[j]/2) / s.SD[j]) // halved, the difference cannot overflow
			}
		}
	}
	return z, nil
}
