package loss

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"bootbench/resample"
)

// piecewiseLoss is a Loss that is piecewise for every target.
type piecewiseLoss interface {
	parametricLoss
	example(y float64) Piecewise
}

// siteOf is the site of a piecewise loss: of labels -1 and +1, or of finite targets, at most 200 different
// ones, or the error of its loss or targets.
func siteOf(l piecewiseLoss, y []float64, law resample.CountDistribution,
	check func(name string, y []float64) error) (Site, error) {
	if err := cmp.Or(l.check(), check(l.Name(), y)); err != nil {
		return nil, err
	}
	return newPiecewiseSite(y, law, l.example), nil
}

// HardMargin is the loss of the hard-margin support vector classifier, for labels y = -1, +1: 0 where
// y f >= 1, else +Inf. Its proximal map is f_k(h) = y max(y h, 1) for every count k >= 1, which gives the
// moments (T7) = (M04-21).
//
// Examples of one site must have equal labels, since no f satisfies both.
type HardMargin struct{}

func (HardMargin) Name() string                { return "hard" }
func (HardMargin) check() error                { return nil }
func (HardMargin) example(y float64) Piecewise { return marginLoss(y, math.Inf(1), 0) }

// Value is 0 if y f >= 1, else +Inf.
func (HardMargin) Value(f, y float64) float64 {
	if y*f >= 1 {
		return 0
	}
	return math.Inf(1)
}

// Prox is y max(y h, 1) if any weight is positive. It panics if labels of both signs have weight.
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
	return siteOf(l, y, law, func(name string, y []float64) error {
		err := checkLabels(name, y)
		if err == nil && slices.Contains(y, -y[0]) {
			err = errors.New("loss: equal inputs with opposite labels have no hard margin; a jitter or the " +
				"hinge loss allows them")
		}
		return err
	})
}

// Hinge is the loss C max(0, 1 - y f) of the soft-margin support vector classifier, for labels y = -1, +1.
// With t = k C/c and u = y h, its proximal map y f_k is u for u >= 1, 1 for 1-t <= u < 1 and u+t below, which
// gives the moments (T8).
//
// If a site holds both labels, their counts are independent, and the average is over all pairs.
//
// With ClassWeights C is the label's; so for SquaredHinge and Logistic.
type Hinge struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

func (Hinge) Name() string                  { return "hinge" }
func (l Hinge) Value(f, y float64) float64  { return l.C * l.ClassWeight(y) * math.Max(0, 1-y*f) }
func (l Hinge) check() error                { return l.checkCosts(l.C) }
func (l Hinge) example(y float64) Piecewise { return marginLoss(y, l.C*l.ClassWeight(y), 0) }

func (l Hinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

func (l Hinge) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, checkLabels)
}

// SquaredHinge is the loss C max(0, 1 - y f)^2, for labels y = -1, +1: C times the squared slack, as in
// LIBLINEAR, without a factor 1/2. Its proximal map is h for y h >= 1, else y (y h + t)/(1 + t), t = 2 k C/c.
type SquaredHinge struct {
	C float64 // in (0, 1e100]
	ClassWeights
}

func (SquaredHinge) Name() string                  { return "hinge2" }
func (l SquaredHinge) check() error                { return l.checkCosts(l.C) }
func (l SquaredHinge) example(y float64) Piecewise { return marginLoss(y, 0, 2*l.C*l.ClassWeight(y)) }

func (l SquaredHinge) Value(f, y float64) float64 {
	slack := math.Max(0, 1-y*f)
	return l.C * l.ClassWeight(y) * slack * slack
}

func (l SquaredHinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

func (l SquaredHinge) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, checkLabels)
}

// marginLoss has slope -y steep and curvature curved for y f < 1, and is 0 beyond; steep = +Inf is the hard
// margin.
func marginLoss(y, steep, curved float64) Piecewise {
	if y > 0 {
		return Piecewise{[]float64{1}, []float64{-steep, 0}, []float64{curved, 0}}
	}
	return Piecewise{[]float64{-1}, []float64{0, steep}, []float64{0, curved}}
}

// EpsInsensitive is the loss C max(0, |f-y| - Epsilon) of support vector regression. With t = k C/c its
// proximal map moves h by t towards y, at most to the tube |f-y| < Epsilon, in which f = h. At Epsilon = 0 it
// is LeastAbsolute.
type EpsInsensitive struct {
	C       float64 // in (0, 1e100]
	Epsilon float64 // half width of the tube, in [0, 1e100], in units of the targets
}

