package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"testing"
	"time"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestSites: without a jitter equal inputs share a site, with one every example
// has its own. Either way the kernel matrix between the sites of two examples is
// the kernel of their features, pair by pair, plus the jitter of an example
// with itself.
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
				z := asTheyAre(spec.Set.X)
				if standardize {
					z, _ = zScores(spec.Set.X)
				}
				for i := range z {
					if first := m.First[m.Site[i]]; first > i || !slices.Equal(spec.Set.X.Row(first), spec.Set.X.Row(i)) {
						t.Fatalf("example %d is at the site of %d", i, first)
					}
					for j := range z {
						want := rbf(spec.Kernel, z[i], z[j])
						if i == j {
							want += jitter
						}
						near(t, fmt.Sprintf("kernel of %d and %d", i, j), m.Gram().At(m.Site[i], m.Site[j]), want, 1e-12)
					}
				}
			})
		}
	}
}

// TestUnits: with standardising, the units of a feature do not matter, nor does
// a feature that is the same everywhere.
func TestUnits(t *testing.T) {
	spec := model.Spec{Set: load(t, "synthetic:waves,n=40"), Kernel: kernel.Spec{Gamma: 0.2},
		Loss: loss.Square{Noise: 1}, Standardize: true}
	changed := spec
	set := *spec.Set
	set.X = dataset.NewMatrix(40, 5)
	for i := range 40 {
		for j, v := range spec.Set.X.Row(i) {
			set.X.Row(i)[j] = 1e3*v*float64(j+1) + 7
		}
		set.X.Row(i)[4] = 0.1
	}
	changed.Set = &set
	a, b := build(t, spec), build(t, changed)
	for i := range 40 {
		for j := range i {
			// An offset of 7 against steps of 1e3 costs no more than a few digits of 16.
			near(t, "kernel", b.Gram().At(i, j), a.Gram().At(i, j), 1e-12)
		}
	}
}

