package resample

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

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
