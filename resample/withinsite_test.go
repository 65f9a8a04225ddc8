package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestWithinSiteVarOfIndependentCounts holds the formula for independent counts to what it is with
// replacement, k, and without, k (n-k)/(n-1). Tolerance: sums of a window's positive terms, from which
// probabilities of 1e-17 are missing.
func TestWithinSiteVarOfIndependentCounts(t *testing.T) {
	for _, law := range []CountDistribution{Poisson{0.3}, Poisson{2}, Bernoulli{0.4}, Bernoulli{0.99},
		KFold{5, 50}, Subsample{3, 4}} {
		_, replaced := law.(Poisson)
		for n := 2; n <= 6; n++ {
			for k := 0; k <= n; k++ {
				want := float64(k)
				if !replaced {
					want *= float64(n-k) / float64(n-1)
				}
				for _, l := range []CountDistribution{law, plain{law}, Cache(law)} {
					if got := WithinSiteVar(l, n, k); math.Abs(got-want) > 1e-12 {
						t.Errorf("%T %v: WithinSiteVar(%d, %d) = %g, want %g", l, law, n, k, got, want)
					}
				}
			}
		}
	}
	if got := WithinSiteVar(Bernoulli{0.5}, 3, 4); got != 0 {
		t.Errorf("four of three: %g", got)
	}
}

// TestWithinSiteVarOfSamplers draws and looks: among the draws with total k, the sum
// of the values of the drawn examples has variance WithinSiteVar times that of the
// values. 20000 draws or more for the k shown: a variance is good to 2%.
func TestWithinSiteVarOfSamplers(t *testing.T) {
	values := []float64{1, -2, 4} // the first three of N examples; mean 1, variance 6
	for _, c := range []struct {
		s    Scheme
		n, k int
	}{
		{Multinomial{9, 9}, 9, 3}, {Multinomial{20, 9}, 9, 4},
		{Subsample{4, 9}, 9, 1}, {Subsample{6, 9}, 9, 2}, {KFold{3, 9}, 9, 2}, {Bernoulli{0.5}, 9, 1},
		{Poisson{1}, 9, 2},
	} {
		t.Run(fmt.Sprintf("%s/k=%d", c.s.Name(), c.k), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			counts := make([]int, c.n)
			var n, sum, squares float64
			for n < 20000 {
				c.s.Sample(rng, counts)
				if counts[0]+counts[1]+counts[2] != c.k {
					continue
				}
				drawn := 0.0
				for i, v := range values {
					drawn += float64(counts[i]) * v
				}
				n++
				sum += drawn
				squares += drawn * drawn
			}
			got := squares/n - sum/n*sum/n
			if want := 6 * WithinSiteVar(c.s, 3, c.k); math.Abs(got-want) > 0.04*want {
				t.Errorf("the drawn values' sum has variance %g, WithinSiteVar says %g", got, want)
			}
		})
	}
}

// TestConditionalOnAbsent counts how often the others are drawn when example 0 is not.
// 40000 draws: a mean count is good to 0.003.
func TestConditionalOnAbsent(t *testing.T) {
	for _, s := range []Scheme{
		Poisson{1}, Multinomial{5, 5}, Bernoulli{0.5}, Subsample{3, 5}, Subsample{1, 2}, KFold{2, 5}, KFold{5, 5},
		KFold{3, 7},
	} {
		t.Run(fmt.Sprintf("%s/%v", s.Name(), s), func(t *testing.T) {
			n := 5
			switch s := s.(type) {
			case KFold:
				n = s.N
			case Subsample:
				n = s.N
			}
			rng := rand.New(rand.NewPCG(8, 8))
			counts := make([]int, n)
			var draws, drawn, absent float64
			for draws < 40000 {
				if s.Sample(rng, counts); counts[0] != 0 {
					continue
				}
				for _, k := range counts {
					draws++
					drawn += float64(k)
					if k == 0 {
						absent++
					}
				}
				draws-- // example 0 itself
				absent--
			}
			law := ConditionalOnAbsent(s)
			if math.Abs(drawn/draws-law.Mean()) > 0.015*(law.Mean()+1) ||
				math.Abs(absent/draws-ProbZero(law, 1)) > 0.015 {
				t.Errorf("the others are drawn %.4f times, absent with probability %.4f; the law has %.4f, %.4f",
					drawn/draws, absent/draws, law.Mean(), ProbZero(law, 1))
			}
		})
	}
	if law := ConditionalOnAbsent(Subsample{4, 4}); law.Mean() != 1 {
		t.Errorf("with all examples present: %v", law)
	}
	if law := ConditionalOnAbsent(Multinomial{3, 1}); law.Mean() != 3 {
		t.Errorf("of one example: %v", law)
	}
	if law := ConditionalOnAbsent(Cache(KFold{5, 5})); law.Mean() != 1 || Cache(law) != law {
		t.Errorf("a cached distribution leaves %v", law)
	}
}
