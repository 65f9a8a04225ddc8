package multifidelity_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/batch"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/multifidelity"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// inputs are the first rows of a set, moved a little, as new inputs.
func inputs(t testing.TB, m *model.Model, rows int) blas64.General {
	t.Helper()
	d := m.Set.D()
	x := blas64.General{Rows: rows, Cols: d, Stride: d, Data: slices.Clone(m.Set.X.Data[:rows*d])}
	floats.AddConst(0.1, x.Data)
	return need.One(m.CrossAll(model.Dense(x)))(t)
}

// TestPlain: without control the estimates of points and examples are those of retraining on the
// same draws, to 1e-6 where fits are solved to 1e-8: what a block holds beside a fit changes its rounding.
// The left-out error, which centers losses about what the resamples before have shown instead of each
// example's own mean, agrees to a third of its standard error, and so do the two standard errors,
// retraining's from 20 groups erring by 16%.
func TestPlain(t *testing.T) {
	for _, c := range []struct {
		set    string
		loss   loss.Loss
		test   loss.Test
		scheme func(n int) resample.Scheme
	}{
		{"synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, loss.SquareTest{}, bootstrap},
		{"synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, loss.SquareTest{}, bootstrap}, // inputs repeat
		{"synthetic:blobs,n=100,seed=1", loss.Logistic{C: 1}, loss.ZeroOne{},
			func(n int) resample.Scheme { return resample.Subsample{Size: n / 2, N: n} }},
	} {
		m := build(t, c.set, c.loss, 0.5)
		scheme := c.scheme(len(m.Set.Y))
		s := solve(t, m, scheme)
		cross := inputs(t, m, 5)
		tight := batch.Settings{Tolerance: 1e-8}
		var fits [][]float64
		r := refine(t, m, s, scheme, refit.RefineSettings{Cross: cross, Resamples: 200, Seed: 3,
			Tests: []loss.Test{c.test}, Plain: true, Batch: tight,
			OnFit: func(_ int, _, f []float64) { fits = append(fits, slices.Clone(f)) }})
		of, _ := need.Two(refit.RetrainAround(t.Context(), m, s, scheme, refit.RetrainSettings{Seed: 3,
			Settings: retrain.Settings{Resamples: 200, Tests: []loss.Test{c.test}}, Cross: cross, Batch: tight}))(t)
		for _, v := range []struct {
			name string
			a, b []float64
		}{
			{"mean", r.Points.Mean, of.Mean}, {"its error", r.Points.MeanSE, of.MeanSE},
			{"variance", r.Points.Variance, of.Var}, {"vote", r.Points.Vote, of.Vote},
			{"left-out errors", r.TestError().Examples, of.LeftOut[0].Examples},
		} {
			for i := range v.b {
				if !(math.Abs(v.a[i]-v.b[i]) <= 1e-6*(1+math.Abs(v.b[i]))) {
					t.Fatalf("%s: %s at %d: %v, of retraining %v", c.set, v.name, i, v.a[i], v.b[i])
				}
			}
		}
		for i, want := range widened(fits) {
			if !(math.Abs(r.Points.VarianceSE[i]-want) <= 1e-6*want) {
				t.Fatalf("%s: standard error of variance %d is %v, recomputed %v", c.set, i, r.Points.VarianceSE[i], want)
			}
		}
		e := r.TestError()
		if !(math.Abs(e.Error-of.LeftOut[0].Error) < e.StandardError/3) ||
			!(math.Abs(e.StandardError/of.LeftOut[0].SE-1) < 0.5) {
			t.Errorf("%s: left-out error %v +- %v, of retraining %v +- %v", c.set, e.Error, e.StandardError,
				of.LeftOut[0].Error, of.LeftOut[0].SE)
		}
		if r.Control != "none" || math.Abs(e.EquivalentResamples-200) > 1e-9 {
			t.Errorf("control %q, worth %v resamples", r.Control, e.EquivalentResamples)
		}
	}
}

// widened are the standard errors of variances over R fits: the relative one r of a point, squared, becomes
// (1 + 15/R)(R r^2 + 50 mean r^2)/(R + 50), for tails that few fits do not show (decision 0020).
func widened(fits [][]float64) []float64 {
	n, points := float64(len(fits)), len(fits[0])
	variance, relative := make([]float64, points), make([]float64, points)
	for i := range points {
		values, squares := make([]float64, len(fits)), make([]float64, len(fits))
		for b, f := range fits {
			values[b] = f[i]
		}
		mean := stat.Mean(values, nil)
		for b, v := range values {
			squares[b] = (v - mean) * (v - mean)
		}
		variance[i] = stat.Variance(values, nil)
		relative[i] = stat.Variance(squares, nil) / n / (variance[i] * variance[i])
	}
	mean := stat.Mean(relative, nil)
	se := make([]float64, points)
	for i, v := range variance {
		se[i] = v * math.Sqrt((1+15/n)*(n*relative[i]+50*mean)/(n+50))
	}
	return se
}

// TestTwoTests: estimates under one test loss do not depend on what others are asked for.
func TestTwoTests(t *testing.T) {
	m := build(t, "sonar", loss.Hinge{C: 1}, 0.5)
	s := solve(t, m, law)
	tests := []loss.Test{loss.ZeroOne{}, loss.SquareTest{}}
	both := refine(t, m, s, law, refit.RefineSettings{Resamples: 60, Tests: tests})
	for k, test := range tests {
		alone := refine(t, m, s, law, refit.RefineSettings{Resamples: 60, Tests: []loss.Test{test}}).TestError()
		if !reflect.DeepEqual(both.Tests[k], alone) {
			t.Errorf("%s: %+v beside another, %+v alone", test.Name(), both.Tests[k], alone)
		}
	}
}

// TestNewInputs: a point of the data given as a new input has the estimates of its site.
// Single precision in the fits leaves 1e-5 of what varies.
func TestNewInputs(t *testing.T) {
	for _, m := range []*model.Model{
		build(t, "synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, 0.5),
		build(t, "synthetic:friedman1,n=80,seed=1", loss.Huber{C: 1, Delta: 0.5}, 0.5),
	} {
		for _, scheme := range []resample.Scheme{resample.Poisson{Ratio: 1},
			resample.KFold{Folds: 5, N: len(m.Set.Y)}} {
			s := solve(t, m, scheme)
			cross := need.One(m.CrossAll(model.Dense(blas64.General(m.Set.X))))(t)
			r := refine(t, m, s, scheme, refit.RefineSettings{Cross: cross, Resamples: 100, Tests: squares})
			for i, site := range m.Site {
				j := m.Sites() + i
				sd := math.Sqrt(r.Points.Variance[site])
				if math.Abs(r.Points.Mean[site]-r.Points.Mean[j]) > 1e-4*sd ||
					math.Abs(r.Points.Variance[site]-r.Points.Variance[j]) > 1e-3*sd*sd {
					t.Fatalf("%s: example %d: %v, %v as a new input, %v, %v at its site", scheme.Name(), i, r.Points.Mean[j],
						r.Points.Variance[j], r.Points.Mean[site], r.Points.Variance[site])
				}
			}
		}
	}
}

// TestAccuracy: refinement goes on until the standard error is what was asked for, with the
// draws that one run of as many resamples has.
func TestAccuracy(t *testing.T) {
	m, s := ordinary(t)
	settings := refit.RefineSettings{Resamples: 20, Tests: squares, Accuracy: 0.002}
	r := refine(t, m, s, law, settings)
	if e := r.TestError(); r.Resamples == 20 || e.StandardError > 0.002*e.Error {
		t.Errorf("%d resamples: %v +- %v", r.Resamples, e.Error, e.StandardError)
	}
	once := refine(t, m, s, law, refit.RefineSettings{Resamples: r.Resamples, Tests: settings.Tests})
	if a, b := r.TestError().Error, once.TestError().Error; math.Abs(a-b) > 1e-5*b {
		t.Errorf("in blocks %v, at once %v", a, b)
	}
	settings.MaxResamples = 60
	if r := refine(t, m, s, law, settings); r.Resamples != 60 || len(r.Warnings) != 1 {
		t.Errorf("at most 60 resamples: %d, %q", r.Resamples, r.Warnings)
	}
}

// TestWithoutControl: a loss whose first iterate has no known average is refined plainly, and says so.
func TestWithoutControl(t *testing.T) {
	m := build(t, "synthetic:grid,n=40,d=1", loss.Huber{C: 1, Delta: 0.5}, 0.5) // some 8 targets at each input
	s := need.One(m.Solve(t.Context(), law, solver.Settings{Tolerance: 1e-2}))(t)
	r := refine(t, m, s, law, refit.RefineSettings{Resamples: 50, Tests: squares})
	if r.Control != "none" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		"too many different targets") {
		t.Errorf("control %q, warnings %q", r.Control, r.Warnings)
	}
}

// TestRefusals: what cannot be refined is an error that says why.
func TestRefusals(t *testing.T) {
	m, s := ordinary(t)
	other := build(t, "synthetic:friedman1,n=90,seed=1", loss.Square{Noise: 1}, 0.5)
	probit := build(t, "synthetic:blobs,n=60,seed=1", loss.Probit{}, 0.5)
	stale := solve(t, other, law)
	need.One(other.FullFit())(t) // overwrites the triangle that holds G
	for says, c := range map[string]struct {
		m        *model.Model
		s        *solver.Solution
		settings refit.RefineSettings
	}{
		"0 resamples are too few": {m, s, refit.RefineSettings{Tests: squares}},
		"1 resamples are too few": {m, s, refit.RefineSettings{Resamples: 1, Tests: squares}},
		"accuracy of -1":          {m, s, refit.RefineSettings{Resamples: 9, Accuracy: -1, Tests: squares}},
		"0 tests":                 {m, s, refit.RefineSettings{Resamples: 9, Accuracy: 0.1}},
		"not one of this model":   {other, s, refit.RefineSettings{Resamples: 9}},
		"overwritten":             {other, stale, refit.RefineSettings{Resamples: 9}},
		"posterior mean":          {probit, solve(t, probit, law), refit.RefineSettings{Resamples: 9}},
	} {
		_, err := refit.Refine(t.Context(), c.m, c.s, law, c.settings)
		if !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected %q", err, says)
		}
	}
}

// TestCancel: when the context ends, the finished resamples count; without two there is an
// error. A refinement that looks whole blocks of these resamples up fits only the others, and finds what
// one finds that nothing has disturbed, to the last bit.
func TestCancel(t *testing.T) {
	m, s := ordinary(t)
	ctx, cancel := context.WithCancel(t.Context())
	seen, kept := 0, [][]float64{}
	r, err := refit.Refine(ctx, m, s, law, refit.RefineSettings{Resamples: 100000,
		Tests: squares, OnFit: func(_ int, _, f []float64) {
			kept = append(kept, slices.Clone(f))
			if seen++; seen == 70 {
				cancel()
			}
		}})
	if err != nil || r.Status != retrain.Cancelled || r.Resamples != seen || seen < 70 || seen > 10000 ||
		!(r.TestError().StandardError > 0) {
		t.Errorf("%v after %d resamples: %+v", err, seen, r)
	}
	if _, err := refit.Refine(ctx, m, s, law, refit.RefineSettings{Resamples: 100}); !errors.Is(err,
		retrain.ErrCancelled) {
		t.Errorf("without resamples: %v", err)
	}
	settings := refit.RefineSettings{Resamples: 200, Tests: squares}
	want := refine(t, m, s, law, settings)
	settings.Lookup = func(b int, f []float64) (bool, error) { return b < 70, copyFit(f, kept[min(b, 69)]) }
	r = refine(t, m, s, law, settings)
	if a, b := r.TestError(), want.TestError(); a.Error != b.Error ||
		a.StandardError != b.StandardError || r.Iterations >= want.Iterations {
		t.Errorf("resumed %v +- %v, %d iterations, undisturbed %v +- %v, %d iterations", a.Error, a.StandardError,
			r.Iterations, b.Error, b.StandardError, want.Iterations)
	}
}

func copyFit(dst, src []float64) error { copy(dst, src); return nil }

// TestRoughTheory: what the theory has not solved, or a low-rank matrix approximates, costs
// variance alone. From a residual of 1e-2 and from a low-rank kernel of nearly full rank the left-out error
// agrees with that from the converged solution, on the same draws, to half of its standard error.
func TestRoughTheory(t *testing.T) {
	spec := build(t, "synthetic:friedman1,n=80,seed=1", loss.Huber{C: 1, Delta: 0.5}, 0.5).Spec
	settings := refit.RefineSettings{Resamples: 200, Tests: squares}
	results := map[string]*multifidelity.Result{}
	for name, c := range map[string]struct {
		storage   model.Storage
		tolerance float64
	}{"solved": {model.Exact, 1e-8}, "rough": {model.Exact, 1e-2}, "low rank": {model.LowRank, 1e-8}} {
		spec.Storage, spec.RankTol = c.storage, 1e-6
		m := need.One(model.Build(spec))(t)
		s := need.One(m.Solve(t.Context(), law, solver.Settings{Tolerance: c.tolerance}))(t)
		results[name] = refine(t, m, s, law, settings)
	}
	of := results["solved"].TestError()
	for name, r := range results {
		if e := r.TestError(); !(math.Abs(e.Error-of.Error) < 0.5*of.StandardError) ||
			!(e.EquivalentResamples > 0.7*of.EquivalentResamples) {
			t.Errorf("%s: %v +- %v worth %.0f resamples, solved %v +- %v worth %.0f", name, e.Error, e.StandardError,
				e.EquivalentResamples, of.Error, of.StandardError, of.EquivalentResamples)
		}
	}
}

// TestErrorEstimates: .632 and .632+ are those of the refined left-out error.
func TestErrorEstimates(t *testing.T) {
	m := build(t, "synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, 0.5)
	r := refine(t, m, solve(t, m, law), law, refit.RefineSettings{Resamples: 50, Tests: squares})
	fit := need.One(m.FullFit())(t)
	apparent := 0.0
	for i, y := range m.Set.Y {
		apparent += (fit[m.Site[i]] - y) * (fit[m.Site[i]] - y) / float64(len(m.Set.Y))
	}
	want := 0.368*apparent + 0.632*r.TestError().Error
	if e := r.ErrorEstimates(0, fit); math.Abs(e.Err632-want) > 1e-12*want || !(e.Err632Plus >= e.Err632) {
		t.Errorf("%+v, want .632 %v", e, want)
	}
}

// TestIndependentSites: where the kernel carries nothing from one input to another a
// left-out prediction is 0 in every resample, so that the left-out error is the mean square
// of the targets, which the refined one must be to rounding in single precision: what F1
// differs by from its mean there is rounding alone, and no control.
func TestIndependentSites(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=40,seed=1", loss.Square{Noise: 1e-3}, 500)
	s := solve(t, m, law)
	want := floats.Dot(m.Set.Y, m.Set.Y) / float64(len(m.Set.Y))
	for _, resamples := range []int{20, 300} {
		r := need.One(refit.Refine(t.Context(), m, s, law, refit.RefineSettings{Resamples: resamples,
			Tests: squares}))(t)
		if e := r.TestError(); math.Abs(e.Error-want) > 1e-5*want {
			t.Errorf("%d resamples: left-out error %v +- %v, want %v", resamples, e.Error, e.StandardError, want)
		}
	}
}

// TestUnits: targets times 2^k have means times 2^k, variances and errors times 2^2k, to rounding; so they
// have where the kernel and the noise are scaled with them, to the tolerance of fits, whose precision may
// differ.
func TestUnits(t *testing.T) {
	estimates := func(k int, along bool) map[string][]float64 {
		set := need.One(dataset.Load("synthetic:friedman1,n=60,seed=1", dataset.Options{}))(t)
		for i := range set.Y {
			set.Y[i] = math.Ldexp(set.Y[i], k)
		}
		spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: 0.1},
			Loss: loss.Square{Noise: 1}}
		if along {
			spec.Kernel.Amplitude, spec.Loss = math.Ldexp(1, 2*k), loss.Square{Noise: math.Ldexp(1, 2*k)}
		}
		m := need.One(model.Build(spec))(t)
		r := refine(t, m, solve(t, m, law), law, refit.RefineSettings{Resamples: 40, Cross: inputs(t, m, 3),
			Tests: squares})
		e := r.TestError()
		return map[string][]float64{"means": r.Points.Mean, "their errors": r.Points.MeanSE,
			"of variances": r.Points.Variance, "of their errors": r.Points.VarianceSE,
			"of errors": {e.Error, e.StandardError, e.BaggedError, e.BaggedSE}}
	}
	want := estimates(0, false)
	for _, c := range []struct {
		k         int
		along     bool
		tolerance float64
	}{{-200, false, 1e-9}, {-41, false, 1e-9}, {33, false, 1e-9}, {160, false, 1e-9}, {100, true, 0.01},
		{-100, true, 0.01}} {
		k := c.k
		for what, values := range estimates(k, c.along) {
			power := k
			if strings.HasPrefix(what, "of ") {
				power = 2 * k
			}
			for i, v := range values {
				if scaled := math.Ldexp(v,
					-power); !(math.Abs(scaled-want[what][i]) <= c.tolerance*math.Abs(want[what][i])) {
					t.Fatalf("targets times 2^%d, %s: number %d is %v, want %v", k, what, i, scaled, want[what][i])
				}
			}
		}
	}
}

