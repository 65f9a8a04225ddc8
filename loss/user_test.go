package loss

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
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

// TestEvaluations: a map that is affine between more than two bends is read off a few points for
// every count: 17 whole standard deviations, two points at each bend and a few where bends
// share a cell, 60 in all. With two bends none is needed once the site is made.
func TestEvaluations(t *testing.T) {
	for _, mean := range []float64{0.3, 0.123} {
		calls := 0
		l := counted{knownPinball{pinball{0.7}}, &calls}
		for _, c := range []struct {
			name string
			loss Proximal
			most int
		}{{"known", l, 0}, {"unknown", struct{ Proximal }{l}, 0},
			{"three, unknown", struct{ Proximal }{threeKinks{calls: &calls}}, 60}} {
			site, err := FromProximal(c.loss).Site([]float64{1}, resample.Poisson{Ratio: 1})
			if err != nil {
				t.Fatal(err)
			}
			calls = 0
			site.Moments(Cavity{2, mean, 0.4})
			rows := len(counts.New([]float64{1}, resample.Poisson{Ratio: 1}).P)
			if calls > c.most*rows {
				t.Errorf("bends %s, mean %g: %d evaluations of %d counts", c.name, mean, calls, rows)
			}
		}
	}
}

// bisected is a pinball whose user finds the proximal map by halving, to tol.
type bisected struct {
	pinball
	tol   float64
	calls *int
}

func (l bisected) Prox(c, h float64, y, k []float64) (f, slope float64) {
	*l.calls++
	t := k[0] / c
	lo, hi := h-t, h+t
	for hi-lo > l.tol {
		f = 0.5 * (lo + hi)
		if f < y[0] && f < h+t*l.q || f > y[0] && f < h-t*(1-l.q) {
			lo = f
		} else {
			hi = f
		}
	}
	if f = 0.5 * (lo + hi); math.Abs(f-y[0]) <= 2*l.tol {
		return f, 0
	}
	return f, 1
}

// TestRoundedProximal: a map that its user rounds costs no more than some hundred evaluations
// a count (13 counts matter here), and its moments err as it does itself.
func TestRoundedProximal(t *testing.T) {
	law, cav := resample.Poisson{Ratio: 1}, Cavity{C: 2, Mean: 0.3, Var: 0.5}
	exact, _ := FromProximal(pinball{0.3}).Site([]float64{0.4}, law)
	want := exact.Moments(cav)
	for _, tol := range []float64{1e-12, 1e-9, 1e-7} {
		calls := 0
		s, _ := FromProximal(bisected{pinball{0.3}, tol, &calls}).Site([]float64{0.4}, law)
		got := s.Moments(cav)
		if calls > 2500 {
			t.Errorf("rounded to %g: %d evaluations", tol, calls)
		}
		if e := 10*tol + 1e-9; math.Abs(got.Mean-want.Mean) > e || math.Abs(got.Var-want.Var) > e ||
			math.Abs(got.Response-want.Response) > e {
			t.Errorf("rounded to %g: %+v, exactly %+v", tol, got, want)
		}
	}
}

// TestStraightDerivatives: a user's loss whose derivative is straight between breakpoints is
// the loss of the catalogue that it copies, to rounding; one that bends is not taken for it.
func TestStraightDerivatives(t *testing.T) {
	law, cav := resample.Poisson{Ratio: 1}, Cavity{C: 0.8, Mean: 1.4, Var: 1.5}
	half, _ := FromProximal(knownPinball{pinball{0.5}}).Site([]float64{0.7, 0.2}, law)
	absolute, _ := LeastAbsolute{C: 0.5}.Site([]float64{0.7, 0.2}, law)
	if got, want := half.Moments(cav), absolute.Moments(cav); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, straight := half.(*piecewiseSite); !straight {
		t.Errorf("a pinball's site is a %T", half)
	}
	bent, _ := FromProximal(bentPinball{knownPinball{pinball{0.5}}}).Site([]float64{0.7}, law)
	if _, smooth := bent.(*smoothSite); !smooth {
		t.Errorf("a bent pinball's site is a %T", bent)
	}
}

