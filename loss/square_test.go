package loss

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// relative fails unless got agrees with want to tol, relative to want.
func relative(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %.17g, want %.17g (tolerance %g relative)", what, got, want, tol)
	}
}

// exact are the averages of (T9) in big floats, over a Poisson law
// summed to 200 terms and normalised.
type exact struct{ a1, pull, a2, e2, scatter *big.Float }

func exactResponses(nu, s2, c float64) exact {
	p, total := num(1), num(0)
	w := ratio(num(1), num(s2))
	e := exact{num(0), num(0), num(0), num(0), nil}
	for k := 0; k < 200; k++ {
		kw := times(num(float64(k)), w)
		u := ratio(num(1), plus(num(c), kw))
		pu := times(p, u)
		total = plus(total, p)
		e.a1 = plus(e.a1, pu)
		e.pull = plus(e.pull, times(pu, kw))
		e.a2 = plus(e.a2, times(pu, u))
		e.e2 = plus(e.e2, times(times(pu, u), times(kw, w)))
		p = ratio(times(p, num(nu)), num(float64(k+1)))
	}
	e.a1, e.pull, e.a2, e.e2 = ratio(e.a1, total), ratio(e.pull, total), ratio(e.a2, total),
		ratio(e.e2, total)
	e.scatter = minus(e.a2, times(e.a1, e.a1))
	return e
}

// mustSite is a square-loss site of acceptable input.
func mustSite(t testing.TB, s2 float64, y []float64, law resample.CountDistribution) *squareSite {
	t.Helper()
	site := testutil.Must(Square{s2}.Site(y, law))(t)
	return site.(*squareSite)
}

// TestResponsesDigits asks for nearly all digits, over 20 orders of magnitude
// of c s2. The sums have positive terms only, so that their relative error is
// the one of the table of probabilities and a few roundings: 1e-14.
func TestResponsesDigits(t *testing.T) {
	for _, nu := range []float64{1e-6, 0.01, 1, 5, 20} {
		for _, s2 := range []float64{1e-6, 1, 1e6} {
			for _, c := range []float64{1e-8, 1e-3, 1, 1e4, 1e8} {
				site := mustSite(t, s2, []float64{0.5}, resample.Poisson{Ratio: nu})
				a1, pull, a2, e2 := site.Responses(c)
				want := exactResponses(nu, s2, c)
				name := fmt.Sprintf("nu=%g s2=%g c=%g ", nu, s2, c)
				relative(t, name+"a1", a1, plain(want.a1), 1e-14)
				relative(t, name+"pull", pull, plain(want.pull), 1e-14)
				relative(t, name+"a2", a2, plain(want.a2), 1e-14)
				relative(t, name+"e2", e2, plain(want.e2), 1e-14)
				// The deviations have the zero crossing of a1, where they lose
				// digits in absolute measure only.
				relative(t, name+"scatter", site.Spread(c, a1, pull), plain(want.scatter), 1e-12)
			}
		}
	}
}

// TestPointCavity: without cavity variance the law is atoms, one per count.
func TestPointCavity(t *testing.T) {
	site := mustSite(t, 0.5, []float64{1}, resample.Poisson{Ratio: 1})
	law := site.Distribution(Cavity{2, -1, 0})
	if len(law.atoms) != len(site.counts.P) {
		t.Fatalf("%d atoms", len(law.atoms))
	}
	for k, at := range law.atoms {
		relative(t, "atom", at, (-2+2*float64(k))/(2+2*float64(k)), 1e-14)
		relative(t, "mass", law.Prob(at, math.Nextafter(at, 2)), site.counts.P[k], 1e-14)
	}
	relative(t, "median", law.Quantile(0.5), law.atoms[1], 0)
}

func TestTarget(t *testing.T) {
	site := mustSite(t, 1, []float64{1, 2, 6}, resample.Poisson{Ratio: 1})
	mean, variance := site.Target()
	relative(t, "mean", mean, 3, 1e-15)
	relative(t, "variance", variance, 14.0/3, 1e-15)
	mean, variance = site.without(6)
	relative(t, "mean of the others", mean, 1.5, 1e-14)
	relative(t, "variance of the others", variance, 0.25, 1e-13)
	for _, v := range []float64{0.1, 1e8 + 0.3, 1.0 / 3} { // two equal ones remain, up to rounding
		site := mustSite(t, 1, []float64{v, v, v + 1}, resample.Poisson{Ratio: 1})
		if _, variance := site.without(v + 1); !(variance >= 0) {
			t.Errorf("variance of the others %g", variance)
		}
	}
}
