package loss

import (
	"math"
	"slices"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// The conformance suite holds a Loss to its proximal map (T3), which TestProx holds to Value, and to
// sums over the counts of the single examples. It knows no other closed form, and every loss must pass it.
//
// Its own accuracy: the trapezoid rule over h with step dz = 0.00425 standard
// deviations errs by about dz^2/12 phi(z) times a jump of slope, 6e-7 per
// corner. Hence conformanceTol.
const (
	conformanceTol = 5e-6 // relative to the scale of the case
	gridReach      = 8.5  // standard deviations
	gridCells      = 4000
	gridStep       = 2 * gridReach / gridCells
)

// conformanceCase is one site under one cavity.
type conformanceCase struct {
	name    string
	loss    Loss
	targets []float64
	law     resample.CountDistribution
	cavity  Cavity
}

// conformanceCases lists what TestConformance runs. New losses add theirs.
func conformanceCases() []conformanceCase {
	return []conformanceCase{
		{"eps/one", EpsInsensitive{1, 0.3}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"eps/wide", EpsInsensitive{5, 2}, []float64{0.5}, resample.Multinomial{Size: 12, N: 10},
			Cavity{1.3, -1.9, 0.3}},
		{"eps/two targets", EpsInsensitive{0.7, 0.2}, []float64{1, -0.5}, poisson(0.3),
			Cavity{1.3, 0.2, 0.6}},
		{"absolute/three targets", LeastAbsolute{0.8}, []float64{1, 0.3, -2}, poisson(0.05),
			Cavity{0.9, 0.6, 1.5}},
		{"huber/one", Huber{3, 0.4}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"huber/two targets", Huber{1, 0.5}, []float64{1, -0.5}, poisson(0.3), Cavity{0.6, 0.2, 2}},
		{"hinge2/one", SquaredHinge{C: 1}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"hinge2/conflict", SquaredHinge{C: 0.7}, []float64{1, -1}, poisson(0.3), Cavity{1.3, 0.2, 0.6}},
		{"logistic/one", Logistic{C: 1}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"logistic/wide", Logistic{C: 8}, []float64{-1}, resample.Multinomial{Size: 10, N: 10},
			Cavity{0.3, 3, 40}},
		{"logistic/conflict", Logistic{C: 2}, []float64{1, -1}, poisson(0.2), Cavity{0.8, -0.4, 1.5}},
		{"logistic/weighted", Logistic{1, ClassWeights{4, 0.3}}, []float64{-1}, poisson(1),
			Cavity{2, 0.4, 0.5}},
		{"user/log-cosh", FromSmooth(logCosh{2}), []float64{0.7}, poisson(1), Cavity{0.8, -0.4, 1.5}},
		{"user/pinball", pinballLoss(0.8), []float64{0.7}, poisson(0.3), Cavity{0.8, 1.4, 1.5}},
		{"square/one", Square{0.3}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"square/sharp", Square{0.01}, []float64{-1}, poisson(0.5), Cavity{1.5, 0.7, 0.2}},
		{"square/copies", Square{0.4}, []float64{1, 1}, poisson(0.6), Cavity{1.3, 0.2, 0.6}},
		{"square/multinomial copies", Square{0.4}, []float64{-1, -1}, resample.Multinomial{Size: 3, N: 4},
			Cavity{1.3, 0.2, 0.6}},
		{"square/two targets", Square{0.4}, []float64{1, -1}, poisson(0.6), Cavity{1.3, 0.2, 0.6}},
		{"square/bernoulli", Square{0.5}, []float64{1}, resample.Bernoulli{Rate: 0.7},
			Cavity{0.7, -0.3, 1.1}},
		{"square/folds", Square{0.4}, []float64{1, -1}, resample.KFold{Folds: 5, N: 40},
			Cavity{1.3, 0.2, 0.6}},
		{"square/four targets, subsample", Square{0.4}, []float64{1, -1, 3, 0.5},
			resample.Subsample{Size: 7, N: 10},
			Cavity{1.3, 0.2, 0.6}},
		{"hard/one", HardMargin{}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"hard/inside", HardMargin{}, []float64{-1}, poisson(0.1), Cavity{0.3, 2.5, 1.2}},
		{"hard/wide", HardMargin{}, []float64{-1}, resample.Multinomial{Size: 12, N: 10},
			Cavity{1e-3, 3, 900}},
		{"hard/copies", HardMargin{}, []float64{1, 1}, poisson(0.6), Cavity{1.3, 0.2, 0.6}},
		{"hinge/one", Hinge{C: 1}, []float64{1}, poisson(1), Cavity{2, 0.4, 0.5}},
		{"hinge/flat", Hinge{C: 1e-3}, []float64{-1}, poisson(2), Cavity{0.5, 0.1, 2}},
		{"hinge/beyond", Hinge{C: 1}, []float64{1}, resample.Multinomial{Size: 10, N: 10}, Cavity{2, 6, 1.5}},
		{"hinge/conflict", Hinge{C: 0.7}, []float64{1, -1}, poisson(0.6), Cavity{1.3, 0.2, 0.6}},
		{"hinge/weighted conflict", Hinge{0.7, ClassWeights{0.5, 3}}, []float64{1, -1}, poisson(0.6),
			Cavity{1.3, 0.2, 0.6}},
		{"hard/copies, subsample", HardMargin{}, []float64{1, 1, 1}, resample.Subsample{Size: 7, N: 10},
			Cavity{2, 0.4, 0.5}},
		{"hinge/folds", Hinge{C: 1}, []float64{-1}, resample.KFold{Folds: 5, N: 40}, Cavity{2, 0.4, 0.5}},
		{"hinge/two against one", Hinge{C: 0.5}, []float64{1, -1, 1}, poisson(0.1), Cavity{1, -0.3, 1.1}},
	}
}

func poisson(ratio float64) resample.Poisson { return resample.Poisson{Ratio: ratio} }

// momentsOnly says that the law has the right mean and variance, but only an approximate shape.
func (c conformanceCase) momentsOnly() bool {
	_, square := c.loss.(Square)
	return square && slices.Min(c.targets) < slices.Max(c.targets)
}

// tests are the test losses for the case's targets.
func (c conformanceCase) tests() []Test {
	tests := []Test{SquareTest{}, Absolute{}, SmoothEps{0.1, 0.1}, SmoothEps{0.5, 0.8}, Prediction{}}
	if c.momentsOnly() {
		return tests[:1]
	}
	if !slices.ContainsFunc(c.targets, func(y float64) bool { return math.Abs(y) != 1 }) {
		tests = append(tests, ZeroOne{}, Vote{})
	}
	return tests
}

// smooth says that the site's moments and law are by quadrature.
func (c conformanceCase) smooth() bool {
	switch c.loss.(type) {
	case Logistic, fromSmooth:
		return true
	}
	return false
}

func TestConformance(t *testing.T) {
	for _, c := range conformanceCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			site := testutil.Must(c.loss.Site(c.targets, c.law))(t)
			fields := c.fields(c.targets)
			c.checkMoments(t, site, fields)
			c.checkLaw(t, site, fields)
			c.checkLeftOut(t, site)
		})
	}
}

