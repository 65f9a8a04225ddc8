package normal

import "math"

// Terms are averaged over the standard normal x: an increasing function f(x), f^2, its slope and 1 - slope;
// or their averages over several f.
type Terms [4]float64

func (t *Terms) add(weight float64, u Terms) {
	for i, v := range u {
		t[i] += weight * v
	}
}

// maxDiff is the largest difference of t and u.
func (t Terms) maxDiff(u Terms) float64 {
	d := 0.0
	for i := range t {
		d = math.Max(d, math.Abs(t[i]-u[i]))
	}
	return d
}

// Function evaluates the terms.
type Function func(x float64) Terms

// Quadrature over the standard normal.
const (
	reach     = 8.0 // leaves out 1e-15 of the mass
	firstStep = 2.0 // of the trapezoid rule
	lastStep  = 0.125
)

// Average averages the terms, of rounding error noise, over the standard normal to the absolute error tol: by
// the trapezoid rule if that converges, else by adaptive Gauss-Legendre panels.
func Average(g Function, tol, noise float64) Terms {
	if t, ok := halvedTrapezoid(g, tol+10*noise); ok {
		return t
	}
	var cuts []float64
	for x := -reach; x <= reach; x++ {
		cuts = append(cuts, x)
	}
	return Integrate(g, cuts, 0.02*tol+30*noise)
}

// halvedTrapezoid halves the step of the trapezoid rule until the change is at most tol. For analytic f the
// error decreases faster than any power of the step. ok is false if it does not converge.
func halvedTrapezoid(g Function, tol float64) (mean Terms, ok bool) {
	var sum Terms
	mass := 0.0
	add := func(x float64) {
		mass += PDF(x)
		sum.add(PDF(x), g(x))
	}
	for _, x := range []float64{0, 4, -4, 8, -8} {
		add(x)
	}
	for step := firstStep; step >= lastStep; step /= 2 {
		for x := step; x <= reach; x += 2 * step { // the points between the last ones
			add(x)
			add(-x)
		}
		before := mean
		for i, v := range sum {
			mean[i] = v / mass
		}
		if mean.maxDiff(before) <= tol {
			return mean, true
		}
	}
	return mean, false
}

// Limits on panels: the narrowest is 1e-11 wide, and the total number of halvings is bounded.
const (
	maxDepth    = 36
	maxHalvings = 1500
)

// Integrate computes the integrals of the terms with the density over [cuts[0], cuts[last]], by
// Gauss-Legendre panels between the cuts, which are halved until the error estimate is within the allowance.
func Integrate(g Function, cuts []float64, allowance float64) Terms {
	q := integrator{g: g, allowance: allowance}
	a := node{cuts[0], g(cuts[0])}
	for _, x := range cuts[1:] {
		b := node{x, g(x)}
		q.cell(q.panel(a, b), 0)
		a = b
	}
	return q.sum
}

// integrator integrates over panels, from left to right.
type integrator struct {
	g         Function
	allowance float64
	halvings  int
	sum       Terms
}

// node is a point with its terms.
type node struct {
	x float64
	Terms
}

// panel is an interval, the integrals of its terms with the density, and the integral of the slope minus the
// rise of f.
type panel struct {
	a, b node
	sum  Terms
	miss float64
}

func (q *integrator) panel(a, b node) panel {
	p := panel{a: a, b: b}
	mid, half := 0.5*(a.x+b.x), 0.5*(b.x-a.x)
	rise := 0.0
	for i, x := range seven.x {
		t := q.g(mid + half*x)
		w := half * seven.w[i]
		p.sum.add(w*PDF(mid+half*x), t)
		rise += w * t[2]
	}
	p.miss = math.Abs(b.Terms[0]-a.Terms[0]-rise) * math.Max(PDF(a.x), PDF(b.x))
	return p
}

// cell adds the integrals over a panel, halved until the halves agree with the panel and the integral of the
// slope with the rise of f, which detects sharp steps near the ends.
func (q *integrator) cell(p panel, depth int) {
	x := 0.5 * (p.a.x + p.b.x)
	mid := node{x, q.g(x)}
	left, right := q.panel(p.a, mid), q.panel(mid, p.b)
	sum := left.sum
	sum.add(1, right.sum)
	q.halvings++
	agree := sum.maxDiff(p.sum) <= q.allowance && left.miss+right.miss <= q.allowance
	if agree || depth >= maxDepth || q.halvings >= maxHalvings {
		q.sum.add(1, sum)
		return
	}
	q.cell(left, depth+1)
	q.cell(right, depth+1)
}
