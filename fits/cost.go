package fits

import (
	"math"

	"bootbench/loss"
)

// Cost is the time of exact fits and of the theory around them, in nanoseconds of one core: counted
// operations times measured rates (BenchmarkCost of internal/model). No clock enters, so that a choice by
// cost is the same on every machine and in every run.
type Cost struct {
	Theory, Rough float64 // the theory, and the rough one around which blocks are trained
	Block, First  float64 // one fit in a block, and its first iterate alone, a control variate
	Single        float64 // one fit by the loss's own trainer; +Inf if it is unknown
	// Inverse is what downdates take once, and Downdate what one fit takes by them.
	Inverse, Downdate float64
}

// Work is what costs follow from.
type Work struct {
	Loss        loss.Loss
	Sites, Rank int     // of the kernel matrix; the rank of a dense one is its order
	Kept        float64 // the fraction of the sites in a fit
	Operations  float64 // of a fit by a trainer of support vector machines, which counts them; 0: unknown
}

// Iterations of a fit in a block: of a loss with kinks, of the square loss and of other smooth ones.
const kinkIterations, squareIterations, smoothIterations = 22, 10, 20

// On a factor the theory takes factorSweeps times as many sweeps, each without a refresh of G, as on a dense
// matrix. Up to newtonSites its Newton's method forms dense matrices there, too.
const factorSweeps, newtonSites = 12, 2000

// RankWithin is the rank of a factor on which an estimate of that many rows costs cost.
func RankWithin(cost float64, rows int) int {
	const forEach, besides = 1000, 250 // of every row, for each column and besides
	return int(cost/forEach)/max(1, rows) - besides
}

// CostOf is the cost of some work. An iteration of a block takes a product with G in single precision, with
// M^2 elements or on a factor 2 M r, and a proximal map at each site. A refresh of G takes M^3 operations, or
// M r^2 on a factor, where the rough theory is the theory; a sweep takes moments at each site. A single fit
// takes a Cholesky factorisation, or several by Newton's method.
func CostOf(w Work) Cost {
	m, kept, width := float64(w.Sites), w.Kept*float64(w.Sites), math.Min(float64(w.Sites), 2*float64(w.Rank))
	onFactor, quadratic := w.Rank < w.Sites, loss.TraitsOf(w.Loss).Quadratic
	iteration, refresh, sweeps := m*(20+0.08*width), m*m*m, m
	if onFactor && (quadratic || w.Sites > newtonSites) {
		refresh = math.Min(refresh, 3*m*width*width)
	}
	if onFactor && !quadratic {
		sweeps *= factorSweeps
	}
	cholesky := func(n float64) float64 { return 500*m + 0.035*n*n*n }
	c := Cost{First: iteration, Inverse: math.Inf(1), Downdate: math.Inf(1)}
	switch {
	case quadratic:
		c.Rough, c.Theory = 6e4*sweeps+0.13*refresh, 6e4*sweeps+0.25*refresh
		c.Block, c.Single = squareIterations*iteration, cholesky(kept)
		c.Inverse, c.Downdate = 500*m+0.105*m*m*m, 100*m+0.035*math.Pow(m-kept, 3)
	case loss.TraitsOf(w.Loss).Margin:
		c.Rough, c.Theory = 1.3e5*sweeps+0.12*refresh, 1e5*sweeps+0.9*refresh
		c.Block, c.Single = kinkIterations*iteration, 4*w.Operations
		if w.Operations == 0 {
			c.Single = math.Inf(1)
		}
		if m-kept < 1.5 { // one is left out; rates on texts of 1000 to 2500 rows: 0.02 to 0.05, 27 to 120
			c.Inverse, c.Downdate = c.Single+0.03*m*m*m, 120*m
		}
	default:
		c.Rough, c.Theory = 2.6e5*sweeps+0.12*refresh, 3e5*sweeps+0.9*refresh
		c.Block, c.Single = smoothIterations*iteration, 15*cholesky(kept)
	}
	if onFactor {
		c.Rough = c.Theory
	}
	return c
}

// Around is the cost of that many fits around theories: in blocks, or one by one with their first iterates.
func (c Cost) Around(theories, fits int) float64 {
	return float64(theories)*c.Theory + float64(fits)*math.Min(c.Block, c.Single+c.First)
}

// Alone is the least cost of that many fits without the theories, around rough ones or, singly, one by one.
func (c Cost) Alone(theories, fits int) (cost float64, singly bool) {
	rough := c
	rough.Theory = c.Rough
	cost, each := rough.Around(theories, fits), float64(fits)*c.Single
	return math.Min(cost, each), each < cost
}
