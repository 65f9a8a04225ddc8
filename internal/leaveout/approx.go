package leaveout

import (
	"fmt"
	"math"

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
	response, err := e.trainer.Response()
	if err != nil {
		return fmt.Errorf("approximate leave-one-out: %w", err)
	}
	for i := range e.problem.Y {
		margin := e.margin[i]
		if d := e.excess(i); d > 0 {
			s := e.problem.Site.At(i)
			fall := response.Fall(s)
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
