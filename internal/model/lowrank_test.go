package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

// smooth is regression with a broad kernel, whose rank is low, on n inputs of which some repeat.
func smooth(t testing.TB, n int) model.Spec {
	t.Helper()
	set := load(t, "synthetic:waves,n=400,d=2").Head(n)
	for i := 5; i < n; i += 11 {
		copy(set.X.Row(i), set.X.Row(i-3))
	}
	return model.Spec{
		Set: set, Standardize: true, Loss: loss.Square{Noise: 0.05},
		Kernel: kernel.Spec{Gamma: 0.4, Amplitude: 2, Constant: 3},
	}
}

// nearAll fails unless the elements agree to tol of the largest.
func nearAll(t testing.TB, what string, a, b []float64, tol float64) {
	t.Helper()
	largest := floats.Norm(b, math.Inf(1))
	if len(a) != len(b) {
		t.Fatalf("%s: %d elements, want %d", what, len(a), len(b))
	}
	for i := range b {
		if !(math.Abs(a[i]-b[i]) <= tol*largest) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, a[i], b[i])
		}
	}
}

// predictions are mean and variance at new inputs, as a user asks for them.
func predictions(t testing.TB, m *model.Model, s *solver.Solution, in *dataset.Inputs) (mean,
	variance []float64) {
	t.Helper()
	testutil.Check(t, m.Cross(in, func(_ int, rows []float64) error {
		a, b, err := s.Predict(rows)
		mean, variance = append(mean, a...), append(variance, b...)
		return err
	}))
	return mean, variance
}

// TestLowRankReadOuts: at a coarse tolerance every read-out is the exact engine's on the approximate
// matrix, multiplied out: the engine adds no error to the approximation, for the square loss and another.
// With and without a jitter, which the residual must carry and new inputs must not see.
func TestLowRankReadOuts(t *testing.T) {
	eps := loss.EpsInsensitive{C: 2, Epsilon: 0.1}
	for l, jitter := range map[loss.Loss]float64{loss.Square{Noise: 0.05}: 0, loss.Square{Noise: 0.1}: 0.02,
		eps: 0.02} {
		spec := smooth(t, 200)
		spec.Loss, spec.Kernel.Jitter = l, jitter
		spec.Storage, spec.RankTol = model.LowRank, 1e-2
		m := build(t, spec)
		a, ok := m.Approximation()
		if !ok || m.Gram() != nil || a.Rank > 40 || !(a.Residual <= 1e-2) || a.Automatic ||
			m.Warnings() != nil {
			t.Fatalf("%+v, %v", a, m.Warnings())
		}
		for i := range m.Sites() {
			near(t, "diagonal", m.Matrix().At(i, i), 5+jitter, 1e-12)
		}
		s := solve(t, m)
		whole := testutil.Must(m.Dense())(t)
		want := testutil.Must(solver.Solve(t.Context(), solver.Problem{
			Gram: m.Factor().Dense(), Site: m.Site, Y: m.Y, Loss: m.Loss, Law: bootstrap,
		}, solver.Settings{Tolerance: 1e-9}))(t)
		nearAll(t, "mean", s.Mean, want.Mean, 1e-7)
		nearAll(t, "variance", s.Var, want.Var, 1e-7)
		_, errors := s.LeftOut(loss.SquareTest{})
		_, wantErrors := want.LeftOut(loss.SquareTest{})
		nearAll(t, "left-out error", errors, wantErrors, 1e-7)
		row, wantRow := make([]float64, m.Sites()), make([]float64, m.Sites())
		s.Covariance(row, 7)
		want.Covariance(wantRow, 7)
		nearAll(t, "covariance", row, wantRow, 1e-7)
		near(t, "law", s.Distribution(3).Mean(), want.Distribution(3).Mean(), 1e-7)

		fresh := blas64.General(load(t, "synthetic:waves,n=30,d=2,seed=5").X)
		mean, variance := predictions(t, m, s, rowsOf(fresh))
		cross := testutil.Must(m.CrossAll(rowsOf(fresh)))(t)
		wantMean, wantVariance := testutil.Must2(want.Predict(slices.Clone(cross.Data)))(t)
		nearAll(t, "mean at new inputs", mean, wantMean, 1e-7)
		nearAll(t, "variance at new inputs", variance, wantVariance, 1e-7)

		square, ok := l.(loss.Square)
		if !ok {
			continue
		}
		fit := testutil.Must(m.FullFit(t.Context(), nil))(t)
		count, target := make([]float64, m.Sites()), make([]float64, m.Sites())
		train.Sites(m.Site).Merge(m.Y, nil, count, target)
		full := testutil.Must(gp.FitFull(whole, square.Noise, false, count, target))(t)[0]
		nearAll(t, "full fit", fit, full, 1e-9)
	}
}

