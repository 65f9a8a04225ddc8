package solver

import "math"

// mixing accelerates a fixed-point iteration x <- F(x) by Anderson's method:
// the next point is F at that combination of past points whose changes F(x) - x
// combine to the least.
type mixing struct {
	depth      int
	points     [][]float64 // differences of successive points
	changes    [][]float64 // differences of their changes
	lastPoint  []float64
	lastChange []float64
	count      int // points seen since forget
}

// Limits of an accelerated step: a coordinate that it would carry farther than
// mixingLeap from F(x) takes F(x) instead. The ridge keeps the least squares
// solvable when changes are parallel.
const (
	mixingLeap  = 10
	mixingRidge = 1e-10
)

func newMixing(size, depth int) *mixing {
	m := &mixing{depth: depth, lastPoint: make([]float64, size), lastChange: make([]float64, size)}
	for range depth {
		m.points = append(m.points, make([]float64, size))
		m.changes = append(m.changes, make([]float64, size))
	}
	return m
}

// forget drops the history.
func (m *mixing) forget() { m.count = 0 }

// propose overwrites x with the next point, given fx = F(x).
func (m *mixing) propose(x, fx []float64) {
	m.remember(x, fx)
	coefficients := m.combine()
	for i, v := range fx {
		leap := 0.0
		for k, c := range coefficients {
			slot := m.slot(k)
			leap -= c * (m.points[slot][i] + m.changes[slot][i])
		}
		x[i] = v
		if math.Abs(leap) <= mixingLeap {
			x[i] += leap
		}
	}
}

// slot is where the differences are kept that are k sweeps old.
func (m *mixing) slot(k int) int { return (m.count - 2 - k) % m.depth }

// remember stores the differences to the last point.
func (m *mixing) remember(x, fx []float64) {
	m.count++
	for i, v := range x {
		change := fx[i] - v
		if m.count > 1 {
			m.points[m.slot(0)][i] = v - m.lastPoint[i]
			m.changes[m.slot(0)][i] = change - m.lastChange[i]
		}
		m.lastPoint[i], m.lastChange[i] = v, change
	}
}

// combine solves min |change - sum_k c_k changes_k| by the normal equations,
// newest first. It returns none if they cannot be solved.
func (m *mixing) combine() []float64 {
	size := max(0, min(m.count-1, m.depth))
	a, c := make([]float64, size*size), make([]float64, size)
	for i := range size {
		newer := m.changes[m.slot(i)]
		for j := range i + 1 {
			a[i*size+j] = dot(newer, m.changes[m.slot(j)])
		}
		a[i*size+i] *= 1 + mixingRidge
		c[i] = dot(newer, m.lastChange)
	}
	if !solveSmall(a, c) {
		return nil
	}
	return c
}

// solveSmall overwrites c with the solution x of a x = c by Cholesky
// factorisation of a, row-major with its lower triangle given. It reports false
// if a is not positive definite.
func solveSmall(a, c []float64) bool {
	n := len(c)
	for i := range n {
		for j := range i + 1 {
			v := a[i*n+j] - dot(a[i*n:i*n+j], a[j*n:j*n+j])
			if j < i {
				a[i*n+j] = v / a[j*n+j]
				continue
			}
			if !(v > 0) || math.IsInf(v, 1) {
				return false
			}
			a[i*n+i] = math.Sqrt(v)
		}
		c[i] = (c[i] - dot(a[i*n:i*n+i], c[:i])) / a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		c[i] /= a[i*n+i]
		for k := range i {
			c[k] -= a[i*n+k] * c[i]
		}
	}
	return true
}
