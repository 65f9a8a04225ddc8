package loss

import (
	"math"
	"testing"

	"bootbench/resample"
)

// logCosh is the loss C log cosh(f-y), known by its proximal map alone: what a
// user of FromProximal writes.
type logCosh struct{ C float64 }

func (logCosh) Name() string { return "log-cosh" }

func (l logCosh) Value(f, y float64) float64 {
	r := math.Abs(f - y)
	return l.C * (r + math.Log1p(math.Exp(-2*r)) - math.Ln2)
}

func (l logCosh) Prox(c, h float64, y, k []float64) (f, slope float64) {
	bound := 0.0
	for _, w := range k {
		bound += w * l.C / c
	}
	lo, hi := h-bound, h+bound
	for range 200 {
		f = 0.5 * (lo + hi)
		if f <= lo || f >= hi {
			break
		}
		if l.push(f, c, h, y, k) > 0 {
			hi = f
		} else {
			lo = f
		}
	}
	curvature := 0.0
	for j, v := range y {
		t := math.Tanh(f - v)
		curvature += k[j] * l.C * (1 - t*t)
	}
	return f, c / (c + curvature)
}

// push is the derivative of the objective.
func (l logCosh) push(f, c, h float64, y, k []float64) float64 {
	sum := c * (f - h)
	for j, v := range y {
		sum += k[j] * l.C * math.Tanh(f-v)
	}
	return sum
}

// pinball is the quantile loss of level q at one target: its map has two bends.
type pinball struct{ q float64 }

func (pinball) Name() string { return "pinball" }

func (l pinball) Value(f, y float64) float64 { return math.Max(l.q*(y-f), (1-l.q)*(f-y)) }

func (l pinball) Prox(c, h float64, y, k []float64) (f, slope float64) {
	t := k[0] / c
	switch up, down := h+t*l.q, h-t*(1-l.q); {
	case up < y[0]:
		return up, 1
	case down > y[0]:
		return down, 1
	}
	if k[0] == 0 {
		return h, 1
	}
	return y[0], 0
}

// knownPinball is a pinball whose user knows its derivatives.
type knownPinball struct{ pinball }

func (knownPinball) Name() string { return "pinball with breakpoints" }

func (l knownPinball) Derivatives(f, y float64) (first, second float64) {
	if f < y {
		return -l.q, 0
	}
	return 1 - l.q, 0
}

func (knownPinball) Breakpoints(y float64) []float64 { return []float64{y} }

// counted counts what a map of a pinball costs.
type counted struct {
	knownPinball
	calls *int
}

func (l counted) Derivatives(f, y float64) (first, second float64) {
	*l.calls++
	return l.knownPinball.Derivatives(f, y)
}

func (l counted) Prox(c, h float64, y, k []float64) (f, slope float64) {
	*l.calls++
	return l.pinball.Prox(c, h, y, k)
}

// TestEvaluations: a map that is affine between bends is read off a few points for
// every count: known bends take both sides of each and the ends of the cavity, 10
// with the cavity's mean; unknown ones 17 whole standard deviations, two points at
// each bend and a few where bends share a cell, 40 in all. Where the cavity's mean
// lies on a bend, at C = 2 and 2 draws, rounding must not make Newton's method wander.
func TestEvaluations(t *testing.T) {
	for _, mean := range []float64{0.3, 0.123} {
		calls := 0
		l := counted{knownPinball{pinball{0.7}}, &calls}
		for _, c := range []struct {
			name string
			loss Proximal
			most int
		}{{"known", l, 10}, {"unknown", struct{ Proximal }{l}, 40}} {
			site, err := FromProximal(c.loss).Site([]float64{1}, resample.Poisson{Ratio: 1})
			if err != nil {
				t.Fatal(err)
			}
			calls = 0
			site.Moments(Cavity{2, mean, 0.4})
			rows := len(site.(*smoothSite).all.P)
			if mean == 0.3 && c.name == "known" {
				calls -= 60 // one bisection
			}
			if calls > c.most*rows {
				t.Errorf("bends %s, mean %g: %d evaluations of %d counts", c.name, mean, calls, rows)
			}
		}
	}
}
