package multifidelity_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/multifidelity"
	"bootbench/internal/refit"
	"bootbench/loss"
	"bootbench/resample"
)

// coverageCase is a model whose refined estimates are held against many exact resamples.
type coverageCase struct {
	set    string
	loss   loss.Loss
	test   loss.Test
	scheme func(n int) resample.Scheme
}

func bootstrap(int) resample.Scheme { return resample.Poisson{Ratio: 1} }

// coverageCases are 12 models: the first are those of the ordinary suite.
var coverageCases = []coverageCase{
	{"synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, loss.SquareTest{}, bootstrap},
	{"synthetic:blobs,n=100,seed=1", loss.Hinge{C: 1}, loss.ZeroOne{}, bootstrap},
	{"synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, loss.SquareTest{},
		func(n int) resample.Scheme { return resample.Multinomial{Size: n, N: n} }},
	{"synthetic:friedman1,n=60,seed=2", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, loss.Absolute{}, bootstrap},
	{"synthetic:friedman1,n=100,seed=3", loss.Huber{C: 1, Delta: 0.5}, loss.SquareTest{},
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

// addLogs takes in estimates of variances, whose logarithms are scored. The reference counts
// as exact.
func (s scores) addLogs(name string, value, se, reference []float64) {
	for i, v := range value {
		if v > 0 && reference[i] > 0 && se[i] > 0 {
			s[name] = append(s[name], math.Log(v/reference[i])*v/se[i])
		}
	}
}

func (s scores) addAll(r, reference *multifidelity.Result) {
	s.add("mean", r.Points.Mean, r.Points.MeanSE, reference.Points.Mean, reference.Points.MeanSE)
	s.addLogs("variance", r.Points.Variance, r.Points.VarianceSE, reference.Points.Variance)
	s.add("vote", r.Points.Vote, r.Points.VoteSE, reference.Points.Vote, reference.Points.VoteSE)
	at, of := r.TestError(), reference.TestError()
	one := func(v float64) []float64 { return []float64{v} }
	s.add("left-out", one(at.Error), one(at.StandardError), one(of.Error), one(of.StandardError))
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
	for _, name := range []string{"left-out", "mean", "variance", "covariance", "vote", "examples", "bagged"} {
		z := s[name]
		mean, sd := stat.MeanStdDev(z, nil)
		text += fmt.Sprintf("\n  %-10s %6d scores: mean %+.3f, sd %.3f, within 1.96: %.3f", name, len(z), mean, sd,
			s.covered(name))
	}
	return text
}

// TestCoverage holds refined estimates from few resamples against those of many plain
// ones, of another seed. Over models and seeds the z-scores of the left-out error and of
// the points' means have mean 0 and standard deviation 1, and 95% intervals cover. The
// ordinary suite has few models and seeds: with 60 left-out errors the mean errs by 0.13
// and the standard deviation by 0.09, and the bounds are three and a half times that.
// BOOTBENCH_COVERAGE=R takes R resamples and all 12 models with 40 seeds each: errors of 0.046
// and 0.032, bounds of three times that, and 95% intervals cover 93 to 97%.
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
		m := build(t, c.set, c.loss, 0.5)
		scheme := c.scheme(len(m.Set.Y))
		s := solve(t, m, scheme)
		settings := refit.RefineSettings{Resamples: many, Tests: []loss.Test{c.test}, Plain: true, Seed: 1 << 40}
		reference := refine(t, m, s, scheme, settings)
		own := scores{}
		settings.Resamples, settings.Plain = resamples, false
		if resample.Period(scheme) > 1 {
			settings.Resamples = resamples * resample.Period(scheme)
		}
		gain := 0.0
		for seed := range seeds {
			settings.Seed = uint64(1000*number + seed)
			r := refine(t, m, s, scheme, settings) // of firstFit resamples and more: both ways to fit coefficients
			gain += r.TestError().EquivalentResamples / float64(r.Resamples) / float64(seeds)
			own.addAll(r, reference)
			all.addAll(r, reference)
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

// TestSteady: relative standard errors of the variances from 20 fits come near to each other,
// which alone would scatter by more than their half; those from 2000 fits keep what is their own.
func TestSteady(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5)
	scheme := bootstrap(0)
	s := solve(t, m, scheme)
	scatter := func(resamples int) float64 {
		p := refine(t, m, s, scheme, refit.RefineSettings{Resamples: resamples,
			Tests: []loss.Test{loss.SquareTest{}}, Seed: 3}).Points
		var logs []float64
		for i, v := range p.Variance {
			logs = append(logs, math.Log(p.VarianceSE[i]/v))
		}
		return stat.StdDev(logs, nil)
	}
	if few, many := scatter(20), scatter(2000); few > 0.25 || many < 0.25 {
		t.Errorf("logarithms of relative errors scatter by %.2g from 20 fits, by %.2g from 2000", few, many)
	}
}
