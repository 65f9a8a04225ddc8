package answer

import (
	"math"
	"testing"
)

// TestExtrapolate: of learning curves a + b m^-c, c from 1/4 to 1, known at 1000, 2000 and 4000 rows, the
// error at 20,000 is within twice the spread, and a curve that does not fall goes on level.
func TestExtrapolate(t *testing.T) {
	for _, c := range []float64{0.25, 0.5, 0.75, 1} {
		for _, floor := range []float64{0, 0.1, 1} {
			at := func(m float64) float64 { return floor + 0.2*math.Pow(m/4000, -c) }
			quote, spread := extrapolate([]float64{at(1000), at(2000), at(4000)}, 5)
			if want := at(20000); !(math.Abs(quote-want) <= 2*spread) || !(spread < quote) {
				t.Errorf("%g + 0.2 m^-%g: %g +- %g, is %g", floor, c, quote, spread, want)
			}
		}
	}
	for _, errors := range [][]float64{{0.3, 0.2, 0.3}, {0.2, 0.2, 0.3}, {0.1, 0, 0}} {
		if quote, spread := extrapolate(errors, 5); quote != errors[2] || spread != 0 {
			t.Errorf("%v: %g +- %g", errors, quote, spread)
		}
	}
}
