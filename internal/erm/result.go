package erm

import (
	"math"

	"bootbench/internal/train"
)

// Result is a trained predictor. Its slices belong to the Trainer that made it
// and hold until its next Train.
type Result struct {
	// A are the weights of the sites, length M, 0 where a site is empty. The
	// predictor at a new input x is sum_s A_s K(x, x_s) + Bias.
	A []float64
	// Bias is 0 except after Trainer.TrainWithBias, when A sums to 0 within the tolerance.
	Bias float64
	// F is the predictor at the M sites, K A + Bias.
	F []float64
	// Objective is (T1) at F.
	Objective float64
	// Gap is Objective less the dual objective, a lower bound of the optimum up to
	// rounding. The optimal f* obeys
	//	|F_i - f*_i| <= (2 K_ii Gap)^1/2.
	Gap float64
	// Steps counts the Newton steps, and Sweeps the passes of coordinate steps.
	Steps, Sweeps int
	// Status says whether the tolerance was met.
	Status train.Status
}

// certificate bounds the optimum.
type certificate struct {
	primal, gap float64
	scale       float64 // size of the terms that the objectives are made of
}

// certify computes the objectives and the gap between them, term by term
// (Fenchel-Young, see the package's page).
func (t *Trainer) certify() certificate {
	q, square := &t.iterate, 0.0
	c := certificate{primal: t.set.fixed, scale: math.Abs(t.set.fixed)}
	for i, f := range q.f {
		v := t.set.value(i, f)
		square += q.a[i] * f
		c.primal += v
		c.scale += math.Abs(q.value[i])
		c.gap += max(0, v-q.value[i]+q.a[i]*(f-q.p[i]))
	}
	c.primal += square / 2
	c.scale += square / 2
	return c
}
