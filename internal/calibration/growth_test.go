package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/report"
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

// TestGrowth reads known curves at twice the examples: within two standard errors, and a fall that is neither
// below 0 nor above the fall of the last doubling.
func TestGrowth(t *testing.T) {
	for name, curve := range map[string]func(float64) float64{
		"falling": func(r float64) float64 { return 1 + 2*math.Pow(r, -0.7) },
		"fast":    func(r float64) float64 { return 0.1 + math.Pow(r, -1.5) },
		"slow":    func(r float64) float64 { return 3 + 0.1*math.Pow(r, -0.3) },
		"settled": func(r float64) float64 { return 3 },
		"rising":  func(r float64) float64 { return 3 + r },
	} {
		g := NewGrowth(sizesOf(400, 0.5, curve), 400)
		fall, now := float64(g.Fall), curve(1)
		want := math.Max(0, now-curve(2))
		if se := float64(g.FallSE); math.Abs(fall-want) > 2*se || se > 0.4*want+0.005*now || g.Rows != 800 ||
			!(fall >= 0 && fall <= curve(0.5)-now+0.01*now || name == "rising" && fall == 0) {
			t.Errorf("%s: a fall of %.3f +- %.3f with twice the rows, want %.3f; the last was %.3f", name,
				fall, se, want, curve(0.5)-now)
		}
	}
}

// TestGrowthExamples: examples that disagree on the fall are uncertainty; units are none, nor is a common
// factor of every example.
func TestGrowthExamples(t *testing.T) {
	curve := func(r float64) float64 { return 1 / r }
	sizes := sizesOf(100, 0, curve)
	quiet := NewGrowth(sizes, 100)
	for i, s := range sizes {
		sizes[i].Error, sizes[i].SE = 1e6*s.Error, 1e6*s.SE
		for k := range s.Each {
			s.Each[k] *= 1e6
		}
	}
	if g := NewGrowth(sizes, 100); math.Abs(float64(g.FallSE/quiet.FallSE)/1e6-1) > 1e-6 {
		t.Errorf("in other units %v, not 1e6 times %v", g, quiet)
	}
	for k := range 50 { // half of the examples do not gain
		for i, s := range sizes {
			s.Each[2*k] = sizes[0].Each[0]
			sizes[i].Error = stat.Mean(s.Each, nil)
		}
	}
	relative := func(g *report.Growth) float64 { return float64(g.FallSE / g.Fall) }
	if g := NewGrowth(sizes, 100); math.Pow(relative(g), 2) < math.Pow(relative(quiet), 2)+0.25/100/0.25 {
		t.Errorf("a fall that half of the examples do not see is as certain: %v, %v", g, quiet)
	}
	if g := NewGrowth(sizesOf(19, 0, curve), 19); g != nil {
		t.Errorf("19 examples give %v", g)
	}
}
