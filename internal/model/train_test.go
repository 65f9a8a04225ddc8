package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train/gp"
)

func blobs(t *testing.T, l loss.Loss) *model.Model {
	t.Helper()
	return build(t, model.Spec{Set: load(t, "synthetic:blobs,n=40,noise=0.5"),
		Kernel: kernel.Spec{Gamma: 0.5}, Loss: l, Standardize: true})
}

// TestMarginTrainers: the full fit and retraining obey the Kuhn-Tucker conditions of their loss, recomputed
// from the predictor alone: K^-1 f gives the weights beta, which must lie in the boxes.
func TestMarginTrainers(t *testing.T) {
	for name, l := range map[string]loss.Loss{"hard": loss.HardMargin{}, "hinge": loss.Hinge{C: 2}} {
		m := blobs(t, l)
		f := testutil.Must(m.FullFit(t.Context()))(t)
		fit := testutil.Must(m.Fit(t.Context(), model.FitSettings{Tolerance: 1e-8}))(t)
		r := fit.SVM
		for i, y := range m.Y {
			margin, weight := y*r.F[m.Site[i]], r.Alpha[i]
			if math.Abs(f[m.Site[i]]-r.F[m.Site[i]]) > 0.01 { // both at their tolerances, 1e-3 and 1e-8
				t.Errorf("%s: full fit %v, training %v", name, f[m.Site[i]], r.F[m.Site[i]])
			}
			switch {
			case weight > 0 && margin > 1+1e-7, name == "hard" && margin < 1-1e-7, name == "hinge" &&
				weight < 2 && margin < 1-1e-7:
				t.Errorf("%s, example %d: margin %v with weight %v", name, i, margin, weight)
			}
		}
		result := singly(t, m, bootstrap,
			model.RetrainSettings{Settings: fits.Settings{Resamples: 20, Tests: []loss.Test{loss.ZeroOne{}}}})
		if result.Resamples != 20 || !(result.Tests[0].Error < 0.5) {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

// TestMissingClass against the share of drawn resamples that lack a class.
func TestMissingClass(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Hinge{C: 1}})
	scheme := resample.Poisson{Ratio: 0.4}
	const draws = 20000
	lacking, counts := 0.0, make([]float64, 8)
	for b := range draws {
		scheme.Draw(3, b, counts)
		seen := map[float64]bool{}
		for i, k := range counts {
			if k > 0 {
				seen[m.Y[i]] = true
			}
		}
		if len(seen) < 2 {
			lacking += 1.0 / draws
		}
	}
	if got := model.MissingClass(m, scheme); math.Abs(got-lacking) > 4*math.Sqrt(0.25/draws) {
		t.Errorf("probability %v, drawn %v", got, lacking)
	}
	regression := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Loss: loss.Square{Noise: 1}})
	if model.MissingClass(regression, scheme) != 0 {
		t.Error("regression lacks a class")
	}
}