// TestBaggedOfFew: an example that one resample leaves out has no bagged error of its own under the square
// loss, and does not spoil that of the others.
func TestBaggedOfFew(t *testing.T) {
	for _, ratio := range []float64{1, 3} {
		m := build(t, "synthetic:friedman1,n=150,seed=1", loss.Square{Noise: 1}, 0.5)
		scheme := resample.Poisson{Ratio: ratio}
		s := solve(t, m, scheme)
		many := refine(t, m, s, scheme, refit.RefineSettings{Resamples: 2000, Seed: 1, Tests: squares}).TestError()
		for _, resamples := range []int{20, 40} {
			e := refine(t, m, s, scheme, refit.RefineSettings{Resamples: resamples, Tests: squares}).TestError()
			if !(math.Abs(math.Log2(e.BaggedError/many.BaggedError)) < 1) || !(e.BaggedSE > 0) {
				t.Errorf("ratio %v, %d resamples: bagged error %v +- %v, of many %v", ratio, resamples, e.BaggedError,
					e.BaggedSE, many.BaggedError)
			}
		}
	}
}

// TestBrokenBlocks: where fits in blocks are not those of the single trainers, here because the averages
// that they start from are not the theory's, all are trained one by one, and the answer says so.
func TestBrokenBlocks(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5)
	settings := refit.RefineSettings{Resamples: 100, Tests: squares}
	want := refine(t, m, solve(t, m, law), law, settings)
	if want.Method != "batch" || len(want.Warnings) > 0 {
		t.Errorf("method %s, %q", want.Method, want.Warnings)
	}
	s := solve(t, m, law)
	for i := range s.Cavity {
		s.Cavity[i].Mean += 2
	}
	got := refine(t, m, s, law, settings)
	if got.Method != "single" || got.Exact != 100 || !strings.Contains(fmt.Sprint(got.Warnings), "one by one") {
		t.Fatalf("method %s, %d fits one by one, %q", got.Method, got.Exact, got.Warnings)
	}
	for i, v := range want.Points.Mean {
		if math.Abs(got.Points.Mean[i]-v) > 6*math.Sqrt(want.Points.Variance[i]/100) {
			t.Fatalf("mean %d is %v, want %v", i, got.Points.Mean[i], v)
		}
	}
	settings.Batch = batch.Settings{Single: true}
	if r := refine(t, m, solve(t, m, law), law, settings); math.Abs(r.TestError().Error/
		want.TestError().Error-1) > 1e-3 {
		t.Errorf("one by one %v, in blocks %v", r.TestError().Error, want.TestError().Error)
	}
}