// TestConformanceRefusals: no loss takes a site without targets or targets that
// are not numbers.
func TestConformanceRefusals(t *testing.T) {
	for _, c := range conformanceCases() {
		for _, y := range [][]float64{nil, {math.NaN()}, {1, math.Inf(1)}} {
			if _, err := c.loss.Site(y, c.law); err == nil {
				t.Errorf("%s: targets %v pass", c.name, y)
			}
		}
	}
}

// scale is the size of the numbers that a case deals with.
func (c conformanceCase) scale() float64 {
	scale := math.Sqrt(c.cavity.Var)
	for _, y := range c.targets {
		scale = math.Max(scale, math.Abs(c.cavity.Mean-y))
	}
	return scale
}

// near fails unless got and want agree to the suite's tolerance, for a quantity
// that scales as the given power of the case's scale.
func (c conformanceCase) near(t *testing.T, what string, got, want float64, power float64) {
	t.Helper()
	if tol := conformanceTol * math.Pow(c.scale(), power); !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: got %.10g, brute force %.10g (tolerance %g)", what, got, want, tol)
	}
}

// checkMoments compares mean, variance and keep = E f_k'(h) = 1 - pull (T4).
func (c conformanceCase) checkMoments(t *testing.T, site Site, fields []field) {
	got := site.Moments(c.cavity)
	mean, slope := 0.0, 0.0
	for _, f := range fields {
		mean += f.p * f.expect(func(x float64) float64 { return x })
		slope += f.p * f.slope(c.cavity)
	}
	variance := 0.0
	for _, f := range fields {
		variance += f.p * f.expect(func(x float64) float64 { return (x - mean) * (x - mean) })
	}
	c.near(t, "mean", got.Mean, mean, 1)
	c.near(t, "variance", got.Var, variance, 2)
	c.near(t, "keep", got.Response, slope, 0)
	c.near(t, "pull", got.Shrinkage, 1-slope, 0)
	if !(got.Shrinkage >= 0 && got.Shrinkage <= 1 && got.Response > 0 && got.Response <= 1+1e-15 &&
		got.Var >= 0) {
		t.Errorf("moments out of range: %+v", got)
	}
}

