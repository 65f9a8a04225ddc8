package resample

import (
	"fmt"
	"math/rand/v2"
)

// Sampler draws the weights of resamples: the counts of their examples, or real numbers.
type Sampler interface {
	// Draw overwrites weight, one entry per example, with draw number b >= 0 of the sequence of seed. It has
	// no state: draws may be taken in any order.
	Draw(seed uint64, b int, weight []float64)
	// Period is the number of consecutive dependent draws, from a multiple of it on; 1: all are independent.
	Period() int
}

// stream is the random stream of a draw, PCG(seed, b).
func stream(seed uint64, b int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(b))) }

// Draw is Sampler.Draw: each draw is a Sample from a separate stream.
func (s Poisson) Draw(seed uint64, b int, weight []float64)     { s.Sample(stream(seed, b), weight) }
func (s Multinomial) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }
func (s Bernoulli) Draw(seed uint64, b int, weight []float64)   { s.Sample(stream(seed, b), weight) }
func (s Subsample) Draw(seed uint64, b int, weight []float64)   { s.Sample(stream(seed, b), weight) }
func (s Bayesian) Draw(seed uint64, b int, weight []float64)    { s.Sample(stream(seed, b), weight) }

// Period is 1: the draws are independent.
func (Poisson) Period() int     { return 1 }
func (Multinomial) Period() int { return 1 }
func (Bernoulli) Period() int   { return 1 }
func (Subsample) Period() int   { return 1 }
func (Bayesian) Period() int    { return 1 }

// checkLength panics if the numbers of examples and weights differ, a bug of the caller.
func checkLength(s Scheme, n int, weight []float64) {
	if len(weight) != n {
		panic(fmt.Sprintf("resample: %d weights for a %s scheme over %d examples", len(weight), s.Name(), n))
	}
}
