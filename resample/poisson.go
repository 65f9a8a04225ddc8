package resample

import (
	"math"
	"math/rand/v2"

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

// Absent is P(k = 0) = exp(-nu) of one example.
func (s Poisson) Absent() float64 { return math.Exp(-s.Ratio) }

// WithinSiteVar is k: every draw falls on any of the n examples.
func (Poisson) WithinSiteVar(_, k int) float64 { return float64(k) }

// Sample draws every count from Poisson(nu) on its own, by inversion: one uniform number per count.
func (s Poisson) Sample(rng *rand.Rand, counts []int) {
	law := s.Counts(1)
	cdf := floats.CumSum(make([]float64, len(law.P)), law.P)
	last := len(cdf) - 1
	// guide[g] is where the search begins for the share g/len(guide) of u (Chen and
	// Asau 1974): on average it takes a step or two.
	guide := make([]int, 2*len(cdf))
	for g, j := 0, 0; g < len(guide); g++ {
		for j < last && cdf[last]*float64(g) >= cdf[j]*float64(len(guide)) {
			j++
		}
		guide[g] = j
	}
	for i := range counts {
		r := rng.Float64()
		u, j := cdf[last]*r, guide[int(r*float64(len(guide)))]
		for j > 0 && u < cdf[j-1] { // rounding
			j--
		}
		for j < last && u >= cdf[j] {
			j++
		}
		counts[i] = law.First + j
	}
}
