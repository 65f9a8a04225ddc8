package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

// TestSites: without a jitter equal inputs share a site, with one every example has its own. Either way the
// kernel matrix between the sites of two examples is the kernel of their features, pair by pair, plus the
// jitter of an example with itself.
func TestSites(t *testing.T) {
	for _, standardize := range []bool{false, true} {
		for _, jitter := range []float64{0, 0.3} {
			t.Run(fmt.Sprintf("standardize=%v/jitter=%v", standardize, jitter), func(t *testing.T) {
				spec := grid(t, 200)
				spec.Kernel.Jitter, spec.Standardize = jitter, standardize
				m := build(t, spec)
				wantSites := 25 // 5 x 5 levels, all of which 200 draws have met
				if jitter > 0 {
					wantSites = 200
				}
				if m.Sites() != wantSites || m.Gram().N() != wantSites || m.Merged() != 200-wantSites ||
					len(m.Site) != 200 {
					t.Fatalf("%d sites, order %d, %d merged", m.Sites(), m.Gram().N(), m.Merged())
				}
				z, _ := zScores(spec.Set.X)
				for i := range z {
					if !standardize {
						copy(z[i], spec.Set.X.Row(i))
					}
				}
				for i := range z {
					if first := m.First[m.Site[i]]; first > i || !slices.Equal(spec.Set.X.Row(first),
						spec.Set.X.Row(i)) {
						t.Fatalf("example %d is at the site of %d", i, first)
					}
					for j := range z {
						want := rbf(spec.Kernel, z[i], z[j])
						if i == j {
							want += jitter
						}
						near(t, fmt.Sprintf("kernel of %d and %d", i, j), m.Gram().At(m.Site[i], m.Site[j]),
							want, 1e-12)
					}
				}
			})
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

// TestPrecomputed: a kernel matrix computed beforehand gives the model of the features, also on a factor:
// sites, kernel, cross-kernel, left-out error and predictions.
func TestPrecomputed(t *testing.T) {
	for i, storage := range []model.Storage{model.Exact, model.Exact, model.LowRank} {
		jitter := 0.1 * float64(i%2)
		t.Run(fmt.Sprintf("%v/jitter=%v", storage, jitter), func(t *testing.T) {
			spec := grid(t, 60)
			spec.Kernel.Jitter, spec.Storage, spec.RankTol = jitter, storage, 1e-6
			a, b := build(t, spec), build(t, precomputed(spec))
			if !slices.Equal(a.Site, b.Site) || a.Merged() == 0 != (jitter > 0) {
				t.Fatalf("sites %v and %v", a.Site, b.Site)
			}
			for i := range a.Sites() {
				for j := range i + 1 {
					near(t, "kernel", b.K.At(i, j), a.K.At(i, j), 1e-14)
				}
			}
			fresh := [][]float64{{0.5, 0.5}, {1, 4}, {-1, 2}}
			kernels := make([][]float64, len(fresh))
			for r, x := range fresh {
				for i := range spec.Set.N() {
					kernels[r] = append(kernels[r], rbf(kernel.Spec{Gamma: 0.3, Amplitude: 1}, x,
						spec.Set.X.Row(i)))
				}
			}
			crossA := testutil.Must(a.CrossAll(rowsOf(matrix(fresh))))(t)
			crossB := testutil.Must(b.CrossAll(rowsOf(matrix(kernels))))(t)
			for k, v := range crossA.Data {
				near(t, "cross-kernel", crossB.Data[k], v, 1e-14)
			}
			errorA, meanA, varA := solved(t, a, crossA.Data)
			errorB, meanB, varB := solved(t, b, crossB.Data)
			near(t, "left-out error", errorB, errorA, 1e-8)
			for r := range fresh {
				near(t, "mean", meanB[r], meanA[r], 1e-8)
				near(t, "variance", varB[r], varA[r], 1e-8)
			}
		})
	}
}

// solved is the left-out error, and mean and variance at new inputs.
func solved(t *testing.T, m *model.Model, rows []float64) (leftOut float64, mean, variance []float64) {
	t.Helper()
	s := converge(t, m, bootstrap, solver.Settings{Tolerance: 1e-10})
	leftOut, _ = s.LeftOut(loss.SquareTest{})
	mean, variance = testutil.Must2(s.Predict(slices.Clone(rows)))(t)
	return leftOut, mean, variance
}

// TestPreset: the Boston kernel is exp(-sum_j (x_j - x'_j)^2/(73.54 v_j)), v_j
// the population standard deviation of input j, on features as they are (M03);
// its left-out error was computed by independent code of another language.
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
	if leftOut, _ := s.LeftOut(loss.SquareTest{}); math.Abs(leftOut-16.248) > 0.0006 {
		t.Errorf("left-out error %v, want 16.248", leftOut)
	}
}

// TestMarginPresets: every embedded classification set has a hard margin on
// standardised features, and what a user brings has no preset.
func TestMarginPresets(t *testing.T) {
	scale := map[string]float64{"crabs": 1, "crabs_sp": 1, "wisconsin": 0.5, "sonar": 0.5, "pima": 0.5}
	for _, name := range dataset.Names() {
		set := load(t, name)
		preset, ok := model.PresetFor(set)
		if !ok && len(set.Levels()) <= 2 {
			t.Errorf("%s has no preset", name)
		}
		if len(set.Levels()) == 2 {
			if _, hard := preset.Loss.(loss.HardMargin); !hard || !preset.Standardize ||
				preset.Kernel.Gamma != scale[name]/float64(set.D()) {
				t.Errorf("%s: preset %+v", name, preset)
			}
		}
	}
	if _, ok := model.PresetFor(&dataset.Set{Name: "sonar.csv"}); ok {
		t.Error("a file has a preset")
	}
}

// TestRefusals: every refusal of Build wraps ErrInput, or ErrMemory where only
// the memory is short, says what is wrong, and leaves no model.
func TestRefusals(t *testing.T) {
	labels := labelsOnly{loss.Square{Noise: 1}}
	for _, c := range []struct {
		name   string
		change func(s *model.Spec)
		says   string
	}{
		{"nothing", func(s *model.Spec) { *s = model.Spec{} }, "no data set or no loss"},
		{"no set", func(s *model.Spec) { s.Set = nil }, "no data set or no loss"},
		{"no loss", func(s *model.Spec) { s.Loss = nil }, "no data set or no loss"},
		{"no examples", func(s *model.Spec) { s.Set = s.Set.Head(0) }, "no targets"},
		{"too few targets", func(s *model.Spec) { s.Set.Columns[0].Y = s.Set.Targets(0)[:7] },
			"7 targets for 12 examples"},
		{"too few numbers", func(s *model.Spec) { s.Set.X.Data = s.Set.X.Data[:7] },
			"7 numbers do not hold 12 x 2"},
		{"narrow stride", func(s *model.Spec) { s.Set.X.Stride = 1 }, "with stride 1"},
		{"no loss at all", func(s *model.Spec) { s.Loss = loss.Square{Noise: -1} }, "noise variance"},
		{"equal targets", func(s *model.Spec) { clear(s.Set.Columns[0].Y) }, "all 12 targets are 0"},
		{"no labels", func(s *model.Spec) { s.Loss = labels }, "labels must be -1 and +1"},
		{"one label", func(s *model.Spec) {
			s.Loss, s.Set.Columns[0].Y = labels, slices.Repeat([]float64{1}, 12)
		}, "all 12 targets are 1"},
		{"feature", func(s *model.Spec) { s.Set.X.Row(3)[1] = math.NaN() }, "row 4, feature 2 is NaN"},
		{"feature standardised", func(s *model.Spec) { s.Standardize, s.Set.X.Row(3)[1] = true, math.Inf(1) },
			"row 4, feature 2 is +Inf"},
		{"target", func(s *model.Spec) { s.Set.Columns[0].Y[11] = math.NaN() }, "target of row 12 is NaN"},
		{"kind", func(s *model.Spec) { s.Kernel.Kind = 99 }, "99"},
		{"gamma", func(s *model.Spec) { s.Kernel.Gamma = -1 }, "gamma"},
		{"length scales", func(s *model.Spec) { s.Kernel = kernel.Spec{LengthScale: []float64{1, 2, 3}} },
			"3 length scales for 2 features"},
		{"jitter", func(s *model.Spec) { s.Kernel.Jitter = -1 }, "jitter"},
		{"jitter NaN", func(s *model.Spec) { s.Kernel.Jitter = math.NaN() }, "jitter"},
		{"overflow", func(s *model.Spec) { s.Kernel = kernel.Spec{Kind: kernel.Linear, Amplitude: 1e308} },
			"not finite"},
		{"bias of a posterior mean", func(s *model.Spec) {
			s.Set, s.Loss, s.Bias = load(t, "crabs"), loss.Probit{}, true
		}, "Spec.Bias false"},
		{"memory", func(s *model.Spec) { s.MaxBytes = 1000 }, "the theory for"},
		{"matrix standardised", func(s *model.Spec) { s.Standardize = true }, "cannot be standardised"},
		{"matrix not square", func(s *model.Spec) { s.Set = s.Set.Head(11) },
			"as many features as examples, got 12 and 11"},
		{"matrix asymmetric", func(s *model.Spec) { s.Set.X.Row(2)[5] += 0.01 }, "entries (3, 6)"},
		{"matrix with gap", func(s *model.Spec) { s.Set.X.Row(2)[5] = math.NaN() },
			"row 3, feature 6 is NaN"},
		{"matrix with gamma", func(s *model.Spec) { s.Kernel.Gamma = 1 }, "takes no gamma"},
		{"matrix overflow", func(s *model.Spec) {
			s.Kernel.Amplitude, s.Kernel.Constant = math.MaxFloat64, math.MaxFloat64
		}, "not finite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, is := grid(t, 12), model.ErrInput
			if strings.HasPrefix(c.name, "matrix") {
				spec = precomputed(spec)
			}
			if c.name == "memory" {
				is = linalg.ErrMemory
			}
			c.change(&spec)
			m, err := model.Build(t.Context(), spec)
			if m != nil || !errors.Is(err, is) || errors.Is(err, model.ErrInput) == errors.Is(err,
				linalg.ErrMemory) {
				t.Fatalf("model %v, error %v", m, err)
			}
			if !contains(err, c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
}

// matrixSet is a data set whose features are a kernel matrix of n examples, with labels.
func matrixSet(n int, diagonal, other float64) *dataset.Set {
	set, y := &dataset.Set{Name: "K.csv", X: linalg.NewMatrix(n, n)}, make([]float64, n)
	for i := range n {
		for j := range n {
			set.X.Data[i*n+j] = other + float64((i^j)%3)*1e-3*other // rows differ
		}
		set.X.Data[i*n+i] = diagonal
		y[i] = float64(2*(i%2) - 1)
	}
	return withLabels(set, y...)
}

// TestKernelChecked: whatever the loss, a precomputed matrix that is not positive
// semidefinite is bad input that names the file, and so is a diagonal that is no variance;
// one that is indefinite by what printing rounds is taken.
func TestKernelChecked(t *testing.T) {
	losses := []loss.Loss{loss.Square{Noise: 0.1}, loss.HardMargin{}, loss.Hinge{C: 1}, loss.Logistic{C: 1},
		loss.Probit{}}
	for _, c := range []struct {
		diagonal, other float64
		says            string
	}{{1, 2, "positive semidefinite"}, {1, -0.9, "positive semidefinite"}, {1e-320, 0, "kernel of row 1"},
		{1e300, 0, "kernel of row 1"}, {1, 0.4, ""}} {
		for _, l := range losses {
			_, err := model.Build(t.Context(), model.Spec{Set: matrixSet(8, c.diagonal, c.other), Loss: l,
				Kernel: kernel.Spec{Kind: kernel.Precomputed}})
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%s: a good matrix is refused: %v", l.Name(), err)
			case c.says != "" && (!errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "K.csv")):
				t.Errorf("%s, diagonal %v, others %v: %v", l.Name(), c.diagonal, c.other, err)
			}
		}
	}
	rounded := matrixSet(3, 1, 0)
	copy(rounded.X.Data, []float64{1, 1 + 1e-7, 0.3, 1 + 1e-7, 1, 0.3, 0.3, 0.3, 1}) // an eigenvalue of -1e-7
	build(t, model.Spec{Set: rounded, Loss: losses[0], Kernel: kernel.Spec{Kind: kernel.Precomputed}})
}

// TestHardMarginsChecked: hard margins that contradict each other at one input are refused
// when the model is built, so by every command.
func TestHardMarginsChecked(t *testing.T) {
	set := withLabels(&dataset.Set{Name: "s", X: linalg.Matrix{Rows: 4, Cols: 1, Stride: 1,
		Data: []float64{1, 1, 0, 2}}}, 1, -1, 1, -1)
	margin := func(kind kernel.Kind) error {
		_, err := model.Build(t.Context(), model.Spec{Set: set, Loss: loss.HardMargin{},
			Kernel: kernel.Spec{Kind: kind}})
		return err
	}
	for _, kind := range []kernel.Kind{kernel.RBF, kernel.Linear} {
		if err := margin(kind); !errors.Is(err, model.ErrInput) || !contains(err, "examples 1 and 2") {
			t.Errorf("%v: %v", kind, err)
		}
	}
	set.Columns[0].Y[1] = 1
	if err := margin(kernel.Linear); !contains(err, "K(x, x) = 0 at the input of example 3") {
		t.Errorf("a predictor that is 0: %v", err)
	}
}

// TestKey: whatever changes an answer changes the key, what only says the same in other words does not.
func TestKey(t *testing.T) {
	set := testutil.Must(dataset.Open("boston"))(t)
	other := testutil.Must(dataset.Open("crabs"))(t)
	base := model.Spec{Set: set, Loss: loss.Square{Noise: 0.1}}
	scheme := bootstrap
	same := base
	same.Kernel = kernel.Spec{Gamma: 1. / 26, Amplitude: 1} // the defaults of 13 features
	same.MaxBytes = 1 << 40
	if base.Key(scheme) != same.Key(scheme) {
		t.Error("defaults written out have another key")
	}
	seen := map[string]string{base.Key(scheme): "the model"}
	differs := func(what, key string) {
		if seen[key] != "" {
			t.Errorf("%s has the key of %s", what, seen[key])
		}
		seen[key] = what
	}
	for what, change := range map[string]func(*model.Spec){
		"other data":         func(s *model.Spec) { s.Set = other },
		"other noise":        func(s *model.Spec) { s.Loss = loss.Square{Noise: 0.2} },
		"other loss":         func(s *model.Spec) { s.Loss = loss.EpsInsensitive{C: 3} },
		"length scales":      func(s *model.Spec) { s.Kernel.LengthScale = []float64{2, 3} },
		"amplitude of 1+eps": func(s *model.Spec) { s.Kernel.Amplitude = 1 + 0x1p-52 },
		"jitter":             func(s *model.Spec) { s.Kernel.Jitter = 0.5 },
		"standardized":       func(s *model.Spec) { s.Standardize = true },
		"normalized":         func(s *model.Spec) { s.NormalizeTarget = true },
		"low rank":           func(s *model.Spec) { s.Storage = model.LowRank },
		"largest rank":       func(s *model.Spec) { s.MaxRank = 7 },
		"bias":               func(s *model.Spec) { s.Bias = true },
	} {
		changed := base
		change(&changed)
		differs(what, changed.Key(scheme))
	}
	differs("another ratio", base.Key(resample.Poisson{Ratio: 2}))
	differs("folds", base.Key(resample.KFold{Folds: 5, N: 506}))
	differs("other folds", base.Key(resample.KFold{Folds: 6, N: 506}))
	differs("a number more", base.Key(scheme, 1))
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

// TestNormalizedTarget: targets a y + b give a times the answer plus b, with a noise that
// is a share of the variance. All steps are linear in the targets or quadratic, and the
// stopping rules relative, so that only rounding differs: 1e-9 of the figure.
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

// TestNormalizedTargetLeavesAlone: labels, given amplitudes and precomputed kernels.
func TestNormalizedTargetLeavesAlone(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "sonar"), Loss: loss.Hinge{C: 1}, NormalizeTarget: true})
	if m.Mean != 0 || m.Kernel.Amplitude != 1 || m.Y[0] != load(t, "sonar").Targets(0)[0] {
		t.Errorf("labels: mean %v, amplitude %v", m.Mean, m.Kernel.Amplitude)
	}
	spec := grid(t, 12)
	spec.NormalizeTarget = true
	if m := build(t, spec); m.Kernel.Amplitude != 2 || m.Mean == 0 {
		t.Errorf("given amplitude: %v, mean %v", m.Kernel.Amplitude, m.Mean)
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
