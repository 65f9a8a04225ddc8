package erm

import (
	"fmt"
	"math"
)

// Loss is a convex loss known by its value and its proximal map.
type Loss interface {
	// Name is the loss's name in messages.
	Name() string
	// Value is l(f, y); +Inf where f is barred.
	Value(f, y float64) float64
	// Prox is the proximal map of several examples at one input (T3),
	//
	//	f = argmin c/2 (f-h)^2 + sum_j k_j l(f, y_j),
	//
	// and its slope df/dh in [0, 1]. c > 0, k_j > 0.
	Prox(c, h float64, y, k []float64) (f, slope float64)
}

// Problem is a weighted training set of N examples on the M sites of a kernel
// matrix.
type Problem struct {
	// Y are the targets, finite, length N.
	Y []float64
	// Site maps each example to its site, 0 to M-1. Nil means that example i is
	// alone on site i, and N = M then.
	Site []int
	// Weight are the multiplicities k_j >= 0, finite, length N; an example of
	// weight 0 is absent.
	Weight []float64
}

// site is the site of example i.
func (p *Problem) site(i int) int {
	if p.Site == nil {
		return i
	}
	return p.Site[i]
}

// check reports the first thing wrong with p as a training set on m sites.
func (p *Problem) check(m int) error {
	n := len(p.Y)
	switch {
	case len(p.Weight) != n:
		return fmt.Errorf("%d weights do not fit %d targets", len(p.Weight), n)
	case p.Site == nil && n != m:
		return fmt.Errorf("%d targets do not fit a kernel matrix of order %d", n, m)
	case p.Site != nil && len(p.Site) != n:
		return fmt.Errorf("%d sites do not fit %d targets", len(p.Site), n)
	}
	for i, y := range p.Y {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("the target of example %d is %v", i+1, y)
		}
		if k := p.Weight[i]; !(k >= 0) || math.IsInf(k, 1) {
			return fmt.Errorf("the weight of example %d is %v, must be finite and not negative", i+1, k)
		}
		if s := p.site(i); s < 0 || s >= m {
			return fmt.Errorf("example %d is on site %d of %d", i+1, s+1, m)
		}
	}
	return nil
}

// InfeasibleError reports a site at which the loss bars every predictor: hard
// constraints of its examples that contradict each other, or a constraint that
// f = 0 misses where K(x, x) = 0.
type InfeasibleError struct {
	// Loss is the loss's name.
	Loss string
	// Site is the site and Example one of its examples, both from 0.
	Site, Example int
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("the %s loss has no finite value at site %d, with example %d and whatever shares its input; "+
		"contradicting examples need a softer loss or a jitter", e.Loss, e.Site+1, e.Example+1)
}

// examples are the examples of positive weight, gathered by active site: those
// of active site i are numbers first_i to first_i+1 - 1.
type examples struct {
	loss  Loss
	site  []int // the active sites, ascending: with examples, and K_ii > 0
	first []int
	y, k  []float64
	name  []int   // number of the example in the Problem
	fixed float64 // loss at the sites where K_ii = 0, and so f = 0

	count, place []int // by site: examples, then where the next one goes
}

// gather fills e from p. diagonal(s) is K_ss.
func (e *examples) gather(p *Problem, m int, diagonal func(s int) float64) error {
	e.fixed = 0
	e.count, e.place = grow(e.count, m), grow(e.place, m)
	clear(e.count)
	for j, k := range p.Weight {
		if k == 0 {
			continue
		}
		s := p.site(j)
		if diagonal(s) < smallestDiagonal {
			v := e.loss.Value(0, p.Y[j])
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return &InfeasibleError{Loss: e.loss.Name(), Site: s, Example: j}
			}
			e.fixed += k * v
			continue
		}
		e.count[s]++
	}
	e.site, e.first = e.site[:0], append(e.first[:0], 0)
	total := 0
	for s, c := range e.count {
		e.place[s] = total
		if c > 0 {
			total += c
			e.site, e.first = append(e.site, s), append(e.first, total)
		}
	}
	e.y, e.k, e.name = grow(e.y, total), grow(e.k, total), grow(e.name, total)
	for j, k := range p.Weight {
		s := p.site(j)
		if k == 0 || e.count[s] == 0 {
			continue
		}
		at := e.place[s]
		e.place[s]++
		e.y[at], e.k[at], e.name[at] = p.Y[j], k, j
	}
	return nil
}

// smallestDiagonal is the K_ii below which f_i counts as 0.
const smallestDiagonal = 1e-290

// value is L_i(f) of active site i.
func (e *examples) value(i int, f float64) float64 {
	v := 0.0
	for j := e.first[i]; j < e.first[i+1]; j++ {
		v += e.k[j] * e.loss.Value(f, e.y[j])
	}
	return v
}

// prox is the proximal map of L_i.
func (e *examples) prox(i int, c, h float64) (f, slope float64) {
	a, b := e.first[i], e.first[i+1]
	return e.loss.Prox(c, h, e.y[a:b], e.k[a:b])
}

// grow is s with length n, in new memory only where the old does not suffice.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