// precomputed turns a specification into one whose features are the kernel
// between the examples, each with itself without its jitter.
func precomputed(spec model.Spec) model.Spec {
	set := *spec.Set
	n := set.N()
	set.X = dataset.NewMatrix(n, n)
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

// TestPrecomputed: a kernel matrix computed beforehand gives the model of the
// features: sites, kernel, cross-kernel, left-out error and predictions.
func TestPrecomputed(t *testing.T) {
	for _, jitter := range []float64{0, 0.1} {
		t.Run(fmt.Sprintf("jitter=%v", jitter), func(t *testing.T) {
			spec := grid(t, 60)
			spec.Kernel.Jitter = jitter
			a, b := build(t, spec), build(t, precomputed(spec))
			if !slices.Equal(a.Site, b.Site) || a.Merged() == 0 != (jitter > 0) {
				t.Fatalf("sites %v and %v", a.Site, b.Site)
			}
			for i := range a.Sites() {
				for j := range i + 1 {
					near(t, "kernel", b.Gram().At(i, j), a.Gram().At(i, j), 1e-14)
				}
			}
			fresh := [][]float64{{0.5, 0.5}, {1, 4}, {-1, 2}}
			kernels := make([][]float64, len(fresh))
			for r, x := range fresh {
				for i := range spec.Set.N() {
					kernels[r] = append(kernels[r], rbf(kernel.Spec{Gamma: 0.3, Amplitude: 1}, x, spec.Set.X.Row(i)))
				}
			}
			crossA := need.One(a.CrossAll(model.Dense(matrix(fresh))))(t)
			crossB := need.One(b.CrossAll(model.Dense(matrix(kernels))))(t)
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
	s, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-10})
	if err != nil || s.Status != solver.Converged {
		t.Fatal(err, s)
	}
	leftOut, _ = s.LeftOut(loss.SquareTest{})
	if mean, variance, err = s.Predict(slices.Clone(rows)); err != nil {
		t.Fatal(err)
	}
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
	n := float64(boston.N())
	for _, pair := range [][2]int{{0, 1}, {7, 400}, {250, 505}} {
		exponent := 0.0
		for j := range boston.D() {
			sum, squares := 0.0, 0.0
			for i := range boston.N() {
				sum += boston.X.At(i, j)
				squares += boston.X.At(i, j) * boston.X.At(i, j)
			}
			off := boston.X.At(pair[0], j) - boston.X.At(pair[1], j)
			exponent += off * off / (73.54 * math.Sqrt(squares/n-sum*sum/(n*n)))
		}
		// The textbook variance keeps at least 9 digits on these columns.
		near(t, fmt.Sprint("kernel of ", pair), m.Gram().At(pair[0], pair[1]), math.Exp(-exponent), 1e-9)
	}
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
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
		if !ok && set.Task != dataset.Several {
			t.Errorf("%s has no preset", name)
		}
		if set.Task == dataset.Classification {
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
	good := func() model.Spec { return grid(t, 12) }
	with := func(change func(*model.Spec)) model.Spec {
		spec := good()
		set := *spec.Set
		set.X.Data, set.Y = slices.Clone(set.X.Data), slices.Clone(set.Y)
		spec.Set = &set
		change(&spec)
		return spec
	}
	matrixOf := func(change func(*model.Spec)) model.Spec {
		spec := precomputed(good())
		change(&spec)
		return spec
	}
	for _, c := range []struct {
		name string
		spec model.Spec
		is   error
		says string
	}{
		{"nothing", model.Spec{}, model.ErrInput, "no data set or no loss"},
		{"no set", with(func(s *model.Spec) { s.Set = nil }), model.ErrInput, "no data set or no loss"},
		{"no loss", with(func(s *model.Spec) { s.Loss = nil }), model.ErrInput, "no data set or no loss"},
		{"no examples", with(func(s *model.Spec) { s.Set = s.Set.Head(0) }), model.ErrInput, "no targets"},
		{"too few targets", with(func(s *model.Spec) { s.Set.Y = s.Set.Y[:7] }), model.ErrInput,
			"7 targets for 12 examples"},
		{"too few numbers", with(func(s *model.Spec) { s.Set.X.Data = s.Set.X.Data[:7] }), model.ErrInput,
			"7 numbers do not hold 12 x 2"},
		{"narrow stride", with(func(s *model.Spec) { s.Set.X.Stride = 1 }), model.ErrInput, "with stride 1"},
		{"no loss at all", with(func(s *model.Spec) { s.Loss = loss.Square{Noise: -1} }), model.ErrInput,
			"noise variance"},
		{"equal targets", with(func(s *model.Spec) { clear(s.Set.Y) }), model.ErrInput, "all 12 targets are 0"},
		{"no labels", with(func(s *model.Spec) { s.Loss = labelsOnly{loss.Square{Noise: 1}} }), model.ErrInput,
			"labels must be -1 and +1"},
		{"one label", with(func(s *model.Spec) {
			s.Loss = labelsOnly{loss.Square{Noise: 1}}
			for i := range s.Set.Y {
				s.Set.Y[i] = 1
			}
		}), model.ErrInput, "all 12 targets are 1"},
		{"feature", with(func(s *model.Spec) { s.Set.X.Row(3)[1] = math.NaN() }), model.ErrInput,
			"row 4, feature 2 is NaN"},
		{"feature standardised", with(func(s *model.Spec) {
			s.Standardize = true
			s.Set.X.Row(3)[1] =
				math.Inf(1)
		}), model.ErrInput, "row 4, feature 2 is +Inf"},
		{"target", with(func(s *model.Spec) { s.Set.Y[11] = math.NaN() }), model.ErrInput,
			"target of row 12 is NaN"},
		{"kind", with(func(s *model.Spec) { s.Kernel.Kind = 99 }), model.ErrInput, "99"},
		{"gamma", with(func(s *model.Spec) { s.Kernel.Gamma = -1 }), model.ErrInput, "gamma"},
		{"length scales", with(func(s *model.Spec) { s.Kernel = kernel.Spec{LengthScale: []float64{1, 2, 3}} }),
			model.ErrInput, "3 length scales for 2 features"},
		{"jitter", with(func(s *model.Spec) { s.Kernel.Jitter = -1 }), model.ErrInput, "jitter"},
		{"jitter NaN", with(func(s *model.Spec) { s.Kernel.Jitter = math.NaN() }), model.ErrInput, "jitter"},
		{"overflow", with(func(s *model.Spec) { s.Kernel = kernel.Spec{Kind: kernel.Linear, Amplitude: 1e308} }),
			model.ErrInput, "not finite"},
		{"memory", with(func(s *model.Spec) { s.MaxBytes = 1000 }), linalg.ErrMemory, "the theory for"},
		{"matrix standardised", matrixOf(func(s *model.Spec) { s.Standardize = true }), model.ErrInput,
			"cannot be standardised"},
		{"matrix not square", matrixOf(func(s *model.Spec) { s.Set = s.Set.Head(11) }), model.ErrInput,
			"as many features as examples, got 12 and 11"},
		{"matrix asymmetric", matrixOf(func(s *model.Spec) { s.Set.X.Row(2)[5] += 0.01 }), model.ErrInput,
			"entries (3, 6)"},
		{"matrix with gap", matrixOf(func(s *model.Spec) { s.Set.X.Row(2)[5] = math.NaN() }), model.ErrInput,
			"row 3, feature 6 is NaN"},
		{"matrix with gamma", matrixOf(func(s *model.Spec) { s.Kernel.Gamma = 1 }), model.ErrInput,
			"takes no gamma"},
		{"matrix overflow", matrixOf(func(s *model.Spec) {
			s.Kernel.Amplitude = math.MaxFloat64
			s.Kernel.Constant =
				math.MaxFloat64
		}), model.ErrInput, "not finite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := model.Build(c.spec)
			if m != nil || !errors.Is(err, c.is) || errors.Is(err, model.ErrInput) == errors.Is(err,
				linalg.ErrMemory) {
				t.Fatalf("model %v, error %v", m, err)
			}
			if !contains(err, c.says) {
				t.Errorf("%q does not say %q", err, c.says)
			}
		})
	}
}

// allocated is what f allocates, freed or not.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// peak is the most memory that f holds at a time, by samples of the heap, beside what
// was held before. The collector runs often, so that little garbage counts.
func peak(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(2))
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	held := func() float64 {
		metrics.Read(heap)
		return float64(heap[0].Value.Uint64())
	}
	runtime.GC()
	before, most := held(), 0.0
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	for {
		select {
		case <-done:
			return most - before
		case <-time.After(100 * time.Microsecond):
			most = math.Max(most, held())
		}
	}
}

// peakThat is peak, measured anew where it does not hold: the collector may lag behind on
// a machine with other work, and its garbage then counts, or the peak fall between two looks. What is held
// is the same each time, and never what a wrong forecast says.
func peakThat(holds func(bytes float64) bool, f func()) (bytes float64) {
	for range 10 {
		if bytes = peak(f); holds(bytes) {
			break
		}
	}
	return bytes
}

// skipUnderRace skips tests of memory where the race detector, run with -short, has
// memory of its own.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("memory is not the program's own under the race detector")
	}
}

