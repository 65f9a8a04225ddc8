package erm

import "math"

// iterate are the n active sites' places (p_i, a_i) on the graphs of their
// subdifferentials, -a_i in dL_i(p_i), and f = K a.
type iterate struct {
	c     []float64 // 1/K_ii
	z     []float64 // p = prox(z), a = c (p - z)
	a, p  []float64
	slope []float64 // dp/dz: 0 at a kink, 1 on a linear piece
	value []float64 // L_i(p_i)
	f     []float64
}

// resize makes room for n sites and leaves their values undefined.
func (q *iterate) resize(n int) {
	for _, v := range []*[]float64{&q.c, &q.z, &q.a, &q.p, &q.slope, &q.value, &q.f} {
		*v = grow(*v, n)
	}
}

// dual is the dual objective, from f as it stands, sites with K_ii = 0 apart.
func (q *iterate) dual() float64 {
	d := 0.0
	for i, a := range q.a {
		d += a*(q.p[i]-q.f[i]/2) + q.value[i]
	}
	return d
}

// isFlat reports that a_i does not answer to z_i, but for rounding.
func isFlat(slope float64) bool { return 1-slope < 1e-14 }

// setSite moves site i to z. f is left to the caller.
func (t *Trainer) setSite(i int, z float64) error {
	q := &t.iterate
	p, slope := t.set.prox(i, q.c[i], z)
	value := math.NaN()
	if !math.IsNaN(p) && !math.IsInf(p, 0) {
		value = t.set.value(i, p)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(slope) {
		return &InfeasibleError{Loss: t.loss.Name(), Site: t.set.site[i], Example: t.set.name[t.set.first[i]]}
	}
	q.z[i], q.p[i], q.value[i] = z, p, value
	q.slope[i] = min(max(slope, 0), 1)
	q.a[i] = q.c[i] * (p - z)
	return nil
}

// coordinateSweep maximises the dual in one a_i after the other: the site moves to
// z = f_i - K_ii a_i, where f would be without it. Moves within the rounding of
// f are not made.
func (t *Trainer) coordinateSweep() error {
	q := &t.iterate
	t.result.Sweeps++
	for i := range q.a {
		before := q.a[i]
		z := q.f[i] - before/q.c[i]
		if err := t.setSite(i, z); err != nil {
			return err
		}
		move := q.a[i] - before
		if math.Abs(move) <= 0x1p-51*q.c[i]*(math.Abs(z)+math.Abs(q.p[i])) {
			q.a[i], q.z[i] = before, q.p[i]-before/q.c[i]
			continue
		}
		addOne(q.f, t.system.row(i), move)
	}
	return nil
}
