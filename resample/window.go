package resample

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

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

func constant(k int) Counts { return Counts{First: k, P: []float64{1}} }

// binomial is the distribution of successes in independent trials with the given odds: Binomial(trials,
// odds/(1+odds)). trials may exceed the integers.
func binomial(trials, odds float64) Counts {
	switch {
	case trials <= 0:
		return constant(0)
	case math.IsInf(odds, 1):
		return constant(int(trials))
	}
	rate := odds / (1 + odds)
	mode := min(trials, math.Floor((trials+1)*rate))
	return logConcave(int(mode), trials*rate,
		func(k float64) float64 { return (trials - k) / (k + 1) * odds })
}

// tailMass bounds the omitted mass of each tail, relative to min(P(k >= 1), 1), so that averages that vanish
// with k are accurate at small means.
const tailMass = 1e-17

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
	floats.Scale(1/floats.Sum(p), p)
	return Counts{First: first, P: p}
}
