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
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
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

// Counts is a distribution of a count k = 0, 1, 2, ... on a window outside of
// which its probability is negligible: P(k = First+j) = P[j]. The entries of P
// sum to one. Of real weights Values are the nodes of a quadrature, and P its weights.
type Counts struct {
	First  int
	P      []float64
	Values []float64 // nil: whole numbers from First on
}

// At is value number j.
func (c *Counts) At(j int) float64 {
	if c.Values != nil {
		return c.Values[j]
	}
	return float64(c.First + j)
}

// All iterates over the counts k of the window and their probabilities, in ascending order.
func (c Counts) All() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for j, p := range c.P {
			if !yield(c.First+j, p) {
				return
			}
		}
	}
}

func constant(k int) Counts { return Counts{First: k, P: []float64{1}} }

// binomial is the distribution of successes in independent trials with the given odds: Binomial(trials,
// odds/(1+odds)). trials may exceed the integers.
func binomial(trials, odds float64) Counts {
	switch {
	case trials <= 0:
		return constant(0)
	case math.IsInf(odds, 1):
		return constant(int(trials))
	}
	rate := odds / (1 + odds)
	mode := min(trials, math.Floor((trials+1)*rate))
	return logConcave(int(mode), trials*rate,
		func(k float64) float64 { return (trials - k) / (k + 1) * odds })
}

// tailMass bounds the omitted mass of each tail, relative to min(P(k >= 1), 1), so that averages that vanish
// with k are accurate at small means.
const tailMass = 1e-17

// logConcave builds a log-concave distribution from the ratios up(k) = P(k+1)/P(k) of neighbours, from the
// mode outwards, and normalises at the end. No probability is formed from large cancelling logarithms, so the
// relative error of an entry is a few roundings per step away from the mode.
//
// Since up falls with k, the mass beyond an entry w is at most the geometric sum
// w r/(1-r) of the next ratio r: this is the rule for stopping.
func logConcave(mode int, mean float64, up func(k float64) float64) Counts {
	// The mode has weight 1 here, which is at most the sum of all weights.
	enough := tailMass * math.Min(1, mean)
	first, w := mode, 1.0
	p := []float64{1}
	for first > 0 {
		r := 1 / up(float64(first-1))
		if w*r < enough*(1-r) {
			break
		}
		w *= r
		p = append(p, w)
		first--
	}
	slices.Reverse(p)
	for k := mode; ; k++ {
		r := up(float64(k))
		w = p[len(p)-1] * r
		if w < enough*(1-r) || w == 0 {
			break
		}
		p = append(p, w)
	}
	floats.Scale(1/floats.Sum(p), p)
	return Counts{First: first, P: p}
}
