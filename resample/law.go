// Package resample defines how training sets are redrawn: the laws of the
// occupation numbers s_i, the number of times example i stands in a resample,
// and the samplers that draw them.
//
// The analytic theory needs only the law p(k) = P(s_i = k) (M03-11); Monte
// Carlo retraining needs only the sampler. A Scheme holds both, so that the
// two sides can never talk of different resampling.
//
// The theory takes the counts of different examples for independent. They are
// so for Poisson and Bernoulli. Multinomial, Subsample and KFold fix how many
// examples are in a resample; their laws are those of the marginals, and what
// this neglects is of order 1/N. ConditionalOnAbsent makes good the part of it that
// left-out errors feel.
package resample

// Counts is a law of a count k = 0, 1, 2, ... given on a window outside of
// which its probability is negligible: P(k = First+j) = P[j]. The entries of P
// sum to one.
type Counts struct {
	First int
	P     []float64
}

// CountDistribution is a factorising law of the occupation numbers: every example has the
// same law p(k), independently of the others.
type CountDistribution interface {
	// Mean is the expected occupation number nu = S/N of one example.
	Mean() float64
	// Counts is the law of the total count of n >= 0 examples that share one
	// input: the n-fold convolution of p. Counts(0) is the law of the constant 0.
	Counts(n int) Counts
}

// Scheme is a resampling scheme: its law for the theory and its sampler for
// retraining. Where the scheme does not factorise, the law is that of its
// marginals.
type Scheme interface {
	CountDistribution
	Sampler
	// Name is the scheme's name on the command line.
	Name() string
}

// ProbZero is P(k = 0) for the total count of n examples, with its digits kept
// where the law has a method Zero(n int) float64 of its own: the window of
// Counts knows nothing below 1e-17.
func ProbZero(law CountDistribution, n int) float64 {
	if exact, ok := law.(interface{ ProbZero(n int) float64 }); ok {
		return exact.ProbZero(n)
	}
	return law.Counts(n).ProbZero()
}

// WithinSiteVar tells how the total count k of n examples is shared out among them. If
// they have values v_1..v_n of population variance sv, the sum of the drawn
// values has variance Split sv, given k:
//
//	k           for draws with replacement, each of which hits any example,
//	k (n-k)/(n-1)   where k different examples are drawn.
//
// A law may say so by a method Split(n, k int) float64. For any other, the
// examples are taken to be independent: Split = n^2/(n-1) times the variance of
// one example's count given the total. 0 for n < 2 and for impossible k.
func WithinSiteVar(law CountDistribution, n, k int) float64 {
	if known, ok := law.(interface{ WithinSiteVar(n, k int) float64 }); ok {
		return known.WithinSiteVar(n, k)
	}
	if n < 2 {
		return 0
	}
	rest := law.Counts(n - 1)
	var total, mean, squares float64
	for j, p := range law.Counts(1).All() {
		p *= rest.at(k - j)
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

// splitDistinct is Split where an example is drawn at most once.
func splitDistinct(n, k int) float64 {
	if n < 2 {
		return 0
	}
	return float64(k) * float64(n-k) / float64(n-1)
}

// ConditionalOnAbsent is the law of the other examples' counts, given that one example
// is left out. For a factorising law that is the law itself. Under a scheme of
// fixed size the others are then a little more often present: multinomial draws
// fall on N-1 examples, and leave-one-out has all of them. Left-out errors are
// averages under this law.
func ConditionalOnAbsent(law CountDistribution) CountDistribution {
	if l, ok := law.(interface{ ConditionalOnAbsent() CountDistribution }); ok {
		return l.ConditionalOnAbsent()
	}
	return law
}
