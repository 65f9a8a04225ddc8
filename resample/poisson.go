package resample

import (
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Poisson is the bootstrap of random size S ~ Poisson(nu N): the occupation
// numbers are independent Poisson(nu) (M03-11).
type Poisson struct {
	Ratio float64 // nu = S/N, in (0, 1e9]
}

// Name is "poisson".
func (Poisson) Name() string { return "poisson" }

// Mean is nu.
func (s Poisson) Mean() float64 { return s.Ratio }

// Counts is Poisson(n nu).
func (s Poisson) Counts(n int) Counts {
	mean := float64(n) * s.Ratio
	if mean <= 0 {
		return zeroCount()
	}
	return logConcave(int(mean), mean, func(k float64) float64 { return mean / (k + 1) })
}

// ProbZero is P(k = 0) = exp(-n nu) for the total count of n examples.
func (s Poisson) ProbZero(n int) float64 { return math.Exp(-float64(n) * s.Ratio) }

// WithinSiteVar is k: every draw falls on any of the n examples.
func (Poisson) WithinSiteVar(_, k int) float64 { return float64(k) }

// Sample draws every count from Poisson(nu) on its own, by inversion: one
// uniform number per count.
func (s Poisson) Sample(rng *rand.Rand, counts []int) {
	law := s.Counts(1)
	cdf := floats.CumSum(make([]float64, len(law.P)), law.P)
	for i := range counts {
		u := cdf[len(cdf)-1] * rng.Float64()
		counts[i] = law.First + sort.Search(len(cdf)-1, func(j int) bool { return u < cdf[j] })
	}
}
