package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/loss/internal/counts"
	"bootbench/resample"
)

// proximals are the losses known by their maps, with targets they take.
func proximals() map[string]struct {
	loss    Proximal
	targets []float64
} {
	labels, values := []float64{1, -1, 1}, []float64{0.3, -1.2, 2}
	return map[string]struct {
		loss    Proximal
		targets []float64
	}{
		"square":      {Square{0.4}, values},
		"hard":        {HardMargin{}, []float64{-1, -1}},
		"hinge":       {Hinge{C: 0.8}, labels},
		"hinge2":      {SquaredHinge{C: 0.8}, labels},
		"logistic":    {Logistic{C: 1.5}, labels},
		"eps":         {EpsInsensitive{0.8, 0.25}, values},
		"eps without": {EpsInsensitive{0.8, 0}, values},
		"absolute":    {LeastAbsolute{0.8}, values},
		"huber":       {Huber{0.8, 0.5}, values},
	}
}

// TestProx holds every proximal map to golden section on Value alone, which
// finds a minimiser to about 1e-7, and its slope to the central difference of
// the map, off the kinks.
func TestProx(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range proximals() {
		for n := 1; n <= len(c.targets); n++ {
			y := c.targets[:n]
			for range 60 {
				k := make([]float64, n)
				for j := range k {
					k[j] = float64(rng.IntN(4))
				}
				if rng.IntN(4) == 0 {
					k[0] *= 0.37 // weights need not be whole
				}
				curvature, h := math.Exp(2*rng.NormFloat64()), 2*rng.NormFloat64()
				f, slope := c.loss.Prox(curvature, h, y, k)
				objective := func(f float64) float64 {
					v := 0.5 * curvature * (f - h) * (f - h)
					for j := range y {
						if k[j] > 0 {
							v += k[j] * c.loss.Value(f, y[j])
						}
					}
					return v
				}
				want := minimise(objective, append([]float64{h}, y...))
				if !(math.Abs(f-want) <= 3e-6) || objective(f) > objective(want)+1e-14*(1+objective(want)) {
					t.Fatalf("%s c=%g h=%g k=%v: f=%.12g, minimiser %.12g", name, curvature, h, k, f, want)
				}
				const dh = 1e-5
				up, slopeUp := c.loss.Prox(curvature, h+dh, y, k)
				down, slopeDown := c.loss.Prox(curvature, h-dh, y, k)
				if between := (up - down) / (2 * dh); math.Abs(slope-between) > 1e-5 &&
					math.Abs(slopeUp-slopeDown) < 0.01 {
					t.Fatalf("%s c=%g h=%g k=%v: slope %g, difference %g",
						name, curvature, h, k, slope, between)
				}
				if counts.IsEmpty(k) && (f != h || slope != 1) {
					t.Fatalf("%s: without weight f(%g) = %g, slope %g", name, h, f, slope)
				}
			}
		}
	}
}

// minimise brackets the minimum of a convex function, from the best of the
// starts, and refines it.
func minimise(f func(float64) float64, starts []float64) float64 {
	b := starts[0]
	for _, x := range starts {
		if f(x) < f(b) {
			b = x
		}
	}
	step := 1.0
	for f(b-step) < f(b) || f(b+step) < f(b) {
		step *= 2
	}
	return golden(f, b-step, b, b+step)
}

// golden shrinks the bracket a < b < c of a minimum of f by golden section. f
// may be infinite on parts of the bracket, not at b.
func golden(f func(float64) float64, a, b, c float64) float64 {
	const share = 0.381966
	fb := f(b)
	for c-a > 1e-8*(1+math.Abs(b)) {
		if c-b > b-a {
			x := b + share*(c-b)
			if fx := f(x); fx < fb {
				a, b, fb = b, x, fx
			} else {
				c = x
			}
		} else {
			x := b - share*(b-a)
			if fx := f(x); fx < fb {
				c, b, fb = b, x, fx
			} else {
				a = x
			}
		}
	}
	return b
}

func compare(t *testing.T, name string, l Loss, y []float64, law resample.CountDistribution, cav Cavity,
	want Moments, tol float64) {
	t.Helper()
	site := testutil.Must(l.Site(y, law))(t)
	got := site.Moments(cav)
	scale := 1 + math.Sqrt(cav.Var)
	if !(math.Abs(got.Mean-want.Mean) <= tol*scale && math.Abs(got.Var-want.Var) <= tol*scale*scale &&
		math.Abs(got.Response-want.Response) <= tol && math.Abs(got.Shrinkage-want.Shrinkage) <= tol) {
		t.Errorf("%s: %+v, quadrature %+v", name, got, want)
	}
}

