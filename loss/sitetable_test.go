package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/resample"

	"pgregory.net/rapid"
)

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

// TestFewShareNothing: sites of few alike, or of losses without tables, are left alone.
func TestFewShareNothing(t *testing.T) {
	var sites []Site
	for i := range minAlike {
		y := []float64{1}
		if i == 0 {
			y = []float64{1, 1}
		}
		for _, l := range []Loss{Logistic{C: 1}, FromSmooth(logCosh{1})} {
			s := testutil.Must(l.Site(y, resample.Poisson{Ratio: 1}))(t)
			sites = append(sites, s)
		}
	}
	Share(sites)
	for _, s := range sites {
		if s.(*smoothSite).table != nil {
			t.Fatalf("targets %v have a table", s.(*smoothSite).targets)
		}
	}
}