// TestAuto: the choice, its reasons, and that it does not change small answers.
func TestAuto(t *testing.T) {
	auto := func(spec model.Spec) *model.Model {
		spec.Storage = model.Auto
		return build(t, spec)
	}
	few := smooth(t, 300)
	if m := auto(few); m.Factor() != nil {
		t.Error("a small matrix is approximated")
	}
	broad := smooth(t, 400)
	broad.Set, broad.Kernel.Gamma = load(t, "synthetic:waves,n=450,d=2"), 0.1
	m := auto(broad)
	a, ok := m.Approximation()
	if !ok || !a.Automatic || a.Rank > 90 || !(a.Residual <= 3e-8*0.05/2) {
		t.Fatalf("a broad kernel in two dimensions: %+v", a)
	}
	if w := m.Warnings(); len(w) != 1 || !strings.Contains(w[0], "lowrank engine was chosen") {
		t.Errorf("warnings %q", w)
	}
	narrow := broad
	narrow.Kernel.Gamma = 100
	if m := auto(narrow); m.Factor() != nil || m.Warnings() != nil {
		t.Errorf("a narrow kernel: %q", m.Warnings())
	}
	narrow.MaxRank = 10
	narrow.Kernel.Gamma = 0.1
	if m := auto(narrow); m.Factor() != nil {
		t.Error("the largest rank is not respected")
	}

	// Memory for half of the matrix: low rank, to RankTol, at any size.
	many := broad
	many.Set = load(t, "synthetic:waves,n=1500,d=2")
	many.MaxBytes = linalg.SymBytes(1500) / 2
	refused(model.Build(t.Context(), many))(t, "exact in little memory", linalg.ErrMemory,
		"lowrank engine would fit, up to rank ")
	many.RankTol = 1e-2
	m = auto(many)
	if a, ok := m.Approximation(); !ok || !(a.Residual <= 1e-2) || a.Residual < 1e-4 ||
		len(m.Warnings()) != 1 {
		t.Errorf("%+v, warnings %q", a, m.Warnings())
	}
	many.Storage, many.Kernel.Gamma = model.Auto, 1e5
	if _, err := model.Build(t.Context(), many); !errors.Is(err, linalg.ErrMemory) || !errors.Is(err,
		linalg.ErrRank) {
		t.Errorf("neither engine fits: %v", err)
	}
}

