// Package resample defines how training sets are redrawn: the laws of the
// occupation numbers s_i, the number of times example i stands in a resample,
// and the samplers that draw them.
//
// The analytic theory needs only the law p(k) = P(s_i = k) (M03-11); Monte
// Carlo retraining needs only the sampler. A Scheme holds both, so that the
// two sides can never talk of different resampling.
package resample

import "math/rand/v2"

// Counts is a law of a count k = 0, 1, 2, ... given on a window outside of
// which its probability is negligible: P(k = First+j) = P[j]. The entries of P
// sum to one.
type Counts struct {
	First int
	P     []float64
}

// Law is a factorising law of the occupation numbers: every example has the
// same law p(k), independently of the others.
type Law interface {
	// Mean is the expected occupation number nu = S/N of one example.
	Mean() float64
	// Counts is the law of the total count of n >= 0 examples that share one
	// input: the n-fold convolution of p. Counts(0) is the law of the constant 0.
	Counts(n int) Counts
}

// Sampler draws occupation numbers.
type Sampler interface {
	// Sample overwrites counts, one entry per example, with one draw.
	Sample(rng *rand.Rand, counts []int)
}

// Scheme is a resampling scheme: its law for the theory and its sampler for
// retraining. Where the scheme does not factorise (multinomial), the law is
// that of its marginals.
type Scheme interface {
	Law
	Sampler
	// Name is the scheme's name on the command line.
	Name() string
}
