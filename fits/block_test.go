package fits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// specOf is a model of a set: rbf with gamma = gammaD/(number of features), standardised; l nil: the set's
// preset.
func specOf(t testing.TB, name string, l loss.Loss, gammaD, jitter float64) model.Spec {
	t.Helper()
	set := load(t, name)
	spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: gammaD / float64(set.D()),
		Jitter: jitter}, Loss: l}
	if l == nil {
		p, _ := model.PresetFor(set)
		spec.Kernel, spec.Loss, spec.Standardize = p.Kernel, p.Loss, p.Standardize
	}
	return spec
}

func build(t testing.TB, name string, l loss.Loss, gammaD, jitter float64) *model.Model {
	t.Helper()
	return modelOf(t, specOf(t, name, l, gammaD, jitter))
}

// load reads an embedded or synthetic set.
func load(t testing.TB, name string) *dataset.Set {
	t.Helper()
	return testutil.Must(dataset.Load(name, dataset.Options{}))(t)
}

func modelOf(t testing.TB, spec model.Spec) *model.Model {
	t.Helper()
	return testutil.Must(model.Build(t.Context(), spec))(t)
}

func solve(t testing.TB, m *model.Model, law resample.CountDistribution, tol float64) *solver.Solution {
	t.Helper()
	return testutil.Must(m.Solve(context.Background(), law, solver.Settings{Tolerance: tol}))(t)
}

// converge solves and insists on it.
func converge(t testing.TB, m *model.Model) *solver.Solution {
	t.Helper()
	s := solve(t, m, law, 0)
	if s.Status != solver.Converged {
		t.Fatalf("%v, residual %g", s.Status, s.Residual)
	}
	return s
}

// trainAll gives the predictions of resamples by batch training, around no theory by the exact trainers.
func trainAll(t *testing.T, m *model.Model, s *solver.Solution, scheme resample.Scheme, cross blas64.General,
	settings fits.Settings, how fits.BlockSettings) (all [][]float64, stats fits.BlockStats) {
	t.Helper()
	settings.OnFit = func(_ int, _, f []float64) { all = append(all, slices.Clone(f)) }
	full := model.RetrainSettings{Settings: settings, Seed: 7, Cross: cross, Batch: how}
	if s == nil {
		testutil.Must(model.Retrain(t.Context(), m, model.Single, scheme, full))(t)
		return all, stats
	}
	stats = testutil.Must(model.RetrainAround(t.Context(), m, s, scheme, full))(t).Batch
	return all, stats
}

// farthest is the largest difference between fits in standard deviations sd; entries beyond
// its length count as the last.
func farthest(a, b [][]float64, sd []float64) float64 {
	worst := 0.0
	for i := range a {
		for j := range b[i] {
			worst = math.Max(worst, math.Abs(a[i][j]-b[i][j])/sd[min(j, len(sd)-1)])
		}
	}
	return worst
}

func deviations(s *solver.Solution) []float64 {
	sd := make([]float64, len(s.Var))
	for i, v := range s.Var {
		sd[i] = math.Sqrt(v)
	}
	return sd
}

// blockCell is a model whose fits in blocks are compared with fits one by one.
type blockCell struct {
	model.Spec
	scheme    func(n int) resample.Scheme // nil: the bootstrap
	tolerance float64                     // in standard deviations of the predictor
}

