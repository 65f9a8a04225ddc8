package train

import (
	"context"
	"fmt"
	"math"

	"bootbench/linalg"
)

// Sites maps each of N examples to its site.
type Sites = linalg.Sites

// Set is a training set of N weighted examples.
type Set struct {
	// Y are the targets, finite, length N.
	Y []float64
	// Site maps the examples to their sites.
	Site Sites
	// Weight are the multiplicities k_j >= 0 of the examples' losses, length N; one of weight 0 is absent.
	Weight []float64
	// Bias adds an unpenalised constant to the predictor; expectation propagation has none.
	Bias bool
	// Resume > 0 is the ratio of the weights to the last set's: a trainer may start at its solution.
	Resume float64
	// Stop, if set, is called now and then; true ends the training as Cancelled.
	Stop func() bool
}

// Until is a Stop for the end of ctx.
func Until(ctx context.Context) func() bool { return func() bool { return ctx.Err() != nil } }

// Stopped reports whether the training is to end.
func (p *Set) Stopped() bool { return p.Stop != nil && p.Stop() }

// Check reports the first thing wrong with p on m sites. Only hard margins have infinite weights.
func (p *Set) Check(m int, hard bool) error {
	if len(p.Weight) != len(p.Y) {
		return fmt.Errorf("%d weights do not fit %d targets", len(p.Weight), len(p.Y))
	}
	if err := p.Site.Check(len(p.Y), m); err != nil {
		return err
	}
	for i, y := range p.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("the target of example %d is %v", i+1, y)
		}
		if k := p.Weight[i]; !(k >= 0) || math.IsInf(k, 1) && !hard {
			return fmt.Errorf("the weight of example %d is %v, must be finite and not negative", i+1, k)
		}
	}
	return nil
}
