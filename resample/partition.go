package resample

import (
	"math/rand/v2"
	"slices"
)

// Partition is K-fold cross-validation within strata: the members of every stratum are dealt at random to
// Folds folds of equal size, to within one, and so are all together. Resample b leaves out fold b mod Folds
// of partition b/Folds.
type Partition struct {
	Folds   int
	Stratum []int // of each member; nil: there is one
}

// Sample leaves out one fold of a fresh partition.
func (s Partition) Sample(rng *rand.Rand, counts []int) {
	s.SampleAt(rng.Uint64(), rng.IntN(s.Folds), counts)
}

// Period is Folds: as many consecutive draws of a series share a partition.
func (s Partition) Period() int { return s.Folds }

// SampleAt is Periodic.SampleAt.
func (s Partition) SampleAt(seed uint64, b int, counts []int) {
	deal := rand.New(rand.NewPCG(seed, uint64(b/s.Folds))).Perm(len(counts))
	if s.Stratum != nil {
		slices.SortStableFunc(deal, func(i, j int) int { return s.Stratum[i] - s.Stratum[j] })
	}
	for position, member := range deal {
		counts[member] = 1
		if position%s.Folds == b%s.Folds {
			counts[member] = 0
		}
	}
}

// GivenFolds is cross-validation by folds that are known: resample b leaves out those of fold b mod Folds.
type GivenFolds struct {
	Folds int
	Fold  []int // of each example, from 0 to Folds-1
}

// Sample leaves out one fold.
func (s GivenFolds) Sample(rng *rand.Rand, counts []int) { s.SampleAt(0, rng.IntN(s.Folds), counts) }

// Period is Folds.
func (s GivenFolds) Period() int { return s.Folds }

// SampleAt is Periodic.SampleAt.
func (s GivenFolds) SampleAt(_ uint64, b int, counts []int) {
	for i, fold := range s.Fold {
		counts[i] = 1
		if fold == b%s.Folds {
			counts[i] = 0
		}
	}
}

// ForwardChain is cross-validation of rows in order of time (rolling origin): the last Folds blocks of Length
// rows are predicted one after the other, each by the rows before it.
type ForwardChain struct{ Folds, Length int }

// Sample holds the rows before one of the blocks.
func (s ForwardChain) Sample(rng *rand.Rand, counts []int) { s.SampleAt(0, rng.IntN(s.Folds), counts) }

// Period is Folds.
func (s ForwardChain) Period() int { return s.Folds }

// SampleAt is Periodic.SampleAt.
func (s ForwardChain) SampleAt(_ uint64, b int, counts []int) {
	first, _ := s.Judged(b, len(counts))
	for i := range counts {
		counts[i] = 0
		if i < first {
			counts[i] = 1
		}
	}
}

// Judged is the block that resample b is to predict: of the n rows those from first on, before end.
func (s ForwardChain) Judged(b, n int) (first, end int) {
	first = n - (s.Folds-b%s.Folds)*s.Length
	return first, first + s.Length
}

// Judged is where examples are judged that fit r of a plan over n examples lacks: from first on, before end.
// That is anywhere unless the plan says otherwise.
func Judged(p Plan, r, n int) (first, end int) {
	if weighted, ok := p.(Weighted); ok {
		p = weighted.Plan
	}
	if draws, ok := p.(Resamples); ok {
		if chain, ok := draws.Scheme.(ForwardChain); ok {
			return chain.Judged(r, n)
		}
	}
	return 0, n
}
