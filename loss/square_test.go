package loss

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/floats"

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

// drawnTargets are alternatives of the targets of two examples of labels, and of one number.
var drawnTargets = map[Loss][][]float64{
	Hinge{C: 2}:                      {{1, 1}, {1, -1}, {-1, -1}},
	Logistic{C: 1}:                   {{1}, {-1}},
	EpsInsensitive{C: 1, Epsilon: 1}: {{0.3}, {2}, {-1}},
	Square{Noise: 0.5}:               {{0.3}, {2}, {-1}},
}

// TestDrawn: moments of a site of random targets are those of f(h), h ~ N(m_c, V_c), f the proximal map of
// the targets, averaged by the trapezoid rule over h and over the targets; the law has these moments, too.
// For kinks the error of the rule is the square of its step, 1e-3.
func TestDrawn(t *testing.T) {
	p := []float64{0.5, 0.3, 0.2}
	for l, targets := range drawnTargets {
		q := append([]float64(nil), p[:len(targets)]...)
		floats.Scale(1/floats.Sum(q), q)
		var parts []Site
		for _, y := range targets {
			parts = append(parts, testutil.Must(l.Site(y, resample.Bernoulli{Rate: 1}))(t))
		}
		site := Drawn(targets, q, parts)
		for _, cav := range []Cavity{{C: 1, Mean: 0.3, Var: 0.5}, {C: 5, Mean: -0.4, Var: 2}} {
			sd, step, mass := math.Sqrt(cav.Var), 1e-3, 0.0
			var mean, square, slope float64
			for z := -8.0; z < 8; z += step {
				w := math.Exp(-z*z/2) * step / math.Sqrt(2*math.Pi)
				for r, y := range targets {
					f, s := TraitsOf(l).Proximal.Prox(cav.C, cav.Mean+sd*z, y, []float64{1, 1}[:len(y)])
					mean, square, slope = mean+w*q[r]*f, square+w*q[r]*f*f, slope+w*q[r]*s
				}
				mass += w
			}
			m, law := site.Moments(cav), site.Distribution(cav)
			for what, pair := range map[string][2]float64{
				"mean": {m.Mean, mean / mass}, "variance": {m.Var, square/mass - mean*mean},
				"response": {m.Response, slope / mass}, "shrinkage": {m.Shrinkage, 1 - slope/mass},
				"mean of the law": {law.Mean(), m.Mean}, "variance of the law": {law.Var(), m.Var},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-3 {
					t.Errorf("%s, %v: %s %v, want %v", l.Name(), cav, what, pair[0], pair[1])
				}
			}
			if _, sloped := site.(Sloped); !sloped {
				continue
			}
			by, ok := site.(Sloped).MomentSlopes(cav)
			const h = 1e-5
			a, b := site.Moments(Cavity{cav.C, cav.Mean - h, cav.Var}),
				site.Moments(Cavity{cav.C, cav.Mean + h, cav.Var})
			if want := (b.Var - a.Var) / (2 * h); ok && math.Abs(by[1].Var-want) > 1e-6 {
				t.Errorf("%s: slope of the variance %v, differences %v", l.Name(), by[1].Var, want)
			}
		}
	}
	site := Drawn([][]float64{{1, 4}, {3, 0}}, []float64{0.5, 0.5}, []Site{
		testutil.Must(Square{Noise: 1}.Site([]float64{1, 4}, resample.Bernoulli{Rate: 1}))(t),
		testutil.Must(Square{Noise: 1}.Site([]float64{3, 0}, resample.Bernoulli{Rate: 1}))(t)})
	// two examples of mean 2, variances 1 and 4: f = (c h + y1 + y2)/(c + 2)
	want := fmt.Sprint(Moments{(1*0.5 + 4) / 3, (0.25 + 5.0) / 9, 2.0 / 3, 1.0 / 3})
	m := site.Moments(Cavity{C: 1, Mean: 0.5, Var: 0.25})
	if d := math.Abs(m.Mean-4.5/3) + math.Abs(m.Var-5.25/9) + math.Abs(m.Response-1.0/3); d > 1e-12 {
		t.Errorf("two examples of independent targets: %v, want %v", m, want)
	}
}

// TestNoiseOf: the noise of a loss has the variance of exp(-l): s2 of the square loss, 2/C^2 of C |e|, and no
// other quantiles than a Gaussian's; labels have none.
func TestNoiseOf(t *testing.T) {
	for _, c := range []struct {
		loss     Loss
		variance float64
	}{{Square{Noise: 0.04}, 0.04}, {LeastAbsolute{C: 3}, 2.0 / 9}, {Square{Noise: 1e8}, 1e8}} {
		values, sum := NoiseOf(c.loss), 0.0
		for _, v := range values {
			sum += v * v / float64(len(values))
		}
		if math.Abs(sum-c.variance) > 1e-6*c.variance {
			t.Errorf("%s: variance %v, want %v", c.loss.Name(), sum, c.variance)
		}
	}
	within := 0
	for _, v := range NoiseOf(Square{Noise: 4}) {
		if math.Abs(v) < 2 {
			within++
		}
	}
	if share := float64(within) / noiseValues; math.Abs(share-0.6827) > 0.005 {
		t.Errorf("%v of the noise within a standard deviation", share)
	}
	if NoiseOf(Hinge{C: 1}) != nil {
		t.Error("labels have noise")
	}
}