// TestAutoIsExact: what Auto leaves out of a broad kernel moves the left-out error by less than 1e-6 of
// itself, means by less than 1e-3 of a standard deviation over resamples, and variances by less than 2e-6 in
// the median and 1e-4 at any site, at large and small noise and at small and large ratios.
func TestAutoIsExact(t *testing.T) {
	spec := smooth(t, 400)
	spec.Set, spec.Standardize = load(t, "synthetic:waves,n=500,d=2"), true
	spec.Kernel.Gamma = 0.3
	for _, noise := range []float64{0.1, 1e-3} {
		for _, ratio := range []float64{0.3, 3} {
			spec.Loss = loss.Square{Noise: noise}
			average := func(engine model.Storage) (*solver.Solution, *model.Model) {
				spec := spec
				spec.Storage = engine
				m := build(t, spec)
				s := converge(t, m, resample.Poisson{Ratio: ratio}, solver.Settings{})
				return s, m
			}
			exact, _ := average(model.Exact)
			s, m := average(model.Auto)
			if _, ok := m.Approximation(); !ok {
				t.Fatalf("noise %g: the kernel is not broad enough", noise)
			}
			got, _ := s.LeftOut(loss.SquareTest{})
			want, _ := exact.LeftOut(loss.SquareTest{})
			var off []float64
			mean := 0.0
			for i, v := range exact.Var {
				off = append(off, math.Abs(s.Var[i]/v-1))
				mean = math.Max(mean, math.Abs(s.Mean[i]-exact.Mean[i])/math.Sqrt(v))
			}
			slices.Sort(off)
			if math.Abs(got/want-1) > 1e-6 || mean > 1e-3 || off[len(off)/2] > 2e-6 ||
				off[len(off)-1] > 1e-4 {
				t.Errorf("noise %g, ratio %g: error off by %.1e, means %.1e, variances %.1e, %.1e at most",
					noise, ratio, got/want-1, mean, off[len(off)/2], off[len(off)-1])
			}
		}
	}
}

// TestAutoIsFine: below 5000 sites Auto takes a factor for soft margins and logistic loss where the rank is
// low and changes the left-out error by less than it states, and by less than 0.1%; not for a narrow kernel,
// nor for a hard margin.
func TestAutoIsFine(t *testing.T) {
	for _, c := range []struct {
		data     string
		gamma    float64
		l        loss.Loss
		at, most int // ranks
	}{
		{"synthetic:rings,n=800", 0.15, loss.Hinge{C: 10}, 10, 40},
		{"synthetic:blobs,n=800", 0.15, loss.Logistic{C: 1}, 15, 30},
		{"synthetic:blobs,n=800,d=4", 0.075, loss.Hinge{C: 0.3}, 30, 95},
		{"synthetic:blobs,n=800,d=4", 2, loss.Hinge{C: 1}, 0, 0},
		{"synthetic:blobs,n=800", 0.15, loss.HardMargin{}, 0, 0},
	} {
		spec := model.Spec{Set: load(t, c.data), Standardize: true, Loss: c.l, Storage: model.Auto,
			Kernel: kernel.Spec{Gamma: c.gamma}}
		m, s := testutil.Must2(build(t, spec).Settle(t.Context(), bootstrap, solver.Settings{}))(t)
		a, low := m.Approximation()
		if !low || c.most == 0 {
			if low || c.most > 0 || s != nil {
				t.Errorf("%s, %s: %+v", c.data, c.l.Name(), a)
			}
			continue
		}
		spec.Storage = model.Exact
		test := model.DefaultTest(spec.Set)
		want, _ := solve(t, build(t, spec)).LeftOut(test)
		got, _ := s.LeftOut(test)
		off, stated := math.Abs(got/want-1), m.RankError(s)
		if !(off <= stated && stated <= 1e-3) || s.Status != solver.Converged || a.Rank < c.at ||
			a.Rank > c.most {
			t.Errorf("%s, %s: rank %d, off by %.2g, stated %.2g, %v", c.data, c.l.Name(), a.Rank, off, stated,
				s.Status)
		}
	}
}

// TestLowRankRefusals: before any work, or as soon as it is known.
func TestLowRankRefusals(t *testing.T) {
	spec := smooth(t, 200)
	spec.Storage = model.LowRank
	change := func(f func(*model.Spec)) error {
		changed := spec
		f(&changed)
		_, err := model.Build(t.Context(), changed)
		return err
	}
	for what, f := range map[string]func(*model.Spec){
		"tolerance": func(s *model.Spec) { s.RankTol = 1 },
		"NaN":       func(s *model.Spec) { s.RankTol = math.NaN() },
		"most":      func(s *model.Spec) { s.MaxRank = -1 },
		"engine":    func(s *model.Spec) { s.Storage = 7 },
		"too few":   func(s *model.Spec) { s.RankTol, s.MaxRank = 1e-6, 5 },
	} {
		fails(t, what, change(f), model.ErrInput, "")
	}
	fails(t, "rank limit", change(func(s *model.Spec) { s.MaxRank, s.RankTol = 5, 1e-6 }), linalg.ErrRank, "")
	spec.MaxRank = 12
	m := build(t, spec)
	if a, _ := m.Approximation(); a.Rank != 12 {
		t.Errorf("rank %d, 12 asked for", a.Rank)
	}
	m.MaxBytes = 1000
	if _, err := m.LossTrainers(0); err != nil {
		t.Errorf("retraining on the factor, which needs no room for the whole matrix: %v", err)
	}
	refused(m.Dense())(t, "the whole matrix without room", linalg.ErrMemory, "")
	if model.Storage(9).String() != "Engine(9)" {
		t.Error("an unknown engine has a name")
	}
}

