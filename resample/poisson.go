package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// maxRatio is the largest ratio S/N that the schemes accept; a window of
// counts has about 18 sqrt(n S/N) entries.
const maxRatio = 1e9

// Poisson is the bootstrap of random size S ~ Poisson(nu N): the occupation
// numbers are independent Poisson(nu) (M03-11).
type Poisson struct {
	Ratio float64 // nu = S/N, in (0, 1e9]
}

// NewPoisson is the Poisson scheme with ratio nu in (0, 1e9].
func NewPoisson(ratio float64) (Poisson, error) {
	return Poisson{Ratio: ratio}, checkRatio(ratio)
}

// checkRatio refuses ratios outside of (0, maxRatio].
func checkRatio(ratio float64) error {
	if !(ratio > 0 && ratio <= maxRatio) {
		return fmt.Errorf("resample: ratio S/N must be above 0 and at most %g, got %g", maxRatio, ratio)
	}
	return nil
}

// Name is "poisson".
func (Poisson) Name() string { return "poisson" }

// Mean is nu.
func (s Poisson) Mean() float64 { return s.Ratio }

// Counts is Poisson(n nu).
func (s Poisson) Counts(n int) Counts {
	mean := float64(n) * s.Ratio
	if mean <= 0 {
		return never()
	}
	return window(int(mean), mean, func(k float64) float64 { return mean / (k + 1) })
}

// ProbZero is P(k = 0) = exp(-n nu) for the total count of n examples.
func (s Poisson) ProbZero(n int) float64 { return math.Exp(-float64(n) * s.Ratio) }

// WithinSiteVar is k: every draw falls on any example; see the function Split.
func (Poisson) WithinSiteVar(_, k int) float64 { return float64(k) }

// Sample draws every count from Poisson(nu) on its own, by inversion: one
// uniform number per count.
func (s Poisson) Sample(rng *rand.Rand, counts []int) {
	law := s.Counts(1)
	cdf := make([]float64, len(law.P))
	sum := 0.0
	for j, p := range law.P {
		sum += p
		cdf[j] = sum
	}
	for i := range counts {
		u := sum * rng.Float64() // in [0, sum)
		counts[i] = law.First + sort.Search(len(cdf)-1, func(j int) bool { return u < cdf[j] })
	}
}
