package solver_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/dataset"
	_ "bootbench/internal/fixedseed"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// boston is the regression of M03 figures 1 to 3: raw inputs and targets, noise
// variance 0.01, kernel exp(-sum_j (x_j - x'_j)^2/(73.54 v_j)), v_j the standard
// deviation of input j.
func boston(t rapid.TB, ratio float64) solver.Problem {
	t.Helper()
	set, err := dataset.Open("boston")
	if err != nil {
		t.Fatal(err)
	}
	spec := kernel.Spec{Kind: kernel.RBF}
	for _, v := range set.PopulationSD() {
		spec.LengthScale = append(spec.LengthScale, math.Sqrt(v*73.54/2))
	}
	k, _ := gram(t, spec, set.X)
	return solver.Problem{Gram: k, Y: set.Y, Loss: loss.Square{Noise: 0.01}, Law: resample.Poisson{Ratio: ratio}}
}

// TestBoston holds the left-out square loss to values computed by independent
// code of another language, to the three decimals that are known of them, at
// the default tolerance. Mixed steps take 5 or 6 factorisations here, plain ones
// 8 at ratio 2.
func TestBoston(t *testing.T) {
	for _, c := range []struct{ ratio, want float64 }{{0.2, 39.342}, {0.5, 21.224}, {1, 16.248}, {2, 14.640}} {
		for _, plain := range []bool{false, true} {
			if plain && c.ratio < 2 {
				continue // up to 40 factorisations; TestOneFixedPoint has one of them
			}
			t.Run(fmt.Sprintf("ratio=%g/plain=%t", c.ratio, plain), func(t *testing.T) {
				s := mustConverge(t, boston(t, c.ratio), solver.Settings{Plain: plain})
				got, _ := s.LeftOut(loss.SquareTest{})
				if math.Abs(got-c.want) > 0.0006 {
					t.Errorf("left-out square loss %.4f, want %.3f", got, c.want)
				}
				if exact := s.Stats.Refreshes.Exact; exact > 12 {
					t.Errorf("%d factorisations, more than 12", exact)
				}
			})
		}
	}
}