// blockCells are losses, schemes, jitter, merged inputs, a low-rank matrix, and on embedded sets a bias that
// carries much, since the kernel is narrow, and class weights.
func blockCells(t *testing.T) (cells []blockCell) {
	t.Helper()
	add := func(tolerance float64, set string, l loss.Loss, change func(c *blockCell)) {
		c := blockCell{Spec: specOf(t, set, l, 0.5, 0), tolerance: tolerance}
		if change != nil {
			change(&c)
		}
		cells = append(cells, c)
	}
	const friedman = "synthetic:friedman1,n=150,seed=1"
	add(1e-5, "boston", nil, nil)
	add(2e-2, "sonar", nil, nil)
	add(2e-2, "sonar", loss.Hinge{C: 1}, nil)
	add(5e-2, "wisconsin", loss.Hinge{C: 1}, nil) // labels differ at some inputs
	add(1e-4, "sonar", loss.SquaredHinge{C: 1}, func(c *blockCell) { c.Kernel.Jitter = 0.1 })
	add(1e-3, "sonar", loss.Logistic{C: 2}, nil)
	add(1e-4, friedman, loss.EpsInsensitive{C: 1, Epsilon: 0.3}, nil)
	add(1e-4, friedman, loss.Huber{C: 1, Epsilon: 0.5}, nil)
	add(1e-4, friedman, loss.LeastAbsolute{C: 1}, nil)
	add(1e-4, friedman, loss.Square{Noise: 1}, func(c *blockCell) {
		c.Kernel.Gamma, c.Storage, c.RankTol = 0.02, model.LowRank, 1e-9
	})
	// most inputs repeat, with targets of their own
	add(1e-5, "synthetic:grid,n=300,d=2", loss.Square{Noise: 0.5}, nil)
	add(1e-4, "synthetic:grid,n=60,d=2", loss.Huber{C: 1, Epsilon: 0.5}, nil)
	add(1e-5, "boston", nil, func(c *blockCell) {
		c.scheme = func(n int) resample.Scheme { return resample.Multinomial{Size: n / 2, N: n} }
	})
	for _, scheme := range []func(n int) resample.Scheme{
		func(n int) resample.Scheme { return resample.KFold{Folds: 5, N: n} },
		func(n int) resample.Scheme { return resample.Subsample{Size: n / 3, N: n} }} {
		add(1e-3, "sonar", loss.Logistic{C: 2}, func(c *blockCell) { c.scheme = scheme })
	}
	weights := func(c *blockCell) { // of any size, as along a path of C
		c.scheme = func(n int) resample.Scheme { return resample.Bayesian{N: n, Shape: 0.4} }
	}
	add(2e-2, "sonar", loss.Hinge{C: 1}, weights)
	add(1e-3, "crabs", loss.Logistic{C: 1}, weights)
	add(1e-5, "boston", nil, weights)
	for _, l := range []loss.Loss{loss.Square{Noise: 10}, loss.Huber{C: 0.1, Epsilon: 3},
		loss.EpsInsensitive{C: 0.3, Epsilon: 1}} {
		add(1e-3, "boston", l, func(c *blockCell) {
			c.Set, c.Kernel, c.Bias = c.Set.Head(120), kernel.Spec{Gamma: 0.1, Amplitude: 30}, true
		})
	}
	w := loss.ClassWeights{Negative: 0.6, Positive: 2}
	for l, tolerance := range map[loss.Loss]float64{loss.Hinge{C: 0.5}: 5e-2, loss.SquaredHinge{C: 1}: 1e-3,
		loss.Logistic{C: 1}: 1e-3, loss.Hinge{C: 0.5, ClassWeights: w}: 5e-2,
		loss.SquaredHinge{C: 0.5, ClassWeights: w}: 1e-3, loss.Logistic{C: 1, ClassWeights: w}: 1e-3} {
		add(tolerance, "crabs", l, func(c *blockCell) { c.Kernel.Gamma, c.Bias = 0.3, true })
	}
	return cells
}

// TestBlocksAreSingleFits: to a residual of 1e-7 standard deviations fits in blocks, around a rough theory,
// are the exact trainers': at the sites, at a new input between two of them, and at one that repeats
// a training input. They differ by the trainers' own tolerance: package gp solves to rounding, erm to a gap
// of 1e-10 of the objective, some 1e-4 of a standard deviation, svm to 1e-3 of the margin, some 1e-2.
func TestBlocksAreSingleFits(t *testing.T) {
	for number, c := range blockCells(t) {
		t.Run(fmt.Sprintf("%d/%s/%s/bias=%t", number, c.Set.Name, c.Loss.Name(), c.Bias), func(t *testing.T) {
			m, scheme := modelOf(t, c.Spec), resample.Scheme(law)
			if c.scheme != nil {
				scheme = c.scheme(m.Set.N())
			}
			settings, cross := fits.Settings{Resamples: 20}, threeInputs(t, m)
			s := solve(t, m, scheme, 1e-2)
			got, stats := trainAll(t, m, s, scheme, cross, settings, fits.BlockSettings{Tolerance: 1e-7,
				MaxIterations: 400})
			want, _ := trainAll(t, m, nil, scheme, cross, settings, fits.BlockSettings{})
			if len(got) != len(want) || stats.Exact > 0 {
				t.Fatalf("%d of %d fits, %+v", len(got), len(want), stats)
			}
			sd := deviations(s)
			if e := farthest(got, want, sd); !(e <= c.tolerance) {
				t.Errorf("fits differ by %.1e standard deviations", e)
			}
			for _, f := range got {
				site := m.Site[7] // new inputs have no jitter
				if v := f[len(f)-1]; c.Kernel.Jitter == 0 && math.Abs(v-f[site]) > 1e-4*sd[site] {
					t.Errorf("a new input %v, its site %v", v, f[site])
				}
			}
		})
	}
}