// TestLowRankBytes holds the estimate to what building and solving allocate.
func TestLowRankBytes(t *testing.T) {
	spec := smooth(t, 400)
	spec.Storage, spec.RankTol = model.LowRank, 1e-9
	var m *model.Model
	bytes := allocated(func() {
		m = build(t, spec)
		m.Matrix().Engine()
	})
	if q := bytes / float64(linalg.LowRankBytes(m.Sites(), m.Factor().Rank())); q < 0.6 || q > 2 {
		t.Errorf("%.0f bytes allocated, %g times what was estimated at rank %d", bytes, q, m.Factor().Rank())
	}
}

// eight is regression on n rows of 8 inputs with a broad kernel and little noise, where the
// left-out error feels what a factor leaves out of the kernel.
func eight(t testing.TB, n int, gamma, noise float64) model.Spec {
	t.Helper()
	return model.Spec{
		Set: load(t, fmt.Sprintf("synthetic:waves,n=%d,d=8", n)), Standardize: true,
		Loss: loss.Square{Noise: noise}, Kernel: kernel.Spec{Gamma: gamma},
	}
}

// solveAt solves at a ratio and returns the left-out square error.
func solveAt(t testing.TB, m *model.Model, ratio float64) (float64, *solver.Solution) {
	t.Helper()
	s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: ratio}, solver.Settings{}))(t)
	return leftOut(s), s
}

// settledAt is solveAt of the model that Settle makes, and that.
func settledAt(t testing.TB, m *model.Model) (float64, *solver.Solution, *model.Model) {
	t.Helper()
	m, _ = testutil.Must2(m.Settle(t.Context(), bootstrap, solver.Settings{}))(t)
	mean, s := solveAt(t, m, 1)
	return mean, s, m
}

// TestRankError: the change of the left-out error against the exact engine is within what the model states,
// at default ranks and at one that is far too low, and by default below the goal of 1%. A residual of a
// hundredth of the noise, the default once, changed the error by 15 to 30% here.
func TestRankError(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for _, gamma := range []float64{0.002, 0.01} {
		for _, noise := range []float64{0.001, 0.01, 0.1} {
			spec := eight(t, 500, gamma, noise)
			for _, ratio := range []float64{0.5, 2} {
				want, _ := solveAt(t, build(t, spec), ratio)
				for _, tol := range []float64{0, 0.01 * noise, 0.001 * noise} {
					low := spec
					low.Storage, low.RankTol = model.LowRank, tol
					m := build(t, low)
					got, s := solveAt(t, m, ratio)
					off, stated := math.Abs(got/want-1), m.RankError(s)
					if !(off <= stated) || tol == 0 && !(stated <= model.DefaultRankError) {
						t.Errorf("gamma %g, noise %g, ratio %g, tolerance %g: off by %.2g, stated %.2g",
							gamma, noise, ratio, tol, off, stated)
					}
					warned := strings.Contains(strings.Join(s.Warnings, "; "),
						"may change the left-out error")
					if warned != (stated > model.DefaultRankError) || s.Status != solver.Converged {
						t.Errorf("stated %.2g, status %v, warnings %q", stated, s.Status, s.Warnings)
					}
				}
			}
		}
	}
}

