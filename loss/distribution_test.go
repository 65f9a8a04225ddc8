package loss

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
)

// integral is the integral of f over [a, b] by 30-point Gauss-Legendre panels
// no longer than step: exact to rounding for Gaussians of unit width or more in
// steps of 1.
func integral(f func(float64) float64, a, b, step float64) float64 {
	if !(b > a) {
		return 0
	}
	panels := math.Ceil((b - a) / step)
	sum := 0.0
	for i := 0.0; i < panels; i++ {
		sum += quad.Fixed(f, a+(b-a)*i/panels, a+(b-a)*(i+1)/panels, 30, quad.Legendre{}, 0)
	}
	return sum
}

// testLaw is a law with the cut Gaussians and the atoms that it consists of.
type testLaw struct {
	Distribution
	pieces []cutNormal
	points []pointMass
}

// cutNormal is weight times the density of N(mean, sd^2) on [lo, hi].
type cutNormal struct{ weight, mean, sd, lo, hi float64 }

type pointMass struct{ at, weight float64 }

// mixtureOfMaps are Gaussians under maps, of total weight one.
func mixtureOfMaps(parts ...mappedNormal) (d Distribution) {
	for _, p := range parts {
		d.add(p.weight, p.mean, p.sd, p.fieldMap)
		if m, ok := p.fieldMap.(*piecewiseMap); ok {
			d.atoms = append(d.atoms, m.Breakpoints...)
		}
	}
	return d
}

func testLaws() map[string]testLaw {
	inf := math.Inf(1)
	normal := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	margin := func(steep float64) fieldMap { return &piecewiseMap{marginLoss(1, steep, 0), 1} }
	return map[string]testLaw{
		"gaussian": {Normal(0.5, 4), []cutNormal{{1, 0.5, 2, -inf, inf}}, nil},
		"mixture": {mixtureOfMaps(mappedNormal{0.3, -1, 0.2, identity{}},
			mappedNormal{0.7, 4, 1, identity{}}),
			[]cutNormal{{0.3, -1, 0.2, -inf, inf}, {0.7, 4, 1, -inf, inf}}, nil},
		// max(h, 1), h ~ N(0.4, 0.8^2): the hard margin with q = 1.
		"clipped": {mixtureOfMaps(mappedNormal{1, 0.4, 0.8, margin(inf)}), []cutNormal{{1, 0.4, 0.8, 1, inf}},
			[]pointMass{{1, normal(0.75)}}},
		// Half present, moved up by 0.5 below the margin.
		"hinge": {mixtureOfMaps(mappedNormal{0.5, 0.2, 0.7, identity{}},
			mappedNormal{0.5, 0.2, 0.7, margin(0.5)}),
			[]cutNormal{{0.5, 0.2, 0.7, -inf, inf}, {0.5, 0.2, 0.7, 1, inf}, {0.5, 0.7, 0.7, -inf, 1}},
			[]pointMass{{1, 0.5 * (normal(0.8/0.7) - normal(0.3/0.7))}}},
		"atoms": {mixtureOfMaps(mappedNormal{0.25, 2, 0, identity{}}, mappedNormal{0.5, -1, 0, identity{}},
			mappedNormal{0.25, 3, 0, identity{}}), nil, []pointMass{{2, 0.25}, {-1, 0.5}, {3, 0.25}}},
	}
}

