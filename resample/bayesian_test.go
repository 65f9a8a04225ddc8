package resample

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestBayesianLaw: averages over the weight of some examples are the ones by the midpoint rule in the
// distribution function, also of functions with a pole near 0, and of few examples; so are averages over
// draws.
func TestBayesianLaw(t *testing.T) {
	functions := []func(w float64) float64{func(w float64) float64 { return w },
		func(w float64) float64 { return w * w },
		func(w float64) float64 { return 1 / (0.01 + w) },
		func(w float64) float64 { return math.Tanh(3*w - 1) }}
	for _, c := range []struct {
		n, of int
		shape float64
	}{{1, 300, 1}, {3, 300, 1}, {1, 5, 1}, {1, 50, 0.3}, {2, 40, 7}, {4, 4, 1}, {0, 9, 1}} {
		law := Bayesian{N: c.of, Shape: c.shape}
		counts := law.Counts(c.n)
		beta := distuv.Beta{Alpha: float64(c.n) * c.shape, Beta: float64(c.of-c.n) * c.shape}
		for k, f := range functions {
			got, want := 0.0, 0.0
			for j, p := range counts.P {
				got += p * f(counts.At(j))
			}
			const points = 4000
			for i := range points {
				x := float64(c.n) / float64(c.of)
				if c.n > 0 && c.n < c.of {
					x = beta.Quantile((float64(i) + 0.5) / points)
				}
				want += f(float64(c.of)*x) / points
			}
			near := 2e-3 // what the midpoint rule is good to
			if n, of := float64(c.n), float64(c.of); k < 2 {
				near, want = 1e-8, n
				if k == 1 {
					want *= (n*c.shape + 1) * of / (of*c.shape + 1)
				}
			}
			if math.Abs(got-want) > near*math.Abs(want) {
				t.Errorf("%+v, %d examples, function %d: %.10g, want %.10g", law, c.n, k, got, want)
			}
		}
		if ProbZero(law, c.n) != 0 && c.n > 0 {
			t.Errorf("%+v leaves %d examples out", law, c.n)
		}
	}
	law, weight, all := Bayesian{N: 20, Shape: 2}, make([]float64, 20), []float64(nil)
	for r := range 2000 {
		law.Draw(3, r, weight)
		if mean := stat.Mean(weight, nil); math.Abs(mean-1) > 1e-12 {
			t.Fatalf("draw %d has mean %v", r, mean)
		}
		all = append(all, weight[:5]...)
	}
	// N^2 a b/((a + b)^2 (a + b + 1))
	if v, want := stat.PopVariance(all, nil), 19.0/41; math.Abs(v/want-1) > 0.05 {
		t.Errorf("variance %v, want %v", v, want)
	}
}

// TestBayesianWithinSite: given the total weight k of three examples, the sum of their values by weight has
// WithinSiteVar times the values' variance, 6. Their fractions of the total do not depend on it, so that
// every draw is taken as one of total k.
func TestBayesianWithinSite(t *testing.T) {
	for _, law := range []Bayesian{{N: 9, Shape: 1}, {N: 4, Shape: 0.3}, {N: 9, Shape: 5}} {
		weight, sums := make([]float64, law.N), make([]float64, 40_000)
		for r := range sums {
			law.Draw(5, r, weight)
			sums[r] = (weight[0] - 2*weight[1] + 4*weight[2]) / (weight[0] + weight[1] + weight[2])
		}
		for _, k := range []float64{0.5, 3} {
			got, want := k*k*stat.PopVariance(sums, nil), 6*law.WithinSiteVar(3, k)
			if math.Abs(got/want-1) > 0.03 {
				t.Errorf("%+v, total %v: variance %v, WithinSiteVar says %v", law, k, got, want)
			}
		}
	}
}

// TestPeriods: in every period of a path of factors over weighted partitions each example is left out once by
// a fit of each factor, and has the factor times its own weight in the others.
func TestPeriods(t *testing.T) {
	own, factors, weight := []float64{1, 2, 0.5, 3, 1, 4, 1}, []float64{1, 10}, make([]float64, 7)
	folds := Weighted{Resamples{KFold{Folds: 3, N: 7}, 1, own}, own}
	for _, p := range []Plan{Path{folds, factors}, Weighted{Path{folds.Plan, factors}, own}} {
		for first := 0; first < 4*p.Period(); first += p.Period() {
			seen := map[[2]float64]int{} // of each example and weight
			for r := range p.Period() {
				p.Fit(first+r, weight)
				for i, w := range weight {
					seen[[2]float64{float64(i), w}]++
				}
			}
			for i, w := range own {
				if at := float64(i); seen[[2]float64{at, 0}] != 2 || seen[[2]float64{at, w}] != 2 ||
					seen[[2]float64{at, 10 * w}] != 2 {
					t.Fatalf("%T, from fit %d, example %d: counts of weights %v", p, first, i, seen)
				}
			}
		}
	}
}
