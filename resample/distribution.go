// Package resample defines how training sets are redrawn: the distributions of the occupation numbers s_i,
// the number of times that example i occurs in a resample, and the samplers that draw them.
//
// The analytic theory needs only p(k) = P(s_i = k) (M03-11); Monte Carlo retraining needs only the sampler. A
// Scheme has both, so that both use the same resampling.
//
// The theory assumes independent counts of different examples, as for Poisson and Bernoulli. Multinomial,
// Subsample and KFold fix how many examples are in a resample; their distributions have the same marginals,
// and the error of independence is of order 1/N.
package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// CountDistribution gives all examples the same p(k), independently of each other.
type CountDistribution interface {
	// Mean is the expected occupation number nu = S/N of one example.
	Mean() float64
	// Counts is the distribution of the total count of n >= 0 examples that share
	// one input: the n-fold convolution of p. Counts(0) is the constant 0.
	Counts(n int) Counts
	// Absent is P(k = 0) of one example, relatively accurate even below the 1e-17 of the window of Counts.
	Absent() float64
	// WithinSiteVar describes how the total count k of n examples of one site is divided among them. If they
	// have values v_1..v_n of population variance sv, then the sum of the drawn values has variance
	// WithinSiteVar sv, given k:
	//
	//	k               for draws with replacement, each of which hits any example,
	//	k (n-k)/(n-1)   where k different examples are drawn.
	WithinSiteVar(n int, k float64) float64
}

// Scheme is a resampling scheme: its count distribution for the theory and its sampler for retraining. For
// dependent counts the distribution has their marginals.
type Scheme interface {
	CountDistribution
	Sampler
	// Name is the scheme's name on the command line.
	Name() string
}

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

// checkLength panics if the numbers of examples and weights differ, a bug of the caller.
func checkLength(s Scheme, n int, weight []float64) {
	if len(weight) != n {
		panic(fmt.Sprintf("resample: %d weights for a %s scheme over %d examples", len(weight), s.Name(), n))
	}
}

// ProbZero is P(k = 0) for the total count of n examples.
func ProbZero(law CountDistribution, n int) float64 { return math.Pow(law.Absent(), float64(n)) }

// withoutReplacement is WithinSiteVar if an example is drawn at most once.
func withoutReplacement(n int, k float64) float64 {
	if n < 2 {
		return 0
	}
	return k * (float64(n) - k) / float64(n-1)
}

// Cached is a distribution that caches its counts, so that sites with equal numbers of copies share one
// table. It is safe for concurrent use. Its Counts share their memory: callers must not write to them.
type Cached struct {
	CountDistribution
	mu    sync.Mutex
	draws map[int]*Draws
}

// Cache wraps a distribution, unless it is a Cached.
func Cache(law CountDistribution) *Cached {
	if cached, ok := law.(*Cached); ok {
		return cached
	}
	return &Cached{CountDistribution: law, draws: map[int]*Draws{}}
}

// Draws are the counts of some examples and, for each k of their window, WithinSiteVar.
type Draws struct {
	Counts
	WithinSiteVar []float64
}

// Draws are the draws of n examples, computed at the first call.
func (c *Cached) Draws(n int) *Draws {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.draws[n] == nil {
		d := &Draws{Counts: c.CountDistribution.Counts(n)}
		for j := range d.P {
			d.WithinSiteVar = append(d.WithinSiteVar, c.WithinSiteVar(n, d.At(j)))
		}
		c.draws[n] = d
	}
	return c.draws[n]
}

func (c *Cached) Counts(n int) Counts { return c.Draws(n).Counts }