// TestStraightMaps: losses that are known by their maps alone, but straight, are those of the
// catalogue that they copy: to rounding, and to its own error where the map is rounded. Search and moves from
// one target to others take some hundred evaluations, averages none. Losses that are not of that kind are
// averaged as before: smooth, of three kinks, a barrier, without a least value.
func TestStraightMaps(t *testing.T) {
	law := resample.Poisson{Ratio: 1}
	calls := 0
	for _, c := range []struct {
		alone Proximal
		like  Loss
		y     []float64
		tol   float64
	}{
		{Hinge{C: 0.7}, Hinge{C: 0.7}, []float64{-1}, 1e-12}, {SquaredHinge{C: 3}, SquaredHinge{C: 3},
			[]float64{1, -1}, 1e-12},
		{EpsInsensitive{2, 0.3}, EpsInsensitive{2, 0.3}, []float64{0.8, 5}, 1e-12}, {Huber{2, 0.4}, Huber{2, 0.4},
			[]float64{-130}, 1e-9},
		{LeastAbsolute{0.5}, LeastAbsolute{0.5}, []float64{1e4}, 1e-6},
		{bisected{pinball{0.5}, 1e-12, &calls}, LeastAbsolute{0.5}, []float64{0.4}, 1e-10},
	} {
		l := FromProximal(struct{ Proximal }{c.alone})
		for _, move := range []float64{0, 1.7, -0.3} {
			y := slices.Clone(c.y)
			if c.y[0] != 1 && c.y[0] != -1 {
				floats.AddConst(move, y)
			}
			got, err := l.Site(y, law)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := c.like.Site(y, law)
			if _, ok := got.(*straightSite); !ok {
				t.Fatalf("%s %v: %T", c.like.Name(), y, got)
			}
			for _, cav := range []Cavity{{2, y[0] - 0.3, 0.6}, {0.1, 0.9 * y[0], 3}} {
				calls = 0
				a, b := got.Moments(cav), want.Moments(cav)
				if calls > 0 {
					t.Errorf("%s: %d evaluations", c.like.Name(), calls)
				}
				if !(math.Abs(a.Mean-b.Mean) <= c.tol && math.Abs(a.Var-b.Var) <= c.tol &&
					math.Abs(a.Response-b.Response) <= c.tol && math.Abs(a.Shrinkage-b.Shrinkage) <= c.tol) {
					t.Errorf("%s %v: %+v, want %+v", c.like.Name(), y, a, b)
				}
			}
			far := Cavity{2, y[0] + 1e3*(1+math.Abs(y[0])), 4}
			if a, b := got.Moments(far), want.Moments(far); math.Abs(a.Mean-b.Mean) > 1e-8*far.Mean ||
				math.Abs(a.Var-b.Var) > 1e-8*(4+b.Var) {
				t.Errorf("%s, far off: %+v, want %+v", c.like.Name(), a, b)
			}
		}
	}
	for _, p := range []Proximal{logCosh{2}, bisected{pinball{0.3}, 1e-8, &calls}, HardMargin{},
		threeKinks{calls: &calls}, Logistic{C: 1}, wavy{}} {
		s, _ := FromProximal(struct{ Proximal }{p}).Site([]float64{1}, law)
		if _, ok := s.(*smoothSite); !ok {
			t.Errorf("%s: %T", p.Name(), s)
		}
	}
}

// threeKinks is the absolute loss with two kinks more, off the target.
type threeKinks struct {
	pinball
	calls *int
}

func (l3 threeKinks) Prox(c, h float64, y, k []float64) (f, slope float64) {
	*l3.calls++
	l := piecewise{[]float64{y[0] - 1, y[0], y[0] + 0.2}, []float64{-2, -1, 1, 1.5}, make([]float64, 4)}
	for i := range l.slopes {
		l.slopes[i] *= k[0]
	}
	return l.prox(c, h)
}

// wavy is a square loss with a little more far from its target.
type wavy struct{ pinball }

func (wavy) Prox(c, h float64, y, k []float64) (f, slope float64) {
	q := k[0] * (1 + 1e-6*math.Tanh(math.Abs(h-y[0])))
	return (c*h + q*y[0]) / (c + q), c / (c + q)
}

// bentPinball bends near its target.
type bentPinball struct{ knownPinball }

func (l bentPinball) Derivatives(f, y float64) (first, second float64) {
	first, _ = l.knownPinball.Derivatives(f, y)
	return first + 1e-3*math.Tanh(f-y), 1e-3 / (math.Cosh(f-y) * math.Cosh(f-y))
}
