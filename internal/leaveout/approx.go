package leaveout

import (
	"fmt"
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train/svm"
)

// approximate estimates all left-out margins from one training (Opper and Winther 2000, span of the free
// support vectors). With K_FF the kernel between the free sites, and a weight change of d at the site s of
// the left-out example, its margin decreases by
//
//	d / (K_FF^-1)_ss                     where s is free,
//	d (K_ss - K_sF K_FF^-1 K_Fs)         where it is at a bound.
//
// With a bias K_FF is bordered by ones, as the weights sum to 0. d is the excess of the site's weight over
// the remaining box: a_i for a site of one example.
func (e *estimate) approximate() error {
	span, err := newSpan(e.problem.Kernel, e.trainer.FreeSites(), e.problem.Bias)
	if err != nil {
		return err
	}
	for i := range e.problem.Y {
		margin := e.margin[i]
		if d := e.excess(i); d > 0 {
			s := e.problem.Site.At(i)
			fall := span.fall(s)
			if math.IsInf(fall, 1) {
				fall = e.nearestDistance(s)
			}
			margin -= d * fall
		}
		e.decide(i, margin)
	}
	return nil
}

// excess is the change of the weight of example i's site if the example is left out and the others there
// compensate as far as possible. On a site with both labels the weight up to the sum of their boxes, where
// each is at its bound, counts as the weight of +1, the excess as the weight of -1.
func (e *estimate) excess(i int) float64 {
	if e.full.Alpha[i] == 0 {
		return 0
	}
	b := e.full.Weight[e.problem.Site.At(i)]
	across, left := svm.BoxesWithout(&e.training, i)
	if e.problem.Y[i] < 0 {
		b, across, left = -b, left, across
	}
	if b <= left+e.training.Weight[i]-across {
		left -= across
	}
	return max(0, b-left)
}

// nearestDistance is the square of the distance in feature space from site s to the nearest other site: the
// change of the margin per unit of weight moved to that site. It is used if no free support vector determines
// the bias.
func (e *estimate) nearestDistance(s int) float64 {
	k, least := e.problem.Kernel, math.Inf(1)
	for j, v := range k.Row(s) {
		if j != s {
			least = min(least, k.Diag(s)+k.Diag(j)-2*v)
		}
	}
	return max(0, least)
}

// span computes the response of the free sites: with L L' = K_FF and x = K_Fs or a unit vector, x'K_FF^-1 x =
// |L^-1 x|^2. With a bias a constant is added to K, which has no effect if the weights sum to 0.
type span struct {
	kernel   *svm.Rows
	free     []int
	place    map[int]int // of a free site in free
	bias     bool
	constant float64 // 0 without a bias
	inverse  blas64.Triangular
	ones     []float64 // L^-1 1
}

func newSpan(k *svm.Rows, free []int, bias bool) (*span, error) {
	n, largest := len(free), 0.0
	inverse := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: n, Stride: max(1, n),
		Data: make([]float64, n*n)}
	p := &span{kernel: k, free: free, place: map[int]int{}, bias: bias, inverse: inverse}
	for at, s := range free {
		p.place[s] = at
		largest = max(largest, k.Diag(s))
	}
	if bias {
		p.constant = largest
	}
	// Leaving out a free site in the span of the others changes nothing; a small ridge gives that.
	minor := p.invert(0)
	if minor != 0 {
		if minor = p.invert(1e-10 * largest); minor != 0 {
			return nil, fmt.Errorf("approximate leave-one-out: %w", &linalg.PivotError{Minor: minor, N: n})
		}
	}
	p.ones = p.solve(slices.Repeat([]float64{1}, n))
	return p, nil
}

// invert computes L^-1, with K_FF + ridge I; minor is 0, or the order at which that is not positive definite.
func (p *span) invert(ridge float64) (minor int) {
	l := p.inverse
	for a, s := range p.free {
		copy(l.Data[a*l.Stride:], p.across(s)[:a+1])
		l.Data[a*l.Stride+a] += ridge
	}
	if minor = blas.Bound().Potrf(gblas.Lower, l.N, l.Data, l.Stride); minor == 0 {
		blas.Bound().Trtri(gblas.Lower, l.N, l.Data, l.Stride)
	}
	return minor
}

// across is K_Fs.
func (p *span) across(s int) []float64 {
	row, list := p.kernel.Row(s), make([]float64, len(p.free))
	for at, i := range p.free {
		list[at] = row[i] + p.constant
	}
	return list
}

// solve overwrites x with L^-1 x.
func (p *span) solve(x []float64) []float64 {
	blas64.Trmv(gblas.NoTrans, p.inverse, blas64.Vector{N: len(x), Data: x, Inc: 1})
	return x
}

// fall is the decrease of f at site s per unit of weight removed there, after adjustment of the free sites.
// It is infinite if they cannot adjust.
func (p *span) fall(s int) float64 {
	var x []float64
	own, sum := p.kernel.Diag(s)+p.constant, floats.Dot(p.ones, p.ones)
	at, free := p.place[s]
	if free { // column at of L^-1
		x = make([]float64, len(p.free))
		for r := at; r < len(x); r++ {
			x[r] = p.inverse.Data[r*p.inverse.Stride+at]
		}
	} else {
		x = p.solve(p.across(s))
	}
	square, share := floats.Dot(x, x), floats.Dot(x, p.ones)
	switch {
	case p.bias && free:
		square -= share * share / sum
	case p.bias: // infinite without free sites
		square -= (1 - share) * (1 - share) / sum
	}
	switch {
	case free && !(square*own > 1e-10):
		return math.Inf(1)
	case free:
		return 1 / square
	}
	return max(0, own-square)
}
