package svm

import (
	"fmt"
	"math"
	"slices"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Response is how a solution answers a change of the weight beta of a site at an end of a piece (the set
// O), or of f at a free site (F): the principal pivot transform of K on F (Tucker 1960),
//
//	d beta_F = P d f_F - W'd beta_O,   d f_O = W d f_F + N d beta_O,
//	P = K_FF^-1,   W = K_OF K_FF^-1,   N = K_OO - K_OF K_FF^-1 K_FO.
//
// With a bias K_FF is bordered by ones, since the weights sum to 0. It takes 8 n^2 bytes and n^2 |F|
// multiplications for n sites; then leaving out an example costs n for each site that changes sides. Its
// methods are safe for concurrent use.
type Response struct {
	set       train.Set
	tolerance float64
	place     []int // of each site, free ones first; -1: without examples
	freeSites int
	sites     []pieces
	s         blas64.General // P, W' above W, N
	biased    bool
	ridged    bool    // K_FF is singular within rounding
	largest   float64 // of the diagonal of K, with the constant that transform adds
	near      float64 // distance of a weight from an end that rounding may cause
}

// state is the state of a weight: free in the piece of slope at, or at the end at of a piece.
type state struct {
	free bool
	at   float64
}

// pieces is the dual of one site, see dual: its weight in the solution, the state of that, and f with the
// bias.
type pieces struct {
	low, kink, high, beta, f float64
	state
}

// ends are the ends of the piece of a slope.
func (p *pieces) ends(slope float64) (low, high float64) {
	if slope > 0 {
		return p.low, p.kink
	}
	return p.kink, p.high
}

// stateOf is the state of a weight.
func (p *pieces) stateOf(beta float64) state {
	switch {
	case beta <= p.low:
		return state{false, p.low}
	case beta >= p.high:
		return state{false, p.high}
	case beta == p.kink:
		return state{false, beta}
	case beta < p.kink:
		return state{true, 1}
	}
	return state{true, -1}
}

// responseRidge, times the largest K_ii, is added to a K_FF that is singular within rounding. It is also the
// part of the largest weight that counts as rounding.
const responseRidge = 1e-10

// leastPivot, times the largest diagonal element, is the least square of a pivot of K_FF that is not
// rounding.
const leastPivot = 1e-12

// Response is the response of the solution of the last Train, which must have converged. It keeps the set.
func (t *Trainer) Response() (*Response, error) {
	q := &t.dual
	n := len(q.active)
	if n == 0 || t.result.Status != train.Converged {
		return nil, errNotTrained
	}
	if err := linalg.CheckMemory(8*int64(n)*int64(n), 0, "the responses of all sites"); err != nil {
		return nil, err
	}
	r := &Response{set: t.full.set, tolerance: t.full.settings.Tolerance, biased: q.biased,
		place: make([]int, q.whole.N()), s: blas64.General(linalg.NewMatrix(n, n))}
	for s := range r.place {
		r.place[s] = -1
	}
	bias, order := q.bias(), make([]int, 0, n)
	for _, wanted := range []bool{true, false} {
		for i := range n {
			if q.free(i) == wanted {
				r.place[q.active[i]] = len(order)
				order = append(order, i)
				at := state{wanted, q.beta[i]}
				if wanted {
					at.at = q.floor[i]
				}
				r.sites = append(r.sites, pieces{q.low[i], q.kink[i], q.high[i], q.beta[i], q.f[i] + bias,
					at})
			}
		}
		if wanted {
			r.freeSites = len(order)
		}
	}
	r.near = responseRidge * floats.Norm(q.beta, math.Inf(1))
	minor := r.transform(q, order, 0)
	if r.ridged = minor > 0; r.ridged {
		minor = r.transform(q, order, responseRidge*q.largestK)
	}
	if minor > 0 {
		return nil, fmt.Errorf("the free support vectors: %w",
			&linalg.PivotError{Minor: minor, N: r.freeSites})
	}
	return r, nil
}

// transform computes s. With a bias a constant is added to K, which has no effect if the weights sum to 0,
// and the border is a term of rank one:
//
//	w = P 1,  v = 1 - W 1:   P - w w'/1'w,   W + v w'/1'w,   N + v v'/1'w.
//
// minor is 0, or the order at which K_FF is not positive definite.
func (r *Response) transform(q *dual, order []int, ridge float64) (minor int) {
	n, m, s := len(order), r.freeSites, r.s
	constant := 0.0
	if r.biased {
		constant = q.largestK
	}
	r.largest = q.largestK + constant
	for a, i := range order {
		to, row := s.Data[a*s.Stride:], q.row(i)
		for b, j := range order[:a+1] {
			to[b] = row[j] + constant
		}
		if a < m {
			to[a] += ridge
		}
	}
	if m > 0 {
		if minor = blas.Bound().Potrf(gonum.Lower, m, s.Data, s.Stride); minor != 0 {
			return minor
		}
		for a := range m {
			if pivot := s.Data[a*s.Stride+a]; ridge == 0 && pivot*pivot < leastPivot*r.largest {
				return a + 1
			}
		}
		blas.Bound().Trtri(gonum.Lower, m, s.Data, s.Stride)
		inverse := blas64.Triangular{Uplo: gonum.Lower, Diag: gonum.NonUnit, N: m, Stride: s.Stride,
			Data: s.Data}
		if m < n {
			from := m * s.Stride
			w := blas64.General{Rows: n - m, Cols: m, Stride: s.Stride, Data: s.Data[from:]}
			blas.Trmm(gonum.Right, gonum.Trans, 1, inverse, w)
			blas.Syrk(gonum.NoTrans, -1, w, 1, blas64.Symmetric{Uplo: gonum.Lower, N: n - m,
				Stride: s.Stride, Data: s.Data[from+m:]})
			blas.Trmm(gonum.Right, gonum.NoTrans, 1, inverse, w)
		}
		blas.Bound().Lauum(gonum.Lower, m, s.Data, s.Stride)
	}
	for a := range n {
		for b := range a {
			s.Data[b*s.Stride+a] = s.Data[a*s.Stride+b]
		}
	}
	if r.biased && m > 0 {
		r.border()
	}
	return 0
}

// border adds the term of the bias.
func (r *Response) border() {
	n, m, s := len(r.sites), r.freeSites, r.s
	side := make([]float64, n) // w, then v
	for a := range side {
		if side[a] = floats.Sum(s.Data[a*s.Stride:][:m]); a >= m {
			side[a] = 1 - side[a]
		}
	}
	all := floats.Sum(side[:m])
	for a, v := range side {
		row := s.Data[a*s.Stride:][:n]
		if a < m {
			floats.AddScaled(row[:m], -v/all, side[:m])
		} else {
			floats.AddScaled(row[:m], v/all, side[:m])
		}
		floats.AddScaled(row[m:], v/all, side[m:])
	}
}

// Fall is the decrease of f at a site of examples per unit of weight removed there, with all others on
// their sides: 1/P_ss of a free site, else N_ss (the span: Opper and Winther 2000; Vapnik and Chapelle
// 2000). It is infinite if the free sites cannot adjust.
func (r *Response) Fall(site int) float64 {
	p := r.place[site]
	at := r.s.Data[p*r.s.Stride+p]
	switch {
	case r.biased && r.freeSites == 0:
		return math.Inf(1)
	case p >= r.freeSites:
		return max(0, at)
	case !(at*r.largest > responseRidge):
		return math.Inf(1)
	}
	return 1 / at
}

// leaving is the search for the solution without one example.
type leaving struct {
	*Response
	gone   int       // the example's site
	own    pieces    // of its other examples
	now    []state   // of the sites
	moved  []int     // the sites whose state is not the solution's, and gone
	change []float64 // beta of F, f of O: minus the solution's, by the forces
	force  []float64 // of moved sites: the change of f of F, of beta of O
}

// mostRounds bounds the rounds of LeaveOut, and an eighth of the free sites, but not less than leastMoved,
// the sites that change sides: beyond these bounds Trainer.LeaveOut is faster.
const mostRounds, leastMoved, movedShare = 20, 32, 8

// LeaveOut is the predictor at the input of example i of a training without it, at the tolerance of the
// training. It is not known (ok is false) without such an example, if K_FF is singular, if nothing fixes
// the bias, and if too many sites change sides; Trainer.LeaveOut then finds it.
//
// The states are found by block principal pivoting: all sites that violate the Kuhn-Tucker conditions change
// theirs, until none does (Judice and Pires 1994). The changes follow from as many equations as sites have
// another state than in the solution of all.
func (r *Response) LeaveOut(i int) (f float64, ok bool) {
	if i < 0 || i >= len(r.set.Y) {
		return 0, false
	}
	gone := r.place[r.set.Site.At(i)]
	switch {
	case r.set.Weight[i] == 0 && gone < 0:
		return 0, false
	case r.set.Weight[i] == 0:
		return r.sites[gone].f, true
	case r.ridged || r.biased && r.freeSites == 0:
		return 0, false
	}
	n := len(r.sites)
	l := &leaving{Response: r, gone: gone, now: make([]state, n), change: make([]float64, n),
		force: make([]float64, n), moved: []int{gone}}
	for p := range n {
		l.now[p] = r.sites[p].state
	}
	minus, plus := BoxesWithout(&r.set, i)
	l.own = pieces{low: -minus, kink: plus - minus, high: plus}
	l.now[gone] = l.own.stateOf(r.sites[gone].beta)
	for range mostRounds {
		if len(l.moved) > max(leastMoved, r.freeSites/movedShare) || !l.solve() {
			break
		}
		if !l.repair() {
			return l.field(gone), true
		}
	}
	return 0, false
}

// sign is the sign of an element of s in the change of one site by the force of another.
func (r *Response) sign(of, by int) float64 {
	if of < r.freeSites && by >= r.freeSites {
		return -1
	}
	return 1
}

// solve computes the forces at which every site has the value of its state, and the changes that follow.
func (l *leaving) solve() (ok bool) {
	var unknown []int
	clear(l.change)
	for _, p := range l.moved {
		if l.force[p] = 0; l.now[p].free == l.sites[p].free {
			l.force[p] = l.now[p].at - l.sites[p].at
			l.exert(p)
		} else {
			unknown = append(unknown, p)
		}
	}
	k := len(unknown)
	if k == 0 {
		return true
	}
	a, b := mat.NewDense(k, k, nil), mat.NewVecDense(k, nil)
	for row, p := range unknown {
		of := &l.sites[p]
		from := of.f
		if !l.now[p].free {
			from = of.beta
		}
		b.SetVec(row, l.now[p].at-from-l.change[p])
		for column, by := range unknown {
			a.Set(row, column, l.sign(p, by)*l.s.Data[p*l.s.Stride+by])
		}
	}
	var lu mat.LU
	if lu.Factorize(a); !(lu.Cond() < 1/responseRidge) || lu.SolveVecTo(b, false, b) != nil {
		return false
	}
	for row, p := range unknown {
		l.force[p] = b.AtVec(row)
		l.exert(p)
	}
	return true
}

// exert adds the changes by the force of site p.
func (l *leaving) exert(p int) {
	m, row := l.freeSites, l.s.Data[p*l.s.Stride:][:len(l.change)]
	floats.AddScaled(l.change[:m], l.sign(0, p)*l.force[p], row[:m])
	floats.AddScaled(l.change[m:], l.force[p], row[m:])
}

// weight is beta of a free site, field is f of one at an end.
func (l *leaving) weight(p int) float64 {
	if p < l.freeSites {
		return l.sites[p].beta + l.change[p]
	}
	return l.sites[p].beta + l.force[p]
}

func (l *leaving) field(p int) float64 {
	if p < l.freeSites {
		return l.sites[p].f + l.force[p]
	}
	return l.sites[p].f + l.change[p]
}

// repair changes the state of all sites whose weights lie outside their piece, or whose f lies outside its
// limits. It reports whether there are any.
func (l *leaving) repair() (wrong bool) {
	for p := range l.sites {
		of, to := &l.sites[p], l.now[p]
		if p == l.gone {
			of = &l.own
		}
		if to.free {
			low, high := of.ends(to.at)
			if b := l.weight(p); b < low-l.near {
				to = state{false, low}
			} else if b > high+l.near {
				to = state{false, high}
			}
		} else {
			floor, ceil := limits(of.low, of.kink, of.high, to.at)
			if f := l.field(p); f < floor-l.tolerance {
				to = state{true, floor}
			} else if f > ceil+l.tolerance {
				to = state{true, ceil}
			}
		}
		if to == l.now[p] {
			continue
		}
		wrong, l.now[p] = true, to
		was := slices.Index(l.moved, p)
		switch same := to == l.sites[p].state; {
		case same && was >= 0:
			l.moved = slices.Delete(l.moved, was, was+1)
		case !same && was < 0:
			l.moved = append(l.moved, p)
		}
	}
	return wrong
}
