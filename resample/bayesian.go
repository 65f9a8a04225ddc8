package resample

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Bayesian is the Bayesian bootstrap (Rubin 1981): real weights, N times a draw of Dirichlet(Shape, ...,
// Shape), all above 0 and of mean 1. No example is ever left out.
type Bayesian struct {
	N     int
	Shape float64 // > 0; 1: Rubin's. A weight's variance is about 1/Shape.
}

func (Bayesian) Name() string    { return "bayesian" }
func (Bayesian) Mean() float64   { return 1 }
func (Bayesian) Absent() float64 { return 0 }
func (Bayesian) Period() int     { return 1 }

func (s Bayesian) Draw(seed uint64, b int, weight []float64) { s.Sample(stream(seed, b), weight) }

// Counts has values w of the total weight W of n examples, W/N ~ Beta(n Shape, (N - n) Shape): nodes of the
// trapezoidal rule in u = log(x/(1 - x)), x = W/N. The density x^a (1 - x)^b/B(a, b) and sites' functions of
// a weight are analytic and the tails decay, so that its error decreases exponentially.
func (s Bayesian) Counts(n int) Counts {
	a, b := float64(n)*s.Shape, float64(s.N-n)*s.Shape
	switch {
	case n == 0:
		return constant(0)
	case n >= s.N:
		return Counts{Values: []float64{float64(s.N)}, P: []float64{1}}
	}
	density := func(u float64) float64 { // over its maximum, at log(a/b)
		x := 1 / (1 + math.Exp(-u))
		return math.Exp(a*(math.Log(x)-math.Log(a/(a+b))) + b*(math.Log1p(-x)-math.Log(b/(a+b))))
	}
	const negligible = 1e-12
	top, step := math.Log(a/b), 0.35/math.Sqrt(math.Max(1, math.Min(a, b)))
	var c Counts
	add := func(u float64) bool {
		p := density(u)
		c.Values, c.P = append(c.Values, float64(s.N)/(1+math.Exp(-u))), append(c.P, p)
		return p > negligible
	}
	for k := 0; add(top - float64(k)*step); k++ {
	}
	slices.Reverse(c.Values)
	slices.Reverse(c.P)
	for k := 1; add(top + float64(k)*step); k++ {
	}
	floats.Scale(1/floats.Sum(c.P), c.P)
	return c
}

// WithinSiteVar is k^2/(n Shape + 1): the fractions of n examples in their total weight k are
// Dirichlet(Shape, ..., Shape) for any k.
func (s Bayesian) WithinSiteVar(n int, k float64) float64 { return k * k / (float64(n)*s.Shape + 1) }

// Sample draws Gamma(Shape) weights, and makes their mean 1.
func (s Bayesian) Sample(rng *rand.Rand, weight []float64) {
	gamma := distuv.Gamma{Alpha: s.Shape, Beta: 1, Src: rng}
	for i := range weight {
		weight[i] = math.Max(gamma.Rand(), math.SmallestNonzeroFloat64)
	}
	floats.Scale(float64(len(weight))/floats.Sum(weight), weight)
}
