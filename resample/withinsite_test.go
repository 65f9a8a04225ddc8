package resample

import (
	"fmt"
	"math"
	"testing"
)

// TestWithinSiteVarOfSamplers draws and looks: among the draws with total k, the sum
// of the values of the drawn examples has variance WithinSiteVar times the variance of the
// values. 20000 draws or more for the k shown: a variance is good to 2%.
func TestWithinSiteVarOfSamplers(t *testing.T) {
	values := []float64{1, -2, 4} // the first three of N examples; mean 1, variance 6
	for _, c := range []struct {
		s Scheme
		n int
		k float64
	}{
		{Multinomial{9, 9}, 9, 3}, {Multinomial{20, 9}, 9, 4},
		{Subsample{4, 9}, 9, 1}, {Subsample{6, 9}, 9, 2}, {KFold{3, 9}, 9, 2}, {Bernoulli{0.5}, 9, 1},
		{Poisson{1}, 9, 2},
	} {
		t.Run(fmt.Sprintf("%s/k=%g", c.s.Name(), c.k), func(t *testing.T) {
			counts := make([]float64, c.n)
			var n, sum, squares float64
			for b := 0; n < 20000; b++ {
				c.s.Draw(7, b, counts)
				if counts[0]+counts[1]+counts[2] != c.k {
					continue
				}
				drawn := 0.0
				for i, v := range values {
					drawn += counts[i] * v
				}
				n++
				sum += drawn
				squares += drawn * drawn
			}
			got := squares/n - sum/n*sum/n
			if want := 6 * c.s.WithinSiteVar(3, c.k); math.Abs(got-want) > 0.04*want {
				t.Errorf("the drawn values' sum has variance %g, WithinSiteVar says %g", got, want)
			}
		})
	}
}
