package resample

import "slices"

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

func (KFold) Name() string                           { return "kfold" }
func (s KFold) Mean() float64                        { return 1 - 1/float64(s.Folds) }
func (s KFold) Absent() float64                      { return 1 / float64(s.Folds) }
func (s KFold) Counts(n int) Counts                  { return binomial(float64(n), float64(s.Folds-1)) }
func (KFold) WithinSiteVar(n int, k float64) float64 { return withoutReplacement(n, k) }
func (s KFold) Period() int                          { return s.Folds }

// Draw leaves out fold b mod Folds of random partition number b/Folds, so that Folds draws in a row are
// ordinary K-fold cross-validation, and more of them repeated K-fold. It panics unless weight has length N.
func (s KFold) Draw(seed uint64, b int, weight []float64) {
	checkLength(s, s.N, weight)
	Partition{Folds: s.Folds}.Draw(seed, b, weight)
}

// Partition is K-fold cross-validation within strata: the members of every stratum are divided at random into
// Folds folds of equal size, to within one, and so are all members. Draw b leaves out fold b mod Folds of
// partition b/Folds.
type Partition struct {
	Folds   int
	Stratum []int // of each member; nil: there is one
}

// Period is Folds: as many consecutive draws share a partition.
func (s Partition) Period() int { return s.Folds }

func (s Partition) Draw(seed uint64, b int, weight []float64) {
	deal := stream(seed, b/s.Folds).Perm(len(weight))
	if s.Stratum != nil {
		slices.SortStableFunc(deal, func(i, j int) int { return s.Stratum[i] - s.Stratum[j] })
	}
	for position, member := range deal {
		weight[member] = present(position%s.Folds != b%s.Folds)
	}
}

// present is the weight of an example: 1 if it is in a resample, else 0.
func present(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// GivenFolds is cross-validation by given folds: draw b leaves out fold b mod Folds.
type GivenFolds struct {
	Folds int
	Fold  []int // of each example, from 0 to Folds-1
}

func (s GivenFolds) Period() int { return s.Folds }

func (s GivenFolds) Draw(_ uint64, b int, weight []float64) {
	for i, fold := range s.Fold {
		weight[i] = present(fold != b%s.Folds)
	}
}

// ForwardChain is cross-validation of rows in order of time (rolling origin): the last Folds blocks of Length
// rows are predicted one after the other, each by the rows before it.
type ForwardChain struct{ Folds, Length int }

func (s ForwardChain) Period() int { return s.Folds }

// Draw holds the rows before block b mod Folds.
func (s ForwardChain) Draw(_ uint64, b int, weight []float64) {
	first, _ := s.Tested(b, len(weight))
	for i := range weight {
		weight[i] = present(i < first)
	}
}

// Tested is the block that draw b is to predict: of the n rows those from first on, before end.
func (s ForwardChain) Tested(b, n int) (first, end int) {
	first = n - (s.Folds-b%s.Folds)*s.Length
	return first, first + s.Length
}

// Tested is the range of examples, from first on, before end, in which fit r of a plan is tested on those
// that it lacks: by default all n.
func Tested(p Plan, r, n int) (first, end int) {
	switch p := p.(type) {
	case Weighted:
		return Tested(p.Plan, r, n)
	case Resamples:
		if chain, ok := p.Scheme.(ForwardChain); ok {
			return chain.Tested(r, n)
		}
	}
	return 0, n
}
