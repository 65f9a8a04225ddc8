package normal

import (
	"math"
	"slices"

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
	// Single says that the second term is the square of the first: then f may be
	// affine on intervals. Breaks are the places where its slope is known to bend.
	Single bool
	Breaks []float64
}

// Quadrature over the standard normal.
const (
	reach      = 8      // leaves out 1e-15 of the mass
	maxLevel   = 4      // trapezoid steps of 2, 1, ..., 1/8
	minStep    = 0.0625 // of the trapezoid rule in a known strip
	mostAffine = 10     // affine cells of 16 for which the trapezoid rule is not tried
)

// Average computes the averages of the terms over the standard normal: by the
// trapezoid rule where f is analytic, else on cells that end where f bends, by
// closed forms where f is affine and adaptive Gauss-Legendre panels elsewhere.
func Average(g Function, o Options) Terms {
	q := integrator{g: g, o: o, allowance: 0.02*o.Tol + 30*o.Noise}
	if step := stripStep(o); step >= minStep {
		return trapezoid(g, step, math.Sqrt(2*logTol(o.Tol)))
	}
	if len(o.Breaks) > 0 {
		return q.cells(q.breakNodes())
	}
	if o.Single {
		if nodes := q.unitNodes(); q.affineCells(nodes) >= mostAffine {
			return q.cells(nodes)
		}
	}
	if t, ok := halvedTrapezoid(g, o); ok {
		return t
	}
	return q.cells(q.unitNodes())
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

// Limits on cells: around a bend, what is left of a panel is 1e-11 wide, and all
// splits together are bounded. A bend that is found lies within bendWidth.
const (
	maxDepth  = 36
	maxSplits = 1500
	bendWidth = 1e-10
	bendTries = 4    // each in 100 times the width, where rounding of f hides the bend
	mostNoise = 1e-6 // of f between points of one slope
)

// integrator integrates over cells, from left to right.
type integrator struct {
	g         Function
	o         Options
	allowance float64
	splits    int
	sum       Terms
	run       affineRun
}

// node is a point with its terms.
type node struct {
	x float64
	Terms
}

func (q *integrator) node(x float64) node { return node{x, q.g.Terms(x)} }

// unitNodes are the nodes at whole x.
func (q *integrator) unitNodes() []node {
	nodes := make([]node, 0, 2*reach+1)
	for x := -reach; x <= reach; x++ {
		nodes = append(nodes, q.node(float64(x)))
	}
	return nodes
}

// breakNodes are the nodes on both sides of every known bend.
func (q *integrator) breakNodes() []node {
	xs := []float64{-reach, reach}
	for _, b := range q.o.Breaks {
		if math.Abs(b) < reach-bendWidth {
			xs = append(xs, b-bendWidth, b+bendWidth)
		}
	}
	slices.Sort(xs)
	nodes := make([]node, len(xs))
	for i, x := range xs {
		nodes[i] = q.node(x)
	}
	return nodes
}

func (q *integrator) affineCells(nodes []node) int {
	n := 0
	for i := 1; i < len(nodes); i++ {
		if q.sameLine(nodes[i-1], nodes[i]) {
			n++
		}
	}
	return n
}

// cells integrates over the cells between nodes.
func (q *integrator) cells(nodes []node) Terms {
	for i := 1; i < len(nodes); i++ {
		a, b := nodes[i-1], nodes[i]
		if b.x-a.x <= 3*bendWidth {
			q.addThin(a, b)
		} else {
			q.cell(panel{a: a, b: b}, 0)
		}
	}
	q.endRun()
	return q.sum
}

// cell integrates over one cell: as affine, as affine but for one bend, or by
// panels, each split until two parts agree with the whole, and the integral of the
// slope with the rise of f: else a bend between the ends and their nearest points
// would go unseen.
func (q *integrator) cell(p panel, depth int) {
	a, b := p.a, p.b
	if q.o.Single {
		if q.affine(a, b) {
			q.extendRun(a, b)
			return
		}
		if l, r, ok := q.bend(a, b); ok {
			q.extendRun(a, l)
			q.addThin(l, r)
			q.extendRun(r, b)
			return
		}
	}
	if !p.known {
		p = q.panel(a, b)
	}
	mid := q.node(q.split(a, b))
	left, right := q.panel(a, mid), q.panel(mid, b)
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

// panel is a cell, the integrals of its terms with the density, and by how much the
// integral of the slope misses the rise of f.
type panel struct {
	a, b  node
	known bool
	sum   Terms
	miss  float64
}

func (q *integrator) panel(a, b node) panel {
	p := panel{a: a, b: b, known: true}
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

// crossing is where the tangents at a and b cross: at a bend between affine parts
// and near one between curved parts; NaN or outside of the cell if nowhere in it.
func (q *integrator) crossing(a, b node) float64 {
	sa, sb := q.o.Rate*a.Terms[2], q.o.Rate*b.Terms[2]
	return a.x + (b.Terms[0]-a.Terms[0]-sb*(b.x-a.x))/(sa-sb)
}

// split is where to split a cell: where its tangents cross, if not near an end.
func (q *integrator) split(a, b node) float64 {
	x, margin := q.crossing(a, b), 1e-3*(b.x-a.x)
	if a.x+margin < x && x < b.x-margin {
		return x
	}
	return 0.5 * (a.x + b.x)
}

// bend looks for a single bend in a cell that is affine on both sides of it, and
// returns nodes on both sides.
func (q *integrator) bend(a, b node) (l, r node, ok bool) {
	x := q.crossing(a, b)
	if !(a.x+2*bendWidth < x && x < b.x-2*bendWidth) {
		return l, r, false
	}
	width := bendWidth
	for range bendTries {
		if l, r = q.node(max(a.x, x-width)), q.node(min(x+width, b.x)); q.affine(a, l) && q.affine(r, b) {
			return l, r, true
		}
		if !q.sameSlope(a, l) && !q.sameSlope(r, b) {
			break // it is curved
		}
		width *= 100
	}
	return l, r, false
}

// slopeNoise bounds the noise that slopes are granted: that of f may be large in units of
// x where x is a narrow law, and the slope's is not.
const slopeNoise = 1e-10

// sameSlope says whether f has one slope at a and b, to rounding.
func (q *integrator) sameSlope(a, b node) bool {
	return math.Abs(a.Terms[2]-b.Terms[2]) <= 1e-11+4*math.Min(q.o.Noise, slopeNoise)
}

// offLine is by how much b is off the tangent at a.
func (q *integrator) offLine(a, b node) float64 {
	return math.Abs(b.Terms[0] - a.Terms[0] - q.o.Rate*a.Terms[2]*(b.x-a.x))
}

// sameLine says whether the tangents at a and b are one line, to rounding.
func (q *integrator) sameLine(a, b node) bool {
	return q.sameSlope(a, b) && q.offLine(a, b) <= 1e-11+4*q.o.Noise
}

// affine says whether f is affine on [a, b]. Slopes lie in [0, 1], so that one line
// of slope 0 or 1 is enough; else a point between must lie on it, too. Where f has the one
// slope at five points and is off the line by little, that is taken for its rounding.
func (q *integrator) affine(a, b node) bool {
	if q.sameLine(a, b) {
		s := a.Terms[2]
		return s <= 1e-11 || 1-s <= 1e-11 || q.sameLine(a, q.node(a.x+0.382*(b.x-a.x)))
	}
	if !q.sameSlope(a, b) || !(q.offLine(a, b) <= mostNoise) {
		return false
	}
	for _, part := range [...]float64{0.19, 0.382, 0.81} {
		if m := q.node(a.x + part*(b.x-a.x)); !q.sameSlope(a, m) || !(q.offLine(a, m) <= mostNoise) {
			return false
		}
	}
	return true
}

// addThin adds the cell around a bend.
func (q *integrator) addThin(a, b node) {
	q.endRun()
	mass := Prob(a.x, b.x)
	q.sum.add(0.5*mass, a.Terms)
	q.sum.add(0.5*mass, b.Terms)
}

// affineRun is a row of cells on which f is one line.
type affineRun struct {
	from, to node
	open     bool
}

// extendRun adds the affine cell [a, b] to the run, or begins another.
func (q *integrator) extendRun(a, b node) {
	if q.run.open && q.run.to.x == a.x && q.sameLine(q.run.from, b) {
		q.run.to = b
		return
	}
	q.endRun()
	q.run = affineRun{a, b, true}
}

// endRun adds the run's integrals, in closed form.
func (q *integrator) endRun() {
	if !q.run.open {
		return
	}
	a, s := q.run.from, q.run.from.Terms[2]
	m0, m1, m2 := TruncatedMoments(a.x, q.run.to.x)
	rate := q.o.Rate * s
	at := a.Terms[0] - rate*a.x // the line's value at 0
	q.sum.add(1, Terms{at*m0 + rate*m1, at*at*m0 + 2*at*rate*m1 + rate*rate*m2, s * m0, a.Terms[3] * m0})
	q.run.open = false
}