// checkLaw compares the law's own moments with Moments, closely, and its distribution function with brute
// force, its density with the slope of that, and its quantiles with the inverse, away from atoms.
func (c conformanceCase) checkLaw(t *testing.T, site Site, fields []field) {
	law, m := site.Distribution(c.cavity), site.Moments(c.cavity)
	scale, tol := c.scale(), 1e-11
	if c.smooth() {
		tol = 1e-7 // of the curves
	}
	if mass := law.Prob(math.Inf(-1), math.Inf(1)); math.Abs(mass-1) > 1e-12 {
		t.Errorf("law has mass %.15g", mass)
	}
	if math.Abs(law.Mean()-m.Mean) > tol*scale || math.Abs(law.Var()-m.Var) > tol*scale*scale {
		t.Errorf("law has mean %g, variance %g; moments say %+v", law.Mean(), law.Var(), m)
	}
	if c.momentsOnly() {
		return
	}
	for z := -3.37; z < 3.5; z += 0.741 {
		x := m.Mean + z*math.Sqrt(m.Var)
		for _, at := range law.atoms {
			if math.Abs(at-x) < 1e-4 {
				x = at + 1e-4
			}
		}
		want := 0.0
		for _, f := range fields {
			want += f.p * f.cdf(x)
		}
		if got := law.CDF(x); !(math.Abs(got-want) <= 1e-7) { // f drops choices of probability 1e-8
			t.Errorf("distribution function at %g: %g, by bisection %g", x, got, want)
		}
		if slices.ContainsFunc(law.atoms, func(at float64) bool { return math.Abs(at-x) < 0.01 }) {
			continue
		}
		const h = 1e-4
		if v := law.Prob(x-h, x+h) / (2 * h); math.Abs(law.Density(x)-v) > 1e-4*(1+v) {
			t.Errorf("density(%g) = %g, slope of the mass %g", x, law.Density(x), v)
		}
		if q := law.CDF(x); q > 1e-6 && q < 1-1e-6 {
			if at := law.Quantile(q); law.CDF(at) < q-1e-12 || law.CDF(at-1e-7*scale) >= q+1e-12 {
				t.Errorf("quantile(%g) = %g for %g", q, at, x)
			}
		}
	}
}

