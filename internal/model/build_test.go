package model_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// scaled is the map of inputs to a model: columns minus their mean over their population standard deviation.
func scaled(spec model.Spec) func(row []float64) []float64 {
	return func(row []float64) (z []float64) {
		for j, v := range row {
			mean, sd := 0.0, 1.0
			if spec.Standardize {
				mean, sd = stat.PopMeanStdDev(columnOf(spec.Set.X, j), nil)
			}
			z = append(z, (v-mean)/sd)
		}
		return z
	}
}

// TestSites: without a jitter equal inputs share a site, with one every example has its own. Either way the
// kernel matrix between the sites of two examples is the kernel of their features, pair by pair, plus the
// jitter of an example with itself. The kernel of new inputs has no jitter, also at a training input.
func TestSites(t *testing.T) {
	for k := range 4 {
		spec := grid(t, 200)
		spec.Standardize, spec.Kernel.Jitter = k%2 == 1, 0.3*float64(k/2)
		m, z, x := build(t, spec), scaled(spec), spec.Set.X
		wantSites := 25 // 5 x 5 levels, all of which 200 draws have met
		if k/2 == 1 {
			wantSites = 200
		}
		if m.Sites() != wantSites || m.Gram().N() != wantSites || m.Merged() != 200-wantSites ||
			len(m.Site) != 200 {
			t.Fatalf("%d sites, order %d, %d merged", m.Sites(), m.Gram().N(), m.Merged())
		}
		fresh := [][]float64{{0.5, 3.5}, {9, -9}, x.Row(4)}
		cross := testutil.Must(m.CrossAll(rows(fresh...)))(t)
		for i := range 200 {
			if first := m.First[m.Site[i]]; first > i || !slices.Equal(x.Row(first), x.Row(i)) {
				t.Fatalf("example %d is at the site of %d", i, first)
			}
			at := z(x.Row(i))
			for j := range i + 1 {
				want := rbf(spec.Kernel, at, z(x.Row(j)))
				if i == j {
					want += spec.Kernel.Jitter
				}
				near(t, fmt.Sprintf("kernel of %d and %d", i, j), m.Gram().At(m.Site[i], m.Site[j]), want,
					1e-12)
			}
			for r, row := range fresh {
				got := cross.Data[r*cross.Stride+m.Site[i]]
				near(t, fmt.Sprintf("kernel of new input %d and %d", r, i), got, rbf(spec.Kernel, at, z(row)),
					1e-12)
			}
		}
	}
}

// precomputed turns a specification into one whose features are the kernel
// between the examples, each with itself without its jitter.
func precomputed(spec model.Spec) model.Spec {
	set := *spec.Set
	n := set.N()
	set.X = linalg.NewMatrix(n, n)
	bare := kernel.Spec{Gamma: spec.Kernel.Gamma, Amplitude: 1}
	for i := range n {
		for j := range n {
			set.X.Row(i)[j] = rbf(bare, spec.Set.X.Row(i), spec.Set.X.Row(j))
		}
	}
	spec.Set = &set
	spec.Kernel.Kind, spec.Kernel.Gamma = kernel.Precomputed, 0
	return spec
}

// same fails unless two specifications, in two forms of inputs, give one model: sites, kernel matrix, kernel
// of new inputs, left-out error, mean and variance there.
func same(t *testing.T, specA, specB model.Spec, inA, inB *dataset.Inputs, matrix, answers float64) {
	t.Helper()
	a, b := build(t, specA), build(t, specB)
	if !slices.Equal(a.Site, b.Site) || a.Merged() == 0 != (specA.Kernel.Jitter > 0) {
		t.Fatalf("sites %v and %v", a.Site, b.Site)
	}
	for i := range a.Sites() {
		for j := range i + 1 {
			near(t, "kernel", b.K.At(i, j), a.K.At(i, j), matrix)
		}
	}
	nearAll(t, "cross-kernel", testutil.Must(b.CrossAll(inB))(t).Data, testutil.Must(a.CrossAll(inA))(t).Data,
		matrix)
	exactly := solver.Settings{Tolerance: 1e-9}
	s := testutil.Must(a.Solve(t.Context(), bootstrap, exactly))(t)
	of := testutil.Must(b.Solve(t.Context(), bootstrap, exactly))(t)
	near(t, "left-out error", leftOut(of), leftOut(s), answers)
	meanA, varA := predictions(t, a, s, inA)
	meanB, varB := predictions(t, b, of, inB)
	nearAll(t, "mean", meanB, meanA, answers)
	nearAll(t, "variance", varB, varA, answers)
}

