package erm

import "math"

// newton is the workspace of the Newton steps. On the pieces of prox where the
// sites stand, with slopes s,
//
//	p + s dz = K (a - c (1-s) dz).
//
// In w = c (1-s) dz, the fall of a, the sites that are not flat obey
//
//	(K + diag(s/(c(1-s)))) w = f - p,
//
// and flat ones, whose a stays, just follow f. A kink (s = 0) fixes p, and s/(c(1-s))
// is one over the curvature of L anywhere else. The dual rises along w.
type newton struct {
	ridge     float64   // share of K_ii added to the diagonal, for singular K
	shortStep bool      // a step was cut: the ridge helps sites with curvature too
	w         []float64 // over the members
	dz        []float64
	df        []float64 // what f gains by the whole step
	da        []float64 // w over all active sites, then the change of a
	saved     iterate   // where the step began
}

// The ridge as a share of K_ii, at kinks, and at all sites once a step was cut.
// It shortens steps along directions in which K has next to no curvature, where
// many sites would meet their kinks; it changes no answer. A step cut below
// shortShare raises it, a whole one lowers it.
const (
	firstRidge  = 1e-3
	leastRidge  = 1e-15
	middleRidge = 1e-5 // the least to raise it to
	mostRidge   = 1e3
	shortShare  = 0.2
)

// increaseRidge raises the ridge and reports whether there was room.
func (x *newton) increaseRidge() bool {
	room := x.ridge < mostRidge
	x.ridge = min(max(10*x.ridge, middleRidge), mostRidge)
	return room
}

// decreaseRidge lowers the ridge after a whole step.
func (x *newton) decreaseRidge() {
	if x.ridge /= 10; x.ridge < 1e-13 {
		x.ridge = leastRidge
	}
}

// newtonDirection computes the Newton direction. It returns the slope of the dual along
// it.
func (t *Trainer) newtonDirection() (slope float64, ok bool) {
	q, s, x := &t.iterate, &t.system, &t.newton
	s.members = s.members[:0]
	for i, slope := range q.slope {
		if !isFlat(slope) {
			s.members = append(s.members, i)
		}
	}
	ridge := func(i int) float64 {
		e := q.slope[i] / (q.c[i] * (1 - q.slope[i]))
		if q.slope[i] == 0 || x.shortStep {
			e += x.ridge * s.diag[i]
		}
		return e
	}
	for !s.factorise(ridge) {
		if !x.increaseRidge() {
			return 0, false
		}
	}
	m, n := len(s.members), s.n
	x.w, x.dz, x.df, x.da = grow(x.w, m), grow(x.dz, n), grow(x.df, n), grow(x.da, n)
	for k, i := range s.members {
		x.w[k] = q.f[i] - q.p[i]
	}
	s.solve(x.w)
	clear(x.da)
	for k, i := range s.members {
		x.da[i] = -x.w[k]
		slope += x.w[k] * (q.f[i] - q.p[i])
	}
	clear(x.df)
	s.addProduct(x.df, x.da)
	for i, r := range q.slope {
		if isFlat(r) {
			x.dz[i] = q.f[i] + x.df[i] - q.p[i]
		} else {
			x.dz[i] = -x.da[i] / (q.c[i] * (1 - r))
		}
	}
	return slope, !math.IsNaN(slope) && !math.IsInf(slope, 0)
}

// newtonStep takes a Newton step, or as much of it, halved again and again, as makes
// the dual rise. It reports the share taken, 0 for none.
func (t *Trainer) newtonStep() (share float64, err error) {
	q, x := &t.iterate, &t.newton
	t.result.Steps++
	slope, ok := t.newtonDirection()
	if !ok {
		return 0, nil
	}
	x.saved.copy(q)
	before, lack := q.dual(), q.primalResidual()
	for share = 1; share > smallestShare; share /= 2 {
		if err := t.stepAlong(share); err != nil {
			return 0, err
		}
		after := q.dual()
		noise := 1e-15 * (math.Abs(before) + math.Abs(after))
		if gain := after - before; gain > 1e-4*share*slope+noise || gain >= -noise && q.primalResidual() < lack {
			return share, nil
		}
	}
	q.copy(&x.saved)
	return 0, nil
}

const smallestShare = 1e-3

// stepAlong puts the points at share of the direction from where they were kept.
func (t *Trainer) stepAlong(share float64) error {
	q, x := &t.iterate, &t.newton
	for i, dz := range x.dz {
		if err := t.setSite(i, x.saved.z[i]+share*dz); err != nil {
			return err
		}
		x.da[i] = q.a[i] - x.saved.a[i]
	}
	copy(q.f, x.saved.f)
	t.system.addProduct(q.f, x.da)
	return nil
}

// primalResidual is the largest distance between p and f, in units of the prior standard
// deviation.
func (q *iterate) primalResidual() float64 {
	most := 0.0
	for i, p := range q.p {
		most = max(most, math.Abs(p-q.f[i])*math.Sqrt(q.c[i]))
	}
	return most
}

// copy makes q the same points as from.
func (q *iterate) copy(from *iterate) {
	q.resize(len(from.a))
	copy(q.c, from.c)
	copy(q.z, from.z)
	copy(q.a, from.a)
	copy(q.p, from.p)
	copy(q.slope, from.slope)
	copy(q.value, from.value)
	copy(q.f, from.f)
}
