package svm

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/train/internal/workspace"
)

// dual is the dual problem in the weights beta of the n active sites. With the largest a+ + a- that beta = a+
// - a- permits, 0 <= a+ <= C+, 0 <= a- <= C-, it reads
//
//	max  sum_i phi_i(beta_i) - 1/2 beta' K beta,   -C- <= beta_i <= C+,
//	phi(beta) = 2 min(C+, C- + beta) - beta,
//
// where C+ and C- are the summed boxes of the site's examples of either label. phi is concave, with slope +1
// up to its kink at C+ - C- and -1 above it; a site with one label has only one of the slopes. At the optimum
// f = K beta lies between phi's derivatives from the right and from the left,
//
//	floor_i <= f_i <= ceil_i                                (Kuhn-Tucker),
//
// with floor = -Inf at the upper end of the box and ceil = +Inf at its lower. With a bias the weights also
// sum to 0, and f + b lies there for some b.
type dual struct {
	rows
	largestK float64 // of the K_ii of all sites

	biased          bool
	low, kink, high []float64 // -C-, C+ - C-, C+
	beta, f         []float64
	floor, ceil     []float64
	invSqrtDiag     []float64 // 1/sqrt(K_ii)
	snapDistance    []float64 // distance from an end that rounding may cause
	everywhere      []float64 // f at all sites, as recomputeF left it
	sites           []int     // workspace: the next active sites
}

// begin sets the boxes. If these are scale > 0 times the present ones, of the same sites, it resumes at the
// best multiple of the present beta.
func (q *dual) begin(b *sides, biased bool, scale float64) (resumed bool) {
	q.sites = q.sites[:0]
	for s := range b[0] {
		if b[0][s].box+b[1][s].box > 0 {
			q.sites = append(q.sites, s)
		}
	}
	resumed = scale > 0 && biased == q.biased && slices.Equal(q.sites, q.active)
	if !resumed {
		q.biased, q.active, q.sites = biased, q.sites, q.active
		q.prepare()
		workspace.ResizeAll(len(q.active), &q.low, &q.kink, &q.high, &q.beta, &q.f, &q.floor, &q.ceil,
			&q.invSqrtDiag, &q.snapDistance)
		clear(q.beta)
		for i, v := range q.diag {
			q.invSqrtDiag[i] = 1 / math.Sqrt(v)
		}
	}
	if resumed {
		scale = q.bestMultiple(scale)
		floats.Scale(scale, q.f)
	}
	clipped := !resumed
	for i, s := range q.active {
		q.setBox(i, b[0][s].box, b[1][s].box)
		to := scale * q.beta[i]
		q.setBeta(i, min(max(to, q.low[i]), q.high[i]))
		clipped = clipped || math.Abs(q.beta[i]-to) > q.snapDistance[i]
	}
	if clipped {
		q.recomputeF()
	}
	if biased {
		q.projectToZeroSum()
	}
	return resumed
}

// bestMultiple is the multiple of beta, between 1 and the largest that larger boxes hold, at which the dual s
// sum |beta_i| - s^2/2 beta' f of sites with one label is largest. Weights that no box bounds thus remain.
func (q *dual) bestMultiple(largest float64) float64 {
	if square := floats.Dot(q.beta, q.f); largest > 1 && square > 0 {
		return min(largest, max(1, q.size()/square))
	}
	return largest
}

// recomputeF computes f = K beta afresh at all sites, without the rounding errors of the updates.
func (q *dual) recomputeF() {
	clear(q.everywhere)
	for i, b := range q.beta {
		if b != 0 {
			floats.AddScaled(q.everywhere, b, q.whole.Row(q.active[i]))
		}
	}
	for i, s := range q.active {
		q.f[i] = q.everywhere[s]
	}
}

// setBeta moves weight i to b, which lies in its box, and updates floor and ceil. It leaves f to the caller.
func (q *dual) setBeta(i int, b float64) {
	b = q.snap(i, b)
	q.beta[i] = b
	q.floor[i], q.ceil[i] = limits(q.low[i], q.kink[i], q.high[i], b)
}

// limits are floor and ceil of a weight in a box.
func limits(low, kink, high, beta float64) (floor, ceil float64) {
	floor, ceil = -1, -1
	if beta < kink {
		floor = 1
	}
	if beta <= kink {
		ceil = 1
	}
	if beta >= high {
		floor = math.Inf(-1)
	}
	if beta <= low {
		ceil = math.Inf(1)
	}
	return floor, ceil
}

// snap returns b, or the end of a piece if b differs from it by rounding only: the last digits must not
// decide which weights are free, since a free weight fixes the bias.
func (q *dual) snap(i int, b float64) float64 {
	near := q.snapDistance[i]
	switch {
	case math.Abs(b-q.low[i]) <= near:
		return q.low[i]
	case math.Abs(b-q.high[i]) <= near:
		return q.high[i]
	case math.Abs(b-q.kink[i]) <= near:
		return q.kink[i]
	}
	return b
}

