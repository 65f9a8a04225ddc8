package erm

import (
	"fmt"
	"math"
)

// iterate holds, for each of the n active sites, a point (p_i, a_i) with -a_i in the subdifferential of L_i
// at p_i, and the predictor f = K a.
type iterate struct {
	c     []float64 // 1/K_ii
	z     []float64 // p = prox(z), a = c (p - z)
	a, p  []float64
	slope []float64 // dp/dz: 0 at a kink of L_i, 1 on a linear piece
	value []float64 // L_i(p_i)
	f     []float64
}

// vectors lists all of q, in the order of the fields.
func (q *iterate) vectors() []*[]float64 {
	return []*[]float64{&q.c, &q.z, &q.a, &q.p, &q.slope, &q.value, &q.f}
}

// copy makes q equal to from.
func (q *iterate) copy(from *iterate) {
	own := q.vectors()
	for i, v := range from.vectors() {
		*own[i] = append((*own[i])[:0], *v...)
	}
}

// dual is the dual objective at the current f, without the sites with K_ii = 0.
func (q *iterate) dual() float64 {
	d := 0.0
	for i, a := range q.a {
		d += a*(q.p[i]-q.f[i]/2) + q.value[i]
	}
	return d
}

// primalResidual is the largest |p_i - f_i| in prior standard deviations, 0 at the optimum.
func (q *iterate) primalResidual() float64 {
	most := 0.0
	for i, p := range q.p {
		most = max(most, math.Abs(p-q.f[i])*math.Sqrt(q.c[i]))
	}
	return most
}

// isFlat reports that a_i does not depend on z_i, within rounding: L_i is linear there.
func isFlat(slope float64) bool { return 1-slope < 1e-14 }

// setSite moves site i to z. It leaves f as it is.
func (t *Trainer) setSite(i int, z float64) error {
	q := &t.iterate
	p, slope := t.set.prox(i, q.c[i], z)
	value := math.NaN()
	if !math.IsNaN(p) && !math.IsInf(p, 0) {
		value = t.set.value(i, p)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(slope) {
		return fmt.Errorf("the %s loss has no finite value at site %d, of example %d", t.set.loss.Name(),
			t.set.Active[i]+1, t.set.Example[t.set.First[i]]+1)
	}
	q.z[i], q.p[i], q.value[i] = z, p, value
	q.slope[i] = min(max(slope, 0), 1)
	q.a[i] = q.c[i] * (p - z)
	return nil
}

// coordinateSweep maximises the dual in one a_i after the other (coordinate ascent): z becomes f_i - K_ii
// a_i, the value of f without the site. Changes within the rounding of f are skipped.
func (t *Trainer) coordinateSweep() error {
	q := &t.iterate
	t.result.Sweeps++
	return t.system.sweep(q.f, q.a, func(i int, f float64) (float64, error) {
		before := q.a[i]
		z := f - before/q.c[i]
		if err := t.setSite(i, z); err != nil {
			return 0, err
		}
		step := q.a[i] - before
		if math.Abs(step) <= 0x1p-51*q.c[i]*(math.Abs(z)+math.Abs(q.p[i])) {
			q.a[i], q.z[i] = before, q.p[i]-before/q.c[i]
			return 0, nil
		}
		return step, nil
	})
}