// TestLittleMemory: one byte less than the least is refused. A margin loss goes
// without Newton's method where there is no room for it, says so in the estimate, and
// keeps to that.
func TestLittleMemory(t *testing.T) {
	skipUnderRace(t)
	spec := model.Spec{Set: load(t, "synthetic:rings,n=400,d=5"), Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 1}, Standardize: true}
	plenty := build(t, spec)
	whole := plenty.TheoryBytes()
	want := solve(t, plenty)
	spec.MaxBytes = whole
	if m := build(t, spec); m.TheoryBytes() != whole {
		t.Errorf("%d bytes estimated, %d without a limit", m.TheoryBytes(), whole)
	}
	spec.MaxBytes--
	least := build(t, spec).TheoryBytes()
	if matrix := int64(8 * 400 * 400); least > whole-matrix { // two of them without kernels for small orders
		t.Errorf("%d bytes without Newton's method, %d with it", least, whole)
	}
	spec.MaxBytes = least
	m := build(t, spec)
	var s *solver.Solution
	holds := func(bytes float64) bool { return bytes <= float64(least-linalg.SymBytes(400))*1.1+1<<18 }
	if bytes := peakThat(holds, func() { s = solve(t, m) }); !holds(bytes) {
		t.Errorf("%.0f bytes beside the kernel matrix, %d in all estimated", bytes, least)
	}
	got, _ := s.LeftOut(loss.ZeroOne{})
	wanted, _ := want.LeftOut(loss.ZeroOne{})
	if s.Stats.Linear > 0 || math.Abs(got-wanted) > 1e-5 {
		t.Errorf("error %g, with Newton's method %g; %+v", got, wanted, s.Stats)
	}
	spec.MaxBytes--
	if _, err := model.Build(spec); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("one byte short: %v", err)
	}
	square := model.Spec{Set: load(t, "synthetic:friedman1,n=300"), Loss: loss.Square{Noise: 1},
		Standardize: true}
	square.MaxBytes = build(t, square).TheoryBytes()
	build(t, square)
	square.MaxBytes--
	if _, err := model.Build(square); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("square loss, one byte short: %v", err)
	}
}
