package fits

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss"
	"bootbench/resample"
)

// sumsOf are the sums of a point from values.
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

// TestFewValues: nothing is stated that cannot be known.
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

// TestDisagreement: the variance of left-out predictions is half the mean squared difference of two of them,
// and the disagreement the fraction of pairs that predict different labels or classes, over all pairs of fits
// that lack an example. An example that at most one fit lacks has neither. Sums of 60 terms of order one.
func TestDisagreement(t *testing.T) {
	const n, fits = 7, 60
	rng, plan := rand.New(rand.NewPCG(3, 1)), absences{n, fits}
	y, class := make([]float64, n), make([]int, n)
	for i := range y {
		y[i], class[i] = float64(1-2*(i%2)), i%3
	}
	a := newPlain(&Problem{Y: y, Sites: n, Plan: plan}, []loss.Test{loss.ZeroOne{}, loss.SquareTest{}})
	joint, weight, all := &Joint{Decision: Largest(3), Of: class}, make([]float64, n), [3][][]float64{}
	for b := range fits {
		plan.Fit(b, weight)
		for k := range all {
			f := make([]float64, n)
			for i := range f {
				f[i] = float64(float32(rng.NormFloat64()))
			}
			all[k] = append(all[k], f)
			joint.Add(b, k, func(i int) float64 { return f[i] })
		}
		a.Add(b, weight, all[0][b])
	}
	r, d := a.Averages(), joint.Average(plan, nil)
	for i := range n {
		var pairs, squares, labels, classes float64
		for b := range fits {
			for c := range b {
				if !plan.lacks(b, i) || !plan.lacks(c, i) {
					continue
				}
				first, second := all[0][b][i], all[0][c][i]
				at := func(b int) []float64 { return []float64{all[0][b][i], all[1][b][i], all[2][b][i]} }
				pairs, squares = pairs+1, squares+(first-second)*(first-second)/2
				if first*second < 0 {
					labels++
				}
				if floats.MaxIdx(at(b)) != floats.MaxIdx(at(c)) {
					classes++
				}
			}
		}
		for what, v := range map[string][2]float64{"variance": {r.OutOfBagVar[i], squares / pairs},
			"labels": {r.Disagreement[i], labels / pairs}, "classes": {d.Disagreement[i], classes / pairs}} {
			if (pairs == 0) != math.IsNaN(v[0]) || math.Abs(v[0]-v[1]) > 1e-12 {
				t.Errorf("example %d, %s: %.15g, by %g pairs %.15g", i, what, v[0], pairs, v[1])
			}
		}
	}
}

// absences is a plan in which each fit lacks some examples: the last example is lacked by the first fit only.
type absences struct{ n, fits int }

func (p absences) lacks(b, i int) bool {
	if i == p.n-1 {
		return b == 0
	}
	return (b*(i+2)+i)%5 < 2
}

// Fit implements resample.Plan.
func (p absences) Fit(b int, weight []float64) []float64 {
	for i := range weight {
		if weight[i] = 1; p.lacks(b, i) {
			weight[i] = 0
		}
	}
	return nil
}

// Period implements resample.Plan.
func (p absences) Period() int { return 1 }
