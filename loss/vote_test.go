package loss

import (
	"math"
	"testing"

	"bootbench/resample"
)

// TestVoteShare: the vote is that of the distribution. Distributions of smooth losses carry their
// map to 1e-7 of the standard deviation.
func TestVoteShare(t *testing.T) {
	for _, l := range []Loss{Hinge{C: 3}, HardMargin{}, SquaredHinge{C: 1}, Logistic{C: 4},
		EpsInsensitive{C: 1, Epsilon: 1}, Square{Noise: 0.3}, Probit{}} {
		for _, y := range [][]float64{{1}, {-1}, {-1, -1}} {
			s, err := l.Site(y, resample.Poisson{Ratio: 1.5})
			if err != nil {
				t.Fatal(err)
			}
			for _, cav := range []Cavity{{C: 2, Mean: 0.3, Var: 0.5}, {C: 0.5, Mean: -2, Var: 4}, {C: 1, Mean: 0.2}} {
				got, want := VoteShare(s, cav), s.Distribution(cav).Vote()
				if math.Abs(got-want) > 1e-6 {
					t.Errorf("%s, targets %v, cavity %v: %g, want %g", l.Name(), y, cav, got, want)
				}
			}
		}
	}
}
