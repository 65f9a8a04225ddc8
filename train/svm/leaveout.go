package svm

import (
	"errors"
	"fmt"
	"slices"

	"bootbench/train"

	"gonum.org/v1/gonum/floats"
)

// fullSolution is the solution that examples are left out of.
type fullSolution struct {
	set      train.Set
	settings train.Settings
	saved    [8][]float64 // copies of changing()
	current  bool         // saved is of this solution
}

// LeftOut is a training without one example.
type LeftOut struct {
	F      float64 // the predictor at the input of the example left out
	Status train.Status
}

// errNotTrained: LeaveOut was called without a converged Train before.
var errNotTrained = errors.New("no converged training to leave an example out of")

// LeaveOut trains without example i, from the full solution of the last Train, which it keeps and whose
// set must not have changed. An exact step over the free weights first compensates the weight of example
// i.
func (t *Trainer) LeaveOut(i int) (LeftOut, error) {
	q, w := &t.dual, &t.full
	p := &w.set
	if len(p.Y) == 0 || t.result.Status != train.Converged {
		return LeftOut{}, errNotTrained
	}
	if i < 0 || i >= len(p.Y) {
		return LeftOut{}, fmt.Errorf("example %d of %d cannot be left out", i+1, len(p.Y))
	}
	s := p.Site.At(i)
	if p.Weight[i] == 0 { // absent anyway
		return LeftOut{F: t.result.F[s]}, nil
	}
	if !w.current {
		for k, v := range q.changing() {
			w.saved[k] = append(w.saved[k][:0], v...)
		}
		w.current = true
	}
	at, _ := slices.BinarySearch(q.active, s)
	minus, plus := BoxesWithout(p, i)
	q.setBox(at, minus, plus)
	before := q.beta[at]
	q.setBeta(at, min(max(before, q.low[at]), q.high[at]))
	if change := q.beta[at] - before; change != 0 {
		floats.AddScaled(q.f, change, q.row(at))
		t.free.maximize(q)
		if q.biased {
			q.projectToZeroSum()
		}
	}
	result := t.result
	t.result.Iterations = 0
	left := LeftOut{Status: t.maximize(&w.settings, false)}
	left.F = q.f[at] + q.bias()
	t.result = result
	for k, v := range q.changing() {
		copy(v, w.saved[k])
	}
	return left, nil
}

// BoxesWithout are the boxes of label -1 and of +1 on the site of example i, summed without that example.
func BoxesWithout(p *train.Set, i int) (minus, plus float64) {
	site := p.Site.At(i)
	for k, c := range p.Weight {
		switch {
		case p.Site.At(k) != site || k == i:
		case p.Y[k] > 0:
			plus += c
		default:
			minus += c
		}
	}
	return minus, plus
}

// changing lists the vectors of the dual that LeaveOut changes.
func (q *dual) changing() [8][]float64 {
	return [...][]float64{q.beta, q.f, q.floor, q.ceil, q.low, q.kink, q.high, q.snapDistance}
}