// TestLawAgainstQuadrature integrates the density over the pieces, broken at their
// cuts, and adds the atoms by hand.
func TestLawAgainstQuadrature(t *testing.T) {
	for name, law := range testLaws() {
		sum := func(a, b float64, g func(float64) float64) float64 {
			total := 0.0
			for _, p := range law.pieces {
				lo := math.Max(a, math.Max(p.lo, p.mean-12*p.sd))
				hi := math.Min(b, math.Min(p.hi, p.mean+12*p.sd))
				one := func(x float64) float64 { return g(x) * p.weight / p.sd * gauss((x-p.mean)/p.sd) }
				total += integral(one, lo, hi, p.sd)
			}
			for _, p := range law.points {
				if a <= p.at && p.at < b {
					total += p.weight * g(p.at)
				}
			}
			return total
		}
		one := func(float64) float64 { return 1 }
		inf := math.Inf(1)
		mean := sum(-inf, inf, func(x float64) float64 { return x })
		relative(t, name+" mass", law.Prob(-inf, inf), 1, 1e-14)
		relative(t, name+" mean", law.Mean(), mean, 1e-13)
		relative(t, name+" variance", law.Var(),
			sum(-inf, inf, func(x float64) float64 { return (x - mean) * (x - mean) }), 1e-13)
		for _, b := range [][2]float64{{-1, 0}, {0, 1}, {1, 1.2}, {0.999, 1.001}, {1, 1.00001}, {2, 3},
			{3, 2}, {-40, -30}} {
			if got, want := law.Prob(b[0], b[1]), sum(b[0], b[1], one); math.Abs(got-want) > 1e-14 {
				t.Errorf("%s: mass on %v is %g, quadrature %g", name, b, got, want)
			}
		}
		for _, x := range []float64{-1, 0.3, 1, 2.5} {
			want := sum(-inf, math.Nextafter(x, inf), one)
			if got := law.CDF(x); math.Abs(got-want) > 1e-14 {
				t.Errorf("%s: CDF(%g) = %g, quadrature %g", name, x, got, want)
			}
		}
		// The density is the slope of the mass, off the cuts.
		for _, x := range []float64{-0.7, 0.31, 1.3, 4.2} {
			const h = 1e-4
			if got, want := law.Density(x), law.Prob(x-h, x+h)/(2*h); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: density(%g) = %g, slope of the mass %g", name, x, got, want)
			}
		}
	}
}

func TestQuantile(t *testing.T) {
	laws := testLaws()
	for _, c := range []struct {
		law  string
		q, x float64
	}{
		{"clipped", 0.5, 1}, {"atoms", 0.5, -1}, {"atoms", 0.51, 2}, {"atoms", 0.75, 2}, {"atoms", 0.76, 3},
	} {
		if got := laws[c.law].Quantile(c.q); got != c.x {
			t.Errorf("%s: quantile(%g) = %g, want %g", c.law, c.q, got, c.x)
		}
	}
	relative(t, "median", laws["gaussian"].Quantile(0.5), 0.5, 1e-12)
	for _, got := range []float64{laws["atoms"].Quantile(0), laws["atoms"].Quantile(1),
		laws["atoms"].Quantile(math.NaN()), (Distribution{}).Quantile(0.5)} {
		if !math.IsNaN(got) {
			t.Errorf("quantile outside of (0, 1) or of nothing: %g", got)
		}
	}
}

// TestQuantileLevel: where the distribution function is level at q to its last bit, as between two peaks or
// beyond the last, Newton steps are none, and the least x of the level is found all the same: to the width of
// the end of a Gaussian.
func TestQuantileLevel(t *testing.T) {
	peak := func(weight, mean float64) mappedNormal { return mappedNormal{weight, mean, 0.1, identity{}} }
	for _, c := range []struct {
		law     Distribution
		q, x, y float64
	}{
		{mixtureOfMaps(peak(0.5, -4), peak(0.5, 4)), 0.5, -3.3, -3.1},
		{mixtureOfMaps(peak(0.25, -4), peak(0.25, 0), peak(0.5, 4)), 0.5, 0.7, 0.9},
		{testLaws()["hinge"].Distribution, 1 - 0x1p-53, 5, 7},
	} {
		if got := c.law.Quantile(c.q); !(c.x <= got && got <= c.y) {
			t.Errorf("quantile(%g) = %g, not between %g and %g", c.q, got, c.x, c.y)
		}
	}
}
