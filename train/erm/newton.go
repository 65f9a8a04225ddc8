package erm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/train/internal/workspace"
)

// newton is the workspace of the Newton steps. On the linear pieces of prox on which the sites are, with
// slopes s, the optimality condition p = f reads
//
//	p + s dz = K (a - c (1-s) dz).
//
// In w = c (1-s) dz, the decrease of a, the sites that are not flat obey
//
//	(K + diag(s/(c(1-s)))) w = f - p,
//
// and flat ones (s = 1), whose a does not change, follow f. A kink (s = 0) fixes p; anywhere else s/(c(1-s))
// is one over the curvature of L. This is a semismooth Newton method (Qi and Sun 1993), with a line search in
// the dual, which increases along w.
type newton struct {
	ridge     float64   // fraction of K_ii added to the diagonal, for singular K
	shortStep bool      // a step was shortened: the ridge also applies where L has curvature
	e, w      []float64 // shifts of the system, its solution; like the others over all active sites
	dz        []float64
	df        []float64 // change of f by the whole step
	da        []float64 // change of a by the whole step, then by the part taken
	saved     iterate   // before the step
}

// The ridge as a fraction of K_ii, at kinks, and at all sites once a step was shortened. It limits steps
// along directions of almost no curvature of K, where many sites would meet their kinks; it changes no
// answer. A step below shortShare increases it, a full one decreases it.
const (
	firstRidge  = 1e-3
	leastRidge  = 1e-15
	middleRidge = 1e-5 // smallest value after an increase
	mostRidge   = 1e3
	shortShare  = 0.2
)

// increaseRidge reports whether the ridge was below its bound.
func (x *newton) increaseRidge() bool {
	room := x.ridge < mostRidge
	x.ridge = min(max(10*x.ridge, middleRidge), mostRidge)
	return room
}

// newtonDirection computes the Newton direction dz and the dual's slope along it; ok if there is one.
func (t *Trainer) newtonDirection() (slope float64, ok bool) {
	q, s, x := &t.iterate, t.system, &t.newton
	workspace.ResizeAll(len(q.a), &x.e, &x.w, &x.dz, &x.df, &x.da)
	clear(x.df)
	for t.shifts(); !s.factorise(x.e); t.shifts() {
		if !x.increaseRidge() {
			return 0, false
		}
	}
	floats.SubTo(x.w, q.f, q.p)
	s.solve(x.w)
	for i, w := range x.w {
		x.da[i] = -w
		slope += w * (q.f[i] - q.p[i])
	}
	s.mulAdd(x.df, x.da)
	for i, r := range q.slope {
		if isFlat(r) {
			x.dz[i] = q.f[i] + x.df[i] - q.p[i]
		} else {
			x.dz[i] = -x.da[i] / (q.c[i] * (1 - r))
		}
	}
	return slope, !math.IsNaN(slope) && !math.IsInf(slope, 0)
}

// shifts are s/(c(1-s)) at the sites, with the ridge, infinite at flat ones.
func (t *Trainer) shifts() {
	q, x := &t.iterate, &t.newton
	for i, slope := range q.slope {
		x.e[i] = math.Inf(1)
		if !isFlat(slope) {
			x.e[i] = slope / (q.c[i] * (1 - slope))
		}
		if slope == 0 || x.shortStep {
			x.e[i] += x.ridge / q.c[i]
		}
	}
}

// newtonStep takes the Newton step, halved until the dual increases enough (Armijo's rule), or stays and the
// primal residual decreases. It returns the fraction taken, 0 for none.
func (t *Trainer) newtonStep() (share float64, err error) {
	q, x := &t.iterate, &t.newton
	t.result.Steps++
	slope, ok := t.newtonDirection()
	if !ok {
		return 0, nil
	}
	x.saved.copy(q)
	before, residual := q.dual(), q.primalResidual()
	for share = 1; share > minShare; share /= 2 {
		if err := t.stepAlong(share); err != nil {
			return 0, err
		}
		after := q.dual()
		noise := 1e-15 * (math.Abs(before) + math.Abs(after))
		if gain := after - before; gain > 1e-4*share*slope+noise || gain >= -noise &&
			q.primalResidual() < residual {
			return share, nil
		}
	}
	q.copy(&x.saved)
	return 0, nil
}

const minShare = 1e-3

// stepAlong sets the iterate to the saved one plus share of the direction.
func (t *Trainer) stepAlong(share float64) error {
	q, x := &t.iterate, &t.newton
	for i, dz := range x.dz {
		if err := t.setSite(i, x.saved.z[i]+share*dz); err != nil {
			return err
		}
		x.da[i] = q.a[i] - x.saved.a[i]
	}
	copy(q.f, x.saved.f)
	t.system.mulAdd(q.f, x.da)
	return nil
}
