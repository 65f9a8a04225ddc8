package fits_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// coverageCase is a model whose refined estimates are held against many exact resamples.
type coverageCase struct {
	set    string
	loss   loss.Loss
	test   loss.Test
	scheme func(n int) resample.Scheme
}

func bootstrap(int) resample.Scheme { return resample.Poisson{Ratio: 1} }

// coverageCases are 12 models: the ordinary suite has the first.
var coverageCases = []coverageCase{
	{"synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, loss.SquareTest{}, bootstrap},
	{"synthetic:blobs,n=100,seed=1", loss.Hinge{C: 1}, loss.ZeroOne{}, bootstrap},
	{"synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, loss.SquareTest{},
		func(n int) resample.Scheme { return resample.Multinomial{Size: n, N: n} }},
	{"synthetic:friedman1,n=60,seed=2", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, loss.Absolute{}, bootstrap},
	{"synthetic:friedman1,n=100,seed=3", loss.Huber{C: 1, Epsilon: 0.5}, loss.SquareTest{},
		func(n int) resample.Scheme { return resample.Subsample{Size: n / 2, N: n} }},
	{"crabs", loss.Logistic{C: 2}, loss.ZeroOne{}, bootstrap},
	{"crabs", loss.Hinge{C: 1}, loss.ZeroOne{},
		func(n int) resample.Scheme { return resample.Multinomial{Size: n, N: n} }},
	{"sonar", loss.HardMargin{}, loss.ZeroOne{}, bootstrap},
	{"sonar", loss.SquaredHinge{C: 1}, loss.SquareTest{},
		func(int) resample.Scheme { return resample.Bernoulli{Rate: 0.7} }},
	{"synthetic:rings,n=150,seed=2", loss.HardMargin{}, loss.ZeroOne{}, bootstrap},
	{"synthetic:friedman1,n=80,seed=4", loss.Square{Noise: 0.3}, loss.SquareTest{},
		func(n int) resample.Scheme { return resample.KFold{Folds: 5, N: n} }},
	{"synthetic:friedman1,n=120,seed=5", loss.LeastAbsolute{C: 1}, loss.Absolute{},
		func(int) resample.Scheme { return resample.Poisson{Ratio: 2} }},
}

// scores are z-scores of one kind of estimate: against the reference, in units of the
// standard error of the difference.
type scores map[string][]float64

// add takes in estimates at many points.
func (s scores) add(name string, value, se, reference, referenceSE []float64) {
	for i, v := range value {
		z := (v - reference[i]) / math.Hypot(se[i], referenceSE[i])
		if !math.IsNaN(z) && se[i] > 0 {
			s[name] = append(s[name], z)
		}
	}
}

// addLogs takes in estimates of variances, whose logarithms are scored. The reference counts as exact.
func (s scores) addLogs(name string, value, se, reference []float64) {
	for i, v := range value {
		if v > 0 && reference[i] > 0 && se[i] > 0 {
			s[name] = append(s[name], math.Log(v/reference[i])*v/se[i])
		}
	}
}

func (s scores) addAll(r, reference *fits.Averages) {
	s.add("mean", r.Mean, r.MeanSE, reference.Mean, reference.MeanSE)
	s.addLogs("variance", r.Variance, r.VarianceSE, reference.Variance)
	at, of := r.Tests[0], reference.Tests[0]
	one := func(v float64) []float64 { return []float64{v} }
	s.add("left-out", one(at.Error), one(at.SE), one(of.Error), one(of.SE))
	s.add("bagged", one(at.BaggedError), one(at.BaggedSE), one(of.BaggedError), one(of.BaggedSE))
	s.add("examples", at.Examples, at.ExamplesSE, of.Examples, of.ExamplesSE)
}

// covered is the share of the estimates whose 95% interval holds the reference.
func (s scores) covered(name string) float64 {
	within := 0.0
	for _, v := range s[name] {
		if math.Abs(v) <= 1.96 {
			within++
		}
	}
	return within / float64(len(s[name]))
}

func (s scores) String() string {
	text := ""
	for _, name := range []string{"left-out", "mean", "variance", "examples", "bagged"} {
		z := s[name]
		mean, sd := stat.MeanStdDev(z, nil)
		text += fmt.Sprintf("\n  %-10s %6d scores: mean %+.3f, sd %.3f, within 1.96: %.3f", name, len(z),
			mean, sd, s.covered(name))
	}
	return text
}

// TestCoverage holds refined estimates from few resamples against estimates from many plain ones, of another
// seed. Over models and seeds the z-scores of the left-out error and of the points' means have mean 0 and
// standard deviation 1, and 95% intervals cover. The ordinary suite has few models and seeds: with 60
// left-out errors the mean errs by 0.13 and the standard deviation by 0.09, and the bounds are three and a
// half times that. BOOTBENCH_COVERAGE=R takes R resamples and all 12 models with 40 seeds each: errors of
// 0.046 and 0.032, bounds of three times that, and 95% intervals cover 93 to 97%.
func TestCoverage(t *testing.T) {
	cases, seeds, many, resamples, bound := coverageCases[:3], 20, 20000, 200, 3.5/math.Sqrt(60)
	if v := os.Getenv("BOOTBENCH_COVERAGE"); v != "" {
		var err error
		if resamples, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
		cases, seeds, many, bound = coverageCases, 40, 50000, 3/math.Sqrt(480)
	} else if testing.Short() {
		many, resamples = 5000, 140
	}
	all := scores{}
	for number, c := range cases {
		m := build(t, c.set, c.loss, 0.5, 0)
		scheme := c.scheme(len(m.Y))
		s := solve(t, m, scheme, 1e-6)
		settings := by(many, c.test)
		settings.Seed = 1 << 40
		reference := refine(t, m, s, opaque{scheme}, settings).Averages
		own := scores{}
		settings.Resamples = resamples
		if scheme.Period() > 1 {
			settings.Resamples = resamples * scheme.Period()
		}
		gain := 0.0
		for seed := range seeds {
			settings.Seed = uint64(1000*number + seed)
			r := refine(t, m, s, scheme, settings)
			gain += r.Tests[0].EquivalentResamples / float64(r.Resamples) / float64(seeds)
			own.addAll(r.Averages, reference)
			all.addAll(r.Averages, reference)
		}
		t.Logf("%s %s %s, gain %.2f:%v", c.set, c.loss.Name(), scheme.Name(), gain, own)
	}
	t.Logf("all:%v", all)
	for _, name := range []string{"left-out", "mean"} {
		if mean, sd := stat.MeanStdDev(all[name], nil); math.Abs(mean) > bound ||
			math.Abs(sd-1) > bound/math.Sqrt2 {
			t.Errorf("z-scores of %s have mean %.2g and standard deviation %.3g", name, mean, sd)
		}
	}
	if seeds < 40 {
		return
	}
	for _, name := range []string{"left-out", "mean", "variance"} {
		if covered := all.covered(name); !(covered > 0.93 && covered < 0.97) {
			t.Errorf("95%% intervals of the %s cover in %.3g of the cases", name, covered)
		}
	}
}

// firstIterate is F1 at the sites for given counts, straight from T13: the forces of the
// sites' proximal maps at the theory's cavities, and f = G xi.
func firstIterate(s *solver.Solution, l loss.Proximal, y []float64, members [][]int, counts, f []float64) {
	engine, err := s.Engine()
	if err != nil {
		panic(err)
	}
	chi, _ := engine.Diag()
	xi := make([]float64, len(members))
	for i, examples := range members {
		var targets, weights []float64
		for _, e := range examples {
			targets, weights = append(targets, y[e]), append(weights, counts[e])
		}
		c := s.Cavity[i]
		at, _ := l.Prox(c.C, c.Mean, targets, weights)
		xi[i] = c.C*(at-c.Mean) + s.SitePrecision[i]*at
	}
	linalg.MulVecOffDiag(engine, f, xi)
	for i := range f {
		f[i] += chi[i] * xi[i]
	}
}

// TestExpectation compares the moments of the first iterate with those over many draws of the scheme's own
// sampler, over all resamples and over those that leave an example out. z-scores over M points that vary
// together are within 5 for the means and, their distribution being skewed, 6 for the variances.
func TestExpectation(t *testing.T) {
	draws := 8000
	if testing.Short() {
		draws = 2000
	}
	schemes := func(n int) []resample.Scheme {
		return []resample.Scheme{
			resample.Poisson{Ratio: 0.7}, resample.Bernoulli{Rate: 0.6}, resample.Multinomial{Size: n, N: n},
			resample.Subsample{Size: n / 2, N: n}, resample.KFold{Folds: 7, N: n},
		}
	}
	for _, c := range []struct {
		set    string
		loss   loss.Loss
		merged bool
	}{
		{"synthetic:friedman1,n=60,seed=1", loss.Square{Noise: 1}, false},
		{"synthetic:friedman1,n=60,seed=1", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, false},
		{"synthetic:grid,n=60,d=2", loss.Square{Noise: 0.5}, true},
		// joint counts of different targets
		{"synthetic:grid,n=20,d=2", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, true},
		{"synthetic:rings,n=60,seed=1", loss.Hinge{C: 1}, false},
	} {
		m := build(t, c.set, c.loss, 0.5, 0)
		if merged := m.Merged() > 0; merged != c.merged {
			t.Fatalf("%s: merged newInputs: %v", c.set, merged)
		}
		n := len(m.Y)
		members := make([][]int, m.Sites())
		for i, site := range m.Site {
			members[site] = append(members[site], i)
		}
		all := schemes(n)
		if !c.merged {
			all = append(all, designs(t, n)...)
		}
		for _, scheme := range all {
			s := solve(t, m, scheme, 1e-6)
			known := testutil.Must(fits.NewExpectation(fits.Controls{Solution: s,
				Scheme: scheme}))(t)
			_, poisson := scheme.(resample.Poisson)
			_, bernoulli := scheme.(resample.Bernoulli)
			_, designed := scheme.(resample.Designed)
			if has := known.Var != nil; has != (!c.merged && !designed || poisson || bernoulli) {
				t.Errorf("%s %s: the variance is known: %v", c.set, scheme.Name(), has)
			}
			all, absent := newTally(known.Mean), newTally(known.AbsentMean)
			counts, f := make([]float64, n), make([]float64, m.Sites())
			for b := range draws {
				scheme.Draw(11, b, counts)
				firstIterate(s, m.Loss.(loss.Proximal), m.Y, members, counts, f)
				for j, v := range f {
					all.add(j, v)
				}
				for i, k := range counts {
					if k == 0 {
						absent.add(i, f[m.Site[i]])
					}
				}
			}
			name := c.set + " " + m.Loss.Name() + " " + scheme.Name()
			all.check(t, name, known.Var)
			absent.check(t, name+" given absent", known.AbsentVar)
		}
	}
}

// designs draw groups of three and four examples, and within two strata.
func designs(t *testing.T, n int) (all []resample.Scheme) {
	group, stratum := make([]int, n), make([]int, n)
	for i := range group {
		group[i], stratum[i] = i%17, min(i%4, 1)
	}
	for _, c := range []struct {
		name string
		resample.Design
	}{{"poisson", resample.Design{N: n, Group: group}}, {"multinomial", resample.Design{N: n, Group: group}},
		{"subsample", resample.Design{N: n, Stratum: stratum}},
		{"multinomial", resample.Design{N: n, Stratum: stratum}}} {
		all = append(all, testutil.Must(c.Of(c.name, resample.Options{Ratio: 0.8}))(t))
	}
	return all
}

// tally are moments about the expected means.
type tally struct {
	mean, n, m1, m2, m4 []float64
}

func newTally(mean []float64) *tally {
	x := &tally{mean: mean}
	for _, v := range []*[]float64{&x.n, &x.m1, &x.m2, &x.m4} {
		*v = make([]float64, len(mean))
	}
	return x
}

func (x *tally) add(j int, v float64) {
	v -= x.mean[j]
	x.n[j]++
	x.m1[j] += v
	x.m2[j] += v * v
	x.m4[j] += v * v * v * v
}

func (x *tally) check(t *testing.T, name string, variance []float64) {
	t.Helper()
	worst, worst2 := 0.0, 0.0
	for j, n := range x.n {
		m2 := x.m2[j] / n
		if m2 < 1e-18 {
			continue // determined by the absence
		}
		worst = math.Max(worst, math.Abs(x.m1[j]/n)/math.Sqrt(m2/n))
		if variance != nil {
			worst2 = math.Max(worst2, math.Abs(m2-variance[j])/math.Sqrt((x.m4[j]/n-m2*m2)/n))
		}
	}
	if !(worst < 5) || !(worst2 < 6) {
		t.Errorf("%s: z-scores of mean %.2g, of variance %.2g", name, worst, worst2)
	}
}