// TestPrecomputed: a kernel matrix computed beforehand gives the model of the features, also on a factor.
func TestPrecomputed(t *testing.T) {
	for i, storage := range []model.Storage{model.Exact, model.Exact, model.LowRank} {
		spec := grid(t, 60)
		spec.Kernel.Jitter, spec.Storage, spec.RankTol = 0.1*float64(i%2), storage, 1e-6
		fresh := rows([]float64{0.5, 0.5}, []float64{1, 4}, []float64{-1, 2})
		kernels, bare := linalg.NewMatrix(3, 60), kernel.Spec{Gamma: 0.3, Amplitude: 1}
		for k := range kernels.Data {
			kernels.Data[k] = rbf(bare, fresh.X.Row(k/60), spec.Set.X.Row(k%60))
		}
		same(t, spec, precomputed(spec), fresh, &dataset.Inputs{X: kernels}, 1e-14, 1e-7)
	}
}

// TestSparseModel: a model of sparse inputs is the model of the same inputs held dense, with new inputs in
// either form; so it is on a factor, which has the same pivots, so that only rounding differs.
func TestSparseModel(t *testing.T) {
	sparse, dense := text(t)
	fresh := load(t, "synthetic:text,n=20,d=1500,seed=2").Sparse
	for _, spec := range []model.Spec{{Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}},
		{Kernel: kernel.Spec{Gamma: 0.7, Jitter: 0.1}, Loss: loss.Square{Noise: 0.5}},
		{Kernel: kernel.Spec{Kind: kernel.Poly, Gamma: 1, Coef0: 1, Degree: 2, Constant: 1},
			Loss: loss.Hinge{C: 1}},
		{Kernel: kernel.Spec{Gamma: 0.7, Amplitude: 2, Constant: 0.5, Jitter: 0.1}, Loss: loss.Logistic{C: 1},
			Bias: true, Storage: model.LowRank, MaxRank: 20}} {
		own, whole, tol := spec, spec, 1e-12
		if own.Set, whole.Set = sparse, dense; spec.Storage == model.LowRank {
			tol = 1e-6
		}
		for _, in := range []*dataset.Inputs{{Sparse: fresh}, {X: fresh.Dense()}} {
			same(t, own, whole, in, &dataset.Inputs{X: fresh.Dense()}, tol, 1e-5)
		}
	}
}

// TestPreset: the Boston kernel is exp(-sum_j (x_j - x'_j)^2/(73.54 v_j)), v_j the population standard
// deviation of input j, on features as they are (M03); its left-out error was computed by independent code
// of another language. Every embedded set of two classes has a hard margin on standardised features, and
// what a user brings has no preset.
func TestPreset(t *testing.T) {
	boston := load(t, "boston")
	preset, ok := model.PresetFor(boston)
	if !ok || preset.Standardize || preset.Loss != (loss.Square{Noise: 0.01}) || preset.Source == "" {
		t.Fatalf("preset %+v", preset)
	}
	m := build(t, model.Spec{Set: boston, Kernel: preset.Kernel, Loss: preset.Loss})
	for _, pair := range [][2]int{{0, 1}, {7, 400}, {250, 505}} {
		exponent := 0.0
		for j := range boston.D() {
			off := boston.X.At(pair[0], j) - boston.X.At(pair[1], j)
			exponent += off * off / (73.54 * stat.PopStdDev(columnOf(boston.X, j), nil))
		}
		near(t, fmt.Sprint("kernel of ", pair), m.Gram().At(pair[0], pair[1]), math.Exp(-exponent), 1e-9)
	}
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	if leftOut := leftOut(s); math.Abs(leftOut-16.248) > 0.0006 {
		t.Errorf("left-out error %v, want 16.248", leftOut)
	}
	scale := map[string]float64{"crabs": 1, "crabs_sp": 1, "wisconsin": 0.5, "sonar": 0.5, "pima": 0.5}
	for _, name := range dataset.Names() {
		set := load(t, name)
		preset, ok := model.PresetFor(set)
		two := len(set.Levels()) == 2
		if !ok && len(set.Levels()) <= 2 || two && (preset.Loss != loss.HardMargin{} || !preset.Standardize ||
			preset.Kernel.Gamma != scale[name]/float64(set.D())) {
			t.Errorf("%s: preset %+v", name, preset)
		}
	}
	if _, ok := model.PresetFor(&dataset.Set{Name: "sonar.csv"}); ok {
		t.Error("a file has a preset")
	}
}

