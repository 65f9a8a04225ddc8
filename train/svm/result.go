package svm

import "bootbench/train"

// Result is a trained classifier. If an interval of biases is optimal, Bias is its middle; with one class,
// that class's label. LIBSVM's rho is -Bias if its first label is the +1, and Bias otherwise.
type Result struct {
	train.Result
	// Alpha are the dual weights of the examples, 0 <= a_i <= C_i, length N. Examples with one site and label
	// share their weight in proportion to C; if any are hard, these share it equally. The slack of an example
	// is max(0, 1 - y_i f_i).
	Alpha []float64
	// Violation is the largest violation of the Kuhn-Tucker conditions, in units of y f: of y_i f_i >= 1
	// where a_i < C_i, of y_i f_i <= 1 where a_i > 0.
	Violation float64
	// Free and Bounded count the support vectors: examples with 0 < a_i < C_i and with a_i = C_i.
	Free, Bounded int
	// Iterations is the number of coordinate steps.
	Iterations int
	// Operations is about how many multiplications the training took.
	Operations float64
}

// finish distributes the site weights over the examples, adds the bias and computes the certificates.
func (t *Trainer) finish(p *train.Set) {
	r, q := &t.result, &t.dual
	if r.Status != train.Converged {
		q.recomputeF()
	}
	r.Bias = q.bias()
	for s, f := range q.everywhere {
		r.F[s] = f + r.Bias
	}
	clear(r.Weight)
	for i, s := range q.active {
		r.Weight[s] = q.beta[i]
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
