package fits_test

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

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// newInputs are the first rows of a set, moved a little, as new newInputs.
func newInputs(t testing.TB, m *model.Model, rows int) blas64.General {
	t.Helper()
	d := m.Set.D()
	x := blas64.General{Rows: rows, Cols: d, Stride: d, Data: slices.Clone(m.Set.X.Data[:rows*d])}
	floats.AddConst(0.1, x.Data)
	return testutil.Must(m.CrossAll(&dataset.Inputs{X: linalg.Matrix(x)}))(t)
}

// TestPlain: without control the estimates of points and examples are retraining's on the
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
		// newInputs repeat
		{"synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, loss.SquareTest{}, bootstrap},
		{"synthetic:blobs,n=100,seed=1", loss.Logistic{C: 1}, loss.ZeroOne{},
			func(n int) resample.Scheme { return resample.Subsample{Size: n / 2, N: n} }},
	} {
		m := build(t, c.set, c.loss, 0.5, 0)
		scheme := c.scheme(len(m.Y))
		s := solve(t, m, scheme, 1e-6)
		cross := newInputs(t, m, 5)
		var fits, weights [][]float64
		settings := by(200, c.test)
		settings.Seed, settings.Cross, settings.Batch.Tolerance = 3, cross, 1e-8
		of := testutil.Must(model.RetrainAround(t.Context(), m, s, scheme, settings.RetrainSettings))(t)
		settings.OnFit = func(_ int, w, f []float64) {
			fits, weights = append(fits, slices.Clone(f)), append(weights, slices.Clone(w))
		}
		r := refine(t, m, s, opaque{scheme}, settings)
		for _, v := range []struct {
			name string
			a, b []float64
		}{
			{"mean", r.Mean, of.Mean}, {"its error", r.MeanSE, of.MeanSE},
			{"variance", r.Variance, of.Variance}, {"vote", r.Vote, of.Vote},
			{"out of bag", r.OutOfBag, of.OutOfBag},
			{"left-out errors", r.Tests[0].Examples, of.Tests[0].Examples},
		} {
			for i := range v.b {
				if !(math.Abs(v.a[i]-v.b[i]) <= 1e-6*(1+math.Abs(v.b[i]))) {
					t.Fatalf("%s: %s at %d: %v, of retraining %v", c.set, v.name, i, v.a[i], v.b[i])
				}
			}
		}
		for i, want := range widened(fits) {
			if !(math.Abs(r.VarianceSE[i]-want) <= 1e-6*want) {
				t.Fatalf("%s: standard error of variance %d is %v, recomputed %v", c.set, i, r.VarianceSE[i],
					want)
			}
		}
		e := r.Tests[0]
		if want, se := bagged(m, fits, weights, c.test); !(math.Abs(e.BaggedError-want) <= 1e-6*want &&
			math.Abs(e.BaggedSE-se) <= 1e-6*se) {
			t.Errorf("%s: bagged error %v +- %v, want %v +- %v", c.set, e.BaggedError, e.BaggedSE, want, se)
		}
		if !(math.Abs(e.Error-of.Tests[0].Error) < e.SE/3) || !(math.Abs(e.SE/of.Tests[0].SE-1) < 0.5) {
			t.Errorf("%s: left-out error %v +- %v, of retraining %v +- %v", c.set, e.Error, e.SE,
				of.Tests[0].Error, of.Tests[0].SE)
		}
		if len(r.Warnings) != 1 || math.Abs(e.EquivalentResamples-200) > 1e-9 {
			t.Errorf("warnings %q, worth %v resamples", r.Warnings, e.EquivalentResamples)
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

// bagged is the error of the mean of the fits that leave an example out: under the square loss less the
// variance of that mean, each example's own. Its standard error is the jackknife's over fits b mod 10, or
// under the 0-1 loss the root of sum p (1 - p)/n^2 if that is larger, p the normal probability of the
// wrong sign.
func bagged(m *model.Model, fits, weights [][]float64, test loss.Test) (value, se float64) {
	_, square := test.(loss.SquareTest)
	var without []float64
	spread := 0.0
	for g := 10; g >= 0; g-- { // 10: none is deleted
		sum := 0.0
		for i, y := range m.Y {
			var all, kept []float64
			for b, f := range fits {
				if weights[b][i] == 0 {
					if all = append(all, f[m.Site[i]]); b%10 != g {
						kept = append(kept, f[m.Site[i]])
					}
				}
			}
			v := stat.Variance(all, nil) / float64(len(all))
			if sum += test.Value(stat.Mean(kept, nil), y); square {
				sum -= v
			} else if g == 10 {
				p := math.Erfc(y*stat.Mean(all, nil)/math.Sqrt(2*v)) / 2
				spread += p * (1 - p)
			}
		}
		without = append(without, sum/float64(len(m.Y)))
	}
	se = math.Sqrt(9 * stat.PopVariance(without[1:], nil))
	return without[0], math.Max(se, math.Sqrt(spread)/float64(len(m.Y)))
}

// TestControlledNewInputs: a point of the data given as a new input has the estimates of its site.
// Single precision in the fits leaves 1e-5 of what varies.
func TestControlledNewInputs(t *testing.T) {
	for _, m := range []*model.Model{
		build(t, "synthetic:grid,n=90,d=2", loss.Square{Noise: 0.5}, 0.5, 0),
		build(t, "synthetic:friedman1,n=80,seed=1", loss.Huber{C: 1, Epsilon: 0.5}, 0.5, 0),
	} {
		for _, scheme := range []resample.Scheme{resample.Poisson{Ratio: 1},
			resample.KFold{Folds: 5, N: len(m.Y)}} {
			s := solve(t, m, scheme, 1e-6)
			cross := testutil.Must(m.CrossAll(m.Set))(t)
			settings := by(100, squares)
			settings.Cross = cross
			r := refine(t, m, s, scheme, settings)
			for i, site := range m.Site {
				j := m.Sites() + i
				sd := math.Sqrt(r.Variance[site])
				if math.Abs(r.Mean[site]-r.Mean[j]) > 1e-4*sd ||
					math.Abs(r.Variance[site]-r.Variance[j]) > 1e-3*sd*sd {
					t.Fatalf("%s: example %d: %v, %v as a new input, %v, %v at its site", scheme.Name(), i,
						r.Mean[j], r.Variance[j], r.Mean[site], r.Variance[site])
				}
			}
		}
	}
}

// TestAccuracy: refinement goes on until the standard error is what was asked for, with the
// draws that one run of as many resamples has.
func TestAccuracy(t *testing.T) {
	m, s := ordinary(t)
	settings := by(20, squares)
	settings.Accuracy = 0.002
	r := refine(t, m, s, law, settings)
	if e := r.Tests[0]; r.Resamples == 20 || e.SE > 0.002*e.Error {
		t.Errorf("%d resamples: %v +- %v", r.Resamples, e.Error, e.SE)
	}
	once := refine(t, m, s, law, by(r.Resamples, squares))
	if a, b := r.Tests[0].Error, once.Tests[0].Error; math.Abs(a-b) > 1e-5*b {
		t.Errorf("in blocks %v, at once %v", a, b)
	}
	settings.MaxResamples = 60
	if r := refine(t, m, s, law, settings); r.Resamples != 60 || len(r.Warnings) != 0 {
		t.Errorf("at most 60 resamples: %d, %q", r.Resamples, r.Warnings)
	}
}

// TestWithoutControl: a loss whose first iterate has no known average is refined plainly, and says so.
func TestWithoutControl(t *testing.T) {
	m := build(t, "synthetic:grid,n=40,d=1", loss.Huber{C: 1, Epsilon: 0.5}, 0.5, 0) // 8 targets an input
	s := testutil.Must(m.Solve(t.Context(), law, solver.Settings{MaxSweeps: 1}))(t)
	r := refine(t, m, s, law, by(50, squares))
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "too many different targets") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// TestRefusals: what cannot be refined is an error that says why.
func TestRefusals(t *testing.T) {
	m, s := ordinary(t)
	other := build(t, "synthetic:friedman1,n=90,seed=1", loss.Square{Noise: 1}, 0.5, 0)
	probit := build(t, "synthetic:blobs,n=60,seed=1", loss.Probit{}, 0.5, 0)
	stale := solve(t, other, law, 1e-6)
	testutil.Must(other.FullFit(t.Context(), nil))(t) // overwrites the triangle that holds G
	nine := by(9).RetrainSettings
	for says, c := range map[string]struct {
		m        *model.Model
		s        *solver.Solution
		settings model.RefineSettings
	}{
		"0 resamples are too few": {m, s, by(0, squares)},
		"1 resamples are too few": {m, s, by(1, squares)},
		"accuracy of -1":          {m, s, model.RefineSettings{RetrainSettings: nine, Accuracy: -1}},
		"0 tests":                 {m, s, model.RefineSettings{RetrainSettings: nine, Accuracy: 0.1}},
		"not one of this model":   {other, s, by(9)},
		"overwritten":             {other, stale, by(9)},
		"posterior mean":          {probit, solve(t, probit, law, 1e-6), by(9)},
	} {
		_, err := model.Refine(t.Context(), c.m, c.s, law, c.settings)
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
	settings := by(100000, squares)
	settings.OnFit = func(_ int, _, f []float64) {
		kept = append(kept, slices.Clone(f))
		if seen++; seen == 70 {
			cancel()
		}
	}
	r, err := model.Refine(ctx, m, s, law, settings)
	if err != nil || r.Status != fits.Cancelled || r.Resamples != seen || seen < 70 || seen > 10000 ||
		!(r.Tests[0].SE > 0) {
		t.Errorf("%v after %d resamples: %+v", err, seen, r)
	}
	if _, err := model.Refine(ctx, m, s, law, by(100)); !errors.Is(err, fits.ErrCancelled) {
		t.Errorf("without resamples: %v", err)
	}
	settings = by(200, squares)
	want := refine(t, m, s, law, settings)
	settings.Memory = testutil.Recall(func(b int, f []float64) (bool, error) {
		return b < 70, copyFit(f, kept[min(b, 69)])
	})
	r = refine(t, m, s, law, settings)
	if a, b := r.Tests[0], want.Tests[0]; a.Error != b.Error ||
		a.SE != b.SE || r.Batch.Iterations >= want.Batch.Iterations {
		t.Errorf("resumed %v +- %v, %d iterations, undisturbed %v +- %v, %d iterations", a.Error, a.SE,
			r.Batch.Iterations, b.Error, b.SE, want.Batch.Iterations)
	}
}

func copyFit(dst, src []float64) error { copy(dst, src); return nil }

// TestRoughTheory: what the theory has not solved, or a low-rank matrix approximates, costs
// variance alone. From a residual of 1e-2 and from a low-rank kernel of nearly full rank the left-out error
// agrees with that from the converged solution, on the same draws, to half of its standard error.
func TestRoughTheory(t *testing.T) {
	spec := build(t, "synthetic:friedman1,n=80,seed=1", loss.Huber{C: 1, Epsilon: 0.5}, 0.5, 0).Spec
	settings := by(200, squares)
	results := map[string]*model.Retraining{}
	for name, c := range map[string]struct {
		storage   model.Storage
		tolerance float64
	}{"solved": {model.Exact, 1e-8}, "rough": {model.Exact, 1e-2}, "low rank": {model.LowRank, 1e-8}} {
		spec.Storage, spec.RankTol = c.storage, 1e-6
		m := testutil.Must(model.Build(t.Context(), spec))(t)
		s := testutil.Must(m.Solve(t.Context(), law, solver.Settings{Tolerance: c.tolerance}))(t)
		results[name] = refine(t, m, s, law, settings)
	}
	of := results["solved"].Tests[0]
	for name, r := range results {
		if e := r.Tests[0]; !(math.Abs(e.Error-of.Error) < 0.5*of.SE) ||
			!(e.EquivalentResamples > 0.7*of.EquivalentResamples) {
			t.Errorf("%s: %v +- %v worth %.0f resamples, solved %v +- %v worth %.0f", name, e.Error, e.SE,
				e.EquivalentResamples, of.Error, of.SE, of.EquivalentResamples)
		}
	}
}

// TestIndependentSites: where the kernel carries nothing from one input to another a
// left-out prediction is 0 in every resample, so that the left-out error is the mean square
// of the targets, which the refined one must be to rounding in single precision: what F1
// differs by from its mean there is rounding alone, and no control.
func TestIndependentSites(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=40,seed=1", loss.Square{Noise: 1e-3}, 500, 0)
	s := solve(t, m, law, 1e-6)
	want := floats.Dot(m.Y, m.Y) / float64(len(m.Y))
	for _, resamples := range []int{20, 300} {
		r := testutil.Must(model.Refine(t.Context(), m, s, law, by(resamples, squares)))(t)
		if e := r.Tests[0]; math.Abs(e.Error-want) > 1e-5*want {
			t.Errorf("%d resamples: left-out error %v +- %v, want %v", resamples, e.Error, e.SE, want)
		}
	}
}

// TestUnits: targets times 2^k have means times 2^k, variances and errors times 2^2k, to rounding; so they
// have where the kernel and the noise are scaled with them, to the tolerance of fits, whose precision may
// differ.
func TestUnits(t *testing.T) {
	estimates := func(k int, along bool) map[string][]float64 {
		set := testutil.Must(dataset.Load("synthetic:friedman1,n=60,seed=1", dataset.Options{}))(t)
		for i := range set.Columns[0].Y {
			set.Columns[0].Y[i] = math.Ldexp(set.Columns[0].Y[i], k)
		}
		spec := model.Spec{Set: set, Standardize: true, Kernel: kernel.Spec{Gamma: 0.1},
			Loss: loss.Square{Noise: 1}}
		if along {
			spec.Kernel.Amplitude, spec.Loss = math.Ldexp(1, 2*k), loss.Square{Noise: math.Ldexp(1, 2*k)}
		}
		m := testutil.Must(model.Build(t.Context(), spec))(t)
		settings := by(40, squares)
		settings.Cross = newInputs(t, m, 3)
		r := refine(t, m, solve(t, m, law, 1e-6), law, settings)
		e := r.Tests[0]
		return map[string][]float64{"means": r.Mean, "their errors": r.MeanSE,
			"of variances": r.Variance, "of their errors": r.VarianceSE,
			"of errors": {e.Error, e.SE, e.BaggedError, e.BaggedSE}}
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
					t.Fatalf("targets times 2^%d, %s: number %d is %v, want %v", k, what, i, scaled,
						want[what][i])
				}
			}
		}
	}
}

