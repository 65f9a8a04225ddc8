package resample

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestGenerated: drawn targets have the means and variances of their laws, and so have the alternatives of a
// site, whose examples are independent; every row is there once. The standard errors of 4000 draws are 2%.
func TestGenerated(t *testing.T) {
	s := NewGenerated(Residual, 3)
	residuals := make([]float64, 300)
	for k := range residuals {
		residuals[k] = math.Sinh(float64(k-150) / 40)
	}
	mean, variance := stat.PopMeanVariance(residuals, nil)
	s.Laws = []TargetLaw{
		{Center: []float64{0, 5, -1}, Scale: []float64{1, 2, 0}, Noise: residuals},
		{Positive: []float64{0.2, 0.2, 0.9}},
	}
	for function, want := range [][2][]float64{
		{{mean, 5 + 2*mean, -1}, {variance, 4 * variance, 0}},
		{{-0.6, -0.6, 0.8}, {0.64, 0.64, 0.36}},
	} {
		s.Function = function
		draws, weight := make([][]float64, 3), make([]float64, 3)
		for b := range 4000 {
			for i, y := range (Resamples{Scheme: s, Seed: 3}).Fit(b, weight) {
				if draws[i] = append(draws[i], y); weight[i] != 1 {
					t.Fatal("a row is not there once")
				}
			}
		}
		for i := range draws {
			m, v := stat.PopMeanVariance(draws[i], nil)
			scale := math.Sqrt(want[1][i])
			if math.Abs(m-want[0][i]) > 0.07*scale || math.Abs(v-want[1][i]) > 0.1*want[1][i] {
				t.Errorf("row %d: mean %v, variance %v, want %v, %v", i, m, v, want[0][i], want[1][i])
			}
		}
		for _, examples := range [][]int{{0}, {0, 1}} {
			targets, p := s.Alternatives(examples)
			sum, squares := 0.0, 0.0
			for r, y := range targets {
				total := 0.0
				for _, v := range y {
					total += v
				}
				sum, squares = sum+p[r]*total, squares+p[r]*total*total
			}
			m, v := 0.0, 0.0
			for _, i := range examples {
				m, v = m+want[0][i], v+want[1][i]
			}
			if got := squares - sum*sum; math.Abs(sum-m) > 0.01*math.Sqrt(v) || math.Abs(got-v) > 0.1*v {
				t.Errorf("alternatives of %v: mean %v, variance %v, want %v, %v", examples, sum, got, m, v)
			}
		}
	}
}
