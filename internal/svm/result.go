package svm

import "bootbench/internal/train"

// Result is a trained classifier. Its slices belong to the Trainer that made it and hold until its next
// Train.
type Result struct {
	// Alpha are the dual weights of the examples, 0 <= a_i <= C_i, length N. Examples with one site and label
	// share their weight in proportion to C; hard ones, beside which soft ones carry none, share it equally.
	Alpha []float64
	// Beta are the weights of the sites, sum of y_i a_i, length M. The predictor at a new input x is sum_s
	// Beta_s K(x, x_s) + Bias.
	Beta []float64
	// Bias is 0 without Problem.Bias. Where a whole interval of biases is optimal it is the middle; with one
	// class only, that class's label. LIBSVM's rho is -Bias if its first label is the +1, and Bias otherwise.
	Bias float64
	// F is the predictor at the M sites, K Beta + Bias, computed from Beta alone.
	F []float64
	// Violation is the largest violation of the Kuhn-Tucker conditions, in units of y f: of y_i f_i >= 1
	// where a_i < C_i, of y_i f_i <= 1 where a_i > 0.
	Violation float64
	// Free and Bounded count the support vectors: examples with 0 < a_i < C_i and with a_i = C_i.
	Free, Bounded int
	// Iterations is the number of coordinate steps.
	Iterations int
	// Operations is about how many multiplications these steps took.
	Operations float64
	// Status says whether the tolerance was met.
	Status train.Status
}

// finish distributes the site weights over the examples, adds the bias and judges what came out.
func (t *Trainer) finish(p *Problem) {
	r, q := &t.result, &t.dual
	if r.Status != train.Converged {
		q.recomputeF()
	}
	r.Bias = q.bias()
	for s, f := range q.everywhere {
		r.F[s] = f + r.Bias
	}
	clear(r.Beta)
	for i, s := range q.active {
		r.Beta[s] = q.beta[i]
		t.sides[1][s].alpha, t.sides[0][s].alpha = q.parts(i)
	}
	for i, c := range p.Weight {
		s := p.Site.At(i)
		a, lack := t.sides.at(s, p.Y[i]).share(c), 1-p.Y[i]*r.F[s]
		r.Alpha[i] = a
		if a < c {
			r.Violation = max(r.Violation, lack)
		}
		if a > 0 {
			r.Violation = max(r.Violation, -lack)
		}
		switch {
		case a > 0 && a < c:
			r.Free++
		case a > 0:
			r.Bounded++
		}
	}
}
