package resample

import (
	"math"
	"math/rand/v2"
)

// Multinomial is the bootstrap of fixed size: Size draws with replacement from N examples.
//
// Its counts do not factorise, because they sum to Size. The theory asks for a distribution under which the
// examples are independent: the one given here is that of independent counts with the right marginals,
// Binomial(Size, 1/N) each. The total of n examples is then Binomial(n Size, 1/N), their convolution. The
// true total of n examples is Binomial(Size, n/N); it has the same mean, and a variance smaller by the factor
// (1 - n/N)/(1 - 1/N). The convolution is the consistent choice: n copies of an input must count the same as
// one merged site and as n sites, and the theory takes all sites for independent.
type Multinomial struct {
	Size int // S >= 1, draws per resample
	N    int // N >= 1, examples to draw from
}

// Name is "multinomial".
func (Multinomial) Name() string { return "multinomial" }

// Mean is Size/N.
func (s Multinomial) Mean() float64 { return float64(s.Size) / float64(s.N) }

// Counts is Binomial(n Size, 1/N), that of n independent examples.
func (s Multinomial) Counts(n int) Counts {
	if n <= 0 {
		return zeroCount()
	}
	// In floating point, since n Size may exceed the integers.
	trials := float64(n) * float64(s.Size)
	if s.N == 1 {
		return Counts{First: n * s.Size, P: []float64{1}}
	}
	mode := int((trials + 1) / float64(s.N))
	odds := 1 / float64(s.N-1)
	return logConcave(mode, float64(n)*s.Mean(), func(k float64) float64 {
		return (trials - k) / (k + 1) * odds
	})
}

// Absent is P(k = 0) = (1 - 1/N)^Size of one example.
func (s Multinomial) Absent() float64 { return math.Exp(float64(s.Size) * math.Log1p(-1/float64(s.N))) }

// WithinSiteVar is k: every draw falls on any of the n examples. (Independent
// counts, as Counts has them, would be shared out a little more evenly.)
func (Multinomial) WithinSiteVar(_, k int) float64 { return float64(k) }

// ConditionalOnAbsent is Size draws from the N-1 other examples; s itself where there are none.
func (s Multinomial) ConditionalOnAbsent() CountDistribution {
	if s.N == 1 {
		return s
	}
	return Multinomial{Size: s.Size, N: s.N - 1}
}

// Sample makes Size draws with replacement. It panics unless counts has length N.
func (s Multinomial) Sample(rng *rand.Rand, counts []int) {
	checkLength(s, s.N, counts)
	clear(counts)
	for range s.Size {
		counts[rng.IntN(s.N)]++
	}
}
