package normal

import (
	"math"

	"bootbench/loss/internal/quadrature"
)

// Terms are averaged over the standard normal x: a rising function f(x), its
// square, its slope and one less its slope; or these averaged over several f.
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
type Function interface{ Terms(x float64) Terms }

// Options say what is known of a Function.
type Options struct {
	Tol   float64 // wanted of each average, absolutely
	Noise float64 // rounding error of the terms
	Rate  float64 // df/dx over the slope's term
	// Strip is the half width of the strip around the real axis in which f is
	// analytic; 0 if unknown.
	Strip float64
	// Scale is the least distance on which an analytic f bends; 0 if unknown.
	Scale float64
}

// Quadrature over the standard normal.
const (
	reach    = 8      // leaves out 1e-15 of the mass
	maxLevel = 4      // trapezoid steps of 2, 1, ..., 1/8
	minStep  = 0.0625 // of the trapezoid rule in a known strip
)

// Average computes the averages of the terms over the standard normal: by the
// trapezoid rule where f is analytic, else by adaptive Gauss-Legendre panels.
func Average(g Function, o Options) Terms {
	if step := stripStep(o); step >= minStep {
		return trapezoid(g, step, math.Sqrt(2*logTol(o.Tol)))
	}
	if t, ok := halvedTrapezoid(g, o); ok {
		return t
	}
	q := integrator{g: g, o: o, allowance: 0.02*o.Tol + 30*o.Noise}
	for x := -reach; x < reach; x++ {
		q.cell(q.panel(q.node(float64(x)), q.node(float64(x+1))), 0)
	}
	return q.sum
}

// logTol is the logarithm of the inverse tolerance, with a margin of e^6 for what
// the error bounds of stripStep leave out.
func logTol(tol float64) float64 { return 6 - math.Log(tol) }

// stripStep is the step that reaches the tolerance in a strip of half width a where
// f is analytic: the trapezoid rule errs by exp(-2 pi a/step) there, and by
// exp(-2 pi^2/step^2) for the density (Trefethen and Weideman 2014). 0 if the
// strip is unknown.
func stripStep(o Options) float64 {
	l := logTol(o.Tol)
	return math.Min(2*math.Pi*o.Strip/l, math.Pi*math.Sqrt(2/l))
}

// trapezoid is the trapezoid rule from -reach to reach, from left to right.
func trapezoid(g Function, step, reach float64) Terms {
	var sum Terms
	mass := 0.0
	n := int(math.Min(reach, 8) / step)
	for j := -n; j <= n; j++ {
		x := float64(j) * step
		w := PDF(x)
		mass += w
		sum.add(w, g.Terms(x))
	}
	return sum.over(mass)
}

func (t Terms) over(mass float64) Terms {
	for i := range t {
		t[i] /= mass
	}
	return t
}

// halvedTrapezoid halves the step of the trapezoid rule until it has converged. Its
// error falls faster than any power of the step where f is analytic: from C a at one
// step to C a^2 at half of it, or below, so that two changes tell C and a and the
// error that is left. It is accepted where the last halving changed no more than
// Tol, or where no more is left, by steps below Scale. ok is false if it does not
// converge.
func halvedTrapezoid(g Function, o Options) (mean Terms, ok bool) {
	var sum, before Terms
	mass, change := 0.0, math.Inf(1)
	for level := range maxLevel + 1 {
		step := math.Ldexp(2, -level)
		first, stride := step, 2*step // the points between the last ones
		if level == 0 {
			first, stride = 0, step
		}
		for x := first; x <= reach; x += stride {
			w := PDF(x)
			mass += w
			sum.add(w, g.Terms(x))
			if x > 0 {
				mass += w
				sum.add(w, g.Terms(-x))
			}
		}
		mean = sum.over(mass)
		if level > 0 {
			last := change
			change = mean.maxDiff(before)
			analytic := level > 1 && step <= o.Scale && change <= 1e-4
			if change <= o.Tol+10*o.Noise || analytic && change*(change/last)*(change/last) <= o.Tol {
				return mean, true
			}
		}
		before = mean
	}
	return mean, false
}

// Limits on panels: around a bend, what is left of one is 1e-11 wide, and all
// splits together are bounded.
const (
	maxDepth  = 36
	maxSplits = 1500
)

// integrator integrates over panels, from left to right.
type integrator struct {
	g         Function
	o         Options
	allowance float64
	splits    int
	sum       Terms
}

// node is a point with its terms.
type node struct {
	x float64
	Terms
}

func (q *integrator) node(x float64) node { return node{x, q.g.Terms(x)} }

// panel is an interval, the integrals of its terms with the density, and by how much the
// integral of the slope misses the rise of f.
type panel struct {
	a, b node
	sum  Terms
	miss float64
}

func (q *integrator) panel(a, b node) panel {
	p := panel{a: a, b: b}
	mid, half := 0.5*(a.x+b.x), 0.5*(b.x-a.x)
	rise := 0.0
	for i, x := range quadrature.Legendre7.X {
		t := q.g.Terms(mid + half*x)
		w := half * quadrature.Legendre7.W[i]
		p.sum.add(w*PDF(mid+half*x), t)
		rise += w * t[2]
	}
	p.miss = math.Abs(b.Terms[0]-a.Terms[0]-q.o.Rate*rise) * math.Max(PDF(a.x), PDF(b.x))
	return p
}

// cell adds the integrals over a panel, split until two parts agree with the whole, and the integral of the
// slope with the rise of f: else a bend between the ends and their nearest points
// would go unseen.
func (q *integrator) cell(p panel, depth int) {
	mid := q.node(q.split(p.a, p.b))
	left, right := q.panel(p.a, mid), q.panel(mid, p.b)
	sum := left.sum
	sum.add(1, right.sum)
	q.splits++
	agree := sum.maxDiff(p.sum) <= q.allowance && left.miss+right.miss <= q.allowance
	if agree || depth >= maxDepth || q.splits >= maxSplits {
		q.sum.add(1, sum)
		return
	}
	q.cell(left, depth+1)
	q.cell(right, depth+1)
}

// split is where to split a panel: where its tangents cross, at a bend between parts that are nearly affine,
// if not near an end.
func (q *integrator) split(a, b node) float64 {
	sa, sb := q.o.Rate*a.Terms[2], q.o.Rate*b.Terms[2]
	x := a.x + (b.Terms[0]-a.Terms[0]-sb*(b.x-a.x))/(sa-sb)
	if margin := 1e-3 * (b.x - a.x); a.x+margin < x && x < b.x-margin {
		return x
	}
	return 0.5 * (a.x + b.x)
}
