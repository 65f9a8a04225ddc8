package resample

import "math/rand/v2"

// Bernoulli is subsampling of random size: every example is in the resample, once, with probability Rate,
// independently of the others. So the theory's counts are exactly the sampler's.
type Bernoulli struct {
	Rate float64 // r = E S/N, in (0, 1]
}

func (Bernoulli) Name() string { return "bernoulli" }

// Mean is r.
func (s Bernoulli) Mean() float64 { return s.Rate }

// Counts is Binomial(n, r).
func (s Bernoulli) Counts(n int) Counts { return binomial(float64(n), s.Rate/(1-s.Rate)) }

// Absent is 1-r.
func (s Bernoulli) Absent() float64 { return 1 - s.Rate }

// WithinSiteVar is k (n-k)/(n-1).
func (Bernoulli) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }

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

func (Subsample) Name() string { return "subsample" }

// Mean is Size/N.
func (s Subsample) Mean() float64 { return float64(s.Size) / float64(s.N) }

// Counts is Binomial(n, Size/N), as for n independent examples.
func (s Subsample) Counts(n int) Counts {
	return binomial(float64(n), float64(s.Size)/float64(s.N-s.Size))
}

// Absent is 1 - Size/N.
func (s Subsample) Absent() float64 { return float64(s.N-s.Size) / float64(s.N) }

// WithinSiteVar is k (n-k)/(n-1).
func (Subsample) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }

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

// KFold is K-fold cross-validation: the examples are divided at random into Folds folds of equal size, to
// within one example, and the resample has all folds except one. Folds = N is leave-one-out.
//
// Every example is absent with probability 1/Folds, exactly. Its counts do not factorise, since a whole fold
// is absent at a time; the distribution given here is of independent counts with these marginals, so the
// total of n examples is Binomial(n, 1 - 1/Folds). The number of absent examples, in truth N/Folds, is then
// random. This matters for left-out errors of few examples or many folds: given that example i is absent,
// each other one is absent with probability 1/Folds in this distribution, but in truth (N/Folds - 1)/(N - 1),
// 0 for leave-one-out, for which Bernoulli of rate 1 is exact.
type KFold struct {
	Folds int // K, 2 to N
	N     int // examples
}

func (KFold) Name() string { return "kfold" }

// Mean is 1 - 1/Folds.
func (s KFold) Mean() float64 { return 1 - 1/float64(s.Folds) }

// Counts is Binomial(n, 1 - 1/Folds), as of n independent examples.
func (s KFold) Counts(n int) Counts { return binomial(float64(n), float64(s.Folds-1)) }

// Absent is 1/Folds.
func (s KFold) Absent() float64 { return 1 / float64(s.Folds) }

// WithinSiteVar is k (n-k)/(n-1).
func (KFold) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }

// Period is Folds: as many consecutive draws share a partition.
func (s KFold) Period() int { return s.Folds }

// Draw leaves out fold b mod Folds of random partition number b/Folds, so that Folds draws in a row are
// ordinary K-fold cross-validation, and more of them repeated K-fold. It panics unless weight has length N.
func (s KFold) Draw(seed uint64, b int, weight []float64) {
	checkLength(s, s.N, weight)
	Partition{Folds: s.Folds}.Draw(seed, b, weight)
}
