package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// noiseLikelihood is the Gaussian likelihood of a noise variance, by the quadrature of
// log-concave likelihoods.
type noiseLikelihood struct{ Square }

func (noiseLikelihood) Name() string         { return "normal" }
func (l noiseLikelihood) curvature() float64 { return 1 / l.Noise }
func (l noiseLikelihood) derivatives(f, y float64) (first, second float64) {
	return (f - y) / l.Noise, 1 / l.Noise
}
func (l noiseLikelihood) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}
func (l noiseLikelihood) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return newSmoothSite(y, law, posteriorMean(l)), nil
}

// likelihoods with targets they take.
func likelihoods() map[string]struct {
	l       Likelihood
	targets []float64
} {
	return map[string]struct {
		l       Likelihood
		targets []float64
	}{
		"probit": {Probit{}, []float64{1, -1}},
		"logit":  {Logit{}, []float64{-1, 1}},
	}
}

// tilted integrates the density itself by 30-point panels, in steps that see
// the narrowest feature, over where its logarithm is within 45 of its maximum.
func tilted(l Likelihood, c, h float64, y, k []float64, fine float64) (logZ, mean, variance float64) {
	log := func(f float64) float64 {
		v := -0.5*c*(f-h)*(f-h) + 0.5*math.Log(c/(2*math.Pi))
		for j := range y {
			if k[j] > 0 {
				v -= k[j] * l.Value(f, y[j])
			}
		}
		return v
	}
	const cells = 4000
	reach := 12/math.Sqrt(c) + 3
	for _, v := range k {
		reach += 3 * v / c * math.Min(1, math.Sqrt(c)) // labels push that far
	}
	top, lo, hi := math.Inf(-1), math.Inf(1), math.Inf(-1)
	grid := func(visit func(f, v float64)) {
		for i := range cells + 1 {
			f := h + reach*(2*float64(i)/cells-1)
			visit(f, log(f))
		}
		for _, f := range y {
			visit(f, log(f))
		}
	}
	grid(func(_, v float64) { top = math.Max(top, v) })
	grid(func(f, v float64) {
		if v > top-45 {
			lo, hi = math.Min(lo, f-2*reach/cells), math.Max(hi, f+2*reach/cells)
		}
	})
	over := func(g func(f float64) float64) float64 {
		return integral(func(f float64) float64 { return g(f) * math.Exp(log(f)-top) }, lo, hi, fine)
	}
	z := over(func(float64) float64 { return 1 })
	mean = over(func(f float64) float64 { return f }) / z
	variance = over(func(f float64) float64 { return (f - mean) * (f - mean) }) / z
	return top + math.Log(z), mean, variance
}

// TestTiltedWide: under a wide prior a label only cuts the posterior off at 0, which leaves the moments of a
// truncated Gaussian variable.
func TestTiltedWide(t *testing.T) {
	for name, of := range likelihoods() {
		for _, c := range []float64{1e-24, 1e-100} {
			for _, a := range []float64{-4, -0.7, 0, 0.3, 2, 8} {
				y, sd := of.targets, 1/math.Sqrt(c)
				logZ, mean, variance := of.l.TiltedMoments(c, y[0]*a*sd, y, []float64{1, 0})
				mills := distuv.UnitNormal.Prob(a) / distuv.UnitNormal.CDF(a)
				for what, pair := range map[string][2]float64{
					"log Z":    {logZ, math.Log(distuv.UnitNormal.CDF(a))},
					"mean":     {mean, y[0] * (a + mills) * sd},
					"variance": {variance, (1 - mills*(mills+a)) * sd * sd},
				} {
					if math.Abs(pair[0]-pair[1]) > 1e-8*math.Abs(pair[1])+1e-12 {
						t.Errorf("%s, c %g, h at %v: %s %v, want %v", name, c, a, what, pair[0], pair[1])
					}
				}
			}
		}
	}
}

// TestTiltedMoments holds log Z, mean and variance to plain quadrature, within
// the errors that are stated.
func TestTiltedMoments(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for name, c := range likelihoods() {
		for _, precision := range []float64{0.05, 1, 40} {
			for _, h := range []float64{-3, -0.2, 0.5, 4} {
				for _, k := range [][]float64{{1, 0}, {3, 0}, {1, 2}, {9, 0}, {0, 0}} {
					logZ, mean, variance := c.l.TiltedMoments(precision, h, c.targets, k)
					wantZ, wantMean, wantVar := tilted(c.l, precision, h, c.targets, k,
						math.Min(0.4, 1/math.Sqrt(precision)))
					if !(math.Abs(logZ-wantZ) <= 1e-8 && math.Abs(variance/wantVar-1) <= 1e-8 &&
						math.Abs(mean-wantMean) <= 1e-9/math.Sqrt(precision)) {
						t.Errorf("%s c=%g h=%g k=%v: %.12g, %.12g, %.12g; quadrature %.12g, %.12g, %.12g",
							name, precision, h, k, logZ, mean, variance, wantZ, wantMean, wantVar)
					}
				}
			}
		}
	}
}