// TestKey: whatever changes an answer changes the key, what only says the same in other words does not.
func TestKey(t *testing.T) {
	base := model.Spec{Set: load(t, "boston"), Loss: loss.Square{Noise: 0.1}}
	same := base
	same.Kernel = kernel.Spec{Gamma: 1. / 26, Amplitude: 1} // the defaults of 13 features
	same.MaxBytes = 1 << 40
	if base.Key(bootstrap) != same.Key(bootstrap) {
		t.Error("defaults written out have another key")
	}
	keys := []string{base.Key(bootstrap), base.Key(resample.Poisson{Ratio: 2}), base.Key(bootstrap, 1),
		base.Key(resample.KFold{Folds: 5, N: 506}), base.Key(resample.KFold{Folds: 6, N: 506})}
	for _, change := range []func(*model.Spec){
		func(s *model.Spec) { s.Set = load(t, "crabs") },
		func(s *model.Spec) { s.Loss = loss.Square{Noise: 0.2} },
		func(s *model.Spec) { s.Loss = loss.EpsInsensitive{C: 3} },
		func(s *model.Spec) { s.Kernel.LengthScale = []float64{2, 3} },
		func(s *model.Spec) { s.Kernel.Amplitude = 1 + 0x1p-52 },
		func(s *model.Spec) { s.Kernel.Jitter = 0.5 },
		func(s *model.Spec) { s.Standardize = true },
		func(s *model.Spec) { s.NormalizeTarget = true },
		func(s *model.Spec) { s.Storage = model.LowRank },
		func(s *model.Spec) { s.MaxRank = 7 },
		func(s *model.Spec) { s.Bias = true },
	} {
		changed := base
		change(&changed)
		keys = append(keys, changed.Key(bootstrap))
	}
	for k, key := range keys {
		if slices.Contains(keys[:k], key) {
			t.Errorf("change %d has the key of another", k)
		}
	}
}

// shifted is a set with targets a y + b.
func shifted(set *dataset.Set, a, b float64) *dataset.Set {
	moved := *set
	moved.Columns = []dataset.Column{{Y: slices.Clone(set.Targets(0))}}
	for i, y := range moved.Columns[0].Y {
		moved.Columns[0].Y[i] = a*y + b
	}
	return &moved
}

// TestNormalizedTarget: targets a y + b give a times the answer plus b, with a noise that is a share of the
// variance. All steps are linear in the targets or quadratic, and the stopping rules relative, so that only
// rounding differs: 1e-9 of the figure. Labels and given amplitudes stay.
func TestNormalizedTarget(t *testing.T) {
	raw := load(t, "synthetic:friedman1,n=120,seed=2")
	mean, variance := stat.PopMeanVariance(raw.Targets(0), nil)
	answer := func(a, b float64) (*model.Model, *solver.Solution, float64) {
		set := shifted(raw, a, b)
		m := build(t, model.Spec{
			Set: set, Kernel: kernel.Spec{Gamma: 0.1}, Standardize: true, NormalizeTarget: true,
			Loss: loss.Square{Noise: 0.1 * a * a * variance},
		})
		if &m.Y[0] == &set.Targets(0)[0] {
			t.Fatal("the caller's targets were centred")
		}
		s := converge(t, m, bootstrap, solver.Settings{})
		left, _ := s.LeftOut(loss.SquareTest{})
		return m, s, left
	}
	m, s, left := answer(1, 0)
	near(t, "mean", m.Mean, mean, 1e-12)
	near(t, "amplitude", m.Kernel.Amplitude, variance, 1e-12)
	for _, c := range []struct{ a, b float64 }{{1, 1e4}, {-30, 7}, {0.01, -3}} {
		m2, s2, left2 := answer(c.a, c.b)
		near(t, "left-out error", left2/(c.a*c.a), left, 1e-9)
		for i := range s.Mean {
			near(t, "mean", (s2.Mean[i]+m2.Mean-c.b)/c.a, s.Mean[i]+m.Mean, 1e-9)
			near(t, "variance", s2.Var[i]/(c.a*c.a), s.Var[i], 1e-9)
		}
	}
	m = build(t, model.Spec{Set: load(t, "sonar"), Loss: loss.Hinge{C: 1}, NormalizeTarget: true})
	if m.Mean != 0 || m.Kernel.Amplitude != 1 || m.Y[0] != m.Set.Targets(0)[0] {
		t.Errorf("labels: mean %v, amplitude %v", m.Mean, m.Kernel.Amplitude)
	}
	spec := grid(t, 12)
	spec.NormalizeTarget = true
	if m := build(t, spec); m.Kernel.Amplitude != 2 || m.Mean == 0 {
		t.Errorf("given amplitude: %v, mean %v", m.Kernel.Amplitude, m.Mean)
	}
}

