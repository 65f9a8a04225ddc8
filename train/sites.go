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
	// Bias adds an unpenalised constant to the predictor, in svm and erm.
	Bias bool
	// Resume > 0 is the ratio of the weights to those of the last set: a trainer may start at its solution.
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

// Groups are the examples of positive weight by active site: site p has First[p] to First[p+1]-1 of them.
type Groups struct {
	Active  []int     // the active sites, ascending
	First   []int     // length len(Active)+1
	Y, K    []float64 // target and weight of each
	Example []int     // its number in the Set

	next []int // by site: where its next example goes
}

// Gather fills g from p on m sites. Sites with admit false are skipped with their examples.
func (g *Groups) Gather(p *Set, m int, admit func(site int) bool) {
	g.next = Resize(g.next, m)
	clear(g.next)
	for j, k := range p.Weight {
		if k > 0 {
			g.next[p.Site.At(j)]++
		}
	}
	g.Active, g.First = g.Active[:0], append(g.First[:0], 0)
	total := 0
	for s, count := range g.next {
		g.next[s] = -1
		if count > 0 && admit(s) {
			g.next[s] = total
			total += count
			g.Active, g.First = append(g.Active, s), append(g.First, total)
		}
	}
	g.Y, g.K, g.Example = Resize(g.Y, total), Resize(g.K, total), Resize(g.Example, total)
	for j, k := range p.Weight {
		s := p.Site.At(j)
		if at := g.next[s]; k > 0 && at >= 0 {
			g.Y[at], g.K[at], g.Example[at] = p.Y[j], k, j
			g.next[s]++
		}
	}
}

// Of are the targets and the weights of active site p.
func (g *Groups) Of(p int) (y, k []float64) {
	a, b := g.First[p], g.First[p+1]
	return g.Y[a:b], g.K[a:b]
}