// TestProbitOnce holds the quadrature to the closed form for one example: Z = Phi(z), z = y h/sqrt(1+1/c),
// and its derivatives.
func TestProbitOnce(t *testing.T) {
	for _, c := range []float64{1e-3, 0.3, 5, 1e3} {
		for _, h := range []float64{-30, -2, 0.1, 6} {
			root := math.Sqrt(1 + 1/c)
			z := -h / root
			r := normal.Hazard(z)
			logZ, mean, variance := Probit{}.TiltedMoments(c, h, []float64{-1}, []float64{1})
			if want := normal.LogCDF(z); math.Abs(logZ-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("c=%g h=%g: log Z %g, want %g", c, h, logZ, want)
			}
			if want := h - r/(c*root); math.Abs(mean-want) > 1e-9/math.Sqrt(c) {
				t.Errorf("c=%g h=%g: mean %g, want %g", c, h, mean, want)
			}
			relative(t, "variance", variance, (1-r*(z+r)/(c+1))/c, 1e-9)
		}
	}
}

// TestLikelihoodExtremes: no parameters make moments that are not numbers.
func TestLikelihoodExtremes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]Likelihood{Probit{}, Logit{}}).Draw(t, "likelihood")
		c := power(t, "log c", -8, 8)
		h := rapid.Float64Range(-1, 1).Draw(t, "h") * power(t, "log h", -2, 3)
		y, k := []float64{1, -1}, []float64{float64(rapid.IntRange(0, 30).Draw(t, "k")),
			float64(rapid.IntRange(0, 2).Draw(t, "k"))}
		logZ, mean, variance := l.TiltedMoments(c, h, y, k)
		if math.IsNaN(logZ+mean+variance) || math.IsInf(logZ+mean+variance, 0) || !(variance > 0) {
			t.Fatalf("%+v c=%g h=%g k=%v: %g, %g, %g", l, c, h, k, logZ, mean, variance)
		}
		if variance*c > 1+1e-8 {
			t.Fatalf("%+v c=%g h=%g k=%v: c var = %g", l, c, h, k, c*variance)
		}
	})
}

// sharing is site after site with the given targets, in one table.
func sharing(t *testing.T, l Loss, law resample.CountDistribution, targets [][]float64) []*smoothSite {
	t.Helper()
	var all []Site
	var sites []*smoothSite
	for range minAlike {
		for _, y := range targets {
			s := testutil.Must(l.Site(y, law))(t)
			all, sites = append(all, s), append(sites, s.(*smoothSite))
		}
	}
	Share(all)
	for _, s := range sites {
		if s.table == nil || s.table != sites[0].table {
			t.Fatalf("%s: targets %v have not the table of %v", l.Name(), s.targets, sites[0].targets)
		}
	}
	return sites
}

// TestSharedTable: sites that mirror or shift each other have one table, and its moments are
// those that each site finds by quadrature of its own. Tolerance: what both are said to
// be exact to, 1e-9 in units of the cavity or the posterior.
func TestSharedTable(t *testing.T) {
	for _, c := range []struct {
		loss    Loss
		ratio   float64
		targets [][]float64
		most    int // cavities in 24 that the table may leave to the site
	}{
		{Logistic{C: 1}, 1, [][]float64{{1}, {-1}}, 8},
		{Logistic{C: 10}, 0.5, [][]float64{{1}, {-1}}, 15},
		{Logistic{C: 1}, 0.5, [][]float64{{1, 1, -1}, {-1, 1, -1}}, 10},
		{Logistic{1, ClassWeights{0.5, 3}}, 1, [][]float64{{1}}, 8},
		{Logistic{1, ClassWeights{0.5, 3}}, 0.5, [][]float64{{1, -1}, {-1, 1}}, 10},
		{Probit{}, 1, [][]float64{{1}, {-1}}, 0},
		{Probit{}, 0.5, [][]float64{{1, 1}, {-1, -1}}, 0},
		{Logit{}, 1, [][]float64{{1}, {-1}}, 5},
	} {
		rng := rand.New(rand.NewPCG(18, 1))
		sites := sharing(t, c.loss, resample.Poisson{Ratio: c.ratio}, c.targets)
		left := 0
		for i := range 24 {
			precision := math.Exp(2 * rng.NormFloat64())
			cav := Cavity{C: precision, Mean: 2 * rng.NormFloat64(),
				Var: logUniform(rng, 0.003, 2) / precision}
			s := sites[i%len(c.targets)]
			got, ok := s.table.moments(cav, s.sign)
			if !ok {
				left++
				continue
			}
			got = got.clamp()
			want := s.moments(cav)
			unit := math.Sqrt(math.Max(cav.Var, want.Var))
			if s.likelihood != nil {
				unit = math.Max(unit, 1/math.Sqrt(cav.C))
			}
			if math.Abs(got.Mean-want.Mean) > 1e-9*unit || math.Abs(got.Var-want.Var) > 1e-9*unit*unit ||
				math.Abs(got.Shrinkage-want.Shrinkage) > 1e-9 || math.Abs(got.Response-want.Response) > 1e-9 {
				t.Errorf("%s %v, %+v: %+v, of its own %+v", c.loss.Name(), s.targets, cav, got, want)
			}
		}
		if left > c.most {
			t.Errorf("%s: the table answers all but %d of 24 cavities", c.loss.Name(), left)
		}
	}
}

