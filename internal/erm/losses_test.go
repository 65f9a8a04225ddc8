package erm_test

import (
	"math"
	"slices"
)

// bent is a piecewise linear-quadratic loss for tests: its value, its
// derivative, and the places where the derivative jumps or bends.
type bent struct {
	name  string
	value func(f, y float64) float64
	// slope is the derivative at f, approached from the left or the right.
	slope func(f, y float64, right bool) float64
	curve func(f, y float64) float64 // second derivative between the bends
	bends func(y float64) []float64
}

func (l bent) Name() string               { return l.name }
func (l bent) Value(f, y float64) float64 { return l.value(f, y) }

// Prox looks for the bend or the piece between two bends where c (f-h) + sum k
// l'(f) changes sign.
func (l bent) Prox(c, h float64, y, k []float64) (f, slope float64) {
	total := func(f float64, right bool) float64 {
		g := c * (f - h)
		for j := range y {
			g += k[j] * l.slope(f, y[j], right)
		}
		return g
	}
	var at []float64
	for _, v := range y {
		at = append(at, l.bends(v)...)
	}
	slices.Sort(at)
	lo, hi := math.Inf(-1), math.Inf(1)
	for _, b := range at {
		left, right := total(b, false), total(b, true)
		if left <= 0 && right >= 0 && left < right {
			return b, 0
		}
		if right <= 0 {
			lo = b
		}
		if left > 0 {
			hi = b
			break
		}
	}
	inside := h // some place of the piece
	switch {
	case lo > math.Inf(-1) && hi < math.Inf(1):
		inside = (lo + hi) / 2
	case lo > math.Inf(-1):
		inside = lo + 1
	case hi < math.Inf(1):
		inside = hi - 1
	}
	curve := c
	for j := range y {
		curve += k[j] * l.curve(inside, y[j])
	}
	return inside - total(inside, true)/curve, c / curve
}

func none(float64) []float64    { return nil }
func zero(_, _ float64) float64 { return 0 }

func squareLoss(noise float64) bent {
	return bent{"square",
		func(f, y float64) float64 { return (f - y) * (f - y) / (2 * noise) },
		func(f, y float64, _ bool) float64 { return (f - y) / noise },
		func(_, _ float64) float64 { return 1 / noise }, none}
}

func hingeLoss(c float64) bent {
	return bent{"hinge",
		func(f, y float64) float64 { return c * math.Max(0, 1-y*f) },
		func(f, y float64, right bool) float64 {
			if m := y * f; m < 1 || m == 1 && right == (y < 0) {
				return -c * y
			}
			return 0
		}, zero, func(y float64) []float64 { return []float64{y} }}
}

func squaredHingeLoss(c float64) bent {
	return bent{"squared hinge",
		func(f, y float64) float64 { return c / 2 * math.Pow(math.Max(0, 1-y*f), 2) },
		func(f, y float64, _ bool) float64 { return -c * y * math.Max(0, 1-y*f) },
		func(f, y float64) float64 {
			if y*f < 1 {
				return c
			}
			return 0
		}, func(y float64) []float64 { return []float64{y} }}
}

// tubeLoss is above (f-y-eps)+ + below (y-f-eps)+: eps-insensitive, absolute and
// quantile loss.
func tubeLoss(name string, below, above, eps float64) bent {
	return bent{name,
		func(f, y float64) float64 { return above*math.Max(0, f-y-eps) + below*math.Max(0, y-f-eps) },
		func(f, y float64, right bool) float64 {
			switch {
			case f > y+eps || f == y+eps && right:
				return above
			case f < y-eps || f == y-eps && !right:
				return -below
			}
			return 0
		}, zero, func(y float64) []float64 { return []float64{y - eps, y + eps} }}
}

func huberLoss(c, width float64) bent {
	return bent{"huber",
		func(f, y float64) float64 {
			if r := math.Abs(f - y); r > width {
				return c * width * (r - width/2)
			}
			return c * (f - y) * (f - y) / 2
		},
		func(f, y float64, _ bool) float64 { return c * min(max(f-y, -width), width) },
		func(f, y float64) float64 {
			if math.Abs(f-y) < width {
				return c
			}
			return 0
		}, func(y float64) []float64 { return []float64{y - width, y + width} }}
}

// hardLoss is 0 where y f >= 1, else +Inf.
type hardLoss struct{}

func (hardLoss) Name() string { return "hard" }
func (hardLoss) Value(f, y float64) float64 {
	if y*f >= 1 {
		return 0
	}
	return math.Inf(1)
}
func (hardLoss) Prox(_, h float64, y, _ []float64) (f, slope float64) {
	if y[0]*h >= 1 {
		return h, 1
	}
	return y[0], 0
}

// logisticLoss is c log(1 + e^(-y f)).
type logisticLoss struct{ c float64 }

func (logisticLoss) Name() string { return "logistic" }
func (l logisticLoss) Value(f, y float64) float64 {
	return l.c * (math.Max(0, -y*f) + math.Log1p(math.Exp(-math.Abs(f))))
}

// derivatives are l' and l”.
func (l logisticLoss) derivatives(f, y float64) (first, second float64) {
	miss := 1 / (1 + math.Exp(y*f))
	return -l.c * y * miss, l.c * miss * (1 - miss)
}

// Prox halves a bracket of the root of c (f-h) + sum k l'(f), then takes Newton
// steps.
func (l logisticLoss) Prox(c, h float64, y, k []float64) (f, slope float64) {
	reach := 0.0
	for _, v := range k {
		reach += v * l.c / c
	}
	total := func(f float64) (g, curve float64) {
		g, curve = c*(f-h), c
		for j := range y {
			a, b := l.derivatives(f, y[j])
			g += k[j] * a
			curve += k[j] * b
		}
		return g, curve
	}
	lo, hi := h-reach, h+reach
	for range 40 {
		f = (lo + hi) / 2
		if g, _ := total(f); g > 0 {
			hi = f
		} else {
			lo = f
		}
	}
	for range 3 {
		g, curve := total(f)
		f -= g / curve
		slope = c / curve
	}
	return f, slope
}
