package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Bernoulli is subsampling of random size: every example is in the resample, once, with probability Rate,
// independently of the others. It factorises: the counts of the theory are those of the sampler.
type Bernoulli struct {
	Rate float64 // r = E S/N, in (0, 1]
}

// Name is "bernoulli".
func (Bernoulli) Name() string { return "bernoulli" }

// Mean is r.
func (s Bernoulli) Mean() float64 { return s.Rate }

// Counts is Binomial(n, r).
func (s Bernoulli) Counts(n int) Counts { return binomial(n, s.Rate/(1-s.Rate)) }

// Absent is P(k = 0) = 1-r of one example.
func (s Bernoulli) Absent() float64 { return 1 - s.Rate }

// Sample draws every count on its own.
func (s Bernoulli) Sample(rng *rand.Rand, counts []int) {
	for i := range counts {
		counts[i] = 0
		if rng.Float64() < s.Rate {
			counts[i] = 1
		}
	}
}

// Subsample is subsampling of fixed size: Size of N examples, without
// replacement, all subsets equally likely.
//
// Its counts do not factorise, because they sum to Size: n examples have a hypergeometric total. The
// distribution given here is that of independent counts with the right marginals, so the total of n examples
// is Binomial(n, Size/N), with the same mean and a variance larger by (1 - 1/N)/(1 - n/N).
type Subsample struct {
	Size int // S, 1 to N
	N    int // examples to choose from
}

// Name is "subsample".
func (Subsample) Name() string { return "subsample" }

// Mean is Size/N.
func (s Subsample) Mean() float64 { return float64(s.Size) / float64(s.N) }

// Counts is Binomial(n, Size/N), that of n independent examples.
func (s Subsample) Counts(n int) Counts {
	return binomial(n, float64(s.Size)/float64(s.N-s.Size))
}

// Absent is P(k = 0) = 1 - Size/N of one example.
func (s Subsample) Absent() float64 { return float64(s.N-s.Size) / float64(s.N) }

// ConditionalOnAbsent is the same size chosen from the N-1 other examples; s itself
// where no example is ever left out.
func (s Subsample) ConditionalOnAbsent() CountDistribution {
	if s.Size == s.N {
		return s
	}
	return Subsample{Size: s.Size, N: s.N - 1}
}

// Sample chooses one subset. It panics unless counts has length N.
func (s Subsample) Sample(rng *rand.Rand, counts []int) {
	checkLength(s, s.N, counts)
	drawSubset(rng, s.Size, counts)
}

// checkLength panics where a scheme is not over as many examples as there are
// counts: a mistake of the caller's code, not of its input.
func checkLength(s Scheme, n int, counts []int) {
	if len(counts) != n {
		panic(fmt.Sprintf("resample: %d counts for a %s scheme over %d examples", len(counts), s.Name(), n))
	}
}

// drawSubset sets size counts, chosen at random, to 1 and the others to 0, in one
// pass (selection sampling, Knuth's algorithm S): a count is chosen with the
// number still wanted over the number still to come as its probability.
func drawSubset(rng *rand.Rand, size int, counts []int) {
	for i := range counts {
		counts[i] = 0
		if rng.IntN(len(counts)-i) < size {
			counts[i] = 1
			size--
		}
	}
}

// binomial is the distribution of how many of n independent examples are
// present, each with those odds of presence to absence: Binomial(n, odds/(1+odds)).
func binomial(n int, odds float64) Counts {
	if n <= 0 {
		return zeroCount()
	}
	if math.IsInf(odds, 1) {
		return Counts{First: n, P: []float64{1}}
	}
	rate := odds / (1 + odds)
	mode := min(n, int(float64(n+1)*rate))
	return logConcave(mode, float64(n)*rate, func(k float64) float64 {
		return (float64(n) - k) / (k + 1) * odds
	})
}
