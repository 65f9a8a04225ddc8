package resample

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// within fails unless got and want agree to tol relative to want (or to tol
// absolutely where |want| < floor).
func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s: got %.17g, want %.17g (tolerance %g relative)", what, got, want, tol)
	}
}

// TestPoissonDigits: every probability of the window has its digits, e^-mean mean^k/k! with the factors in
// turn. Tolerance: roundings of up to 100 steps from 0 and from the mode.
func TestPoissonDigits(t *testing.T) {
	for _, mean := range []float64{1e-6, 0.01, 0.5, 1, 2.5, 7, 20, 40} {
		want, last := math.Exp(-mean), 0
		for k, p := range (Poisson{Ratio: mean}).Counts(1).All() {
			for ; last < k; last++ {
				want *= mean / float64(last+1)
			}
			within(t, "P(k)", p, want, 3e-14)
		}
	}
}

// moments are the total, mean and variance of a table.
func moments(c Counts) (total, mean, variance float64) {
	for k, p := range c.All() {
		total += p
		mean += p * float64(k)
	}
	for k, p := range c.All() {
		variance += p * (float64(k) - mean) * (float64(k) - mean)
	}
	return total, mean, variance
}

// TestMoments: total, mean and variance are as by the distributions' formulas.
// Tolerance: the sums of up to 1e5 positive terms of a few roundings each.
func TestMoments(t *testing.T) {
	for _, nu := range []float64{1e-6, 1e-3, 0.1, 1, 3, 20, 1e3, 1e5} {
		for _, n := range []int{1, 2, 7} {
			total, mean, variance := moments(Poisson{Ratio: nu}.Counts(n))
			within(t, "poisson total", total, 1, 1e-13)
			within(t, "poisson mean", mean, nu*float64(n), 1e-12)
			within(t, "poisson variance", variance, nu*float64(n), 1e-11)
		}
	}
	for _, s := range []Multinomial{{1, 1}, {5, 1}, {1, 2}, {3, 2}, {100, 7}, {50, 100}, {1, 5000},
		{500, 500}, {40000, 20}, {1000000, 10}} {
		for _, n := range []int{1, 3} {
			total, mean, variance := moments(s.Counts(n))
			p := 1 / float64(s.N)
			trials := float64(n * s.Size)
			within(t, "binomial total", total, 1, 1e-13)
			within(t, "binomial mean", mean, trials*p, 1e-12)
			within(t, "binomial variance", variance, trials*p*(1-p), 1e-11)
		}
	}
}

// convolve is the plain convolution of two tables.
func convolve(a, b Counts) map[int]float64 {
	sum := map[int]float64{}
	for k, p := range a.All() {
		for l, q := range b.All() {
			sum[k+l] += p * q
		}
	}
	return sum
}

// TestConvolution adds the examples one by one: Counts(n) must be the law of
// the count of n-1 examples plus the count of one. Absolute tolerance: the windows
// leave out 1e-17 each.
func TestConvolution(t *testing.T) {
	laws := []CountDistribution{
		Poisson{0.01}, Poisson{1}, Poisson{6.3}, Poisson{60},
		Multinomial{1, 1}, Multinomial{3, 2}, Multinomial{10, 10}, Multinomial{300, 5}, Cache(Poisson{2}),
		Bernoulli{0.01}, Bernoulli{0.7}, Bernoulli{1}, Subsample{3, 7}, Subsample{7, 7}, KFold{2, 9},
		KFold{10, 10},
		KFold{1000, 1000},
	}
	for _, law := range laws {
		if c := law.Counts(0); c.First != 0 || len(c.P) != 1 || c.P[0] != 1 {
			t.Errorf("%v: Counts(0) = %v, want the constant 0", law, c)
		}
		for n := 1; n <= 5; n++ {
			want := convolve(law.Counts(n-1), law.Counts(1))
			c := law.Counts(n)
			for k, p := range c.All() {
				if math.Abs(p-want[k]) > 1e-15 {
					t.Errorf("%v n=%d: P(%d) = %g, convolution gives %g", law, n, k, p, want[k])
				}
				delete(want, k)
			}
			for k, p := range want {
				if p > 1e-16 {
					t.Errorf("%v n=%d: window leaves out P(%d) = %g", law, n, k, p)
				}
			}
		}
	}
}

