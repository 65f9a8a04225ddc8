package resample

import (
	"math/rand/v2"
)

// KFold is K-fold cross-validation: the examples are parted at random into Folds folds of equal size, to
// within one example, and the resample holds all folds but one. Folds = N is leave-one-out.
//
// Every example is absent with probability 1/Folds, exactly. Its counts do not factorise, since a whole fold
// is absent at a time; the distribution given here is that of independent counts with these marginals, so the
// total of n examples is Binomial(n, 1 - 1/Folds). That leaves the number of absent examples free, where it
// is N/Folds. Left-out errors of few examples or many folds feel it: given that example i is absent, each
// other one is absent with probability 1/Folds in this distribution but (N/Folds - 1)/(N - 1) in truth, 0 for
// leave-one-out. ConditionalOnAbsent is the distribution that has this right.
type KFold struct {
	Folds int // K, 2 to N
	N     int // examples to part
}

// Name is "kfold".
func (KFold) Name() string { return "kfold" }

// Mean is 1 - 1/Folds.
func (s KFold) Mean() float64 { return 1 - 1/float64(s.Folds) }

// Counts is Binomial(n, 1 - 1/Folds), as of n independent examples.
func (s KFold) Counts(n int) Counts { return binomial(n, float64(s.Folds-1)) }

// Absent is P(k = 0) = 1/Folds of one example.
func (s KFold) Absent() float64 { return 1 / float64(s.Folds) }

// ConditionalOnAbsent takes the other examples as independently absent with the
// probability that two examples share a fold, sum_f n_f (n_f - 1)/(N (N-1)) over the folds'
// sizes n_f. For leave-one-out all others are present.
func (s KFold) ConditionalOnAbsent() CountDistribution {
	together := 0.0
	for fold := range s.Folds {
		size := float64(s.size(fold))
		together += size * (size - 1)
	}
	return Bernoulli{Rate: 1 - together/(float64(s.N)*float64(s.N-1))}
}

// size is the number of examples in a fold.
func (s KFold) size(fold int) int { return (s.N - fold + s.Folds - 1) / s.Folds }

// Sample leaves out one fold of a fresh partition. It panics unless counts has length N.
func (s KFold) Sample(rng *rand.Rand, counts []int) {
	checkLength(s, s.N, counts)
	drawSubset(rng, s.N-s.size(rng.IntN(s.Folds)), counts)
}

// Period is Folds: as many consecutive draws of a series share a partition.
func (s KFold) Period() int { return s.Folds }

// SampleAt leaves out fold b mod Folds of random partition number b/Folds, so that Folds draws in a row are
// ordinary K-fold cross-validation, and more of them repeated K-fold. It panics unless counts has length N.
func (s KFold) SampleAt(seed uint64, b int, counts []int) {
	checkLength(s, s.N, counts)
	Partition{Folds: s.Folds}.SampleAt(seed, b, counts)
}
