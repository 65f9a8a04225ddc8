package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// load reads an embedded or synthetic set.
func load(t testing.TB, path string) *dataset.Set {
	t.Helper()
	return testutil.Must(dataset.Load(path, dataset.Options{}))(t)
}

func build(t testing.TB, spec model.Spec) *model.Model {
	t.Helper()
	return testutil.Must(model.Build(t.Context(), spec))(t)
}

// withLabels gives a set targets -1 and +1.
func withLabels(set *dataset.Set, y ...float64) *dataset.Set {
	set.Columns = []dataset.Column{{Name: "y", Y: y}}
	if err := set.Classify(""); err != nil {
		panic(err)
	}
	return set
}

// grid is regression on inputs most of which repeat.
func grid(t testing.TB, n int) model.Spec {
	t.Helper()
	return model.Spec{
		Set:    load(t, fmt.Sprintf("synthetic:grid,n=%d,d=2", n)),
		Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 2, Constant: 0.5},
		Loss:   loss.Square{Noise: 0.2},
	}
}

// labelsOnly is a training loss for labels. No trainer knows it.
type labelsOnly struct{ square loss.Square }

func (labelsOnly) Name() string { return "labels-only" }

func (l labelsOnly) Value(f, y float64) float64 { return l.square.Value(f, y) }

func (l labelsOnly) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	for _, v := range y {
		if v != 1 && v != -1 {
			return nil, fmt.Errorf("%v is not a label", v)
		}
	}
	return l.square.Site(y, law)
}

func columnOf(x linalg.Matrix, j int) []float64 {
	return mat.Col(nil, j, mat.NewDense(x.Rows, x.Cols, x.Data))
}

// rbf is A exp(-gamma |a-b|^2) + B.
func rbf(k kernel.Spec, a, b []float64) float64 {
	r2 := 0.0
	for j := range a {
		r2 += (a[j] - b[j]) * (a[j] - b[j])
	}
	return k.Amplitude*math.Exp(-k.Gamma*r2) + k.Constant
}

// every lists the numbers below n in steps.
func every(n, step int) (list []int) {
	for i := 0; i < n; i += step {
		list = append(list, i)
	}
	return list
}

// bootstrap is the law of most tests.
var bootstrap = resample.Poisson{Ratio: 1}

// converge solves and insists on Converged.
func converge(t testing.TB, m *model.Model, law resample.CountDistribution,
	s solver.Settings) *solver.Solution {
	t.Helper()
	solution := testutil.Must(m.Solve(t.Context(), law, s))(t)
	if solution.Status != solver.Converged {
		t.Fatalf("%v, residual %g", solution.Status, solution.Residual)
	}
	return solution
}

// solve is to 1e-9.
func solve(t testing.TB, m *model.Model) *solver.Solution {
	t.Helper()
	return converge(t, m, bootstrap, solver.Settings{Tolerance: 1e-9})
}

// near fails unless a and b agree to tol, relative to 1 + |b|.
func near(t testing.TB, what string, a, b, tol float64) {
	t.Helper()
	if !(math.Abs(a-b) <= tol*(1+math.Abs(b))) {
		t.Fatalf("%s: %v, want %v", what, a, b)
	}
}

// rows are new inputs.
func rows(all ...[]float64) *dataset.Inputs {
	n, d := len(all), len(all[0])
	return &dataset.Inputs{X: linalg.Matrix{Rows: n, Cols: d, Stride: d, Data: slices.Concat(all...)}}
}

// fails checks an error: what it is, if is is not nil, and what it says.
func fails(t testing.TB, what string, err, is error, says string) {
	t.Helper()
	if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: error %v", what, err)
	}
}

// refused is fails for a call with a value.
func refused[V any](_ V, err error) func(t testing.TB, what string, is error, says string) {
	return func(t testing.TB, what string, is error, says string) {
		t.Helper()
		fails(t, what, err, is, says)
	}
}