// TestProbZero holds the probability of absence to e^(-n nu) and (1-1/N)^(nS), as
// products, also where the window cannot show it.
func TestProbZero(t *testing.T) {
	for _, nu := range []float64{1e-6, 1, 30, 50, 200} {
		for n := 0; n <= 3; n++ {
			want := math.Pow(math.E, -nu*float64(n))
			within(t, "ProbZero(poisson)", ProbZero(Poisson{nu}, n), want, 1e-13)
			within(t, "ProbZero(cached)", ProbZero(Cache(Poisson{nu}), n), want, 1e-13)
		}
	}
	for _, s := range []Multinomial{{1, 1}, {4, 2}, {500, 500}, {500, 10}} {
		for n := 0; n <= 2; n++ {
			want := 1.0
			for range n * s.Size {
				want *= 1 - 1/float64(s.N)
			}
			within(t, "ProbZero(multinomial)", ProbZero(s, n), want, 1e-12)
		}
	}
	for _, s := range []struct {
		law    CountDistribution
		absent float64
	}{{Bernoulli{0.75}, 0.25}, {Bernoulli{1}, 0}, {Subsample{3, 12}, 0.75}, {Subsample{4, 4}, 0},
		{KFold{4, 9}, 0.25}, {KFold{1000, 1000}, 1e-3}} {
		for n, want := 0, 1.0; n <= 9; n, want = n+1, want*s.absent {
			within(t, fmt.Sprintf("ProbZero(%v, %d)", s.law, n), ProbZero(s.law, n), want, 1e-13)
		}
	}
}

// TestCached: a wrapped distribution is computed once, also by concurrent callers,
// and wrapping twice is wrapping once.
func TestCached(t *testing.T) {
	cached := Cache(Poisson{3})
	if Cache(cached) != cached {
		t.Error("wrapping twice gives another cache")
	}
	var wg sync.WaitGroup
	tables := make([]Counts, 8)
	for i := range tables {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tables[i] = cached.Counts(2)
		}()
	}
	wg.Wait()
	for _, c := range tables {
		if &c.P[0] != &tables[0].P[0] {
			t.Fatal("two tables for the same n")
		}
	}
	if cached.Mean() != 3 {
		t.Errorf("mean %g", cached.Mean())
	}
}

// TestByName: every name gives its scheme, of the ratio asked for to the nearest whole number of draws, and
// options out of range are refused with what is wrong; so are zero schemes, whose averages would be over
// nothing.
func TestByName(t *testing.T) {
	for _, name := range Names() {
		for _, ratio := range []float64{0, -1, math.NaN(), math.Inf(1), 2e9} {
			if _, err := ByName(name, Options{Ratio: ratio, N: 10}); err == nil {
				t.Errorf("ByName(%s, %g) passes", name, ratio)
			}
		}
	}
	for _, c := range []struct {
		name string
		o    Options
		want any // a scheme, or what the error says
	}{
		{"poisson", Options{Ratio: 0.5, N: 10}, Poisson{0.5}},
		{"bernoulli", Options{Ratio: 1, N: 10}, Bernoulli{1}},
		{"multinomial", Options{Ratio: 3, N: 10}, Multinomial{30, 10}},
		{"multinomial", Options{Ratio: 0.7, N: 10}, Multinomial{7, 10}},
		{"multinomial", Options{Ratio: 0.06, N: 10}, Multinomial{1, 10}},
		{"subsample", Options{Ratio: 0.68, N: 10}, Subsample{7, 10}},
		{"kfold", Options{Folds: 2, N: 10}, KFold{2, 10}}, {"kfold", Options{Folds: 2, N: 2}, KFold{2, 2}},
		{"bayesian", Options{Ratio: 0.5, N: 10}, Bayesian{10, 0.5}},
		{"multinomial", Options{Ratio: 0.01, N: 10}, "without a draw"},
		{"poisson", Options{Ratio: -3, N: 10}, "ratio S/N must be above 0"},
		{"multinomial", Options{Ratio: 2e9, N: 10}, "at most 1e+09, got 2e+09"},
		{"multinomial", Options{Ratio: 1, N: -1}, "-1 examples"},
		{"subsample", Options{Ratio: 0.01, N: 10}, "without a draw"},
		{"subsample", Options{Ratio: 1.01, N: 10}, "at most 1"},
		{"bernoulli", Options{Ratio: 1.01, N: 10}, "at most 1"},
		{"kfold", Options{Folds: 1, N: 10}, "2 to 10 folds, got 1"},
		{"kfold", Options{Folds: 11, N: 10}, "2 to 10 folds, got 11"},
		{"kfold", Options{Ratio: 0.9, N: 10}, "got 0"},
		{"kfold", Options{Folds: 2, N: 1}, "2 to 1 folds"},
		{"poisson", Options{Ratio: 1}, "0 examples"},
		{"jackknife", Options{Ratio: 1, N: 10}, "poisson, multinomial, bernoulli, subsample, kfold"},
	} {
		s, err := ByName(c.name, c.o)
		if says, refused := c.want.(string); refused {
			if s != nil || err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("ByName(%s, %+v) = %v, %v, want an error that says %q", c.name, c.o, s, err, says)
			}
		} else if err != nil || s != c.want || s.Name() != c.name || Check(s) != nil {
			t.Errorf("ByName(%s, %+v) = %v, %v, %v", c.name, c.o, s, err, Check(s))
		}
	}
	for _, law := range []CountDistribution{Poisson{}, Poisson{Ratio: math.NaN()}, Poisson{Ratio: 2e9},
		Bernoulli{}, Multinomial{}, Subsample{}, KFold{}, KFold{Folds: 1, N: 1}} {
		if err := Check(law); err == nil {
			t.Errorf("%+v passes", law)
		}
	}
}

