package loo

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/svm"
)

// approximate estimates all left-out margins from one training (Opper and Winther
// 2000, span of the free support vectors). With K_FF the kernel between the free sites, and a
// weight change of d at the site s of the example left out, its margin falls by
//
//	d / (K_FF^-1)_ss                     where s is free,
//	d (K_ss - K_sF K_FF^-1 K_Fs)         where it is at a bound.
//
// With a bias K_FF is bordered by ones, as the weights sum to 0. d is what the site's weight
// exceeds the box that is left: all of a_i where the example is alone.
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

// excess is by how much the weight of example i's site must change when the
// example is left out and the others there take over what they can. On a site
// with both labels the weight up to the sum of their boxes, where each carries
// all it may, belongs to the +1 and what is beyond to the -1.
func (e *estimate) excess(i int) float64 {
	if e.full.Alpha[i] == 0 {
		return 0
	}
	b := e.full.Beta[e.problem.Site.At(i)]
	across, left := e.training.BoxesWithout(i)
	if e.problem.Y[i] < 0 {
		b, across, left = -b, left, across
	}
	if b <= left+e.training.C[i]-across {
		left -= across
	}
	return max(0, b-left)
}

// nearestDistance is the square of the distance in feature space from site s to the
// nearest other site: the change of the margin for a unit of weight that that site
// takes over. It is the substitute where no free support vector determines the bias.
func (e *estimate) nearestDistance(s int) float64 {
	k, least := e.problem.Kernel, math.Inf(1)
	for j, v := range k.Row(s) {
		if j != s {
			least = min(least, k.Diag(s)+k.Diag(j)-2*v)
		}
	}
	return max(0, least)
}

// span is what the free sites can take over.
type span struct {
	kernel  *svm.Rows
	free    []int
	place   map[int]int // of a free site in free
	border  float64     // 0 without a bias; the scale does not matter
	inverse mat.Dense   // of K_FF, bordered
}

func newSpan(k *svm.Rows, free []int, bias bool) (*span, error) {
	p := &span{kernel: k, free: free, place: map[int]int{}}
	largest := 0.0
	for at, s := range free {
		p.place[s] = at
		largest = max(largest, k.Diag(s))
	}
	if bias {
		p.border = max(largest, 1e-300)
	}
	if len(free) == 0 {
		return p, nil
	}
	// A free site in the span of the others changes nothing when it is left out; a
	// small ridge gives that.
	err := p.invert(0)
	if err != nil {
		err = p.invert(1e-10 * largest)
	}
	if err != nil {
		return nil, fmt.Errorf("approximate leave-one-out: the kernel between free sites: %w", err)
	}
	return p, nil
}

// invert inverts the bordered K_FF + ridge I.
func (p *span) invert(ridge float64) error {
	n := len(p.free)
	if p.border > 0 {
		n++
	}
	system := mat.NewDense(n, n, nil)
	for a, s := range p.free {
		system.SetRow(a, p.across(s))
		system.Set(a, a, system.At(a, a)+ridge)
		if p.border > 0 {
			system.Set(n-1, a, p.border)
		}
	}
	return p.inverse.Inverse(system)
}

// across is K_sF, with the border.
func (p *span) across(s int) []float64 {
	row := p.kernel.Row(s)
	var list []float64
	for _, i := range p.free {
		list = append(list, row[i])
	}
	if p.border > 0 {
		list = append(list, p.border)
	}
	return list
}

// fall is the decrease of f at site s for each unit of its weight that is
// taken away, when the free sites adjust. It is infinite where they cannot.
func (p *span) fall(s int) float64 {
	own := p.kernel.Diag(s)
	at, free := p.place[s]
	switch {
	case len(p.free) == 0 && p.border > 0:
		return math.Inf(1)
	case len(p.free) == 0:
		return own
	case free && !(p.inverse.At(at, at)*own > 1e-10):
		return math.Inf(1)
	case free:
		return 1 / p.inverse.At(at, at)
	}
	across := p.across(s)
	v := mat.NewVecDense(len(across), across)
	return max(0, own-mat.Inner(v, &p.inverse, v))
}
