package svm

import (
	"math"

	"bootbench/internal/train"
)

// Result is a trained classifier. Its slices belong to the Trainer that made
// it and hold until its next Train.
type Result struct {
	// Alpha are the dual weights of the examples, 0 <= a_i <= C_i, length N.
	// Examples with one site and label share their weight in proportion to C;
	// hard ones, beside which soft ones carry none, share it equally.
	Alpha []float64
	// Beta are the weights of the sites, sum of y_i a_i, length M. The predictor
	// at a new input x is sum_s Beta_s K(x, x_s) + Bias.
	Beta []float64
	// Bias is 0 without Problem.Bias. Where a whole interval of biases is optimal
	// it is the middle; with one class only, that class's label. LIBSVM's rho is
	// -Bias if its first label is the +1, and Bias otherwise.
	Bias float64
	// F is the predictor at the M sites, K Beta + Bias.
	F []float64
	// Slack are xi_i = max(0, 1 - y_i f_i), length N; those of an example that is
	// absent, and of one with a hard margin, are what they would be.
	Slack []float64
	// Certificate judges Alpha, computed anew.
	Certificate
	// Free and Bounded count the support vectors: examples with 0 < a_i < C_i and
	// with a_i = C_i.
	Free, Bounded int
	// Iterations is the number of coordinate steps.
	Iterations int
	// ActiveSetSteps is the number of exact maximisations over the free weights.
	ActiveSetSteps int
	// Status says whether the tolerance was met.
	Status train.Status
	// Conflict lists, where Status is Diverged, examples whose margins contradict
	// each other, those with the largest weights first, at most conflictLength.
	Conflict []int
}

const conflictLength = 8

// Certificate bounds how far a Result is from the optimum.
type Certificate struct {
	// Primal and Dual are the objectives of (T1) and of its dual; the optimum lies
	// between them. Where a hard margin is missed, Primal is that of the smallest
	// multiple of F that has it, +Inf if there is none.
	Primal, Dual float64
	// Gap is Primal - Dual.
	Gap float64
	// Violation is the largest violation of the Kuhn-Tucker conditions, in units
	// of y f: of y_i f_i >= 1 where a_i < C_i, of y_i f_i <= 1 where a_i > 0.
	Violation float64
}

// certify computes the certificate of r's weights and bias from its F.
func certify(p *Problem, r *Result) Certificate {
	var c Certificate
	alpha, beta, f := r.Alpha, r.Beta, r.F
	short := 0.0 // how far f falls short of a hard margin
	for i, y := range p.Y {
		lack := 1 - y*f[p.Site.At(i)]
		if alpha[i] < p.C[i] {
			c.Violation = max(c.Violation, lack)
		}
		if alpha[i] > 0 {
			c.Violation = max(c.Violation, -lack)
		}
		if math.IsInf(p.C[i], 1) {
			short = max(short, lack)
		}
		c.Dual += alpha[i]
	}
	square := 0.0
	for s, b := range beta {
		square += b * (f[s] - r.Bias)
	}
	c.Dual -= square / 2
	c.Primal = math.Inf(1)
	if short < 1 {
		c.Primal = primal(p, f, square, 1/(1-short))
	}
	c.Gap = c.Primal - c.Dual
	return c
}

// primal is the primal objective of scale f, where square = beta' K beta.
func primal(p *Problem, f []float64, square, scale float64) float64 {
	v := scale * scale * square / 2
	for i, y := range p.Y {
		if lack := 1 - y*scale*f[p.Site.At(i)]; lack > 0 && !math.IsInf(p.C[i], 1) {
			v += p.C[i] * lack
		}
	}
	return v
}