// TestWithinSiteVarOfSamplers draws and looks: among the draws with total k, the sum
// of the values of the drawn examples has variance WithinSiteVar times the variance of the
// values. 20000 draws or more for the k shown: a variance is good to 2%.
func TestWithinSiteVarOfSamplers(t *testing.T) {
	values := []float64{1, -2, 4} // the first three of N examples; mean 1, variance 6
	for _, c := range []struct {
		s Scheme
		n int
		k float64
	}{
		{Multinomial{9, 9}, 9, 3}, {Multinomial{20, 9}, 9, 4},
		{Subsample{4, 9}, 9, 1}, {Subsample{6, 9}, 9, 2}, {KFold{3, 9}, 9, 2}, {Bernoulli{0.5}, 9, 1},
		{Poisson{1}, 9, 2},
	} {
		t.Run(fmt.Sprintf("%s/k=%g", c.s.Name(), c.k), func(t *testing.T) {
			counts := make([]float64, c.n)
			var n, sum, squares float64
			for b := 0; n < 20000; b++ {
				c.s.Draw(7, b, counts)
				if counts[0]+counts[1]+counts[2] != c.k {
					continue
				}
				drawn := 0.0
				for i, v := range values {
					drawn += counts[i] * v
				}
				n++
				sum += drawn
				squares += drawn * drawn
			}
			got := squares/n - sum/n*sum/n
			if want := 6 * c.s.WithinSiteVar(3, c.k); math.Abs(got-want) > 0.04*want {
				t.Errorf("the drawn values' sum has variance %g, WithinSiteVar says %g", got, want)
			}
		})
	}
}

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

// chiSquare is Pearson's statistic of observed counts against a law, with bins
// merged from the left until each expects at least ten, and its bins less one.
func chiSquare(observed map[int]int, total int, prob func(k int) float64, last int) (statistic,
	freedom float64) {
	expect, seen, bins := 0.0, 0, 0.0
	left, unseen := float64(total), total
	for k := 0; k <= last; k++ {
		expect += float64(total) * prob(k)
		seen += observed[k]
		if expect >= 10 && left-expect >= 10 {
			statistic += (float64(seen) - expect) * (float64(seen) - expect) / expect
			left -= expect
			unseen -= seen
			expect, seen = 0, 0
			bins++
		}
	}
	statistic += (float64(unseen) - left) * (float64(unseen) - left) / left
	return statistic, bins
}

// tally draws resamples until about 60000 counts are seen.
func tally(s Sampler, n int) (map[int]int, int) {
	counts, seen, total := make([]float64, n), map[int]int{}, 0
	for b := 0; total < 60000; b++ {
		s.Draw(1, b, counts)
		for _, k := range counts {
			seen[int(k)]++
		}
		total += n
	}
	return seen, total
}

// TestSamplers holds drawn counts to the law of one example as gonum has it.
// Fixed seed; the statistic must lie inside the central 99.8% of its law. (The
// counts of a multinomial resample are weakly dependent, which at these sizes
// shifts the statistic by less than its spread.)
func TestSamplers(t *testing.T) {
	const n = 500
	for _, s := range []Scheme{
		Poisson{0.01}, Poisson{0.5}, Poisson{1}, Poisson{12}, Poisson{3000},
		Multinomial{50, n}, Multinomial{n, n}, Multinomial{20 * n, n},
		Bernoulli{0.3},
	} {
		t.Run(fmt.Sprintf("%s/nu=%g", s.Name(), s.Mean()), func(t *testing.T) {
			prob := func(k int) float64 { return distuv.Poisson{Lambda: s.Mean()}.Prob(float64(k)) }
			if m, ok := s.(Multinomial); ok {
				prob = func(k int) float64 {
					return distuv.Binomial{N: float64(m.Size), P: 1 / float64(m.N)}.Prob(float64(k))
				}
			}
			if _, ok := s.(Bernoulli); ok {
				prob = func(k int) float64 { return distuv.Bernoulli{P: s.Mean()}.Prob(float64(k)) }
			}
			seen, total := tally(s, n)
			x, df := chiSquare(seen, total, prob, int(s.Mean()+20*math.Sqrt(s.Mean()))+20)
			tail := distuv.ChiSquared{K: df}.Survival(x)
			if df < 1 || tail < 0.001 || tail > 0.999 {
				t.Errorf("chi-square %g with %g degrees of freedom: tail %g", x, df, tail)
			}
		})
	}
}

