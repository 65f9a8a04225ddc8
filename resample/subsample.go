package resample

import "math/rand/v2"

// Bernoulli is subsampling of random size: every example is in the resample, once, with probability Rate,
// independently of the others. So the theory's counts are exactly the sampler's.
type Bernoulli struct {
	Rate float64 // r = E S/N, in (0, 1]
}

func (Bernoulli) Name() string                           { return "bernoulli" }
func (s Bernoulli) Mean() float64                        { return s.Rate }
func (s Bernoulli) Absent() float64                      { return 1 - s.Rate }
func (s Bernoulli) Counts(n int) Counts                  { return binomial(float64(n), s.Rate/(1-s.Rate)) }
func (Bernoulli) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }
func (Bernoulli) Period() int                            { return 1 }

func (s Bernoulli) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }

// Sample draws every count independently.
func (s Bernoulli) Sample(rng *rand.Rand, weight []float64) {
	clear(weight)
	for i := range weight {
		if rng.Float64() < s.Rate {
			weight[i] = 1
		}
	}
}

// Subsample is subsampling of fixed size: Size of N examples, without
// replacement, all subsets equally likely.
//
// Its counts do not factorise, because they sum to Size: n examples have a hypergeometric total. The
// distribution given here is the one of independent counts with the right marginals, so the total of n
// examples is Binomial(n, Size/N), with the same mean and a variance larger by (1 - 1/N)/(1 - n/N).
type Subsample struct {
	Size int // S, 1 to N
	N    int // examples to choose from
}

func (Subsample) Name() string                           { return "subsample" }
func (s Subsample) Mean() float64                        { return float64(s.Size) / float64(s.N) }
func (s Subsample) Absent() float64                      { return float64(s.N-s.Size) / float64(s.N) }
func (Subsample) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }
func (Subsample) Period() int                            { return 1 }

func (s Subsample) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }

// Counts is Binomial(n, Size/N), as for n independent examples.
func (s Subsample) Counts(n int) Counts {
	return binomial(float64(n), float64(s.Size)/float64(s.N-s.Size))
}

// Sample chooses one subset in one pass (selection sampling, Knuth's algorithm S): the probability of an
// example is the number still needed over the number remaining. It panics unless weight has length N.
func (s Subsample) Sample(rng *rand.Rand, weight []float64) {
	checkLength(s, s.N, weight)
	clear(weight)
	wanted := s.Size
	for i := range weight {
		if rng.IntN(len(weight)-i) < wanted {
			weight[i] = 1
			wanted--
		}
	}
}
