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

// Prox is y max(y h, 1) where any weight is positive. It panics where labels of
// both signs have weight, since no f satisfies both.
func (HardMargin) Prox(c, h float64, y, k []float64) (f, slope float64) {
	label := 0.0
	for j, v := range y {
		if k[j] > 0 {
			if label == -v {
				panic("loss: opposite labels at one input have no hard margin")
			}
			label = v
		}
	}
	if label*h < 1 && label != 0 {
		return label, 0
	}
	return h, 1
}

// Site takes labels -1 or +1, all equal.
func (l HardMargin) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	if slices.Contains(y, -y[0]) {
		return nil, fmt.Errorf(
			"loss: equal inputs with opposite labels have no hard margin; a jitter or the hinge loss allows them")
	}
	return newPiecewiseSite(y, law, l.example), nil
}

func (HardMargin) check() error                { return nil }
func (HardMargin) example(y float64) piecewise { return marginLoss(y, math.Inf(1), 0) }

// Hinge is the loss C max(0, 1 - y f) of the soft-margin support vector
// classifier, for labels y = -1, +1. With t = k C/c and u = y h, its proximal
// map y f_k is u for u >= 1, 1 for 1-t <= u < 1 and u+t below, which gives the
// moments (T8).
//
// Where a site holds both labels, the counts of the two kinds are independent,
// and the average runs over all pairs of them.
//
// With ClassWeights C is that of the label; so for SquaredHinge and Logistic.
type Hinge struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

// Name is "hinge".
func (Hinge) Name() string { return "hinge" }

// Value is C max(0, 1 - y f).
func (l Hinge) Value(f, y float64) float64 { return l.C * l.ClassWeight(y) * math.Max(0, 1-y*f) }

// Prox is the proximal map (T3) and its slope, 0 or 1.
func (l Hinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes labels -1 or +1.
func (l Hinge) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return labelSite(l, y, law)
}

func (l Hinge) check() error                { return l.checkCosts(l.C) }
func (l Hinge) example(y float64) piecewise { return marginLoss(y, l.C*l.ClassWeight(y), 0) }

// SquaredHinge is the loss C max(0, 1 - y f)^2, for labels y = -1, +1: C times
// the squared slack, as LIBLINEAR has it, without a factor 1/2. Its proximal map
// is h for y h >= 1, else y (y h + t)/(1 + t) with t = 2 k C/c.
type SquaredHinge struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

// Name is "hinge2".
func (SquaredHinge) Name() string { return "hinge2" }

// Value is C max(0, 1 - y f)^2.
func (l SquaredHinge) Value(f, y float64) float64 {
	slack := math.Max(0, 1-y*f)
	return l.C * l.ClassWeight(y) * slack * slack
}

// Prox is the proximal map (T3) and its slope.
func (l SquaredHinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes labels -1 or +1.
func (l SquaredHinge) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return labelSite(l, y, law)
}

func (l SquaredHinge) check() error                { return l.checkCosts(l.C) }
func (l SquaredHinge) example(y float64) piecewise { return marginLoss(y, 0, 2*l.C*l.ClassWeight(y)) }

// marginLoss has slope -y steep and curvature curved where y f < 1, and is 0
// beyond; steep = +Inf is the hard margin.
func marginLoss(y, steep, curved float64) piecewise {
	if y > 0 {
		return piecewise{[]float64{1}, []float64{-steep, 0}, []float64{curved, 0}}
	}
	return piecewise{[]float64{-1}, []float64{0, steep}, []float64{0, curved}}
}