// TestPairs: without replacement the size is fixed, every example is absent as
// often as any other, and every pair together as often as any other pair. Over
// 20000 draws a frequency is good to 0.0035; 4.5 of these for some 50 of them.
func TestPairs(t *testing.T) {
	const n, draws = 7, 20000
	for _, c := range []struct {
		s            Scheme
		one, another float64 // P(i absent), P(j absent | i absent)
	}{
		{Subsample{3, n}, 4. / 7, 3. / 6}, {Subsample{6, n}, 1. / 7, 0}, {Subsample{n, n}, 0, 0},
		{KFold{2, n}, 1. / 2, (4*3 + 3*2) / 42.}, {KFold{3, n}, 1. / 3, (3*2 + 2*1 + 2*1) / 42.},
		{KFold{7, n}, 1. / 7, 0},
	} {
		var absent [n][n]float64
		counts := make([]float64, n)
		for b := range draws {
			c.s.Draw(6, b, counts)
			s, sub := c.s.(Subsample)
			if slices.Max(counts) > 1 || sub && floats.Sum(counts) != float64(s.Size) {
				t.Fatalf("%+v draws %v", c.s, counts)
			}
			for i := range counts {
				for j := range counts {
					if counts[i] == 0 && counts[j] == 0 {
						absent[i][j] += 1. / draws
					}
				}
			}
		}
		for i := range n {
			for j := range n {
				want := c.one * c.another
				if i == j {
					want = c.one
				}
				if math.Abs(absent[i][j]-want) > 4.5*0.0035 || want == 0 && absent[i][j] != 0 {
					t.Errorf("%s %v: %d and %d are absent with frequency %.4f, want %.4f",
						c.s.Name(), c.s, i, j, absent[i][j], want)
				}
			}
		}
	}
}

// TestWrongLength: schemes over N examples refuse other numbers of weights.
func TestWrongLength(t *testing.T) {
	for _, s := range []Scheme{Multinomial{3, 3}, Subsample{3, 3}, KFold{3, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: weights of the wrong length pass", s.Name())
				}
			}()
			s.Draw(1, 0, make([]float64, 2))
		}()
	}
}

// TestGenerated: drawn targets have the means and variances of their laws, and so have the alternatives of a
// site, whose examples are independent; every row is there once. The standard errors of 4000 draws are 2%.
func TestGenerated(t *testing.T) {
	s := NewGenerated(Residual, 3)
	residuals := make([]float64, 300)
	for k := range residuals {
		residuals[k] = math.Sinh(float64(k-150) / 40)
	}
	mean, variance := stat.PopMeanVariance(residuals, nil)
	s.Laws = []TargetLaw{
		{Center: []float64{0, 5, -1}, Scale: []float64{1, 2, 0}, Noise: residuals},
		{Positive: []float64{0.2, 0.2, 0.9}},
	}
	for function, want := range [][2][]float64{
		{{mean, 5 + 2*mean, -1}, {variance, 4 * variance, 0}},
		{{-0.6, -0.6, 0.8}, {0.64, 0.64, 0.36}},
	} {
		s.Function = function
		draws, weight := make([][]float64, 3), make([]float64, 3)
		for b := range 4000 {
			for i, y := range (Resamples{Scheme: s, Seed: 3}).Fit(b, weight) {
				if draws[i] = append(draws[i], y); weight[i] != 1 {
					t.Fatal("a row is not there once")
				}
			}
		}
		for i := range draws {
			m, v := stat.PopMeanVariance(draws[i], nil)
			scale := math.Sqrt(want[1][i])
			if math.Abs(m-want[0][i]) > 0.07*scale || math.Abs(v-want[1][i]) > 0.1*want[1][i] {
				t.Errorf("row %d: mean %v, variance %v, want %v, %v", i, m, v, want[0][i], want[1][i])
			}
		}
		for _, examples := range [][]int{{0}, {0, 1}} {
			targets, p := s.Alternatives(examples)
			sum, squares := 0.0, 0.0
			for r, y := range targets {
				total := 0.0
				for _, v := range y {
					total += v
				}
				sum, squares = sum+p[r]*total, squares+p[r]*total*total
			}
			m, v := 0.0, 0.0
			for _, i := range examples {
				m, v = m+want[0][i], v+want[1][i]
			}
			if got := squares - sum*sum; math.Abs(sum-m) > 0.01*math.Sqrt(v) || math.Abs(got-v) > 0.1*v {
				t.Errorf("alternatives of %v: mean %v, variance %v, want %v, %v", examples, sum, got, m, v)
			}
		}
	}
}