// TestSettledRank: the left-out error at the rank that Settle takes is off by no more than the goal, and by
// no more than twice what is stated; the rank is at most the one that the bound asks for, of labels well
// below it, and the solution the model's.
func TestSettledRank(t *testing.T) {
	labels := model.Spec{Set: load(t, "synthetic:blobs,n=500,d=6"), Standardize: true, Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 0.03}}
	for name, spec := range map[string]model.Spec{"square": eight(t, 500, 0.01, 0.1), "hinge": labels} {
		law := bootstrap
		var test loss.Test = loss.SquareTest{}
		if name == "hinge" {
			test = loss.ZeroOne{}
		}
		want, _ := testutil.Must(build(t, spec).Solve(t.Context(), law, solver.Settings{}))(t).LeftOut(test)
		spec.Storage, spec.RankError = model.LowRank, 0.01
		m := build(t, spec)
		first, _ := m.Approximation()
		m, s := testutil.Must2(m.Settle(t.Context(), law, solver.Settings{}))(t)
		got, _ := s.LeftOut(test)
		again, _ := testutil.Must(m.Solve(t.Context(), law, solver.Settings{}))(t).LeftOut(test)
		a, _ := m.Approximation()
		off, stated := math.Abs(got/want-1), m.RankError(s)
		if !(off <= 2*stated && off <= 0.01 && stated <= 0.01) || a.Rank > first.Rank || name == "hinge" &&
			a.Rank > first.Rank*4/5 || math.Abs(again/got-1) > 1e-5 {
			t.Errorf("%s: rank %d of %d, off by %.2g, stated %.2g; %g solved again %g", name, a.Rank,
				first.Rank, off, stated, got, again)
		}
	}
}

// TestRankOnSample: where the rank is chosen on a sample, here one of only 300 sites, the left-out error is
// off by less than the goal, by no more than twice what is stated, at about the rank that all sites choose.
// Weights and repeated inputs go with their sites.
func TestRankOnSample(t *testing.T) {
	spec := eight(t, 1200, 0.001, 0.1)
	for i := 7; i < spec.Set.N(); i += 24 {
		copy(spec.Set.X.Row(i), spec.Set.X.Row(i-3))
	}
	for i := range spec.Set.N() {
		spec.Set.Weights = append(spec.Set.Weights, 0.5+float64(i/2%3))
	}
	want, _ := solveAt(t, build(t, spec), 1)
	spec.Storage = model.LowRank
	_, _, all := settledAt(t, build(t, spec))
	model.SampleSites(t, 300)
	got, s, m := settledAt(t, build(t, spec))
	off, stated := math.Abs(got/want-1), m.RankError(s)
	rank, usual := m.Factor().Rank(), all.Factor().Rank()
	if !(off <= 2*stated && max(off, stated) <= model.DefaultRankError) || s.Status != solver.Converged ||
		rank > usual*3/2 || usual > rank*3/2 {
		t.Errorf("rank %d, of all sites %d: off by %.2g, stated %.2g, %v", rank, usual, off, stated, s.Status)
	}
}

// TestRankErrorGoal: a goal that is given decides, over the rank and over the status.
func TestRankErrorGoal(t *testing.T) {
	spec := eight(t, 500, 0.01, 0.01)
	spec.Storage = model.LowRank
	rank := func(goal float64) int {
		spec.RankError = goal
		a, _ := build(t, spec).Approximation()
		return a.Rank
	}
	if fine, coarse := rank(1e-4), rank(0.1); !(fine > coarse+20) {
		t.Errorf("rank %d for a change of 0.01%%, %d for 10%%", fine, coarse)
	}
	spec.RankError, spec.MaxRank = 0.01, 20
	if _, s := solveAt(t, build(t, spec), 1); s.Status != solver.TooCoarse || s.Status.Err() == nil {
		t.Errorf("at rank 20 the status is %v", s.Status)
	}
	for _, bad := range []float64{-0.1, 1, math.NaN()} {
		spec.RankError = bad
		refused(model.Build(t.Context(), spec))(t, fmt.Sprint("a rank error of ", bad), nil, "")
	}
}