// TestRetrainMethods: batches and single fits are the same fits of the same draws, so that the averages agree
// far within the Monte-Carlo error: 1e-3 standard deviations beside 1/sqrt(300). Auto takes batches where
// there are resamples and sites enough, and single fits where the loss is a likelihood.
func TestRetrainMethods(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "sonar"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.01},
		Loss: loss.SquaredHinge{C: 1}})
	settings := fits.Settings{Resamples: 300, Tests: []loss.Test{loss.ZeroOne{}}}
	by := func(method model.RetrainMethod) *model.Retraining {
		return testutil.Must(model.Retrain(t.Context(), m, method, bootstrap,
			model.RetrainSettings{Settings: settings}))(t)
	}
	together, single := by(model.AutoMethod), by(model.Single)
	if together.Method != model.Batch || together.Batch.Fits+together.Batch.Exact != 300 ||
		single.Method != model.Single {
		t.Errorf("methods %v (%+v) and %v", together.Method, together.Batch, single.Method)
	}
	for i, v := range single.Variance {
		sd := math.Sqrt(v)
		if math.Abs(together.Mean[i]-single.Mean[i]) > 2e-3*sd || math.Abs(together.Variance[i]/v-1) > 1e-2 {
			t.Errorf("site %d: %v, %v by batches, %v, %v one by one", i, together.Mean[i],
				together.Variance[i], single.Mean[i], v)
		}
	}
	if a, b := together.Tests[0], single.Tests[0]; math.Abs(a.Error-b.Error) > 0.1*b.SE {
		t.Errorf("left-out error %v by batches, %v one by one", a.Error, b.Error)
	}
	settings.Resamples = 20
	if r := by(model.AutoMethod); r.Method != model.Single {
		t.Errorf("20 resamples by %v", r.Method)
	}
	likely := build(t, model.Spec{Set: load(t, "crabs"), Standardize: true, Kernel: kernel.Spec{Gamma: 0.2},
		Loss: loss.Probit{}})
	refused(model.Retrain(t.Context(), likely, model.Batch, bootstrap,
		model.RetrainSettings{Settings: settings}))(t, "batches of a likelihood", model.ErrInput, "")
}

// TestUntrainable: a loss without a trainer has a theory, and every training of it is refused, rather than
// made with no trainer.
func TestUntrainable(t *testing.T) {
	m := blobs(t, labelsOnly{loss.Square{Noise: 1}})
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	training := model.RetrainSettings{Settings: fits.Settings{Resamples: 3,
		Tests: []loss.Test{loss.ZeroOne{}}}}
	_, trainer := m.Machine(0)
	_, full := m.FullFit(t.Context())
	_, fit := m.Fit(t.Context(), model.FitSettings{})
	_, single := model.Retrain(t.Context(), m, model.Single, bootstrap, training)
	_, _, batch := model.NewBatch(t.Context(), m, s, training)
	for what, err := range map[string]error{"trainer": trainer, "full fit": full, "fit": fit,
		"retrain": single, "batch": batch} {
		if !errors.Is(err, model.ErrInput) || what != "batch" && !contains(err, `loss "labels-only"`) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTrainerWithoutMemory: hard margins on a factor are trained with the whole matrix; where that does not
// fit, no trainer is made, one by one or for what batches leave over, and the error says so.
func TestTrainerWithoutMemory(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:checker,n=900"), Kernel: kernel.Spec{Gamma: 20,
		Jitter: 0.01}, Loss: loss.HardMargin{}, Storage: model.LowRank, MaxRank: 20, MaxBytes: 5 << 20})
	refused(m.Machine(0))(t, "one by one", linalg.ErrMemory, "")
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{MaxSweeps: 20}))(t)
	_, err := model.RetrainAround(t.Context(), m, s, bootstrap, model.RetrainSettings{
		Batch: fits.BlockSettings{MaxIterations: 1}, Settings: fits.Settings{Resamples: 3,
			Tests: []loss.Test{loss.ZeroOne{}}}})
	fails(t, "left over", err, linalg.ErrMemory, "")
}

