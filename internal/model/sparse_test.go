package model_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// text is a small sparse set with a repeated document, and the same set dense.
func text(t testing.TB) (sparse, dense *dataset.Set) {
	t.Helper()
	sparse = load(t, "synthetic:text,n=60,d=1500")
	rows := append([]int{7}, make([]int, 59)...)
	for i := range 59 {
		rows[i+1] = i
	}
	sparse = sparse.Subset(rows)
	if sparse.Sparse == nil {
		t.Fatal("the set is not sparse")
	}
	whole := *sparse
	whole.X, whole.Sparse = sparse.Sparse.Dense(), nil
	return sparse, &whole
}

// TestSparseModel: a model of sparse inputs is the model of the same inputs held
// dense: sites, kernel matrix, kernel rows of new inputs in either form, and the
// averages that follow.
func TestSparseModel(t *testing.T) {
	sparse, dense := text(t)
	for _, k := range []kernel.Spec{{Kind: kernel.Linear}, {Gamma: 0.7, Jitter: 0.1},
		{Kind: kernel.Poly, Gamma: 1, Coef0: 1, Degree: 2, Constant: 1}} {
		a := build(t, model.Spec{Set: sparse, Kernel: k, Loss: loss.Hinge{C: 1}})
		b := build(t, model.Spec{Set: dense, Kernel: k, Loss: loss.Hinge{C: 1}})
		if a.Sites() != b.Sites() || a.Merged() != b.Merged() || k.Jitter == 0 && a.Merged() != 1 {
			t.Fatalf("%v: %d and %d sites", k.Kind, a.Sites(), b.Sites())
		}
		for i := range a.Sites() {
			for j := i; j < a.Sites(); j++ {
				near(t, "kernel matrix", a.Gram().At(i, j), b.Gram().At(i, j), 1e-12)
			}
		}
		fresh := load(t, "synthetic:text,n=20,d=1500,seed=2")
		cross := need.One(a.CrossAll(&dataset.Inputs{Sparse: fresh.Sparse}))(t)
		whole := fresh.Sparse.Dense()
		again := need.One(a.CrossAll(model.Dense(blas64.General(whole))))(t)
		want := need.One(b.CrossAll(&dataset.Inputs{X: whole}))(t)
		for i, v := range want.Data {
			near(t, "kernel rows of sparse new inputs", cross.Data[i], v, 1e-12)
			near(t, "kernel rows of dense new inputs", again.Data[i], v, 1e-12)
		}
	}
	square := func(set *dataset.Set) float64 {
		m := build(t, model.Spec{Set: set, Kernel: kernel.Spec{Kind: kernel.RBF, Gamma: 0.5},
			Loss: loss.Square{Noise: 0.5}})
		solution := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
		mean, _ := solution.LeftOut(loss.SquareTest{})
		return mean
	}
	sparse.Task, dense.Task = dataset.Regression, dataset.Regression
	if a, b := square(sparse), square(dense); math.Abs(a-b) > 1e-5 { // ten times the tolerance of the solve
		t.Errorf("left-out errors %v and %v", a, b)
	}
}

// TestSparseLowRank: on a factor of sparse inputs, too, the left-out error and the kernel rows of new inputs
// are those of the same inputs held dense. Both factors have the same pivots, so that only rounding differs.
func TestSparseLowRank(t *testing.T) {
	sparse, dense := text(t)
	objective := adjoint.Objective{Criterion: adjoint.LeftOutError, Test: loss.ZeroOne{}}
	fresh := load(t, "synthetic:text,n=20,d=1500,seed=2")
	var values [2][]float64
	for c, set := range []*dataset.Set{sparse, dense} {
		m := build(t, model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.7, Amplitude: 2, Constant: 0.5,
			Jitter: 0.1}, Loss: loss.Logistic{C: 1},
			Bias: true, Storage: model.LowRank, Rank: 20})
		s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-9}))(t)
		value := need.One(objective.Value(s))(t)
		in := &dataset.Inputs{Sparse: fresh.Sparse}
		if c == 1 {
			in = &dataset.Inputs{X: fresh.Sparse.Dense()}
		}
		cross := need.One(m.CrossAll(in))(t)
		values[c] = append(cross.Data, value)
	}
	for i, v := range values[1] {
		near(t, "a number of the sparse model", values[0][i], v, 1e-6)
	}
}

// TestSparseIsNotStandardized: the features stay, and a warning says so.
func TestSparseIsNotStandardized(t *testing.T) {
	sparse, _ := text(t)
	spec := model.Spec{Set: sparse, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}}
	plain := build(t, spec)
	spec.Standardize = true
	m := build(t, spec)
	if m.Standardize || len(m.Warnings()) != 1 || !strings.Contains(m.Warnings()[0], "sparse") ||
		len(plain.Warnings()) != 0 {
		t.Errorf("standardised: %v, warnings %q and %q", m.Standardize, m.Warnings(), plain.Warnings())
	}
	for i := range m.Sites() {
		near(t, "kernel matrix", m.Gram().At(0, i), plain.Gram().At(0, i), 0)
	}
}

func TestSparseRefusals(t *testing.T) {
	sparse, dense := text(t)
	spoilt := sparse.Subset([]int{0, 1, 2})
	spoilt.Y = []float64{1, -1, 1}
	spoilt.Sparse.Value[0] = math.NaN()
	for says, spec := range map[string]model.Spec{
		"is NaN":           {Set: spoilt, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}},
		"cannot be sparse": {Set: sparse, Kernel: kernel.Spec{Kind: kernel.Precomputed}, Loss: loss.Hinge{C: 1}},
	} {
		if _, err := model.Build(spec); !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v does not say %q", err, says)
		}
	}
	m := build(t, model.Spec{Set: dense, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}})
	if _, err := m.CrossAll(&dataset.Inputs{Sparse: sparse.Sparse}); !errors.Is(err, model.ErrInput) {
		t.Errorf("sparse new inputs for a dense model: %v", err)
	}
	s := build(t, model.Spec{Set: sparse, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}})
	if _, err := s.CrossAll(&dataset.Inputs{Sparse: spoilt.Sparse}); !errors.Is(err, model.ErrInput) {
		t.Errorf("NaN in new inputs: %v", err)
	}
}
