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
	"bootbench/linalg/scalapack"
	"bootbench/linalg/scalapack/gridtest"
	"bootbench/loss"
	"bootbench/solver"
)

// servants are four goroutines that hold a matrix together. Real ranks are in linalg and cmd/bootbench.
func servants() *scalapack.Servants { return gridtest.NewServants(2, 2, kernel.Unmarshal) }

// answers are all that a solve is read for.
func answers(t *testing.T, m *model.Model) map[string][]float64 {
	t.Helper()
	fitted := testutil.Must(m.FullFit(t.Context(), nil))(t)
	s := converge(t, m, bootstrap, solver.Settings{Tolerance: 1e-11})
	_, left := s.LeftOut(loss.SquareTest{})
	covariance := make([]float64, s.Sites())
	s.Covariance(covariance, 1)
	a := map[string][]float64{"fitted": fitted, "mean": s.Mean, "variance": s.Var, "left out": left,
		"covariance": covariance}
	inputs := m.Set.Subset([]int{3, 8, 1})
	for i := range inputs.X.Data {
		inputs.X.Data[i] += 0.25
	}
	a["new mean"], a["new variance"] = predictions(t, m, s, inputs)
	return a
}

// refined are estimates from exact resamples, at the sites and at three new inputs. Fits go
// on to 1e-7 of a standard deviation, in double precision.
func refined(t *testing.T, spec model.Spec) []float64 {
	t.Helper()
	m := build(t, spec)
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	how := model.RefineSettings{}
	how.Cross = testutil.Must(m.CrossAll(m.Set.Subset([]int{3, 8, 1})))(t)
	how.Resamples, how.Tests = 12, []loss.Test{loss.SquareTest{}}
	how.Batch = fits.BlockSettings{Tolerance: 1e-7, MaxIterations: 500}
	r := testutil.Must(model.Refine(t.Context(), m, s, bootstrap, how))(t)
	left := r.Tests[0]
	return slices.Concat(r.Mean, r.Variance, []float64{left.Error, left.SE, left.BaggedError})
}

// TestSpreadIsExact: regression and classification, with and without a fit of its own kind to all data,
// dense and sparse, have the same fixed points as on the exact engine, to 1e-9 of the largest value, since
// both solves stop at 1e-11 and the problem amplifies what is left; and the same exact resamples around
// them, to some ten times the tolerance of the fits.
func TestSpreadIsExact(t *testing.T) {
	regression, sonar := load(t, "synthetic:friedman1,n=80,seed=3"), load(t, "sonar").Subset(every(208, 3))
	smooth, classes := kernel.Spec{Amplitude: 20, Constant: 100}, kernel.Spec{Gamma: 0.5 / float64(sonar.D())}
	rough := smooth
	rough.Kind = kernel.Matern32
	sparse, _ := text(t)
	for _, c := range []struct {
		set    *dataset.Set
		loss   loss.Loss
		kernel kernel.Spec
		fits   bool
	}{
		{sparse, loss.Hinge{C: 1}, kernel.Spec{Gamma: 0.7, Jitter: 0.1}, false},
		{regression, loss.Square{Noise: 0.5}, smooth, true},
		{grid(t, 90).Set, loss.Square{Noise: 0.2}, grid(t, 90).Kernel, true},
		{sonar, loss.HardMargin{}, classes, false},
		{sonar, loss.Hinge{C: 1}, classes, true},
		{sonar, loss.SquaredHinge{C: 2}, classes, false},
		{regression, loss.EpsInsensitive{C: 1, Epsilon: 0.5}, rough, false},
	} {
		spec := model.Spec{Set: c.set, Loss: c.loss, Kernel: c.kernel, Standardize: c.set.Sparse == nil}
		spread := spec
		spread.Storage, spread.Servants, spread.Block = model.ScaLAPACK, servants(), 7
		exact, theirs := answers(t, build(t, spec)), answers(t, build(t, spread))
		for what := range exact {
			nearAll(t, c.loss.Name()+": "+what, theirs[what], exact[what], 1e-9)
		}
		if c.fits {
			spread.Servants = servants()
			want, got := refined(t, spec), refined(t, spread)
			if !floats.EqualApprox(want, got, 3e-6*(1+floats.Norm(want, math.Inf(1)))) {
				t.Errorf("%s: %v, want %v", c.loss.Name(), got, want)
			}
		}
	}
}