// TestBaggedOfFew: an example that one resample leaves out has no bagged error of its own under the square
// loss, and does not spoil the others'.
func TestBaggedOfFew(t *testing.T) {
	for _, ratio := range []float64{1, 3} {
		m := build(t, "synthetic:friedman1,n=150,seed=1", loss.Square{Noise: 1}, 0.5, 0)
		scheme := resample.Poisson{Ratio: ratio}
		s := solve(t, m, scheme, 1e-6)
		settings := by(2000, squares)
		settings.Seed = 1
		many := refine(t, m, s, scheme, settings).Tests[0]
		for _, resamples := range []int{20, 40} {
			e := refine(t, m, s, scheme, by(resamples, squares)).Tests[0]
			if !(math.Abs(math.Log2(e.BaggedError/many.BaggedError)) < 1) || !(e.BaggedSE > 0) {
				t.Errorf("ratio %v, %d resamples: bagged error %v +- %v, of many %v", ratio, resamples,
					e.BaggedError, e.BaggedSE, many.BaggedError)
			}
		}
	}
}

// TestBrokenBlocks: where fits in blocks are not the single trainers', here because the averages
// that they start from are not the theory's, all are trained one by one, and the answer says so.
func TestBrokenBlocks(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5, 0)
	settings := by(100, squares)
	want := refine(t, m, solve(t, m, law, 1e-6), law, settings)
	if want.Method != model.Batch || len(want.Warnings) > 0 {
		t.Errorf("method %s, %q", want.Method, want.Warnings)
	}
	s := solve(t, m, law, 1e-6)
	for i := range s.Cavity {
		s.Cavity[i].Mean += 2
	}
	got := refine(t, m, s, law, settings)
	if got.Method != model.Single || got.Batch.Exact != 100 ||
		!strings.Contains(fmt.Sprint(got.Warnings), "one by one") {
		t.Fatalf("method %s, %d fits one by one, %q", got.Method, got.Batch.Exact, got.Warnings)
	}
	for i, v := range want.Mean {
		if math.Abs(got.Mean[i]-v) > 6*math.Sqrt(want.Variance[i]/100) {
			t.Fatalf("mean %d is %v, want %v", i, got.Mean[i], v)
		}
	}
	settings.Batch = fits.BlockSettings{Single: true}
	if r := refine(t, m, solve(t, m, law, 1e-6), law, settings); math.Abs(r.Tests[0].Error/
		want.Tests[0].Error-1) > 1e-3 {
		t.Errorf("one by one %v, in blocks %v", r.Tests[0].Error, want.Tests[0].Error)
	}
}

