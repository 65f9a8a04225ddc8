package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// sizesOf are errors of n examples around a curve of the ratio; their noise is common to all ratios.
func sizesOf(n int, noise float64, curve func(ratio float64) float64) (sizes []SizeError) {
	for _, ratio := range []float64{0.2, 0.29, 0.42, 0.62, 0.9} {
		s, rng := SizeError{Ratio: ratio}, rand.New(rand.NewPCG(1, 2))
		for range n {
			s.Each = append(s.Each, curve(ratio)*(1+noise*rng.NormFloat64()))
		}
		s.Error = stat.Mean(s.Each, nil)
		s.SE = 0.003 * s.Error
		sizes = append(sizes, s)
	}
	return sizes
}

// TestGrowth reads known curves at twice and five times the examples.
func TestGrowth(t *testing.T) {
	for name, curve := range map[string]func(float64) float64{
		"falling": func(r float64) float64 { return 1 + 2*math.Pow(r, -0.7) },
		"fast":    func(r float64) float64 { return 0.1 + math.Pow(r, -1.5) },
		"settled": func(r float64) float64 { return 3 },
	} {
		for _, factor := range []int{2, 5} {
			g := NewGrowth(sizesOf(400, 0.5, curve), 400, 400, 400*factor)
			fall, now := float64(g.Fall/g.Now), curve(1)
			want := (now - curve(float64(factor))) / now
			if se := float64(g.FallSE / g.Now); math.Abs(fall-want) > 2*se || se > 0.05*float64(factor) ||
				g.Rows != 400*factor {
				t.Errorf("%s: a fall of %.3f +- %.3f of the error with %d rows, want %.3f", name, fall, se, g.Rows, want)
			}
		}
	}
}

// TestGrowthExamples: examples that disagree on the fall are uncertainty; units are none, nor is a common
// factor of every example.
func TestGrowthExamples(t *testing.T) {
	curve := func(r float64) float64 { return 1 / r }
	sizes := sizesOf(100, 0, curve)
	quiet := NewGrowth(sizes, 100, 100, 200)
	for i, s := range sizes {
		sizes[i].Error, sizes[i].SE = 1e6*s.Error, 1e6*s.SE
		for k := range s.Each {
			s.Each[k] *= 1e6
		}
	}
	if g := NewGrowth(sizes, 100, 100, 200); math.Abs(float64(g.FallSE/quiet.FallSE)/1e6-1) > 1e-6 {
		t.Errorf("in other units %v, not 1e6 times %v", g, quiet)
	}
	for k := range 50 { // half of the examples do not gain
		for i, s := range sizes {
			s.Each[2*k] = sizes[0].Each[0]
			sizes[i].Error = stat.Mean(s.Each, nil)
		}
	}
	if g := NewGrowth(sizes, 100, 100, 200); g.FallSE/g.Fall < 2*quiet.FallSE/quiet.Fall {
		t.Errorf("a fall that half of the examples do not see is as certain: %v, %v", g, quiet)
	}
	if g := NewGrowth(sizesOf(19, 0, curve), 19, 19, 38); g != nil {
		t.Errorf("19 examples give %v", g)
	}
}
