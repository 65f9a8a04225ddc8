package dataset

import (
	"math"
	"slices"

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

// Standardizer is the map that standardises the inputs of s. Values are scaled by a power of two to at most
// about 1, so that no square overflows or vanishes.
func (s *Set) Standardizer() Standardizer {
	n, d := s.X.Rows, s.X.Cols
	z := Standardizer{Mean: make([]float64, d), SD: make([]float64, d)}
	if n == 0 {
		return z
	}
	low, high := slices.Clone(s.X.Row(0)), slices.Clone(s.X.Row(0))
	for i := range n {
		for j, v := range s.X.Row(i) {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	exponent, scale, sum := make([]int, d), make([]float64, d), make([]float64, d)
	for j := range d {
		_, exponent[j] = math.Frexp(max(-low[j], high[j]))
		exponent[j] = max(exponent[j], -1000) // beyond it the factor would overflow
		scale[j] = math.Ldexp(1, -exponent[j])
	}
	for pass := range 3 { // the second removes the rounding of the first mean, the third sums squares
		clear(sum)
		weight, total := 1.0, 0.0
		for i := range n {
			if s.Weights != nil {
				weight = s.Weights[i]
			}
			total += weight
			for j, v := range s.X.Row(i) {
				deviation := v*scale[j] - z.Mean[j]
				if pass == 2 {
					deviation *= deviation
				}
				sum[j] += weight * deviation
			}
		}
		for j := range sum {
			if pass == 2 {
				z.SD[j] = math.Ldexp(math.Sqrt(sum[j]/total), exponent[j])
			} else {
				z.Mean[j] += sum[j] / total
			}
		}
	}
	for j := range d {
		if z.Mean[j] = math.Ldexp(z.Mean[j], exponent[j]); low[j] == high[j] { // without rounding
			z.Mean[j], z.SD[j] = low[j], 0
		}
	}
	return z
}

// Apply maps new inputs (M x D) by the training set's moments. A column that was constant there becomes 0:
// its scale is unknown.
func (s Standardizer) Apply(x linalg.Matrix) (linalg.Matrix, error) {
	if x.Cols != len(s.Mean) {
		return linalg.Matrix{}, errorIn("", "inputs with %d features, the training set has %d", x.Cols,
			len(s.Mean))
	}
	z := linalg.NewMatrix(x.Rows, x.Cols)
	s.To(z, x)
	return z, nil
}

// To is Apply into a matrix of the same shape, which may be the same matrix.
func (s Standardizer) To(z, x linalg.Matrix) {
	for i := range x.Rows {
		to := z.Row(i)
		for j, v := range x.Row(i) {
			if to[j] = 0; s.SD[j] > 0 {
				to[j] = 2 * ((v/2 - s.Mean[j]/2) / s.SD[j]) // halved, the difference cannot overflow
			}
		}
	}
}
