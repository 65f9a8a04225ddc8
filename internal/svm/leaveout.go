package svm

import (
	"errors"
	"fmt"

	"bootbench/internal/train"

	"gonum.org/v1/gonum/floats"
)

// leaveOneOutState holds the full solution while examples are left out of it.
type leaveOneOutState struct {
	problem  Problem
	settings Settings
	place    []int        // active position of each site, -1 for none
	full     [8][]float64 // copies of the vectors of the dual that LeaveOut changes
	kept     bool         // full is current
	f        []float64    // scratch space for f at all sites
}

// of records what was trained on.
func (w *leaveOneOutState) of(p Problem, s Settings) { w.problem, w.settings, w.kept = p, s, false }

// LeftOut is a training without one example.
type LeftOut struct {
	F              float64 // the predictor at the input of the example left out
	Iterations     int
	ActiveSetSteps int
	Status         train.Status
}

// ErrNotTrained reports LeaveOut without a converged Train before.
var ErrNotTrained = errors.New("no converged training to leave an example out of")

// LeaveOut trains without example i, starting from the full solution, which the
// last Train must have found and which stays as it is: the next call starts
// from there as well. The weight of the example left out goes to the others by
// an exact step over the free ones. Problem and Settings of that Train must not
// have been changed.
func (t *Trainer) LeaveOut(i int) (LeftOut, error) {
	w := &t.leaveOneOut
	if len(w.problem.Y) == 0 || t.result.Status != train.Converged {
		return LeftOut{}, ErrNotTrained
	}
	if i < 0 || i >= len(w.problem.Y) {
		return LeftOut{}, fmt.Errorf("example %d of %d cannot be left out", i+1, len(w.problem.Y))
	}
	t.keepFull()
	s := w.problem.Site.At(i)
	at := w.place[s]
	if at < 0 { // absent anyway
		return LeftOut{F: t.result.F[s]}, nil
	}
	return t.leaveOut(i, at), nil
}

// leaveOut is LeaveOut for an example at an active position.
func (t *Trainer) leaveOut(i, at int) LeftOut {
	q, w, full := &t.dual, &t.leaveOneOut, t.result
	t.narrow(i, at)
	before := q.beta[at]
	q.setBeta(at, min(max(before, q.low[at]), q.high[at]))
	if change := q.beta[at] - before; change != 0 {
		floats.AddScaled(q.f, change, q.row(at))
		t.free.maximize(q, t.maxSize())
		q.projectToZeroSum()
	}
	t.result = Result{F: w.f}
	status := t.maximize(&w.problem, &w.settings, false)
	left := LeftOut{F: q.f[at] + q.bias(), Iterations: t.result.Iterations,
		ActiveSetSteps: t.result.ActiveSetSteps, Status: status}
	t.result = full
	w.copy(q, func(kept, current []float64) { copy(current, kept) })
	return left
}

// narrow sets the box at an active position to that of its site without example i.
func (t *Trainer) narrow(i, at int) {
	p, plus, minus := &t.leaveOneOut.problem, 0.0, 0.0
	for k, c := range p.C {
		switch {
		case k == i || p.Site.At(k) != p.Site.At(i):
		case p.Y[k] > 0:
			plus += c
		default:
			minus += c
		}
	}
	t.dual.setBox(at, minus, plus)
}

// keepFull saves the full solution, once.
func (t *Trainer) keepFull() {
	w := &t.leaveOneOut
	if w.kept {
		return
	}
	for k := range w.full {
		w.full[k] = train.Resize(w.full[k], t.dual.n)
	}
	w.f = train.Resize(w.f, t.Sites())
	w.copy(&t.dual, func(kept, current []float64) { copy(kept, current) })
	w.place = train.Resize(w.place, t.Sites())
	for s := range w.place {
		w.place[s] = -1
	}
	for at, s := range t.boxes.active {
		w.place[s] = at
	}
	w.kept = true
}

// copy applies f to each saved vector and the current one.
func (w *leaveOneOutState) copy(q *dual, f func(kept, current []float64)) {
	for k, v := range [...][]float64{q.beta, q.f, q.floor, q.ceil, q.low, q.kink, q.high, q.snapDistance} {
		f(w.full[k], v)
	}
}