// TestResidualBoundsError: where the residual is 1e-3 of a standard deviation, fits differ
// from fits of a residual of 1e-8 by a few times as much: the factor is the norm of the
// inverse of the iteration's derivative, largest for hard margins with broad kernels.
func TestResidualBoundsError(t *testing.T) {
	for _, c := range []struct {
		set    string
		factor float64
	}{{"boston", 60}, {"sonar", 10}, {"crabs", 50}} {
		m := build(t, c.set, nil, 0, 0)
		scheme := resample.Poisson{Ratio: 1}
		s := solve(t, m, scheme, 1e-6)
		settings := fits.Settings{Resamples: 50}
		loose, _ := trainAll(t, m, s, scheme, blas64.General{}, settings, fits.BlockSettings{})
		tight, _ := trainAll(t, m, s, scheme, blas64.General{}, settings, fits.BlockSettings{Tolerance: 1e-8,
			MaxIterations: 1000})
		if e := farthest(loose, tight, deviations(s)); !(e <= c.factor*fits.DefaultBlockTolerance) {
			t.Errorf("%s: fits of residual %g err by %.1e standard deviations", c.set,
				fits.DefaultBlockTolerance, e)
		}
	}
}

// TestSameBits: fits are the same to the last bit for any number of workers, and where the fits of some
// blocks, or of parts of blocks, are recalled; a run over fewer resamples has the same whole blocks.
func TestSameBits(t *testing.T) {
	for _, c := range []struct {
		set  string
		loss loss.Loss
	}{{"sonar", loss.Hinge{C: 1}}, {"boston", nil}} {
		m := build(t, c.set, c.loss, 0.5, 0)
		scheme := resample.Poisson{Ratio: 1}
		s := solve(t, m, scheme, 1e-4)
		const resamples = 200
		settings := fits.Settings{Resamples: resamples, Workers: 1}
		how := fits.BlockSettings{FirstIterate: true}
		want, _ := trainAll(t, m, s, scheme, blas64.General{}, settings, how)
		equal := func(what string, count int, settings fits.Settings) {
			t.Helper()
			got, _ := trainAll(t, m, s, scheme, blas64.General{}, settings, how)
			for b := range count {
				if !slices.Equal(got[b], want[b]) {
					t.Fatalf("%s, %s: resample %d differs", m.Set.Name, what, b)
				}
			}
		}
		for _, workers := range []int{2, 3} {
			settings.Workers = workers
			equal(fmt.Sprintf("%d workers", workers), resamples, settings)
		}
		known := map[string]func(b int) bool{
			"all": func(int) bool { return true }, "two blocks": func(b int) bool { return b < 128 },
			"half a block": func(b int) bool { return b < 96 }, "some": func(b int) bool { return b%3 > 0 },
		}
		for what, knows := range known {
			settings.Memory = testutil.Recall(func(b int, f []float64) (bool, error) {
				if knows(b) {
					copy(f, want[b])
				}
				return knows(b), nil
			})
			equal(what, resamples, settings)
		}
		settings.Memory, settings.Resamples = nil, 130
		equal("a shorter run", 128, settings)
		settings.First, settings.Resamples = 100, 100
		got, _ := trainAll(t, m, s, scheme, blas64.General{}, settings, how)
		if !slices.Equal(got[28], want[128]) || !slices.Equal(got[91], want[191]) {
			t.Errorf("%s: blocks do not begin where they begin in a run from 0 on", m.Set.Name)
		}
	}
}

