package fits

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/resample"
)

// sumsOf are those of a point from values.
func sumsOf(values ...float64) Moments {
	s := NewSums(2, 1, 2, true)
	for b, v := range values {
		v -= values[0]
		s.Add(b%2, 0, []float64{v, v * v})
	}
	return s.Total(0)
}

// TestVarianceOfVariance enumerates all samples of n values of a lopsided law
// and asks for unbiasedness: the estimates' mean is the variance that the
// samples' variances really have. Sums of up to 3^7 terms of order one.
func TestVarianceOfVariance(t *testing.T) {
	values, probabilities := []float64{0, 1, 5}, []float64{0.5, 0.3, 0.2}
	for n := 4; n <= 7; n++ {
		var estimate, mean, square float64
		var visit func(p float64, sample []float64)
		visit = func(p float64, sample []float64) {
			if len(sample) < n {
				for i, v := range values {
					visit(p*probabilities[i], append(sample[:len(sample):len(sample)], v))
				}
				return
			}
			m := sumsOf(sample...)
			k2 := m.Central(0, 0) / float64(n-1)
			estimate += p * varianceOfVariance(m)
			mean += p * k2
			square += p * k2 * k2
		}
		visit(1, nil)
		if want := square - mean*mean; math.Abs(estimate-want) > 1e-12*want {
			t.Errorf("%d values: variances have variance %.15g, the estimate is %.15g on average", n, want,
				estimate)
		}
	}
}

// TestGaussianPair: the variance of two standard normal values has variance 2, and
// so has its estimate on average, E k2^2 2/3 = 2. Over 20000 pairs of n = 2 and 3,
// where 2 and 1 are due, that average is good to 5%.
func TestGaussianPair(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for n, want := range map[int]float64{2: 2, 3: 1} {
		mean := 0.0
		for range 20000 {
			sample := make([]float64, n)
			for i := range sample {
				sample[i] = rng.NormFloat64()
			}
			mean += varianceOfVariance(sumsOf(sample...)) / 20000
		}
		if math.Abs(mean-want) > 0.15*want {
			t.Errorf("%d values: estimated variance of their variance %.3f, want %g", n, mean, want)
		}
	}
}

// TestFewValues: nothing is told that cannot be known.
func TestFewValues(t *testing.T) {
	p := Problem{Y: []float64{0}, Sites: 1, Plan: resample.Resamples{Scheme: resample.Poisson{Ratio: 1}}}
	a := newPlain(&p, nil)
	for n, want := range []int{4, 3, 0, 0, 0} {
		r := a.Averages()
		unknown := 0
		for _, v := range []float64{r.Mean[0], r.MeanSE[0], r.Variance[0], r.VarianceSE[0]} {
			if math.IsNaN(v) {
				unknown++
			}
		}
		if unknown != want {
			t.Errorf("%d values leave %d unknown, not %d", n, unknown, want)
		}
		a.Add(n, []float64{1}, []float64{float64(n * n)})
	}
}
