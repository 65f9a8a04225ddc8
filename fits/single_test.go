package fits_test

import (
	"math"
	"slices"
	"testing"

	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/train"
)

// gaussian is the square loss (f-y)^2/(2 noise) by its proximal map, and the
// Gaussian likelihood by its tilted moments: both are regression.
type gaussian struct{ noise float64 }

func (gaussian) Name() string                 { return "gaussian" }
func (l gaussian) Value(f, y float64) float64 { return (f - y) * (f - y) / (2 * l.noise) }

func (l gaussian) Prox(c, h float64, y, k []float64) (f, slope float64) {
	_, f, variance := l.TiltedMoments(c, h, y, k)
	return f, c * variance
}

func (l gaussian) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	precision, shift := c, c*h
	for j := range y {
		precision += k[j] / l.noise
		shift += k[j] * y[j] / l.noise
	}
	return 0, shift / precision, 1 / precision
}

// TestLearners: where all are regression, each learner finds the same predictor from sets with real weights
// and several examples at a site, whatever it learned before; weights of margin losses scale C.
func TestLearners(t *testing.T) {
	p, process := regression(12, 4)
	const noise = 0.1
	weight := []float64{0.5, 0, 2.5, 1, 0, 3, 0.1, 1, 2, 0, 1, 0.7}
	set := train.Set{Y: p.Y, Site: p.Site, Weight: weight}
	want := testutil.Must(testutil.Must(fits.Square(process.kernel, noise, false)())(t)(set))(t)
	for name, learners := range map[string]fits.Learners{
		"proximal":  fits.Proximal(process.kernel, gaussian{noise}, false, 0),
		"posterior": fits.Posterior(process.kernel, gaussian{noise}, 0),
	} {
		learn := testutil.Must(learners())(t)
		testutil.Must(learn(train.Set{Y: p.Y, Site: p.Site, Weight: slices.Repeat([]float64{1}, 12)}))(t)
		got := testutil.Must(learn(set))(t)
		for i, v := range want.F {
			if !near(got.F[i], v, 1e-6) || !near(got.Weight[i], want.Weight[i], 1e-5) {
				t.Errorf("%s: site %d predicts %v with weight %v, want %v and %v", name, i, got.F[i],
					got.Weight[i], v,
					want.Weight[i])
			}
		}
	}
	labels := train.Set{Y: slices.Clone(p.Y), Site: p.Site, Weight: weight}
	scaled := train.Set{Y: labels.Y, Site: p.Site}
	for i, y := range labels.Y {
		labels.Y[i] = math.Copysign(1, y)
		scaled.Weight = append(scaled.Weight, weight[i]/4)
	}
	for name, of := range map[string]func(c float64) fits.Learners{
		"margin": func(c float64) fits.Learners {
			return fits.Margin(process.kernel, c, loss.ClassWeights{}, true, 1e-9)
		},
		"logistic": func(c float64) fits.Learners {
			return fits.Proximal(process.kernel, loss.Logistic{C: c}, true, 0)
		},
	} {
		want := slices.Clone(testutil.Must(testutil.Must(of(1)())(t)(labels))(t).F)
		got := testutil.Must(testutil.Must(of(4)())(t)(scaled))(t).F
		for i, v := range want {
			if !near(got[i], v, 1e-6) {
				t.Errorf("%s: site %d predicts %v at C = 4 and a quarter of the weights, %v at C = 1", name,
					i, got[i], v)
			}
		}
	}
}

// TestLearnersRefuse: what cannot be trained with is refused when a learner is made, or its set given.
func TestLearnersRefuse(t *testing.T) {
	p, process := regression(8, 0)
	for name, learners := range map[string]fits.Learners{
		"loss":       fits.Proximal(process.kernel, nil, false, 0),
		"likelihood": fits.Posterior(process.kernel, nil, 0),
		"noise":      fits.Square(process.kernel, -1, false),
	} {
		if _, err := learners(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	// Two examples of one input that no hard margin meets together.
	learn := testutil.Must(fits.Margin(process.kernel, math.Inf(1), loss.ClassWeights{}, false, 0)())(t)
	y := []float64{1, 1, 1, 1, 1, 1, -1, 1}
	if _, err := learn(train.Set{Y: y, Site: p.Site, Weight: slices.Repeat([]float64{1}, 8)}); err == nil {
		t.Error("contradicting labels at one input pass")
	}
}