// TestFirstIterate: it is that of the theory (T13), also of a fit that is known, and that fit is left as it
// is.
func TestFirstIterate(t *testing.T) {
	m := build(t, "boston", nil, 0, 0)
	s := solve(t, m, law, 1e-6)
	trainer, _ := testutil.Must2(model.NewBatch(t.Context(), m, s,
		model.RetrainSettings{Batch: fits.BlockSettings{Tolerance: 1e-6, FirstIterate: true}}))(t)
	const mark = 7.5
	n, all := m.Sites(), make([]fits.Fit, 3)
	for b := range all {
		all[b] = fits.Fit{Number: b, Weight: make([]float64, n), Target: m.Y,
			F: make([]float64, trainer.Outputs())}
		law.Draw(1, b, all[b].Weight)
		all[b].F[0] = mark
	}
	all[2].Kind = fits.Recalled
	trainer.NewBlock()(t.Context(), all)
	if all[2].F[0] != mark || trainer.Stats().Fits != 2 {
		t.Errorf("a known fit: %v, %+v", all[2].F[0], trainer.Stats())
	}
	members, want := make([][]int, n), make([]float64, n)
	for i := range members {
		members[i] = []int{i}
	}
	for b, fit := range all {
		testutil.Check(t, fit.Err)
		firstIterate(s, m.Loss.(loss.Proximal), m.Y, members, fit.Weight, want)
		for i, v := range want {
			if f := fit.F[n+i]; !(math.Abs(f-v) <= 1e-5*(math.Sqrt(s.Var[i])+math.Abs(v))) {
				t.Fatalf("fit %d, site %d: %v, want %v", b, i, f, v)
			}
		}
	}
}

// TestLeftToExactTrainer: fits that do not reach the tolerance are made by the exact
// trainer, to the last digit.
func TestLeftToExactTrainer(t *testing.T) {
	m := build(t, "crabs", nil, 0, 0)
	scheme := resample.Poisson{Ratio: 1}
	s := solve(t, m, scheme, 1e-6)
	settings := fits.Settings{Resamples: 12}
	got, stats := trainAll(t, m, s, scheme, blas64.General{}, settings, fits.BlockSettings{MaxIterations: 3})
	want, _ := trainAll(t, m, nil, scheme, blas64.General{}, settings, fits.BlockSettings{})
	if e := farthest(got, want, deviations(s)); e != 0 || stats.Exact != 12 {
		t.Errorf("fits differ by %v standard deviations; %+v", e, stats)
	}
}

// undefined is a loss of the user that is no number on one side.
type undefined struct{ loss.Logistic }

func (undefined) Name() string { return "undefined" }

func (l undefined) Derivatives(f, y float64) (first, second float64) {
	if f > 0.1 {
		return math.NaN(), math.NaN()
	}
	wrong := 1 / (1 + math.Exp(y*f))
	return -l.C * y * wrong, l.C * wrong * (1 - wrong)
}

// TestUndefinedLoss: a loss that answers NaN is never called converged: the fit goes to
// the exact trainer, whose error names the resample.
func TestUndefinedLoss(t *testing.T) {
	good := build(t, "sonar", loss.Logistic{C: 1}, 0.5, 0)
	scheme := resample.Poisson{Ratio: 1}
	s := solve(t, good, scheme, 1e-4)
	bad := build(t, "sonar", loss.FromSmooth(undefined{loss.Logistic{C: 1}}), 0.5, 0)
	_, err := model.RetrainAround(context.Background(), bad, s, scheme,
		model.RetrainSettings{Settings: fits.Settings{Resamples: 4}})
	var failed *fits.FitError
	if !errors.As(err, &failed) {
		t.Errorf("the error is %v", err)
	}
}

// TestRefuses: no loss, settings out of range, and a theory whose G is overwritten.
func TestRefuses(t *testing.T) {
	m := build(t, "sonar", loss.Hinge{C: 1}, 0.5, 0)
	stale := solve(t, m, law, 1e-4)
	s := solve(t, m, law, 1e-4)
	for name, c := range map[string]struct {
		s   *solver.Solution
		l   loss.Proximal
		how fits.BlockSettings
	}{"no loss": {s, nil, fits.BlockSettings{}}, "another G": {stale, loss.Hinge{C: 1}, fits.BlockSettings{}},
		"a negative tolerance": {s, loss.Hinge{C: 1}, fits.BlockSettings{Tolerance: -1}}} {
		if _, err := fits.NewBlocks(c.s, c.l, blas64.General{}, nil, c.how); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
