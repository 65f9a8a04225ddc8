// Package resample defines how training sets are redrawn: the distributions of the occupation numbers s_i,
// the number of times that example i occurs in a resample, and the samplers that draw them.
//
// The analytic theory needs only p(k) = P(s_i = k) (M03-11); Monte Carlo retraining needs only the sampler. A
// Scheme holds both, so that the two sides always mean the same resampling.
//
// The theory takes the counts of different examples as independent. They are so for Poisson and Bernoulli.
// Multinomial, Subsample and KFold fix how many examples are in a resample; their distributions have the same
// marginals, and what independence neglects is of order 1/N. ConditionalOnAbsent restores the part of it that
// left-out errors depend on.
package resample

import "math"

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

// CountDistribution gives all examples the same p(k), independently of each other.
type CountDistribution interface {
	// Mean is the expected occupation number nu = S/N of one example.
	Mean() float64
	// Counts is the distribution of the total count of n >= 0 examples that share
	// one input: the n-fold convolution of p. Counts(0) is the constant 0.
	Counts(n int) Counts
}

// Scheme is a resampling scheme: its count distribution for the theory and its sampler for retraining. Where
// the counts of a scheme depend on each other, the distribution has their marginals.
type Scheme interface {
	CountDistribution
	Sampler
	// Name is the scheme's name on the command line.
	Name() string
}

// ProbZero is P(k = 0) for the total count of n examples, with all its digits where the distribution has a
// method Absent() float64, P(k = 0) of one example: the window of Counts resolves nothing below 1e-17.
func ProbZero(law CountDistribution, n int) float64 {
	if exact, ok := law.(interface{ Absent() float64 }); ok {
		return math.Pow(exact.Absent(), float64(n))
	}
	return law.Counts(n).prob(0)
}

// WithinSiteVar describes how the total count k of n examples of one site is
// shared out among them. If they have values v_1..v_n of population variance sv,
// then the sum of the drawn values has variance WithinSiteVar sv, given k:
//
//	k               for draws with replacement, each of which hits any example,
//	k (n-k)/(n-1)   where k different examples are drawn.
//
// The schemes with replacement state the former by a method WithinSiteVar(n, k int) float64. For any other
// the examples are taken as independent, which gives the latter where an example is drawn at most once:
// n^2/(n-1) times the variance of one example's count given the total. 0 for n < 2 and for impossible k.
func WithinSiteVar(law CountDistribution, n, k int) float64 {
	if known, ok := law.(interface{ WithinSiteVar(n, k int) float64 }); ok {
		return known.WithinSiteVar(n, k)
	}
	if n < 2 {
		return 0
	}
	rest := law.Counts(n - 1)
	var total, mean, squares float64
	for j, p := range law.Counts(1).All() { // West's weighted update of mean and variance
		p *= rest.prob(k - j)
		if p == 0 {
			continue
		}
		total += p
		off := float64(j) - mean
		mean += p / total * off
		squares += p * off * (float64(j) - mean)
	}
	if total == 0 {
		return 0
	}
	return squares / total * float64(n) * float64(n) / float64(n-1)
}

// ConditionalOnAbsent is the distribution of the other examples' counts, given that one example is left out:
// the distribution itself where examples are independent. Under a scheme of fixed size the others are then
// present a little more often: multinomial draws fall on N-1 examples, and leave-one-out has all of them.
// Left-out errors are averages under this distribution.
func ConditionalOnAbsent(law CountDistribution) CountDistribution {
	if l, ok := law.(interface{ ConditionalOnAbsent() CountDistribution }); ok {
		return l.ConditionalOnAbsent()
	}
	return law
}
