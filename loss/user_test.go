package loss

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// logCosh is the loss C log cosh(f-y), what a user of FromSmooth writes.
type logCosh struct{ C float64 }

func (logCosh) Name() string { return "log-cosh" }

func (l logCosh) Value(f, y float64) float64 {
	r := math.Abs(f - y)
	return l.C * (r + math.Log1p(math.Exp(-2*r)) - math.Ln2)
}

func (l logCosh) Derivatives(f, y float64) (first, second float64) {
	t := math.Tanh(f - y)
	return l.C * t, l.C * (1 - t*t)
}

// pinballLoss is the quantile loss of level q.
func pinballLoss(q float64) interface {
	Loss
	Proximal
} {
	return FromPiecewise("pinball", func(y float64) Piecewise {
		return Piecewise{Breakpoints: []float64{y}, Slopes: []float64{-q, 1 - q}}
	})
}

// TestFromPiecewise: a declared loss is the loss of the catalogue that it copies, with its value up to
// rounding; with many breakpoints its map and moments are the ones of the map that golden section finds on
// its value.
func TestFromPiecewise(t *testing.T) {
	law, cav := resample.Poisson{Ratio: 1}, Cavity{C: 0.8, Mean: 1.4, Var: 1.5}
	for _, c := range []struct {
		of   func(y float64) Piecewise
		like interface {
			Loss
			Proximal
		}
		y []float64
	}{
		{func(y float64) Piecewise {
			return Piecewise{Breakpoints: []float64{y}, Slopes: []float64{-0.5, 0.5}}
		}, LeastAbsolute{C: 0.5}, []float64{0.7, 0.2}},
		{func(y float64) Piecewise {
			return Piecewise{[]float64{y - 0.4, y + 0.4}, []float64{-0.8, -0.8, 0.8}, []float64{0, 2, 0}}
		}, Huber{2, 0.4}, []float64{-1.3}},
		{func(y float64) Piecewise {
			return Piecewise{[]float64{y}, []float64{0, 0}, []float64{6 * (1 + y) / 2, 6 * (1 - y) / 2}}
		}, SquaredHinge{C: 3}, []float64{1}},
	} {
		l := FromPiecewise("copy", c.of)
		got := testutil.Must(l.Site(c.y, law))(t)
		want, _ := c.like.Site(c.y, law)
		a, b := got.Moments(cav), want.Moments(cav)
		if !(math.Abs(a.Mean-b.Mean) <= 1e-14 && math.Abs(a.Var-b.Var) <= 1e-13 &&
			math.Abs(a.Response-b.Response) <= 1e-14) {
			t.Errorf("%s: %+v, want %+v", c.like.Name(), a, b)
		}
		for f := -3.0; f <= 3; f += 0.37 {
			relative(t, c.like.Name()+" value", l.Value(f, c.y[0]), c.like.Value(f, c.y[0]), 1e-13)
		}
	}

	stairs := FromPiecewise("stairs", func(y float64) Piecewise {
		return Piecewise{[]float64{y - 1, y, y + 0.2, y + 0.9, y + 2, y + 5},
			[]float64{-2, -1, 0.5, 1, 1, 1.5, 4}, []float64{0, 0.1, 0, 0, 0.2, 0, 1}}
	})
	site := testutil.Must(stairs.Site([]float64{0.3}, law))(t)
	for _, h := range []float64{-4, -0.6, 0.1, 0.35, 1.4, 9} {
		f, _ := stairs.Prox(0.7, h, []float64{0.3}, []float64{2})
		want := minimise(func(x float64) float64 { return 0.35*(x-h)*(x-h) + 2*stairs.Value(x, 0.3) },
			[]float64{h, 0.3})
		if !(math.Abs(f-want) <= 3e-7) {
			t.Errorf("map at %g: %g, want %g", h, f, want)
		}
	}
	for _, cav := range []Cavity{cav, {2, -3, 0.1}, {0.3, 3, 4}} {
		compare(t, "stairs", stairs, []float64{0.3}, law, cav,
			plainMoments(site.(*piecewiseSite).mixture, cav), 1e-11)
	}

	for what, p := range map[string]Piecewise{
		"breakpoints need": {Slopes: []float64{0}},
		"slopes":           {Breakpoints: []float64{0}, Slopes: []float64{-1}},
		"rise":             {Breakpoints: []float64{1, 1}, Slopes: []float64{-1, 0, 1}},
		"not convex":       {Breakpoints: []float64{0}, Slopes: []float64{1, -1}},
		"no least value":   {Breakpoints: []float64{0}, Slopes: []float64{-2, -1}},
		"curvature": {Breakpoints: []float64{0}, Slopes: []float64{-1, 1},
			Curvatures: []float64{0, math.NaN()}},
	} {
		_, err := FromPiecewise("bad", func(float64) Piecewise { return p }).Site([]float64{0}, law)
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