// TestSmallDifferences: a difference that is small beside what predictions of 0 err by contradicts nothing,
// however certain; a larger one does.
func TestSmallDifferences(t *testing.T) {
	m, s := ordinary(t)
	r := refine(t, m, s, law, refit.RefineSettings{Resamples: 40, Tests: squares})
	none := floats.Dot(m.Set.Y, m.Set.Y) / float64(len(m.Set.Y))
	theory, _ := s.LeftOut(loss.SquareTest{})
	for share, contradicts := range map[float64]bool{0.5e-4: false, 0.2: true} {
		r.Tests[0].Error, r.Tests[0].StandardError = theory+share*none, 1e-9
		a := r.Against(s)
		if share < 1e-4 {
			a.ErrorOff = 45 // 4500% of next to nothing
		}
		if got := a.Contradictions(); (len(got) > 0) != contradicts {
			t.Errorf("a difference of %v of what 0 errs by: %q", share, got)
		}
	}
}

// TestLittleMemory: where memory has no room for blocks of all workers fewer are trained at a time, to the
// same bits; where it has none for one that is an error.
func TestLittleMemory(t *testing.T) {
	m := build(t, "sonar", loss.Hinge{C: 1}, 0.5)
	s := solve(t, m, law)
	settings := refit.RefineSettings{Resamples: 300, Tests: zeroOne}
	want := refine(t, m, s, law, settings)
	one, four := settings, settings
	one.Workers, four.Workers = 1, 4
	for m.MaxBytes = linalg.SymBytes(m.Sites()); ; m.MaxBytes += 1 << 20 { // until one worker has room
		if _, err := refit.Refine(t.Context(), m, s, law, one); !errors.Is(err, linalg.ErrMemory) {
			break
		}
	}
	if _, err := refit.Refine(t.Context(), m, s, law, four); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("with four workers: %v", err)
	}
	got := refine(t, m, s, law, settings)
	if !reflect.DeepEqual(got.Points, want.Points) || !reflect.DeepEqual(got.Tests, want.Tests) {
		t.Error("with little memory the answer is another")
	}
	m.MaxBytes = linalg.SymBytes(m.Sites())
	if _, err := refit.Refine(t.Context(), m, s, law, settings); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("without room: %v", err)
	}
}
