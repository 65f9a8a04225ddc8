package loss

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

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