// checkLeftOut compares every copy's left-out loss, by every test loss, with
// the sum over the counts of the other copies.
func (c conformanceCase) checkLeftOut(t *testing.T, site Site) {
	for j, y := range c.targets {
		var others []float64
		others = append(others, c.targets[:j]...)
		others = append(others, c.targets[j+1:]...)
		fields := c.fields(others)
		for _, test := range c.tests() {
			want := 0.0
			for _, f := range fields {
				want += f.p * f.expect(func(x float64) float64 { return test.Value(x, y) })
			}
			power := 1.0
			switch test.(type) {
			case SquareTest:
				power = 2
			case ZeroOne, Vote:
				power = 0
			}
			c.near(t, "left out by "+test.Name(), site.LeftOut(c.cavity, j, test), want, power)
		}
	}
}

// field is the predictor as a function of z = (h - m_c)/sd, and on the grid of z, for one choice of the
// copies' counts, which has probability p.
type field struct {
	p  float64
	f  []float64
	at func(z float64) float64
}

// fields enumerates the counts of examples with targets y, with the proximal map of each over the grid of h.
func (c conformanceCase) fields(y []float64) []field {
	var list []field
	counts := make([]int, len(y))
	one := c.law.Counts(1)
	var visit func(j int, p float64)
	visit = func(j int, p float64) {
		if p < 1e-8 {
			return
		}
		if j == len(y) {
			list = append(list, c.field(p, counts, y))
			return
		}
		for k, q := range one.All() {
			counts[j] = k
			visit(j+1, p*q)
		}
	}
	visit(0, 1)
	return list
}

// field has the proximal map at every h of the grid.
func (c conformanceCase) field(p float64, counts []int, y []float64) field {
	weights := make([]float64, len(y))
	for j, k := range counts {
		weights[j] = float64(k)
	}
	at := func(z float64) float64 {
		h := c.cavity.Mean + math.Sqrt(c.cavity.Var)*z
		if len(y) > 0 {
			h, _ = c.loss.(Proximal).Prox(c.cavity.C, h, y, weights)
		}
		return h
	}
	curve := make([]float64, gridCells+1)
	for i := range curve {
		curve[i] = at(gridAt(i))
	}
	return field{p, curve, at}
}

// gridAt is the i-th point of the grid, in standard deviations.
func gridAt(i int) float64 { return -gridReach + gridStep*float64(i) }

// gridDensity is the density at the points of the grid.
var gridDensity = func() (d [gridCells + 1]float64) {
	for i := range d {
		d[i] = gauss(gridAt(i))
	}
	return d
}()

// expect is E g(f(h)) by the trapezoid rule, with a jump of g inside a cell put
// in its place along the line between the cell's ends.
func (f field) expect(g func(float64) float64) float64 {
	sum := 0.0
	for i, x := range f.f {
		v, z := g(x), gridAt(i)
		sum += v * gridDensity[i]
		if i == len(f.f)-1 {
			break
		}
		next := f.f[i+1]
		if math.Abs(g(next)-v) > 0.5 { // a jump, or merely steep
			lo, hi := 0.0, 1.0
			for range 50 {
				if mid := 0.5 * (lo + hi); math.Abs(g(x+mid*(next-x))-v) > 0.25 {
					hi = mid
				} else {
					lo = mid
				}
			}
			const past = 0x1p-40 // in the very place of the jump g may have a value between
			jump := g(x+(hi+past)*(next-x)) - g(x+lo*(next-x))
			sum += jump * (0.5 - hi) * gauss(z+hi*gridStep)
		}
	}
	return sum * gridStep
}

// slope is E f'(h) by central differences.
func (f field) slope(cav Cavity) float64 {
	sum, dh := 0.0, gridStep*math.Sqrt(cav.Var)
	for i := 1; i < len(f.f)-1; i++ {
		sum += (f.f[i+1] - f.f[i-1]) / (2 * dh) * gridDensity[i]
	}
	return sum * gridStep
}

// cdf is P(f(h) <= x), from the place where f crosses x, by bisection.
func (f field) cdf(x float64) float64 {
	lo, hi := -gridReach, gridReach
	for range 60 {
		if mid := 0.5 * (lo + hi); f.at(mid) <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return 0.5 * math.Erfc(-lo/math.Sqrt2)
}

// gauss is the standard normal density, written out again for the tests.
func gauss(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