func (EpsInsensitive) Name() string { return "eps" }
func (l EpsInsensitive) Value(f, y float64) float64 {
	return l.C * math.Max(0, math.Abs(f-y)-l.Epsilon)
}
func (l EpsInsensitive) example(y float64) Piecewise { return tubeLoss(y, l.Epsilon, l.C, 0) }

func (l EpsInsensitive) check() error {
	if !(l.Epsilon >= 0 && l.Epsilon <= maxParameter) {
		return fmt.Errorf("loss: epsilon must be at least 0 and at most %g, got %g", float64(maxParameter),
			l.Epsilon)
	}
	return checkPositive("C", l.C)
}

func (l EpsInsensitive) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

func (l EpsInsensitive) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, checkTargets)
}

// LeastAbsolute is the loss C |f-y|. With t = k C/c its proximal map moves h by t towards y, at most to y.
type LeastAbsolute struct {
	C float64 // in (0, 1e100]
}

func (LeastAbsolute) Name() string                  { return "absolute" }
func (l LeastAbsolute) Value(f, y float64) float64  { return l.C * math.Abs(f-y) }
func (l LeastAbsolute) check() error                { return checkPositive("C", l.C) }
func (l LeastAbsolute) example(y float64) Piecewise { return tubeLoss(y, 0, l.C, 0) }

func (l LeastAbsolute) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

func (l LeastAbsolute) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, checkTargets)
}

// Huber is C times Huber's loss of threshold delta = Epsilon: with r = f-y it is C r^2/2 for |r| <= delta,
// and C delta (|r| - delta/2) beyond, continuous in value and slope. Within the threshold it is Square of
// noise variance 1/C. Its proximal map multiplies h - y by 1/(1+t), t = k C/c, if |h-y| <= (1+t) delta, and
// moves h by t delta towards y beyond.
type Huber struct {
	C       float64 // in (0, 1e100]
	Epsilon float64 // threshold, in (0, 1e100], in units of the targets
}

func (Huber) Name() string                  { return "huber" }
func (l Huber) example(y float64) Piecewise { return tubeLoss(y, l.Epsilon, l.C*l.Epsilon, l.C) }

func (l Huber) check() error {
	return cmp.Or(checkPositive("C", l.C), checkPositive("epsilon", l.Epsilon))
}

func (l Huber) Value(f, y float64) float64 {
	r := math.Abs(f - y)
	if r <= l.Epsilon {
		return 0.5 * l.C * r * r
	}
	return l.C * l.Epsilon * (r - 0.5*l.Epsilon)
}

func (l Huber) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

func (l Huber) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, checkTargets)
}

// tubeLoss has slope steep beyond half above y, -steep beyond half below, and curvature curved between. If
// rounding makes both ends equal, it is the kink at y.
func tubeLoss(y, half, steep, curved float64) Piecewise {
	lo, hi := y-half, y+half
	if !(lo < hi) {
		return Piecewise{[]float64{y}, []float64{-steep, steep}, []float64{0, 0}}
	}
	inside := 0.0
	if curved > 0 {
		inside = curved * (lo - y)
	}
	return Piecewise{[]float64{lo, hi}, []float64{-steep, inside, steep}, []float64{0, curved, 0}}
}

// FromPiecewise makes a training loss of one that is Piecewise for every target, such as the pinball loss of
// quantile regression. Its least value is 0; moments and distributions have closed forms, for any number of
// breakpoints.
func FromPiecewise(name string, of func(y float64) Piecewise) interface {
	Loss
	Proximal
} {
	return fromPiecewise{name, of}
}

type fromPiecewise struct {
	name string
	of   func(y float64) Piecewise
}

func (l fromPiecewise) Name() string { return l.name }
func (fromPiecewise) check() error   { return nil }

func (l fromPiecewise) example(y float64) Piecewise {
	p := l.of(y)
	if p.Curvatures == nil {
		p.Curvatures = make([]float64, len(p.Slopes))
	}
	return p
}

// Value is the integral of the derivative from the minimum.
func (l fromPiecewise) Value(f, y float64) float64 {
	p := l.example(y)
	return p.valueAt(f)
}

func (l fromPiecewise) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes finite targets for which the loss is Piecewise.
func (l fromPiecewise) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return siteOf(l, y, law, func(name string, y []float64) error {
		err := checkTargets(name, y)
		for j := 0; err == nil && j < len(y); j++ {
			p := l.example(y[j])
			if err = p.check(); err != nil {
				err = fmt.Errorf("loss: %s at target %g: %w", name, y[j], err)
			}
		}
		return err
	})
}