// TestConstantFeatures: a feature that is the same in all examples counts neither in the default kernel of a
// model nor in the model of its file.
func TestConstantFeatures(t *testing.T) {
	x := mat.NewDense(4, 4, []float64{1, 7, 0, 0, 2, 7, 0, 0, 3, 7, 0, 1, 4, 7, 0, 1})
	dense := testutil.Must(dataset.New(x, []float64{1, 3, 2, 5}))(t)
	sparse := *dense
	sparse.X, sparse.Sparse = linalg.Matrix{}, linalg.NewCSR(dense.X)
	for _, set := range []*dataset.Set{dense, &sparse} {
		m := build(t, model.NewSpec(set, loss.Square{Noise: 1}))
		fit := testutil.Must(m.Fit(t.Context(), 0))(t)
		file := testutil.Must(m.Predictor(&fit.Result))(t)
		if m.Kernel.Gamma != 0.25 || file.Kernel.Gamma != 0.25 {
			t.Errorf("gamma %g, in the file %g; two features vary", m.Kernel.Gamma, file.Kernel.Gamma)
		}
	}
}

// TestFunctions: the functions of several numbers have one variance, and the functions of classes are each
// against the others, or with Pairs each pair on its rows, in order of appearance; a view shares the kernel
// matrix.
func TestFunctions(t *testing.T) {
	x := linalg.Matrix{Rows: 4, Cols: 1, Stride: 1, Data: []float64{0, 1, 2, 3}}
	numbers := &dataset.Set{X: x, Columns: []dataset.Column{{Name: "a", Y: []float64{1, 2, 3, 4}},
		{Name: "b", Y: []float64{70, 30, 50, 10}}}}
	m := build(t, model.Spec{Set: numbers, Loss: loss.Square{Noise: 1}, NormalizeTarget: true})
	b := m.Of(1)
	if b.Name != "b" || b.K != m.K || m.Kernel.Amplitude != 1.25 || b.Mean != 40 || m.Unit != 1 {
		t.Errorf("%+v, amplitude %v", b.Function, m.Kernel.Amplitude)
	}
	for i, y := range b.Y {
		near(t, "second target", b.Mean+b.Unit*y, numbers.Columns[1].Y[i], 1e-14)
	}
	near(t, "its variance", stat.PopVariance(b.Y, nil), 1.25, 1e-14)

	classes := &dataset.Set{X: x, Columns: []dataset.Column{{Y: []float64{2, 0, 1, 0}, Levels: []string{"p",
		"q", "r"}}}}
	spec := model.Spec{Set: classes, Loss: loss.Square{Noise: 1}}
	for k, f := range build(t, spec).Functions {
		if f.Name != classes.Levels()[k] || f.Rows != nil || !slices.Equal(f.Y, classes.Columns[0].Signs(k)) {
			t.Errorf("class %d: %+v", k, f)
		}
	}
	spec.Pairs = true
	pairs := build(t, spec)
	var names []string
	for _, f := range pairs.Functions {
		names = append(names, f.Name)
	}
	if f := pairs.Functions[1]; !slices.Equal(names, []string{"r and p", "r and q", "p and q"}) ||
		!slices.Equal(pairs.Order, []int{2, 0, 1}) || !slices.Equal(f.Rows, []float64{1, 0, 1, 0}) ||
		f.Y[0] != 1 || f.Y[2] != -1 {
		t.Errorf("pairs %v in order %v, the second %+v", names, pairs.Order, f)
	}
}
