package model_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
	"bootbench/linalg/scalapack/gridtest"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// servants are four goroutines that hold a matrix together. Real ranks are in linalg and cmd/bootbench.
func servants() *scalapack.Servants { return gridtest.NewServants(2, 2, kernel.Unmarshal) }

// answers are all that a solve is read for.
func answers(t *testing.T, m *model.Model, law resample.CountDistribution) map[string][]float64 {
	t.Helper()
	fitted := testutil.Must(m.FullFit(t.Context(), nil))(t)
	s := converge(t, m, law, solver.Settings{Tolerance: 1e-11})
	_, left := s.LeftOut(loss.SquareTest{})
	covariance := make([]float64, s.Sites())
	s.Covariance(covariance, 1)
	a := map[string][]float64{"fitted": fitted, "mean": s.Mean, "variance": s.Var, "left out": left,
		"covariance": covariance}
	for _, c := range s.Cavity {
		a["log c"] = append(a["log c"], math.Log(c.C))
		a["cavity mean"] = append(a["cavity mean"], c.Mean)
		a["cavity variance"] = append(a["cavity variance"], c.Var)
	}
	inputs := dataset.Inputs{X: m.Set.X.Gather([]int{3, 8, 1}), Sparse: nil}
	if m.Set.Sparse != nil {
		inputs = dataset.Inputs{Sparse: m.Set.Sparse.Gather([]int{3, 8, 1})}
	} else {
		for i := range inputs.X.Data {
			inputs.X.Data[i] += 0.25
		}
	}
	a["new mean"], a["new variance"] = predictions(t, m, s, &inputs)
	return a
}

// spreadCases are regression and classification, with and without a fit of its own
// kind to all data, dense and sparse.
func spreadCases(t *testing.T) map[string]model.Spec {
	t.Helper()
	regression := load(t, "synthetic:friedman1,n=80,seed=3")
	sonar := load(t, "sonar").Subset(every(208, 3))
	classes := kernel.Spec{Gamma: 0.5 / float64(sonar.D())}
	sparse, _ := text(t)
	return map[string]model.Spec{
		"sparse": {Set: sparse, Loss: loss.Hinge{C: 1}, Kernel: kernel.Spec{Gamma: 0.7, Jitter: 0.1}},
		"square": {Set: regression, Loss: loss.Square{Noise: 0.5}, Kernel: kernel.Spec{Amplitude: 20,
			Constant: 100}, Standardize: true},
		"merged":  grid(t, 90),
		"hard":    {Set: sonar, Loss: loss.HardMargin{}, Kernel: classes, Standardize: true},
		"hinge":   {Set: sonar, Loss: loss.Hinge{C: 1}, Kernel: classes, Standardize: true},
		"squared": {Set: sonar, Loss: loss.SquaredHinge{C: 2}, Kernel: classes, Standardize: true},
		"insensible": {Set: regression, Loss: loss.EpsInsensitive{C: 1, Epsilon: 0.5},
			Kernel: kernel.Spec{Kind: kernel.Matern32, Amplitude: 20, Constant: 100}, Standardize: true},
	}
}

// refined are estimates from exact resamples, at the sites and at three new inputs. Fits go
// on to 1e-7 of a standard deviation, in double precision.
func refined(t *testing.T, spec model.Spec) map[string][]float64 {
	t.Helper()
	m := build(t, spec)
	scheme := bootstrap
	s := testutil.Must(m.Solve(t.Context(), scheme, solver.Settings{}))(t)
	cross := testutil.Must(m.CrossAll(&dataset.Inputs{X: m.Set.X.Gather([]int{3, 8, 1})}))(t)
	r := testutil.Must(model.Refine(t.Context(), m, s, scheme, model.RefineSettings{
		RetrainSettings: model.RetrainSettings{
			Cross: cross, Settings: fits.Settings{Resamples: 12, Tests: []loss.Test{loss.SquareTest{}}},
			Batch: fits.BlockSettings{Tolerance: 1e-7, MaxIterations: 500},
		}}))(t)
	test := r.Tests[0]
	return map[string][]float64{"left-out error": {test.Error, test.SE, test.BaggedError},
		"means": r.Mean, "variances": r.Variance}
}

// The same fixed points as on the exact engine, to 1e-9 of the largest value, since both solves stop at 1e-11
// and the problem amplifies what is left; and the same exact resamples around them, to some ten times the
// tolerance of the fits.
func TestSpreadIsExact(t *testing.T) {
	for name, spec := range spreadCases(t) {
		t.Run(name, func(t *testing.T) {
			spread := spec
			spread.Storage, spread.Servants, spread.Block = model.ScaLAPACK, servants(), 7
			exact, theirs := answers(t, build(t, spec), bootstrap), answers(t, build(t, spread), bootstrap)
			for what := range exact {
				nearAll(t, what, theirs[what], exact[what], 1e-9)
			}
			if !slices.Contains([]string{"hinge", "merged", "square"}, name) {
				return
			}
			spread.Servants = servants()
			want, got := refined(t, spec), refined(t, spread)
			for what := range want {
				if !floats.EqualApprox(want[what], got[what], 3e-6*(1+floats.Norm(want[what], math.Inf(1)))) {
					t.Errorf("%s: %v, want %v", what, got[what], want[what])
				}
			}
		})
	}
}

// What cannot be spread is refused with the reason, and so is what needs the whole matrix.
func TestSpreadRefuses(t *testing.T) {
	square := grid(t, 40)
	square.Storage, square.Servants = model.ScaLAPACK, servants()
	change := func(f func(s *model.Spec)) model.Spec {
		s := square
		f(&s)
		return s
	}
	for says, spec := range map[string]model.Spec{
		"-tags openblas,mpi": change(func(s *model.Spec) { s.Servants = nil }),
		"precomputed one": change(func(s *model.Spec) {
			s.Kernel = kernel.Spec{Kind: kernel.Precomputed}
		}),
		"blocks of -1 x -1": change(func(s *model.Spec) { s.Block = -1 }),
		"kernel poly of": change(func(s *model.Spec) {
			s.Kernel = kernel.Spec{Kind: kernel.Poly, Degree: 400, Coef0: 1e300}
		}),
	} {
		refused(model.Build(t.Context(), spec))(t, says, model.ErrInput, says)
	}
	refused(model.Build(t.Context(), change(func(s *model.Spec) { s.MaxBytes = 1000 })))(t,
		"1000 bytes", linalg.ErrMemory, "")
	m := build(t, square)
	refused(m.Dense())(t, "the whole of a spread matrix", model.ErrInput, "")
	refused(m.LossTrainers(0))(t, "a trainer on a spread matrix", model.ErrInput, "")
	if m.TheoryBytes() < 8*int64(m.Sites())*int64(m.Sites()) {
		t.Errorf("%d bytes", m.TheoryBytes())
	}
}
