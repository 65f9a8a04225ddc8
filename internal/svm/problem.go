package svm

import (
	"fmt"
	"math"

	"bootbench/internal/train"
)

// Problem is a weighted training set of N examples on the M sites of a kernel
// matrix.
type Problem struct {
	// Y are the labels, -1 or +1, length N.
	Y []float64
	// Site maps the examples to their sites.
	Site train.Sites
	// C are the boxes, length N: the cost of margin violation of each example,
	// +Inf for a hard margin, 0 for an example that is absent.
	C []float64
	// Bias adds a constant to the predictor that costs nothing, as LIBSVM does:
	// f = K Beta + Bias, and the dual weights keep sum y_i a_i = 0.
	Bias bool
}

// check reports the first thing wrong with p as a training set on m sites.
func (p *Problem) check(m int) error {
	if len(p.C) != len(p.Y) {
		return fmt.Errorf("%d boxes C do not fit %d labels", len(p.C), len(p.Y))
	}
	if err := p.Site.Check(len(p.Y), m); err != nil {
		return err
	}
	for i, y := range p.Y {
		if y != 1 && y != -1 {
			return fmt.Errorf("the label of example %d is %v, must be -1 or +1", i+1, y)
		}
		if c := p.C[i]; !(c >= 0) {
			return fmt.Errorf("the box C of example %d is %v, must be 0 or positive", i+1, c)
		}
	}
	return nil
}

// InfeasibleError reports hard margins that contradict each other at one site,
// whatever the kernel is elsewhere.
type InfeasibleError struct {
	// I and J are examples (from 0) with opposite labels on one site. Where J is
	// -1, the kernel is zero at the site of example I, and so is every predictor.
	I, J int
}

func (e *InfeasibleError) Error() string {
	if e.J < 0 {
		return fmt.Sprintf("hard margin impossible: K(x, x) = 0 at the input of example %d, so that f = 0 there",
			e.I+1)
	}
	return fmt.Sprintf("hard margin impossible: examples %d and %d have the same input and opposite labels; "+
		"use a soft margin (hinge loss), a jitter, or drop one", e.I+1, e.J+1)
}

// boxes are the boxes C of the examples, summed by site and label.
type boxes struct {
	plus, minus []float64 // C+ and C- by site, +Inf if any example is hard
	// hard counts the hard examples by site; first is the number of the first of
	// them plus 1, with the sign of its label.
	hard, first []int
	active      []int // sites with examples, ascending
	// alphaPlus and partMinus are a+ and a- by active site.
	alphaPlus, alphaMinus []float64
}

// sum fills b from p. Its error is an *InfeasibleError.
func (b *boxes) sum(p *Problem, k *Rows) error {
	b.resize(k.N())
	for i, c := range p.C {
		s := p.Site.At(i)
		if math.IsInf(c, 1) {
			if k.Diag(s) == 0 {
				return &InfeasibleError{I: i, J: -1}
			}
			if err := b.addHard(i, s, p.Y[i]); err != nil {
				return err
			}
		}
		if p.Y[i] > 0 {
			b.plus[s] += c
		} else {
			b.minus[s] += c
		}
	}
	b.active = b.active[:0]
	for s := range k.N() {
		if b.plus[s]+b.minus[s] > 0 {
			b.active = append(b.active, s)
		}
	}
	return nil
}

// resize makes room for m sites, all empty.
func (b *boxes) resize(m int) {
	for _, v := range []*[]float64{&b.plus, &b.minus, &b.alphaPlus, &b.alphaMinus} {
		*v = train.Resize(*v, m)
		clear(*v)
	}
	for _, v := range []*[]int{&b.hard, &b.first} {
		*v = train.Resize(*v, m)
		clear(*v)
	}
}

// addHard records that example i has a hard margin on site s.
func (b *boxes) addHard(i, s int, y float64) error {
	number := i + 1
	if y < 0 {
		number = -number
	}
	if other := b.first[s]; other == 0 {
		b.first[s] = number
	} else if (other > 0) != (number > 0) {
		return &InfeasibleError{I: max(other, -other) - 1, J: i}
	}
	b.hard[s]++
	return nil
}

// alphaOf is the dual weight of example i: its part of a+ or a- of its site, in
// proportion to C. Where there are hard examples, they carry all, in equal parts.
func (b *boxes) alphaOf(p *Problem, i int) float64 {
	c, s := p.C[i], p.Site.At(i)
	part, box := b.alphaPlus[s], b.plus[s]
	if p.Y[i] < 0 {
		part, box = b.alphaMinus[s], b.minus[s]
	}
	switch {
	case c == 0:
		return 0
	case math.IsInf(c, 1):
		return part / float64(b.hard[s])
	case math.IsInf(box, 1):
		return 0
	}
	return c * (part / box)
}