// TestInterrupts: a model that is made, and trained, looks at its context before every block of a factor,
// row of a matrix and step of a training, and has no answer after its end.
func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		data    string
		loss    loss.Loss
		storage model.Storage
		looks   int // at least
	}{
		{"synthetic:friedman1,n=300", loss.Square{Noise: 1}, model.Exact, 300},
		{"synthetic:friedman1,n=300", loss.Square{Noise: 1}, model.LowRank, 5},
		{"synthetic:friedman1,n=300", loss.Huber{C: 100, Epsilon: 0.1}, model.Exact, 305},
		{"synthetic:friedman1,n=500", loss.Huber{C: 1, Epsilon: 1}, model.LowRank, 10},
		{"synthetic:blobs,n=300,d=3", loss.Hinge{C: 100}, model.Exact, 305},
		{"synthetic:blobs,n=100,d=3", loss.Probit{}, model.Exact, 102},
	} {
		spec := model.NewSpec(load(t, c.data), c.loss)
		spec.Storage, spec.RankTol = c.storage, 1e-3
		train := func(ctx context.Context) error {
			m, err := model.Build(ctx, spec)
			if err == nil {
				_, err = m.FullFit(ctx)
			}
			return err
		}
		const endless = 1 << 40
		ctx := testutil.EndAfter(endless)
		if err := train(ctx); err != nil {
			t.Fatal(c.loss.Name(), err)
		}
		all := endless - ctx.Left()
		if all < c.looks {
			t.Errorf("%s, %v: %d looks, fewer than %d", c.loss.Name(), c.storage, all, c.looks)
		}
		for _, looks := range []int{0, 1, all / 2, all - 1} {
			ctx := testutil.EndAfter(looks)
			if err := train(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, model.ErrInput) {
				t.Errorf("%s, %v: after %d of %d looks: %v", c.loss.Name(), c.storage, looks, all, err)
			}
		}
	}
}