// power is 10 to a power at random.
func power(t *rapid.T, what string, lo, hi float64) float64 {
	return math.Pow(10, rapid.Float64Range(lo, hi).Draw(t, what))
}

// TestPosteriors holds the predictor by shared nodes to TiltedMoments, at fields near and far from the
// target. TiltedMoments are within 1e-9; what shared nodes add is weighted by the probability.
func TestPosteriors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom([]concave{Probit{}, Logit{}}).Draw(t, "likelihood")
		y := []float64{1, -1}[:rapid.IntRange(1, 2).Draw(t, "targets")]
		x := newSmoothMixture(posteriorMean(l), y, resample.Poisson{Ratio: power(t, "log nu", -1, 0.3)})
		c := power(t, "log c", -3, 3)
		fields := make([]float64, 5)
		for j := range fields {
			away := rapid.Float64Range(-30, 30).Draw(t, "away") * rapid.Float64Range(0, 1).Draw(t, "far")
			fields[j] = 1 + away/math.Sqrt(c)
		}
		n := len(x.P)
		f, slope := make([]float64, n*len(fields)), make([]float64, n*len(fields))
		x.posteriors(c, fields, f, slope)
		for j, h := range fields {
			off := 0.0
			for i, p := range x.P {
				_, mean, variance := l.TiltedMoments(c, h, x.Targets, x.Row(i))
				off += p * (math.Abs(f[j*n+i]-mean)*math.Sqrt(c) + math.Abs(slope[j*n+i]-c*variance))
			}
			if !(off < 3e-9) {
				t.Fatalf("%s %v, c %g, field %g: the predictors are off by %g", l.Name(), y, c, h, off)
			}
		}
	})
}

// counted counts the posteriors that are integrals by themselves.
type counted struct {
	concave
	calls *int
}

func (l counted) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	*l.calls++
	return l.concave.TiltedMoments(c, h, y, k)
}

// TestSharedNodes: shared nodes do for ordinary cavities: of a thousand posteriors and more few are
// integrals by themselves.
func TestSharedNodes(t *testing.T) {
	for _, l := range []concave{Probit{}, Logit{}} {
		calls := 0
		x := newSmoothMixture(posteriorMean(counted{l, &calls}), []float64{1}, resample.Poisson{Ratio: 1})
		for _, cav := range []Cavity{{2, 0.3, 0.4}, {0.1, -3, 9}, {50, 2, 0.01}} {
			x.moments(cav)
		}
		if calls > 200 {
			t.Errorf("%s took %d integrals by themselves", l.Name(), calls)
		}
	}
}

// TestRowTable: the curves of a distribution are the posterior means.
func TestRowTable(t *testing.T) {
	for _, l := range []concave{Probit{}, Logit{}} {
		x := newSmoothMixture(posteriorMean(l), []float64{1}, resample.Poisson{Ratio: 1})
		for _, c := range []float64{0.1, 1, 20} {
			rows := newRowTable(x, c)
			for i, h := range []float64{-5, -1.2, 0, 0.3, 2, 9} {
				got := rows.at(i, h)
				_, mean, variance := l.TiltedMoments(c, h, x.Targets, x.Row(i))
				if math.Abs(got.f-mean)*math.Sqrt(c) > 1e-8 || math.Abs(got.slope-c*variance) > 1e-7 {
					t.Errorf("%s, c %g, row %d at %g: %+v, want %g, %g",
						l.Name(), c, i, h, got, mean, c*variance)
				}
			}
		}
	}
}

func logUniform(rng *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }
