package loo

import (
	"fmt"
	"math"

	gblas "gonum.org/v1/gonum/blas"

	"bootbench/blas"
	"bootbench/internal/svm"
	"bootbench/linalg"
)

// approximate estimates all left-out margins from one training (Opper and Winther
// 2000, span of the free support vectors). With K_FF the kernel between the free sites, and a
// weight change of d at the site s of the example left out, its margin falls by
//
//	d / (K_FF^-1)_ss                     where s is free,
//	d (K_ss - K_sF K_FF^-1 K_Fs)         where it is at a bound.
//
// With a bias K_FF stands bordered by ones. d is what the site's weight exceeds
// the box that is left: all of a_i where the example is alone.
func (e *estimate) approximate() error {
	sites := e.sites()
	f, err := newFreeSet(&e.problem, sites)
	if err != nil {
		return err
	}
	for i := range e.problem.Y {
		if d := sites.excess(&e.problem, i); d > 0 {
			fall := f.schurDiagonal(e.problem.Site.At(i))
			if math.IsInf(fall, 1) {
				fall = e.nearestDistance(i)
			}
			e.result.Margin[i] -= d * fall
		}
		e.result.Outcome[i] = outcomeOf(e.result.Margin[i])
	}
	return nil
}

// sites are the site weights of the training on all examples.
type sites struct {
	beta        []float64
	plus, minus []int // examples of either label
	free        []int // sites whose weight is inside a linear piece of the dual
}

func (e *estimate) sites() *sites {
	m := e.problem.Kernel.N()
	s := &sites{beta: e.full.Beta, plus: make([]int, m), minus: make([]int, m)}
	for i, y := range e.problem.Y {
		if y > 0 {
			s.plus[e.problem.Site.At(i)]++
		} else {
			s.minus[e.problem.Site.At(i)]++
		}
	}
	for at, b := range s.beta {
		high, low := times(s.plus[at], e.problem.cost(1)), -times(s.minus[at], e.problem.cost(-1))
		if b > low && b < high && b != high+low {
			s.free = append(s.free, at)
		}
	}
	return s
}

// times is k c, 0 for k = 0 also where c is infinite.
func times(k int, c float64) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * c
}

// excess is by how much the weight of example i's site must change when the
// example is left out and the others there take over what they can. On a site
// with both labels the weight up to the sum of their boxes, where each carries
// all it may, belongs to the +1 and what is beyond to the -1.
func (s *sites) excess(p *Problem, i int) float64 {
	at := p.Site.At(i)
	own, other := s.plus[at], s.minus[at]
	b := s.beta[at]
	if p.Y[i] < 0 {
		own, other, b = other, own, -b
	}
	if math.IsInf(p.C, 1) && own > 1 {
		return 0
	}
	cost, across := p.cost(p.Y[i]), times(other, p.cost(-p.Y[i]))
	end := times(own-1, cost) - across
	if b > times(own, cost)-across {
		end = times(own-1, cost)
	}
	return max(0, b-end)
}

// nearestDistance is the square of the distance in feature space from example i to the
// nearest other site: the change of the margin for a unit of weight that that site
// takes over. It is the substitute where no free support vector determines the bias.
func (e *estimate) nearestDistance(i int) float64 {
	s, k := e.problem.Site.At(i), e.problem.Kernel
	least := math.Inf(1)
	for j, v := range k.Row(s) {
		if j != s {
			least = min(least, k.Diag(s)+k.Diag(j)-2*v)
		}
	}
	return max(0, least)
}

// freeSystem is the Cholesky factor of K_FF between the free sites, and what follows
// from it. With a bias a constant is added to K, which changes nothing under the
// constraint that the weights sum to 0.
type freeSystem struct {
	kernel   *svm.Rows
	constant float64
	bias     bool
	index    []int
	place    map[int]int
	factor   []float64 // L, row by row
	inverse  []float64 // diagonal of (K_FF + constant)^-1
	ones     []float64 // L^-1 1
	shares   []float64 // (K_FF + constant)^-1 1
	sum      float64   // 1'(K_FF + constant)^-1 1
}

func newFreeSet(p *Problem, s *sites) (*freeSystem, error) {
	f := &freeSystem{kernel: p.Kernel, bias: p.Bias, index: s.free, place: map[int]int{}}
	largest := 0.0
	for at, i := range s.free {
		f.place[i] = at
		largest = max(largest, p.Kernel.Diag(i))
	}
	if p.Bias {
		f.constant = largest
	}
	m := len(f.index)
	// A free site in the span of the others changes nothing when it is left out; a
	// small ridge gives that.
	for _, ridge := range []float64{0, 1e-10 * largest} {
		f.fill(ridge)
		minor := blas.Bound().Potrf(gblas.Lower, m, f.factor, max(1, m))
		if minor == 0 {
			f.invert()
			return f, nil
		}
		if ridge > 0 {
			return nil, fmt.Errorf("approximate leave-one-out: %w", &linalg.PivotError{Minor: minor, N: m})
		}
	}
	return f, nil
}

// fill sets factor to K_FF + constant + ridge I.
func (f *freeSystem) fill(ridge float64) {
	m := len(f.index)
	f.factor = make([]float64, m*m)
	for a, i := range f.index {
		row := f.kernel.Row(i)
		for b, j := range f.index[:a+1] {
			f.factor[a*m+b] = row[j] + f.constant
		}
		f.factor[a*m+a] += ridge
	}
}

// invert computes the diagonal of the inverse and the products with 1.
func (f *freeSystem) invert() {
	m := len(f.index)
	f.inverse, f.ones, f.shares = make([]float64, m), make([]float64, m), make([]float64, m)
	if m == 0 {
		return
	}
	l := append([]float64(nil), f.factor...)
	blas.Bound().Trtri(gblas.Lower, m, l, m)
	for a := range m {
		for b, v := range l[a*m : a*m+a+1] {
			f.inverse[b] += v * v
			f.ones[a] += v
		}
	}
	for a, v := range f.ones {
		f.sum += v * v
		for b, w := range l[a*m : a*m+a+1] {
			f.shares[b] += w * v
		}
	}
}

// schurDiagonal is the decrease of f at site s for each unit of its weight that is
// taken away, when the free sites adjust: 1/(K_FF^-1)_ss, or the Schur complement
// K_ss - K_sF K_FF^-1 K_Fs. It is infinite where they cannot adjust.
func (f *freeSystem) schurDiagonal(s int) float64 {
	at, free := f.place[s]
	switch {
	case f.bias && len(f.index) == 0:
		return math.Inf(1)
	case free && !f.bias:
		return 1 / f.inverse[at]
	case free:
		left := f.inverse[at] - f.shares[at]*f.shares[at]/f.sum
		if !(left > 1e-10*f.inverse[at]) {
			return math.Inf(1)
		}
		return 1 / left
	}
	m := len(f.index)
	across := make([]float64, m)
	row := f.kernel.Row(s)
	for a, i := range f.index {
		across[a] = row[i] + f.constant
	}
	blas.Bound().Dtrsv(gblas.Lower, gblas.NoTrans, gblas.NonUnit, m, f.factor, max(1, m), across, 1)
	left, ones := f.kernel.Diag(s)+f.constant, 1.0
	for a, v := range across {
		left -= v * v
		ones -= v * f.ones[a]
	}
	if f.bias {
		left += ones * ones / f.sum
	}
	return max(0, left)
}
