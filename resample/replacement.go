package resample

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Poisson is the bootstrap of random size S ~ Poisson(nu N): the occupation
// numbers are independent Poisson(nu) (M03-11).
type Poisson struct {
	Ratio float64 // nu = S/N, in (0, 1e9]
}

func (Poisson) Name() string                           { return "poisson" }
func (s Poisson) Mean() float64                        { return s.Ratio }
func (s Poisson) Absent() float64                      { return math.Exp(-s.Ratio) }
func (Poisson) WithinSiteVar(_ int, k float64) float64 { return k }
func (Poisson) Period() int                            { return 1 }

func (s Poisson) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }

// Counts is Poisson(n nu).
func (s Poisson) Counts(n int) Counts {
	mean := float64(n) * s.Ratio
	if mean <= 0 {
		return constant(0)
	}
	return logConcave(int(mean), mean, func(k float64) float64 { return mean / (k + 1) })
}

// Sample draws every count independently from Poisson(nu), by inversion: one uniform number per count.
func (s Poisson) Sample(rng *rand.Rand, weight []float64) {
	law := s.Counts(1)
	cdf := floats.CumSum(make([]float64, len(law.P)), law.P)
	for i := range weight {
		j, _ := slices.BinarySearch(cdf, cdf[len(cdf)-1]*rng.Float64())
		weight[i] = law.At(j)
	}
}

// Multinomial is the bootstrap of fixed size: Size draws with replacement from N examples.
//
// Its counts do not factorise, because they sum to Size. The distribution given here, for the theory, is that
// of independent counts with the right marginals, Binomial(Size, 1/N) each. The total of n examples is then
// Binomial(n Size, 1/N), their convolution. The true total of n examples is Binomial(Size, n/N); it has the
// same mean, and a variance smaller by the factor (1 - n/N)/(1 - 1/N). The convolution is the consistent
// choice: n copies of an input must count the same as one merged site and as n sites, and the theory assumes
// independent sites.
type Multinomial struct {
	Size int // S >= 1, draws per resample
	N    int // N >= 1, examples to draw from
}

func (Multinomial) Name() string                           { return "multinomial" }
func (s Multinomial) Mean() float64                        { return float64(s.Size) / float64(s.N) }
func (Multinomial) WithinSiteVar(_ int, k float64) float64 { return k }
func (Multinomial) Period() int                            { return 1 }

func (s Multinomial) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }

// Counts is Binomial(n Size, 1/N), as for n independent examples.
func (s Multinomial) Counts(n int) Counts {
	return binomial(float64(n)*float64(s.Size), 1/float64(s.N-1))
}

// Absent is (1 - 1/N)^Size.
func (s Multinomial) Absent() float64 { return math.Exp(float64(s.Size) * math.Log1p(-1/float64(s.N))) }

// Sample makes Size draws with replacement. It panics unless weight has length N.
func (s Multinomial) Sample(rng *rand.Rand, weight []float64) {
	checkLength(s, s.N, weight)
	clear(weight)
	for range s.Size {
		weight[rng.IntN(s.N)]++
	}
}