// parabola is the square loss as a piecewise one.
type parabola struct{ Square }

func (l parabola) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return newPiecewiseSite(y, law, func(y float64) Piecewise {
		return Piecewise{[]float64{y}, []float64{0, 0}, []float64{1 / l.Noise, 1 / l.Noise}}
	}), nil
}

// TestSquareByEngines: the engines of piecewise losses, of smooth ones and of likelihoods, given the square
// loss, find its closed form (T9), for equal and for different targets, from little to ruling noise; so do
// those of smooth losses, for each count, and of the logistic loss, for all counts together.
func TestSquareByEngines(t *testing.T) {
	law := resample.Poisson{Ratio: 0.8}
	for _, noise := range []float64{1e-9, 0.01, 1, 50, 1e9} {
		for _, y := range [][]float64{{0.7}, {0.7, 0.7}, {0.7, -2}} {
			square := Square{noise}
			slopes := func(f, y float64) (first, second float64) { return (f - y) / noise, 1 / noise }
			for _, cav := range []Cavity{{2, 0.4, 0.5}, {1e-3, -40, 900}, {0.05, -4, 9}, {70, 0.7, 1e-3},
				{7, 0.7, 1e-9}, {1, 0, 0}} {
				want := mustSite(t, noise, y, law).Moments(cav)
				name := fmt.Sprint(" ", noise, y, cav)
				site, _ := parabola{square}.Site(y, law)
				got, scale := site.Moments(cav), math.Abs(cav.Mean)+2
				if math.Abs(got.Mean-want.Mean) > 1e-14*scale ||
					math.Abs(got.Var-want.Var) > 1e-12*want.Var+1e-25*scale*scale {
					t.Errorf("piecewise%s: %+v, closed form %+v", name, got, want)
				}
				relative(t, "keep", got.Response, want.Response, 1e-12)
				relative(t, "pull", got.Shrinkage, want.Shrinkage, 1e-12)
				if noise < 0.01 || noise > 100 || cav.Var == 0 {
					continue
				}
				compare(t, "likelihood"+name, noiseLikelihood{square}, y, law, cav, want, 1e-9)
				compare(t, "smooth"+name, FromSmooth(declared{square, slopes}), y, law, cav, want, 1e-9)
			}
		}
	}
	logistic := Logistic{C: 1.5}
	for _, cav := range []Cavity{{2, 0.4, 0.5}, {0.3, -1.5, 3}, {5, 0.9, 0.02}} {
		for _, y := range [][]float64{{1}, {-1}, {1, 1}} {
			site := testutil.Must(logistic.Site(y, law))(t)
			own := FromSmooth(declared{logistic, logistic.derivatives})
			compare(t, fmt.Sprint("logistic ", y, cav), own, y, law, cav, site.Moments(cav), 1e-9)
		}
	}
}

// TestExtremes: whatever the parameters, moments are numbers in their ranges,
// keep and pull add up, and the law has mass one and their mean.
func TestExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		big := power(t, "log C", -8, 12)
		l := rapid.SampledFrom([]Loss{
			Hinge{C: big}, SquaredHinge{C: big}, Logistic{C: big},
			EpsInsensitive{big, power(t, "log epsilon", -8, 3)},
			LeastAbsolute{big}, Huber{big, power(t, "log delta", -8, 3)}, HardMargin{}, Probit{}, Logit{},
		}).Draw(t, "loss")
		y := []float64{1}
		if l.Name() != "hard" && rapid.Bool().Draw(t, "two") {
			y = []float64{1, -1}
		}
		site := testutil.Must(l.Site(y, resample.Poisson{Ratio: power(t, "log nu", -3, -0.5)}))(t)
		cav := Cavity{C: power(t, "log c", -8, 8), Mean: rapid.Float64Range(-1, 1).Draw(t, "mean") * power(t,
			"log mean", -2, 3)}
		if !rapid.Bool().Draw(t, "point") {
			cav.Var = power(t, "log V", -12, 6)
		}
		m := site.Moments(cav)
		if !(m.Var >= 0 && m.Shrinkage >= 0 && m.Shrinkage <= 1+1e-12 && m.Response >= 0 &&
			m.Response <= 1+1e-12) ||
			math.IsInf(m.Mean+m.Var, 0) || math.IsNaN(m.Mean) || math.Abs(m.Shrinkage+m.Response-1) > 1e-9 {
			t.Fatalf("%+v %v %+v: %+v", l, y, cav, m)
		}
		whole := site.Distribution(cav)
		scale := 1 + math.Abs(cav.Mean) + math.Sqrt(cav.Var)
		if mass := whole.Prob(math.Inf(-1), math.Inf(1)); math.Abs(mass-1) > 1e-8 {
			t.Fatalf("%+v %v %+v: law has mass %.15g", l, y, cav, mass)
		}
		if math.Abs(whole.Mean()-m.Mean) > 1e-7*scale || math.Abs(whole.Var()-m.Var) > 1e-6*scale*scale {
			t.Fatalf("%+v %v %+v: law %.15g, %.15g; moments %+v", l, y, cav, whole.Mean(), whole.Var(), m)
		}
		if left := site.LeftOut(cav, 0, Absolute{}); !(left >= 0) || math.IsInf(left, 0) {
			t.Fatalf("%+v: left-out loss %g", l, left)
		}
	})
}

