package model_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/batch"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// servants are four goroutines that hold a matrix together. Real ranks are in linalg and cmd/bootbench.
func servants() *dist.Servants { return disttest.NewServants(2, 2, kernel.Unmarshal) }

// answers are all that a solve is read for.
func answers(t *testing.T, m *model.Model, law resample.CountDistribution) map[string][]float64 {
	t.Helper()
	fitted, err := m.FullFit()
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), law, solver.Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != solver.Converged {
		t.Fatalf("%v, residual %g", s.Status, s.Residual)
	}
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
	err = m.Cross(&inputs, func(_ int, rows []float64) error {
		mean, variance, err := s.Predict(rows)
		a["new mean"], a["new variance"] = append(a["new mean"], mean...), append(a["new variance"], variance...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// spreadCases are regression and classification, with and without a fit of its own
// kind to all data, dense and sparse.
func spreadCases(t *testing.T) map[string]model.Spec {
	t.Helper()
	regression := load(t, "synthetic:friedman1,n=80,seed=3")
	sonar := load(t, "sonar")
	sonar = &dataset.Set{Name: "sonar", X: sonar.X.Gather(every(sonar.N(), 3)),
		Y: gather(sonar.Y, every(sonar.N(), 3)), Task: sonar.Task}
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

// agree compares the answers of the exact engine and of a spread one: to 1e-9 of the
// largest value of a vector. Both solves stop at 1e-11, and what is left is
// multiplied by how much the problem amplifies it.
func agree(t *testing.T, want, got map[string][]float64) {
	t.Helper()
	for what := range want {
		largest, worst := 0.0, 0.0
		for i, v := range want[what] {
			largest = math.Max(largest, math.Abs(v))
			worst = math.Max(worst, math.Abs(v-got[what][i]))
		}
		if !(worst <= 1e-9*largest) || len(got[what]) != len(want[what]) {
			t.Errorf("%s is off by %.1e of its largest value", what, worst/largest)
		}
	}
}

// The same fixed points as on the exact engine.
func TestSpreadFindsTheExactFixedPoint(t *testing.T) {
	for name, spec := range spreadCases(t) {
		t.Run(name, func(t *testing.T) {
			law := resample.Poisson{Ratio: 1}
			want := answers(t, build(t, spec), law)
			spec.Storage, spec.Servants, spec.Block = model.ScaLAPACK, servants(), 7
			agree(t, want, answers(t, build(t, spec), law))
		})
	}
}

// refined are estimates from exact resamples, at the sites and at three new inputs. Fits go
// on to 1e-7 of a standard deviation, in double precision.
func refined(t *testing.T, spec model.Spec) map[string][]float64 {
	t.Helper()
	m := build(t, spec)
	scheme := resample.Poisson{Ratio: 1}
	s := need.One(m.Solve(context.Background(), scheme, solver.Settings{}))(t)
	cross := need.One(m.CrossAll(model.Dense(blas64.General(m.Set.X.Gather([]int{3, 8, 1})))))(t)
	r, err := refit.Refine(context.Background(), m, s, scheme, refit.RefineSettings{
		Cross: cross, Resamples: 12, Tests: []loss.Test{loss.SquareTest{}},
		Batch: batch.Settings{Tolerance: 1e-7, MaxIterations: 500},
	})
	if err != nil {
		t.Fatal(err)
	}
	test := r.TestError()
	return map[string][]float64{"left-out error": {test.Error, test.StandardError, test.BaggedError},
		"means": r.Points.Mean, "variances": r.Points.Variance}
}

// refines are the cases that TestSpreadRefines and its like on ranks have.
var refines = []string{"hinge", "merged", "square"}

// agreeRefined compares refined estimates, to some ten times the tolerance of the fits.
func agreeRefined(t *testing.T, want, got map[string][]float64) {
	t.Helper()
	for what := range want {
		if !floats.EqualApprox(want[what], got[what], 3e-6*(1+floats.Norm(want[what], math.Inf(1)))) {
			t.Errorf("%s: %v, want %v", what, got[what], want[what])
		}
	}
}

// Exact resamples around a solution are those of the exact engine.
func TestSpreadRefines(t *testing.T) {
	for _, name := range refines {
		t.Run(name, func(t *testing.T) {
			spec := spreadCases(t)[name]
			want := refined(t, spec)
			spec.Storage, spec.Servants, spec.Block = model.ScaLAPACK, servants(), 7
			agreeRefined(t, want, refined(t, spec))
		})
	}
}

// What cannot be spread is refused with the reason, and so is what needs the whole
// matrix.
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
		"precomputed one":    change(func(s *model.Spec) { s.Kernel = kernel.Spec{Kind: kernel.Precomputed} }),
		"blocks of -1 x -1":  change(func(s *model.Spec) { s.Block = -1 }),
		"kernel poly of": change(func(s *model.Spec) {
			s.Kernel = kernel.Spec{Kind: kernel.Poly, Degree: 400,
				Coef0: 1e300}
		}),
	} {
		if _, err := model.Build(spec); !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is not in: %v", says, err)
		}
	}
	if _, err := model.Build(change(func(s *model.Spec) { s.MaxBytes = 1000 })); !errors.Is(err,
		linalg.ErrMemory) {
		t.Errorf("1000 bytes: %v", err)
	}
	m := build(t, square)
	if _, err := m.Dense(); !errors.Is(err, model.ErrInput) {
		t.Errorf("the whole of a spread matrix: %v", err)
	}
	if _, err := m.NewTrainer(); !errors.Is(err, model.ErrInput) {
		t.Errorf("a trainer on a spread matrix: %v", err)
	}
	if m.TheoryBytes() < 8*int64(m.Sites())*int64(m.Sites()) {
		t.Errorf("%d bytes", m.TheoryBytes())
	}
}

func every(n, step int) (list []int) {
	for i := 0; i < n; i += step {
		list = append(list, i)
	}
	return list
}

func gather(y []float64, list []int) (some []float64) {
	for _, i := range list {
		some = append(some, y[i])
	}
	return some
}
