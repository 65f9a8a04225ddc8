package resample

import (
	"iter"
	"math"
	"slices"
)

// tailMass bounds the mass of each tail that a window leaves out, relative to P(k >= 1) or 1, whichever is
// less, so that averages that vanish with k keep their digits at small means.
const tailMass = 1e-17

// prob is P(k), 0 outside of the window.
func (c Counts) prob(k int) float64 {
	if k < c.First || k >= c.First+len(c.P) {
		return 0
	}
	return c.P[k-c.First]
}

// All iterates over the counts k of the window and their probabilities, in ascending order.
func (c Counts) All() iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for j, p := range c.P {
			if !yield(c.First+j, p) {
				return
			}
		}
	}
}

// zeroCount is the distribution of the constant 0.
func zeroCount() Counts { return Counts{P: []float64{1}} }

// logConcave builds a log-concave distribution from the ratios up(k) = P(k+1)/P(k) of neighbours, from the
// mode outwards, and normalises at the end. No probability is formed from large cancelling logarithms, so the
// relative error of an entry is a few roundings per step away from the mode.
//
// Since up falls with k, the mass beyond an entry w is at most the geometric sum
// w r/(1-r) of the next ratio r: this is the rule for stopping.
func logConcave(mode int, mean float64, up func(k float64) float64) Counts {
	// The mode has weight 1 here, which is at most the sum of all weights.
	enough := tailMass * math.Min(1, mean)
	first, w := mode, 1.0
	p := []float64{1}
	for first > 0 {
		r := 1 / up(float64(first-1))
		if w*r < enough*(1-r) {
			break
		}
		w *= r
		p = append(p, w)
		first--
	}
	slices.Reverse(p)
	for k := mode; ; k++ {
		r := up(float64(k))
		w = p[len(p)-1] * r
		if w < enough*(1-r) || w == 0 {
			break
		}
		p = append(p, w)
	}
	sum := 0.0
	for _, w := range p {
		sum += w
	}
	for j := range p {
		p[j] /= sum
	}
	return Counts{First: first, P: p}
}