// TestAbout: the catalogue claims what the losses do. A parameter that a
// loss takes is refused at 0 (epsilon below 0), the others are ignored.
func TestAbout(t *testing.T) {
	good := Parameters{Noise: 0.3, C: 2, Epsilon: 0.1}
	bad := map[string]func(p *Parameters, v float64){
		"noise":   func(p *Parameters, v float64) { p.Noise = v },
		"C":       func(p *Parameters, v float64) { p.C = v },
		"epsilon": func(p *Parameters, v float64) { p.Epsilon = v },
	}
	for _, name := range Names() {
		info, err := About(name)
		if err != nil || info.Name != name || info.Formula == "" {
			t.Fatalf("About(%s) = %+v, %v", name, info, err)
		}
		l, err := ByName(name, good)
		if err != nil || l.Name() != name {
			t.Fatalf("ByName(%s) = %v, %v", name, l, err)
		}
		for parameter, set := range bad {
			for _, v := range []float64{-1, math.NaN(), math.Inf(1), 0} {
				if v == 0 && parameter == "epsilon" {
					continue // a tube may have no width
				}
				p := good
				set(&p, v)
				l, err := ByName(name, p)
				e, _ := find(name)
				if _, alone := e.make(p).Site([]float64{1}, poisson(1)); (alone != nil) != (err != nil) {
					t.Errorf("%s with %s = %g, built by hand: %v", name, parameter, v, alone)
				}
				if slices.Contains(info.Takes, parameter) != (err != nil) {
					t.Errorf("%s with %s = %g: %v", name, parameter, v, err)
				}
				if err != nil && (l != nil || !strings.Contains(strings.ToLower(err.Error()),
					strings.ToLower(parameter))) {
					t.Errorf("%s with %s = %g: %v, %v", name, parameter, v, l, err)
				}
			}
		}
		for _, y := range [][]float64{{1}, {-1}, {0.5}} {
			_, err := l.Site(y, resample.Poisson{Ratio: 1})
			if wants := y[0] == 0.5 && info.Task == Classification; wants != (err != nil) {
				t.Errorf("%s, a loss for %v, at target %g: %v", name, info.Task, y[0], err)
			}
		}
	}
	if l, err := ByName("squared-hinge", good); err != nil || l.Name() != "hinge2" {
		t.Errorf("squared-hinge is %v, %v", l, err)
	}
	if _, err := About("cubic"); err == nil || !strings.Contains(err.Error(), "square, hard, hinge") {
		t.Errorf("unknown name: %v", err)
	}
}

// TestParameterRefusals: losses built by hand refuse at Site what their makers
// refuse.
func TestParameterRefusals(t *testing.T) {
	law := resample.Poisson{Ratio: 1}
	for _, l := range []Loss{Hinge{C: 1e101}, Huber{1, 0}, Square{1e-320}} {
		if _, err := l.Site([]float64{1}, law); err == nil {
			t.Errorf("%T%v takes a site", l, l)
		}
	}
	if _, err := (HardMargin{}).Site([]float64{1, 1, -1}, law); err == nil ||
		!strings.Contains(err.Error(), "opposite labels") {
		t.Errorf("opposite labels: %v", err)
	}
	if _, err := (Hinge{C: 1}).Site([]float64{1, 0.5}, law); err == nil ||
		!strings.Contains(err.Error(), "target 2 of a site is 0.5") {
		t.Errorf("label 0.5: %v", err)
	}
	many := make([]float64, maxTargets+1)
	for i := range many {
		many[i] = float64(i)
	}
	if _, err := (LeastAbsolute{1}).Site(many, law); err == nil || !strings.Contains(err.Error(),
		"201 different targets") {
		t.Errorf("many targets: %v", err)
	}
}

