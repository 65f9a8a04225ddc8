package loss

import (
	"fmt"
	"math"

	"bootbench/resample"
)

// EpsInsensitive is the loss C max(0, |f-y| - Epsilon) of support vector
// regression. With t = k C/c its proximal map moves h by t towards y, but not
// into the tube |f-y| < Epsilon, inside of which f = h. At Epsilon = 0 it is
// LeastAbsolute.
type EpsInsensitive struct {
	C       float64 // in (0, 1e100]
	Epsilon float64 // half width of the tube, in [0, 1e100], in units of the targets
}

func (l EpsInsensitive) check() error {
	if !(l.Epsilon >= 0 && l.Epsilon <= maxParameter) {
		return fmt.Errorf("loss: epsilon must be at least 0 and at most %g, got %g", float64(maxParameter),
			l.Epsilon)
	}
	return checkPositive("C", l.C)
}

// Name is "eps".
func (EpsInsensitive) Name() string { return "eps" }

// Value is C max(0, |f-y| - Epsilon).
func (l EpsInsensitive) Value(f, y float64) float64 {
	return l.C * math.Max(0, math.Abs(f-y)-l.Epsilon)
}

// Prox is the proximal map (T3) and its slope, 0 or 1.
func (l EpsInsensitive) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes finite targets, at most 200 different ones.
func (l EpsInsensitive) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return targetSite(l, y, law)
}

func (l EpsInsensitive) example(y float64) piecewise { return tubeLoss(y, l.Epsilon, l.C, 0) }

// LeastAbsolute is the loss C |f-y|. With t = k C/c its proximal map moves h by
// t towards y, and no further than y.
type LeastAbsolute struct {
	C float64 // in (0, 1e100]
}

func (l LeastAbsolute) check() error { return checkPositive("C", l.C) }

// Name is "absolute".
func (LeastAbsolute) Name() string { return "absolute" }

// Value is C |f-y|.
func (l LeastAbsolute) Value(f, y float64) float64 { return l.C * math.Abs(f-y) }

// Prox is the proximal map (T3) and its slope, 0 or 1.
func (l LeastAbsolute) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes finite targets, at most 200 different ones.
func (l LeastAbsolute) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return targetSite(l, y, law)
}

func (l LeastAbsolute) example(y float64) piecewise { return tubeLoss(y, 0, l.C, 0) }

// Huber is C times Huber's loss of threshold Delta: with r = f-y it is C r^2/2
// for |r| <= Delta, and C Delta (|r| - Delta/2) beyond, so that value and slope
// join. Within the threshold it is Square of noise variance 1/C. Its proximal
// map shrinks h towards y by 1/(1+t), t = k C/c, where |h-y| <= (1+t) Delta, and
// moves it by t Delta beyond.
type Huber struct {
	C     float64 // in (0, 1e100]
	Delta float64 // threshold, in (0, 1e100], in units of the targets
}

func (l Huber) check() error {
	if err := checkPositive("C", l.C); err != nil {
		return err
	}
	return checkPositive("delta", l.Delta)
}

// Name is "huber".
func (Huber) Name() string { return "huber" }

// Value is C times Huber's loss.
func (l Huber) Value(f, y float64) float64 {
	r := math.Abs(f - y)
	if r <= l.Delta {
		return 0.5 * l.C * r * r
	}
	return l.C * l.Delta * (r - 0.5*l.Delta)
}

// Prox is the proximal map (T3) and its slope.
func (l Huber) Prox(c, h float64, y, k []float64) (f, slope float64) {
	return prox(l.example, c, h, y, k)
}

// Site takes finite targets, at most 200 different ones.
func (l Huber) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return targetSite(l, y, law)
}

func (l Huber) example(y float64) piecewise { return tubeLoss(y, l.Delta, l.C*l.Delta, l.C) }

// tubeLoss has slope steep beyond half above y, -steep beyond half below, and
// curvature curved between. Where rounding leaves nothing between, it is the
// corner at y.
func tubeLoss(y, half, steep, curved float64) piecewise {
	lo, hi := y-half, y+half
	if !(lo < hi) {
		return piecewise{[]float64{y}, []float64{-steep, steep}, []float64{0, 0}}
	}
	inside := 0.0
	if curved > 0 {
		inside = curved * (lo - y)
	}
	return piecewise{[]float64{lo, hi}, []float64{-steep, inside, steep}, []float64{0, curved, 0}}
}