// snapShare is the distance, relative to a finite box, within which weights snap to an end.
const snapShare = 1e-13

// setBox sets the box of weight i.
func (q *dual) setBox(i int, minus, plus float64) {
	q.low[i], q.kink[i], q.high[i] = -minus, plus-minus, plus
	if q.snapDistance[i] = snapShare * (plus + minus); math.IsInf(q.snapDistance[i], 1) {
		q.snapDistance[i] = 0
	}
}

// free reports whether weight i lies inside a linear piece of phi; f_i = floor_i = ceil_i at the optimum.
func (q *dual) free(i int) bool { return q.floor[i] == q.ceil[i] }

// pieceEnd is the end of weight i's linear piece of phi in a direction in which the weight can move.
func (q *dual) pieceEnd(i int, direction float64) float64 {
	switch {
	case direction > 0 && q.beta[i] < q.kink[i], direction < 0 && q.beta[i] > q.kink[i]:
		return q.kink[i]
	case direction > 0:
		return q.high[i]
	}
	return q.low[i]
}

// ascentSlope is the dual's slope along beta_i if it can increase, 0 where Kuhn-Tucker holds: the violation.
func (q *dual) ascentSlope(i int) float64 {
	if slope := q.floor[i] - q.f[i]; slope > 0 {
		return slope
	}
	if slope := q.ceil[i] - q.f[i]; slope < 0 {
		return slope
	}
	return 0
}

// advance moves weight i by step, at most to the end of its piece, and returns the move; f is unchanged.
func (q *dual) advance(i int, step float64) (moved float64) {
	before, end := q.beta[i], q.pieceEnd(i, step)
	if step > 0 {
		q.setBeta(i, min(before+step, end))
	} else {
		q.setBeta(i, max(before+step, end))
	}
	return q.beta[i] - before
}

// stepToEnd is the multiple of direction at which the free weight i meets the end of its piece.
func (q *dual) stepToEnd(i int, direction float64) float64 {
	if direction == 0 {
		return math.Inf(1)
	}
	return (q.pieceEnd(i, direction) - q.beta[i]) / direction
}

// moveFree moves the free weight i by share times direction, or to the end of its piece.
func (q *dual) moveFree(i int, direction, share float64) {
	if q.stepToEnd(i, direction) <= share {
		q.setBeta(i, q.pieceEnd(i, direction))
	} else {
		q.setBeta(i, q.beta[i]+share*direction)
	}
}

// mostViolated returns the site of the largest violation and its size, -1 and 0 if there is none.
func (q *dual) mostViolated() (site int, violation float64) {
	site = -1
	for i, f := range q.f {
		if v := max(q.floor[i]-f, f-q.ceil[i]); v > violation {
			site, violation = i, v
		}
	}
	return site, violation
}

// violation is the largest violation of the Kuhn-Tucker conditions; with a bias, as in LIBSVM, the largest
// lower bound of the bias minus the smallest upper one.
func (q *dual) violation() float64 {
	if q.biased {
		from, to := q.biasInterval()
		return max(0, from-to)
	}
	_, violation := q.mostViolated()
	return violation
}

// size is sum |beta_i|: with max K_ii and the unit roundoff it bounds the rounding error of f, which reaches
// 0.01 at maxSize.
func (q *dual) size() float64    { return floats.Norm(q.beta, 1) }
func (q *dual) maxSize() float64 { return 0.01 / (0x1p-53 * q.largestK) }

// parts are a+ and a- of site i: the largest sum that beta_i permits.
func (q *dual) parts(i int) (plus, minus float64) {
	b := q.beta[i]
	plus, minus = q.high[i], -q.low[i]
	if b < q.kink[i] {
		plus = b - q.low[i]
	}
	if b > q.kink[i] {
		minus = q.high[i] - b
	}
	return plus, minus
}

// objective is the dual objective at the present f.
func (q *dual) objective() float64 {
	s := 0.0
	for i, b := range q.beta {
		plus, minus := q.parts(i)
		s += plus + minus - b*q.f[i]/2
	}
	return s
}

// biasInterval is the interval of biases b with floor <= f + b <= ceil at every site: from the largest lower
// bound to the smallest upper one. Before the optimum it is empty, from > to.
func (q *dual) biasInterval() (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	for i, f := range q.f {
		from = max(from, q.floor[i]-f)
		to = min(to, q.ceil[i]-f)
	}
	return from, to
}

// bias is the mean of the free weights' biases, else the middle of biasInterval or its finite end.
func (q *dual) bias() float64 {
	if !q.biased {
		return 0
	}
	sum, free := 0.0, 0
	for i, f := range q.f {
		if q.free(i) {
			sum += q.floor[i] - f
			free++
		}
	}
	from, to := q.biasInterval()
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(from, -1) && math.IsInf(to, 1):
		return 0
	case math.IsInf(from, -1):
		return to
	case math.IsInf(to, 1):
		return from
	}
	return (from + to) / 2
}