// TestLattice measures the lattice rule for many different targets at one input by the square loss, whose
// moments are known.
func TestLattice(t *testing.T) {
	cav, law := Cavity{1.5, 0.2, 0.3}, resample.Poisson{Ratio: 0.5}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{6, 12, 60} {
		y := make([]float64, n)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		site := testutil.Must(parabola{Square{0.7}}.Site(y, law))(t)
		got, want := site.Moments(cav), mustSite(t, 0.7, y, law).Moments(cav)
		if sd := math.Sqrt(want.Var); math.Abs(got.Mean-want.Mean) > 0.01*sd ||
			math.Abs(got.Var/want.Var-1) > 0.04 || math.Abs(got.Shrinkage-want.Shrinkage) > 5e-3 {
			t.Errorf("%d targets: lattice %+v, exact %+v", n, got, want)
		}
	}
}

// declared is a loss of the catalogue as one of the user.
type declared struct {
	Loss
	derivatives
}

func (l declared) Value(f, y float64) float64 { return l.Loss.Value(f, y) }

func (l declared) Derivatives(f, y float64) (first, second float64) { return l.derivatives(f, y) }

// TestAllocations: what a sweep calls at every site does not allocate.
func TestAllocations(t *testing.T) {
	sink := 0.0
	for _, c := range []struct {
		l Loss
		y []float64
	}{
		{HardMargin{}, []float64{1}}, {Hinge{C: 1}, []float64{1}}, {Hinge{C: 1}, []float64{1, -1}},
		{Square{0.5}, []float64{1, 2}},
	} {
		site := testutil.Must(c.l.Site(c.y, resample.Poisson{Ratio: 1}))(t)
		if n := testing.AllocsPerRun(100, func() { sink += site.Moments(Cavity{1.5, 0.2, 1}).Var }); n != 0 {
			t.Errorf("%s: %g allocations per sweep of one site", c.l.Name(), n)
		}
	}
}

// TestFarProx holds the maps of smooth losses to bisection of the objective's derivative where Newton's
// method alone cycles between flat parts or leaves the bracket, and where the bracket is widest: costs to
// 1e100 beside small precisions of the cavity.
func TestFarProx(t *testing.T) {
	y := []float64{1, -1}
	check := func(l Proximal, d derivatives, cost, c, h float64, k []float64) {
		f, _ := l.Prox(c, h, y, k)
		lo, hi := h-3*cost/c, h+3*cost/c // no derivative is above the cost
		for range 2000 {
			mid := lo + 0.5*(hi-lo)
			if push, _ := d.push(c, mid, y, k); mid-h+push > 0 {
				hi = mid
			} else {
				lo = mid
			}
		}
		if !(math.Abs(f-lo) <= 1e-12*(1+math.Abs(h)+math.Abs(lo))) {
			t.Errorf("%T of cost %g, c=%g h=%g k=%v: %.17g, by bisection %.17g", l, cost, c, h, k, f, lo)
		}
	}
	for _, cost := range []float64{1e-6, 1, 1e3, 1e8, 1e20, 1e100} {
		for _, h := range []float64{-1e5, -700, -20, -1, 0, 0.3, 30, 1e3} {
			for _, k := range [][]float64{{1, 0}, {0, 3}, {2, 1}} {
				for _, c := range []float64{1e-8, 1e-3, 1, 1e4} {
					check(Logistic{C: cost}, Logistic{C: cost}.derivatives, cost, c, h, k)
					check(FromSmooth(logCosh{cost}), logCosh{cost}.Derivatives, cost, c, h, k)
				}
			}
		}
	}
}

