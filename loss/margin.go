package loss

import (
	"fmt"
	"math"
	"slices"

	"bootbench/resample"
)

// HardMargin is the loss of the hard-margin support vector classifier, for
// labels y = -1, +1: 0 where y f >= 1, else +Inf. Its proximal map is
// f_k(h) = y max(y h, 1) for every count k >= 1, which gives the moments (T7) =
// (M04-21).
//
// Examples of one site must have equal labels, since no f satisfies both.
type HardMargin struct{}

// Name is "hard".
func (HardMargin) Name() string { return "hard" }

// Value is 0 if y f >= 1, else +Inf.
func (HardMargin) Value(f, y float64) float64 {
	if y*f >= 1 {
		return 0
	}
	return math.Inf(1)
}

// Site takes labels -1 or +1, all equal.
func (l HardMargin) Site(y []float64, law resample.Law) (Site, error) {
	if err := checkLabels(l, y); err != nil {
		return nil, err
	}
	if slices.Contains(y, -y[0]) {
		return nil, fmt.Errorf("loss: equal inputs with opposite labels have no hard margin; a jitter or the hinge loss allows them")
	}
	return newPolylineSite(y, law, func(y float64) polyline { return marginLoss(y, math.Inf(1)) }), nil
}

// Hinge is the loss C max(0, 1 - y f) of the soft-margin support vector
// classifier, for labels y = -1, +1. With t = k C/c and u = y h, its proximal
// map y f_k is u for u >= 1, 1 for 1-t <= u < 1 and u+t below, which gives the
// moments (T8).
//
// Where a site holds both labels, the counts of the two kinds are independent,
// and the average runs over all pairs of them.
type Hinge struct {
	C float64 // in (0, 1e100]
}

// maxHinge keeps sums of C times counts finite.
const maxHinge = 1e100

// NewHinge is the hinge loss of slope C in (0, 1e100].
func NewHinge(c float64) (Hinge, error) {
	if !(c > 0 && c <= maxHinge) {
		return Hinge{}, fmt.Errorf("loss: C must be positive and at most %g, got %g", float64(maxHinge), c)
	}
	return Hinge{C: c}, nil
}

// Name is "hinge".
func (Hinge) Name() string { return "hinge" }

// Value is C max(0, 1 - y f).
func (l Hinge) Value(f, y float64) float64 { return l.C * math.Max(0, 1-y*f) }

// Site takes labels -1 or +1.
func (l Hinge) Site(y []float64, law resample.Law) (Site, error) {
	if _, err := NewHinge(l.C); err != nil {
		return nil, err
	}
	if err := checkLabels(l, y); err != nil {
		return nil, err
	}
	return newPolylineSite(y, law, func(y float64) polyline { return marginLoss(y, l.C) }), nil
}

// marginLoss is c max(0, 1 - y f), with c = +Inf for the hard margin.
func marginLoss(y, c float64) polyline {
	if y > 0 {
		return polyline{kinks: []float64{1}, slopes: []float64{-c, 0}}
	}
	return polyline{kinks: []float64{-1}, slopes: []float64{0, c}}
}

// checkLabels refuses a site without examples, or with other labels than -1 and
// +1.
func checkLabels(l Loss, y []float64) error {
	if len(y) == 0 {
		return fmt.Errorf("loss: a site needs at least one target")
	}
	for j, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("loss: target %d of a site is %g; the %s loss takes labels -1 and +1", j+1, v, l.Name())
		}
	}
	return nil
}
