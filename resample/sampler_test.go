package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

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
	rng := rand.New(rand.NewPCG(1, 2))
	counts, seen, total := make([]int, n), map[int]int{}, 0
	for total < 60000 {
		s.Sample(rng, counts)
		for _, k := range counts {
			seen[k]++
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

// TestPairs: without replacement and at fixed size, every example is absent as
// often as any other, and every pair together as often as any other pair. Over
// 20000 draws a frequency is good to 0.0035; 4.5 of these for some 50 of them.
func TestPairs(t *testing.T) {
	const n, draws = 7, 20000
	for _, c := range []struct {
		s            Scheme
		one, another float64 // P(i absent), P(j absent | i absent)
	}{
		{Subsample{3, n}, 4. / 7, 3. / 6}, {Subsample{6, n}, 1. / 7, 0},
		{KFold{2, n}, 1. / 2, (4*3 + 3*2) / 42.}, {KFold{3, n}, 1. / 3, (3*2 + 2*1 + 2*1) / 42.},
		{KFold{7, n}, 1. / 7, 0},
	} {
		for _, series := range []bool{false, true} {
			var absent [n][n]float64
			counts := make([]int, n)
			rng := rand.New(rand.NewPCG(3, 5))
			for b := range draws {
				if series {
					Draw(c.s, 6, b, counts)
				} else {
					c.s.Sample(rng, counts)
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
						t.Errorf("%s %v, series %v: %d and %d are absent with frequency %.4f, want %.4f", c.s.Name(), c.s,
							series, i, j, absent[i][j], want)
					}
				}
			}
		}
	}
}

// TestWrongLength: schemes over N examples refuse other numbers of counts.
func TestWrongLength(t *testing.T) {
	for _, s := range []Scheme{Multinomial{3, 3}, Subsample{3, 3}, KFold{3, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: counts of the wrong length pass", s.Name())
				}
			}()
			s.Sample(rand.New(rand.NewPCG(1, 1)), make([]int, 2))
		}()
	}
}
