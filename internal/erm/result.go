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
	// Bias is 0 but for Trainer.TrainWithBias, after which A sums to 0 within the tolerance.
	Bias float64
	// F is the predictor at the M sites, K A + Bias.
	F []float64
	// Objective is (T1) at F. Where a hard constraint is missed, by rounding say,
	// it is that of the smallest multiple of F that meets them, +Inf if none was
	// found.
	Objective float64
	// Gap is Objective less the dual objective, a lower bound of the optimum but
	// for rounding. Where Objective is that of F itself, the optimal f* obeys
	//	|F_i - f*_i| <= (2 K_ii Gap)^1/2.
	// See Trainer.Train for losses where it can be infinite.
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
// (Fenchel-Young, see the package's page). Where f violates a hard constraint, the
// primal objective is that of the smallest multiple of f that meets it.
func (t *Trainer) certify() certificate {
	q := &t.iterate
	var c certificate
	square, losses, scale := 0.0, t.set.fixed, 1.0
	c.scale = math.Abs(t.set.fixed)
	for i, f := range q.f {
		v := t.set.value(i, f)
		square += q.a[i] * f
		losses += v
		c.scale += math.Abs(q.value[i])
		if math.IsInf(v, 1) {
			scale = max(scale, q.p[i]/f)
			if !(q.p[i]*f > 0) {
				scale = math.Inf(1)
			}
			continue
		}
		c.gap += max(0, v-q.value[i]+q.a[i]*(f-q.p[i]))
	}
	c.scale += square / 2
	c.primal = square/2 + losses
	if scale > 1 {
		c.primal = t.scaledPrimal(scale*(1+0x1p-50), square)
		c.gap = c.primal - q.dual() - t.set.fixed
	}
	return c
}

// scaledPrimal is the primal objective of s f, where square = f' K^-1 f; +Inf for
// an s above 2.
func (t *Trainer) scaledPrimal(s, square float64) float64 {
	if s > 2 {
		return math.Inf(1)
	}
	v := s*s*square/2 + t.set.fixed
	for i, f := range t.iterate.f {
		v += t.set.value(i, s*f)
	}
	return v
}