// TestProxEach: the map of many sites is the map of each by itself (Proximal.Prox), to
// rounding, for counts 0 to 5, fields on both sides of every bend and curvatures over
// decades; and without a weight it is h.
func TestProxEach(t *testing.T) {
	losses := []Proximal{
		Square{Noise: 0.3}, HardMargin{}, Hinge{C: 0.7}, SquaredHinge{C: 2}, Logistic{C: 3}, Logistic{C: 1e4},
		EpsInsensitive{C: 0.5, Epsilon: 0.2}, EpsInsensitive{C: 0.5}, LeastAbsolute{C: 1.5},
		Huber{C: 2, Epsilon: 0.4}, pinballLoss(0.3), FromSmooth(logCosh{2}),
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	c, h, y, k, f := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, n)
	for i := range n {
		c[i], h[i], k[i] = math.Exp(6*rng.NormFloat64()), 3*rng.NormFloat64(), float64(rng.IntN(6))
		y[i] = float64(2*rng.IntN(2) - 1)
	}
	for _, l := range losses {
		ProxEach(l, f, c, h, y, k)
		for i := range n {
			want, _ := l.Prox(c[i], h[i], y[i:i+1], k[i:i+1])
			if k[i] == 0 {
				want = h[i]
			}
			if !(math.Abs(f[i]-want) <= 1e-12*(1+math.Abs(want)+math.Abs(h[i]))) {
				t.Fatalf("%s: c %v, h %v, y %v, k %v: f is %v, want %v",
					l.Name(), c[i], h[i], y[i], k[i], f[i], want)
			}
		}
		near := append([]float64(nil), f...) // a good guess and a bad one do not matter
		for i := range n {
			if f[i] += 0.1; i%2 == 0 {
				f[i] = 20 * rng.NormFloat64()
			}
		}
		ProxEach(l, f, c, h, y, k)
		for i := range n {
			if !(math.Abs(f[i]-near[i]) <= 1e-12*(1+math.Abs(near[i])+math.Abs(h[i]))) {
				t.Fatalf("%s: %v from a guess, %v without", l.Name(), f[i], near[i])
			}
		}
		copy(f, h) // dst may be h
		ProxEach(l, f, c, f, y, k)
		if want, _ := l.Prox(c[0], h[0], y[:1],
			k[:1]); math.Abs(f[0]-want) > 1e-12*(1+math.Abs(want)+math.Abs(h[0])) {
			t.Errorf("%s in place: %v, want %v", l.Name(), f[0], want)
		}
	}
}

// TestTraits: the traits of the losses of the catalogue and of the test losses are what their values say. A
// quadratic one quadruples where residuals double and change sign; values of a loss of degree d grow by 2^d
// where predictions, targets and thresholds double; a margin loss is 0 from y f = 1 on and has slope -C y
// before.
func TestTraits(t *testing.T) {
	for _, name := range Names() {
		l := testutil.Must(ByName(name, Parameters{Noise: 0.7, C: 1.5, Epsilon: 0.25}))(t)
		wide := testutil.Must(ByName(name, Parameters{Noise: 0.7, C: 1.5, Epsilon: 0.5}))(t)
		is, about := TraitsOf(l), testutil.Must(About(name))(t)
		quadratic, degree, margin := true, 0, about.Task == Classification
		for d := 1; d <= 2; d++ {
			if f := math.Exp2(float64(d)); about.Task != Classification &&
				wide.Value(2, -4) == f*l.Value(1, -2) && wide.Value(0.25, 0.5) == f*l.Value(0.125, 0.25) {
				degree = d
			}
		}
		for _, f := range []float64{-3, -0.25, 0.1, 0.8, 1, 7} {
			quadratic = quadratic && math.Abs(l.Value(1+2*f, 1)-4*l.Value(1-f, 1)) < 1e-12
			slack := 0.0
			if f < 1 {
				slack = is.C * (1 - f)
			}
			margin = margin && math.Abs(l.Value(f, 1)-slack) < 1e-12 || margin && math.IsInf(slack, 1) &&
				math.IsInf(l.Value(f, 1), 1)
		}
		_, proximal := l.(Proximal)
		if is.Quadratic != quadratic || is.Degree != degree || is.Margin != margin || is.Steps ||
			is.Dense != math.IsInf(is.C, 1) || (is.Proximal != nil) != proximal ||
			is.Quadratic && is.Noise != 0.7 {
			t.Errorf("%s: %+v, by its values quadratic %t, degree %d, margin %t, proximal %t", name, is,
				quadratic, degree, margin, proximal)
		}
	}
	for _, name := range TestNames() {
		l := testutil.Must(TestByName(name))(t)
		is, values := TraitsOf(l), map[float64]bool{}
		for f := -3.0; f <= 3; f += 0.25 {
			values[l.Value(f, 1)] = true
		}
		delete(values, 0)
		delete(values, 0.5)
		delete(values, 1)
		if is.Steps != (len(values) == 0) || is.Quadratic != (l.Value(-7, 1) == 4*l.Value(-3, 1)) {
			t.Errorf("%s: %+v", name, is)
		}
	}
}

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
