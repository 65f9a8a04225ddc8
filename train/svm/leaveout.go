package svm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
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

// Downdates make trainings without one example each from the last training of a trainer.
type Downdates struct {
	kernel   *Rows
	set      train.Set
	settings train.Settings
	response *Response // nil: it would not pay
}

// The response pays for an example in leastList, if one in leastFree is a free support vector: otherwise K
// has a low rank, and leaving out one example moves many others to other sides.
const leastList, leastFree = 32, 8

// Downdates are for about count examples. The set of the last training must not change.
func (t *Trainer) Downdates(count int) *Downdates {
	d := &Downdates{kernel: t.dual.whole, set: t.full.set, settings: t.full.settings}
	if n := len(d.set.Y); leastList*count >= n && leastFree*t.result.Free >= n {
		d.response, _ = t.Response() // without one, for want of memory, each is trained
	}
	return d
}

// Downdate is a train.Trainer of sets that lack one example of the Downdates' set, and predicts only there.
// It serves one goroutine.
type Downdate struct {
	*Downdates
	trainer *Trainer // of all examples; nil: not needed yet
}

// Downdate makes one. own is the trainer that made the Downdates, or nil.
func (d *Downdates) Downdate(own *Trainer) *Downdate { return &Downdate{d, own} }

// LeaveOut is the training without example i: by the response, or where that does not know by
// Trainer.LeaveOut. Both agree within the tolerance of the training.
func (d *Downdate) LeaveOut(i int) (left LeftOut, err error) {
	if d.response != nil {
		if f, ok := d.response.LeaveOut(i); ok {
			return LeftOut{F: f}, nil
		}
	}
	if d.trainer == nil {
		d.trainer = NewTrainer(d.kernel)
		if _, err = d.trainer.Train(d.set, d.settings); err != nil {
			return left, err
		}
	}
	return d.trainer.LeaveOut(i)
}

// Fit is train.Trainer.Fit for the same targets and sites; f is NaN at other inputs than the one of the
// example of weight 0.
func (d *Downdate) Fit(set train.Set, f []float64) error {
	out := slices.Index(set.Weight, 0)
	if out < 0 || slices.Contains(set.Weight[out+1:], 0) {
		return errors.New("a downdate leaves out one example")
	}
	left, err := d.LeaveOut(out)
	for s := range f {
		f[s] = math.NaN()
	}
	f[d.set.Site.At(out)] = left.F
	return cmp.Or(err, left.Status.Err())
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
