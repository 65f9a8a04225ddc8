package svm

import (
	"fmt"
	"math"

	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// Box is C_i of an example with that weight and label: C times the weight and the weight of the class. An
// example of weight 0 is absent, also under a hard margin.
func Box(c, weight, label float64, classes loss.ClassWeights) float64 {
	if weight == 0 {
		return 0
	}
	return weight * (c * classes.ClassWeight(label))
}

// check reports the first thing wrong with p as a training set on m sites.
func check(p *train.Set, m int) error {
	for i, y := range p.Y {
		if y != 1 && y != -1 {
			return fmt.Errorf("the label of example %d is %v, must be -1 or +1", i+1, y)
		}
	}
	return p.Check(m, true)
}

// InfeasibleError reports hard margins that contradict each other at one site.
type InfeasibleError struct {
	// I and J are examples (from 0) with opposite labels on one site. J is -1 if the kernel, and so every
	// predictor, is zero at the site of example I.
	I, J int
}

func (e *InfeasibleError) Error() string {
	if e.J < 0 {
		return fmt.Sprintf("hard margin impossible: K(x, x) = 0 at the input of example %d, so that f = 0 "+
			"there", e.I+1)
	}
	return fmt.Sprintf("hard margin impossible: examples %d and %d have the same input and opposite labels; "+
		"use a soft margin (hinge loss), a jitter, or drop one", e.I+1, e.J+1)
}

// side describes the examples of one label on a site.
type side struct {
	box   float64 // sum of their boxes C, +Inf with a hard margin
	hard  int     // number of hard margins
	first int     // the first of these examples
	alpha float64 // the sum of their dual weights
}

// sides are the sides of all sites: of label -1, and of +1.
type sides [2][]side

// at is the side of a label on site s.
func (b *sides) at(s int, label float64) *side {
	if label > 0 {
		return &b[1][s]
	}
	return &b[0][s]
}

// gather sums the boxes of p. Its error is an *InfeasibleError.
func (b *sides) gather(p *train.Set, k *Rows) error {
	for label := range b {
		b[label] = workspace.Resize(b[label], k.N())
		clear(b[label])
	}
	for i, c := range p.Weight {
		s := p.Site.At(i)
		own, other := b.at(s, p.Y[i]), b.at(s, -p.Y[i])
		own.box += c
		if !math.IsInf(c, 1) {
			continue
		}
		switch {
		case k.Diag(s) == 0:
			return &InfeasibleError{I: i, J: -1}
		case other.hard > 0:
			return &InfeasibleError{I: other.first, J: i}
		case own.hard == 0:
			own.first = i
		}
		own.hard++
	}
	return nil
}

// share is the dual weight of an example of box c: its side's weight in proportion to c, equal for hard ones.
func (b *side) share(c float64) float64 {
	switch {
	case c == 0:
		return 0
	case math.IsInf(c, 1):
		return b.alpha / float64(b.hard)
	case b.hard > 0:
		return 0
	}
	return c * (b.alpha / b.box)
}
