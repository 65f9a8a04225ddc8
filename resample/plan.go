package resample

import "gonum.org/v1/gonum/floats"

// Plan is a list of fits. Fit r minimises sum_i w_i l(f_i, y_i) + |f|^2/2 with weights w >= 0 and targets y
// that depend only on r.
type Plan interface {
	// Fit writes the weights of fit r >= 0, length N, and returns its targets, which are only read.
	Fit(r int, weight []float64) (target []float64)
	// Period is the number of consecutive dependent fits, from a multiple of it on; 1 if all are independent.
	Period() int
}

// Resamples is the plan of a resampling scheme: the weights of fit r are the counts, or the real weights, of
// draw r of Seed, its targets Y, or those that the scheme generates.
type Resamples struct {
	Scheme Sampler
	Seed   uint64
	Y      []float64
}

// Fit is Plan.Fit.
func (p Resamples) Fit(r int, weight []float64) (target []float64) {
	p.Scheme.Draw(p.Seed, r, weight)
	if s, ok := p.Scheme.(Generated); ok {
		return s.Targets(p.Seed, r)
	}
	return p.Y
}

// Period is the period of the scheme.
func (p Resamples) Period() int { return p.Scheme.Period() }

// Path repeats each fit of a plan with its weights times each factor: a path of C, or of 1/noise.
type Path struct {
	Plan
	Factors []float64
}

// Fit has weights of fit r/len(Factors) of the plan.
func (p Path) Fit(r int, weight []float64) (target []float64) {
	k := len(p.Factors)
	target = p.Plan.Fit(r/k, weight)
	floats.Scale(p.Factors[r%k], weight)
	return target
}

// Period is the plan's, path by path.
func (p Path) Period() int { return p.Plan.Period() * len(p.Factors) }

// Weighted is a plan with weights multiplied by the examples' own, which are above 0.
type Weighted struct {
	Plan
	Weights []float64
}

// Fit is the plan's with multiplied weights.
func (p Weighted) Fit(r int, weight []float64) (target []float64) {
	target = p.Plan.Fit(r, weight)
	floats.Mul(weight, p.Weights)
	return target
}

// Without is a plan of fits of weight 1, each without some rows.
type Without struct {
	Rows [][]int     // by fit
	Y    [][]float64 // targets by fit
}

// Fit is Plan.Fit.
func (p Without) Fit(r int, weight []float64) (target []float64) {
	for i := range weight {
		weight[i] = 1
	}
	for _, i := range p.Rows[r] {
		weight[i] = 0
	}
	return p.Y[r]
}

// Period is 1: all fits are independent.
func (p Without) Period() int { return 1 }
