package solver_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/loss"
	"bootbench/solver"
)

// TestCombineErrors holds the combination to its definition on targets that
// repeat, labels among them, pair by pair, with a left-out error from anywhere.
func TestCombineErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 1))
	labels, levels, fit := make([]float64, 200), make([]float64, 200), normals(rng, 200)
	for i := range fit {
		labels[i] = float64(2*rng.IntN(2) - 1)
		levels[i] = math.Round(2 * rng.NormFloat64())
	}
	for _, c := range []struct {
		name    string
		test    loss.Test
		y       []float64
		leftOut float64
	}{
		{"labels", loss.ZeroOne{}, labels, 0.3},
		{"labels", loss.ZeroOne{}, labels, 0.9},
		{"labels judged by squares", loss.SquareTest{}, labels, 2.1},
		{"levels", loss.SquareTest{}, levels, 5.2},
		{"levels", loss.Absolute{}, levels, 0.1},
	} {
		t.Run(c.name+"/"+c.test.Name(), func(t *testing.T) {
			n, apparent, shuffled := 200.0, 0.0, 0.0
			for i, y := range c.y {
				apparent += c.test.Value(fit[i], y) / n
				for j := range fit {
					shuffled += c.test.Value(fit[j], y) / (n * n)
				}
			}
			plus, _ := err632plus(c.leftOut, apparent, shuffled)
			got := solver.Combine632(c.leftOut, c.test, c.y, fit, nil)
			// Sums of 40000 terms in another order.
			sameNumber(t, "left out", got.LeftOut, c.leftOut, 0)
			sameNumber(t, "apparent", got.Apparent, apparent, 1e-13)
			sameNumber(t, "no information", got.NoInformation, shuffled, 1e-11)
			sameNumber(t, ".632", got.Err632, 0.368*apparent+0.632*c.leftOut, 1e-13)
			sameNumber(t, ".632+", got.Err632Plus, plus, 1e-11)
		})
	}
}

// TestNoInformationOfMany: beyond some million pairs neighbours count at their mean, of
// which there are 2000, each off by less than a thousandth of the spread.
func TestNoInformationOfMany(t *testing.T) {
	const n = 6000
	rng := rand.New(rand.NewPCG(18, 2))
	y, fit := normals(rng, n), normals(rng, n)
	for _, test := range []loss.Test{loss.SquareTest{}, loss.Absolute{}, loss.SmoothEps{Eps: 0.1, Beta: 0.1}} {
		want := 0.0
		for _, f := range fit {
			for _, v := range y {
				want += test.Value(f, v) / (n * n)
			}
		}
		got := solver.Combine632(math.NaN(), test, y, fit, nil).NoInformation
		if off := math.Abs(got/want - 1); off > 1e-4 || off > 1e-10 && test.Name() == "square" {
			t.Errorf("%s: %v, pair by pair %v", test.Name(), got, want)
		}
	}
}

// TestNeverLeftOut: with no left-out error there is no combination, and what
// the fit alone tells stays.
func TestNeverLeftOut(t *testing.T) {
	e := solver.Combine632(math.NaN(), loss.SquareTest{}, []float64{0, 2}, []float64{1, 2}, nil)
	if e.Apparent != 0.5 || e.NoInformation != 1.5 { // of 1, 0 and of 1, 1, 4, 0
		t.Errorf("apparent %v, no information %v", e.Apparent, e.NoInformation)
	}
	if !math.IsNaN(e.Err632) || !math.IsNaN(e.Err632Plus) {
		t.Errorf(".632 is %v, .632+ is %v", e.Err632, e.Err632Plus)
	}
}
