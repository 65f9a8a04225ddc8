package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/gp"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// fitRows trains on examples row by row: (K + s2 I) alpha = y over the listed
// examples, repetitions and all, and returns the predictor at the sites and at
// inputs with the given kernel rows.
func fitRows(t *testing.T, m *model.Model, noise float64, examples []int, cross blas64.General) []float64 {
	t.Helper()
	n := len(examples)
	f := make([]float64, m.Sites()+cross.Rows)
	if n == 0 {
		return f
	}
	k, y, alpha := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range examples {
		y.SetVec(a, m.Set.Y[i])
		for b := a; b < n; b++ {
			k.SetSym(a, b, m.Gram().At(m.Site[i], m.Site[examples[b]]))
		}
		k.SetSym(a, a, k.At(a, a)+noise)
	}
	var factor mat.Cholesky
	if !factor.Factorize(k) || factor.SolveVecTo(alpha, y) != nil {
		t.Fatal("the plain system does not factorise")
	}
	for a, i := range examples {
		for site := range m.Sites() {
			f[site] += alpha.AtVec(a) * m.Gram().At(site, m.Site[i])
		}
		for r := range cross.Rows {
			f[m.Sites()+r] += alpha.AtVec(a) * cross.Data[r*cross.Stride+m.Site[i]]
		}
	}
	return f
}

// TestFullFit: one fit to all data, against the fit to all rows and against gp
// on the sites' counts and mean targets.
func TestFullFit(t *testing.T) {
	spec := grid(t, 90)
	m := build(t, spec)
	got := need.One(m.FullFit())(t)
	all := make([]int, 90)
	count, mean := make([]float64, m.Sites()), make([]float64, m.Sites())
	for i := range all {
		all[i] = i
		count[m.Site[i]]++
		mean[m.Site[i]] += spec.Set.Y[i]
	}
	for s := range mean {
		mean[s] /= count[s]
	}
	direct := need.One(gp.FitFull(build(t, spec).Gram(), 0.2, false, count, mean))(t)
	for s, want := range fitRows(t, m, 0.2, all, blas64.General{}) {
		// The condition of K + 0.2 I is below 90 (2 + 0.5)/0.2, about 1e3.
		near(t, fmt.Sprint("fit at site ", s), got[s], want, 1e-11)
		near(t, fmt.Sprint("gp at site ", s), direct[s], got[s], 0)
	}
}

// TestRetrain: resample by resample, the fits that are averaged are those to the
// drawn rows, at the sites and at new inputs.
func TestRetrain(t *testing.T) {
	m := build(t, grid(t, 40))
	cross := need.One(m.CrossAll(model.Dense(matrix([][]float64{{0.5, 1.5}, {3, 3}}))))(t)
	seen := 0
	result, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: retrain.Settings{
			Resamples: 20, Tests: []loss.Test{loss.SquareTest{}},
			OnFit: func(b int, weight, f []float64) {
				var drawn []int
				for i, k := range weight {
					drawn = append(drawn, slices.Repeat([]int{i}, int(k))...)
				}
				for p, want := range fitRows(t, m, 0.2, drawn, cross) {
					near(t, fmt.Sprintf("resample %d, place %d", b, p), f[p], want, 1e-11)
				}
				seen++
			},
		}, Cross: cross})
	if err != nil {
		t.Fatal(err)
	}
	if seen != 20 || result.Resamples != 20 || len(result.Mean) != m.Sites()+2 ||
		len(result.LeftOut[0].Examples) != 40 {
		t.Errorf("%d resamples seen, %d places, %d examples", seen, len(result.Mean),
			len(result.LeftOut[0].Examples))
	}
}

// TestSolve: the model hands the solver its sites, targets, loss and law.
func TestSolve(t *testing.T) {
	spec := grid(t, 40)
	m, again := build(t, spec), build(t, spec)
	law := resample.Poisson{Ratio: 0.7}
	got := need.One(m.Solve(context.Background(), law, solver.Settings{}))(t)
	want, err := solver.Solve(context.Background(), solver.Problem{
		Gram: again.Gram(), Site: again.Site, Y: spec.Set.Y, Loss: spec.Loss, Law: law,
	}, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != solver.Converged || !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.Var, want.Var) {
		t.Errorf("status %v; the answers differ", got.Status)
	}
}

// TestScratch: the kernel matrix is the same after everything that works in its
// scratch triangle.
func TestScratch(t *testing.T) {
	m, untouched := build(t, grid(t, 40)), build(t, grid(t, 40))
	if _, err := m.FullFit(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}); err != nil {
		t.Fatal(err)
	}
	if _, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: retrain.Settings{Resamples: 5}}); err != nil {
		t.Fatal(err)
	}
	for i := range m.Sites() {
		if !slices.Equal(m.Gram().Row(i), untouched.Gram().Row(i)) {
			t.Fatalf("row %d of the kernel matrix has changed", i)
		}
	}
}

// TestUnknownLoss: what no trainer knows cannot be retrained or fitted.
func TestUnknownLoss(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=20"), Loss: labelsOnly{loss.Square{Noise: 1}}})
	_, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: retrain.Settings{Resamples: 2}})
	if !errors.Is(err, model.ErrInput) || !contains(err, `no trainer for loss "labels-only"`) {
		t.Errorf("retraining: %v", err)
	}
	if _, err := m.FullFit(); !errors.Is(err, model.ErrInput) ||
		!contains(err, `no trainer for loss "labels-only"`) {
		t.Errorf("full fit: %v", err)
	}
}

// TestFailedFits: a matrix that is not positive definite is the fault of the
// data, and named by who finds it, though Build let it pass.
func TestFailedFits(t *testing.T) {
	spec := precomputed(grid(t, 12))
	spec.Kernel = kernel.Spec{Kind: kernel.Precomputed}
	for i := range spec.Set.N() {
		clear(spec.Set.X.Row(i))
		spec.Set.X.Row(i)[i] = 1
	}
	m := build(t, spec)
	for i := range m.Sites() { // Build refuses such a matrix: it is spoilt afterwards
		for j := range i {
			m.Gram().Set(i, j, 1-float64(i-j)*float64(i-j))
		}
	}
	var full *gp.PivotError
	if _, err := m.FullFit(); !errors.As(err, &full) {
		t.Errorf("full fit: %v", err)
	}
	var one *retrain.FitError
	_, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{Ratio: 1},
		refit.RetrainSettings{Settings: retrain.Settings{Resamples: 2}})
	if !errors.As(err, &one) || !errors.As(err, &full) {
		t.Errorf("retraining: %v", err)
	}
	var pivot *linalg.PivotError
	_, err = m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{})
	if !errors.Is(err, solver.ErrProblem) || !errors.As(err, &pivot) {
		t.Errorf("solve: %v", err)
	}
}