// excess is the square loss less a constant.
type excess struct {
	loss.SquareTest
	over float64
}

func (e excess) Value(f, y float64) float64 { return e.SquareTest.Value(f, y) - e.over }
func (e excess) Gaussian(mean, variance, y float64) float64 {
	return e.SquareTest.Gaussian(mean, variance, y) - e.over
}

// TestSmallDifferences: a difference that is small beside what predictions of 0 err by contradicts nothing,
// however certain, and though it is many times the theory's error, here 0; a larger one does.
func TestSmallDifferences(t *testing.T) {
	m, s := ordinary(t)
	r := refine(t, m, s, law, by(40, squares))
	theory, _ := s.LeftOut(loss.SquareTest{})
	r.Tests[0].Test, r.Tests[0].SE = excess{over: theory}, 1e-9
	none := floats.Dot(m.Y, m.Y)/float64(len(m.Y)) - theory
	for share, contradicts := range map[float64]bool{0.5e-4: false, 0.2: true} {
		r.Tests[0].Error = share * none
		if _, got := fits.Against(s, r.Averages); (len(got) > 0) != contradicts {
			t.Errorf("a difference of %v of what 0 errs by: %q", share, got)
		}
	}
}

// TestLittleMemory: where memory has no room for blocks of all workers fewer are trained at a time, to the
// same bits; where it has none for one that is an error.
func TestLittleMemory(t *testing.T) {
	m := build(t, "sonar", loss.Hinge{C: 1}, 0.5, 0)
	s := solve(t, m, law, 1e-6)
	settings := by(300, loss.ZeroOne{})
	want := refine(t, m, s, law, settings)
	one, four := settings, settings
	one.Workers, four.Workers = 1, 4
	for m.MaxBytes = linalg.SymBytes(m.Sites()); ; m.MaxBytes += 1 << 20 { // until one worker has room
		if _, err := model.Refine(t.Context(), m, s, law, one); !errors.Is(err, linalg.ErrMemory) {
			break
		}
	}
	if _, err := model.Refine(t.Context(), m, s, law, four); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("with four workers: %v", err)
	}
	got := refine(t, m, s, law, settings)
	if !reflect.DeepEqual(got.Variance, want.Variance) || !reflect.DeepEqual(got.Tests, want.Tests) {
		t.Error("with little memory the answer is another")
	}
	m.MaxBytes = linalg.SymBytes(m.Sites())
	if _, err := model.Refine(t.Context(), m, s, law, settings); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("without room: %v", err)
	}
}