// fitRows trains on examples row by row: (K + s2 I) alpha = y over the listed examples, repetitions and all,
// and returns the predictor at the sites and at inputs with the given kernel rows.
func fitRows(t *testing.T, m *model.Model, noise float64, examples []int, cross blas64.General) []float64 {
	t.Helper()
	n := len(examples)
	f := make([]float64, m.Sites()+cross.Rows)
	if n == 0 {
		return f
	}
	k, y, alpha := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range examples {
		y.SetVec(a, m.Y[i])
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

// TestFullFit: one fit to all data is that to all rows.
func TestFullFit(t *testing.T) {
	m := build(t, grid(t, 90))
	got := testutil.Must(m.FullFit(t.Context()))(t)
	for s, want := range fitRows(t, m, 0.2, every(90, 1), blas64.General{}) {
		// The condition of K + 0.2 I is below 90 (2 + 0.5)/0.2, about 1e3.
		near(t, fmt.Sprint("fit at site ", s), got[s], want, 1e-11)
	}
}

// TestRetrain: resample by resample, the fits that are averaged are those to the
// drawn rows, at the sites and at new inputs.
func TestRetrain(t *testing.T) {
	m := build(t, grid(t, 40))
	cross := testutil.Must(m.CrossAll(rowsOf(matrix([][]float64{{0.5, 1.5}, {3, 3}}))))(t)
	seen := 0
	result := singly(t, m, bootstrap, model.RetrainSettings{Cross: cross, Settings: fits.Settings{
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
	}})
	if seen != 20 || result.Resamples != 20 || len(result.Mean) != m.Sites()+2 ||
		len(result.Tests[0].Examples) != 40 {
		t.Errorf("%d resamples seen, %d places, %d examples", seen, len(result.Mean),
			len(result.Tests[0].Examples))
	}
}

// TestScratch: the kernel matrix is the same after everything that works in its scratch triangle.
func TestScratch(t *testing.T) {
	m, untouched := build(t, grid(t, 40)), build(t, grid(t, 40))
	testutil.Must(m.FullFit(t.Context()))(t)
	testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	if _, err := model.Retrain(t.Context(), m, model.Single, bootstrap,
		model.RetrainSettings{Settings: fits.Settings{Resamples: 5}}); err != nil {
		t.Fatal(err)
	}
	for i := range m.Sites() {
		if !slices.Equal(m.Gram().Row(i), untouched.Gram().Row(i)) {
			t.Fatalf("row %d of the kernel matrix has changed", i)
		}
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
	if _, err := m.FullFit(t.Context()); !errors.As(err, &full) {
		t.Errorf("full fit: %v", err)
	}
	var one *fits.FitError
	_, err := model.Retrain(t.Context(), m, model.Single, bootstrap,
		model.RetrainSettings{Settings: fits.Settings{Resamples: 2}})
	if !errors.As(err, &one) || !errors.As(err, &full) {
		t.Errorf("retraining: %v", err)
	}
	var pivot *linalg.PivotError
	_, err = m.Solve(t.Context(), bootstrap, solver.Settings{})
	if !errors.Is(err, solver.ErrProblem) || !errors.As(err, &pivot) {
		t.Errorf("solve: %v", err)
	}
}

// ownHinge is the hinge loss as a user would write it: not the type that package
// svm trains, but a proximal map.
type ownHinge struct{ loss.Hinge }

func (ownHinge) Name() string { return "own hinge" }

// Prox tries the three pieces, for one example a site.
func (l ownHinge) Prox(c, h float64, y, k []float64) (f, slope float64) {
	switch u, t := y[0]*h, k[0]*l.C/c; {
	case u >= 1:
		return h, 1
	case u < 1-t:
		return h + y[0]*t, 1
	}
	return y[0], 0
}

// ownGaussian is square loss as a likelihood.
type ownGaussian struct{ loss.Square }

func (ownGaussian) Name() string { return "own gaussian" }
func (l ownGaussian) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	precision, shift := c, c*h
	for j := range y {
		precision += k[j] / l.Noise
		shift += k[j] * y[j] / l.Noise
	}
	return 0, shift / precision, 1 / precision
}

// TestOwnLosses: a loss that has no trainer of its own is trained by its proximal
// map, a likelihood by expectation propagation. Both meet the trainers that
// the same losses have under their own names. Package svm stops at 1e-3.
func TestOwnLosses(t *testing.T) {
	for _, c := range []struct {
		own, known loss.Loss
		tol        float64
	}{
		{ownHinge{loss.Hinge{C: 2}}, loss.Hinge{C: 2}, 0.01},
		{ownGaussian{loss.Square{Noise: 0.2}}, loss.Square{Noise: 0.2}, 1e-6},
	} {
		own, known := blobs(t, c.own), blobs(t, c.known)
		f, want := testutil.Must(own.FullFit(t.Context()))(t), testutil.Must(known.FullFit(t.Context()))(t)
		if off := floats.Distance(f, want, math.Inf(1)); off > c.tol {
			t.Errorf("%s: the full fit is off by %v", c.own.Name(), off)
		}
		s := model.RetrainSettings{Settings: fits.Settings{Resamples: 20, Tests: []loss.Test{loss.ZeroOne{}}}}
		scheme := bootstrap
		a, b := singly(t, own, scheme, s), singly(t, known, scheme, s)
		if off := floats.Distance(a.Mean, b.Mean, math.Inf(1)); off > c.tol {
			t.Errorf("%s: retrained means are off by %v", c.own.Name(), off)
		}
	}
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=8"), Kernel: kernel.Spec{Gamma: 1},
		Loss: ownHinge{loss.Hinge{C: 1}}})
	if model.MissingClass(m, resample.Poisson{Ratio: 0.4}) == 0 {
		t.Error("no resample lacks a class")
	}
}

// An input where K_ii = 0 has a predictor of zero in every resample, whatever the
// likelihood; a solve with one ends, and soon.
func TestKernelOfZero(t *testing.T) {
	set := load(t, "synthetic:rings,n=12,d=2").Head(6)
	for j := range set.X.Cols {
		set.X.Row(2)[j] = 0
	}
	for _, l := range []loss.Loss{loss.Probit{}, loss.Logit{}, loss.Logistic{C: 1}} {
		m := build(t, model.Spec{Set: set, Loss: l, Kernel: kernel.Spec{Kind: kernel.Linear}})
		s, err := m.Solve(t.Context(), bootstrap, solver.Settings{MaxSweeps: 100})
		if err != nil || s.Status != solver.Converged || s.Mean[m.Site[2]] != 0 || s.Var[m.Site[2]] != 0 {
			t.Errorf("%s: %v, %+v", l.Name(), err, s)
		}
	}
}