// TestAutoKeepsRankError: a matrix that does not fit into memory is approximated within the
// goal. Where memory or the largest rank forbid that, Auto does not call the answer converged;
// where the exact engine fits, it takes that.
func TestAutoKeepsRankError(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	spec := eight(t, 1500, 0.01, 0.01)
	want, _ := solveAt(t, build(t, spec), 1)
	spec.Storage = model.Auto
	spec.MaxBytes = linalg.SymBytes(1500) * 2 / 3 // for few ranks, whatever the number of threads
	check := func(what string, m *model.Model) {
		t.Helper()
		got, s, m := settledAt(t, m)
		if off := math.Abs(got/want - 1); s.Status != solver.TooCoarse || !(off <= m.RankError(s)) ||
			off < 0.01 {
			t.Errorf("%s: off by %.2g, stated %.2g, %v", what, off, m.RankError(s), s.Status)
		}
	}
	m := build(t, spec)
	check("little memory", m)
	m.MaxBytes = 0
	got, s, m := settledAt(t, m)
	if s.Status != solver.Converged || m.RankError(s) > model.DefaultRankError ||
		math.Abs(got/want-1) > model.DefaultRankError {
		t.Errorf("with more memory: error %g, exactly %g, stated %.2g; %v", got, want, m.RankError(s),
			s.Status)
	}
	spec.MaxRank = 30
	check("a small largest rank", build(t, spec))

	// By the rule for losses without a noise, a residual of 1e-4, this factor is too coarse.
	hinge := model.Spec{
		Set: load(t, "synthetic:blobs,n=1500,d=8"), Standardize: true, Loss: loss.Hinge{C: 1000},
		Kernel:  kernel.Spec{Gamma: 0.002},
		Storage: model.Auto, MaxBytes: linalg.SymBytes(1500) * 2 / 3,
	}
	m = build(t, hinge)
	if _, s, _ = settledAt(t, m); s.Status != solver.TooCoarse {
		t.Errorf("hinge in little memory: stated %.2g, %v", m.RankError(s), s.Status)
	}
	m.MaxBytes = 0
	if _, s, m = settledAt(t, m); s.Status != solver.Converged || m.RankError(s) > model.DefaultRankError {
		t.Errorf("hinge: stated %.2g, %v", m.RankError(s), s.Status)
	}
}

// TestHardOnFactor: a hard margin that a factor's residuals soften does not count as converged.
func TestHardOnFactor(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:blobs,n=300"), Standardize: true,
		Loss: loss.HardMargin{}, Kernel: kernel.Spec{Gamma: 0.25}, Storage: model.LowRank})
	if _, s, m := settledAt(t, m); s.Status != solver.TooCoarse || !(m.RankError(s) > 0.1) {
		t.Errorf("%v, stated %.2g", s.Status, m.RankError(s))
	}
}

// TestLimitedRank: where the largest rank allowed, or memory, does not reach the goal the
// rankAnswer is given but does not count as converged, and says what was aimed at; where not
// even rank 1 fits, the number of inputs that would is named.
func TestLimitedRank(t *testing.T) {
	spec := eight(t, 600, 0.02, 0.01)
	spec.Storage = model.LowRank
	for name, limit := range map[string]func(*model.Spec){
		"rank":   func(s *model.Spec) { s.MaxRank = 20 },
		"memory": func(s *model.Spec) { s.MaxBytes = 2_500_000 },
	} {
		limited := spec
		limit(&limited)
		m := build(t, limited)
		_, s := solveAt(t, m, 1)
		if a, _ := m.Approximation(); s.Status != solver.TooCoarse || a.Rank == 0 || name == "rank" &&
			a.Rank != 20 || !slices.ContainsFunc(s.Warnings,
			func(w string) bool { return strings.Contains(w, "1% is the goal") }) {
			t.Errorf("%s: rank %d, %v, %q", name, a.Rank, s.Status, s.Warnings)
		}
	}
	spec.MaxBytes = 300_000
	refused(model.Build(t.Context(), spec))(t, "no room", linalg.ErrMemory, "for about")
}
