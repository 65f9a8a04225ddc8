package multifidelity_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/batch"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

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
		scheme := resample.Poisson{Ratio: 1}
		r := refine(t, m, solve(t, m, scheme), scheme, refit.RefineSettings{Resamples: 40, Cross: inputs(t, m, 3),
			Tests: []loss.Test{loss.SquareTest{}}})
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
		many := refine(t, m, s, scheme, refit.RefineSettings{Resamples: 2000, Seed: 1,
			Tests: []loss.Test{loss.SquareTest{}}}).TestError()
		for _, resamples := range []int{20, 40} {
			e := refine(t, m, s, scheme, refit.RefineSettings{Resamples: resamples,
				Tests: []loss.Test{loss.SquareTest{}}}).TestError()
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
	scheme := resample.Poisson{Ratio: 1}
	settings := refit.RefineSettings{Resamples: 100, Tests: []loss.Test{loss.SquareTest{}}}
	want := refine(t, m, solve(t, m, scheme), scheme, settings)
	if want.Method != "batch" || len(want.Warnings) > 0 {
		t.Errorf("method %s, %q", want.Method, want.Warnings)
	}
	s := solve(t, m, scheme)
	for i := range s.Cavity {
		s.Cavity[i].Mean += 2
	}
	got := refine(t, m, s, scheme, settings)
	if got.Method != "single" || got.Exact != 100 || !strings.Contains(fmt.Sprint(got.Warnings), "one by one") {
		t.Fatalf("method %s, %d fits one by one, %q", got.Method, got.Exact, got.Warnings)
	}
	for i, v := range want.Points.Mean {
		if math.Abs(got.Points.Mean[i]-v) > 6*math.Sqrt(want.Points.Variance[i]/100) {
			t.Fatalf("mean %d is %v, want %v", i, got.Points.Mean[i], v)
		}
	}
	settings.Batch = batch.Settings{Single: true}
	if r := refine(t, m, solve(t, m, scheme), scheme, settings); math.Abs(r.TestError().Error/
		want.TestError().Error-1) > 1e-3 {
		t.Errorf("one by one %v, in blocks %v", r.TestError().Error, want.TestError().Error)
	}
}

// TestSmallDifferences: a difference that is small beside what predictions of 0 err by contradicts nothing,
// however certain; a larger one does.
func TestSmallDifferences(t *testing.T) {
	m := build(t, "synthetic:friedman1,n=80,seed=1", loss.Square{Noise: 1}, 0.5)
	scheme := resample.Poisson{Ratio: 1}
	s := solve(t, m, scheme)
	r := refine(t, m, s, scheme, refit.RefineSettings{Resamples: 40, Tests: []loss.Test{loss.SquareTest{}}})
	none := 0.0
	for _, y := range m.Set.Y {
		none += y * y / float64(len(m.Set.Y))
	}
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
	scheme := resample.Poisson{Ratio: 1}
	s := solve(t, m, scheme)
	settings := refit.RefineSettings{Resamples: 300, Tests: []loss.Test{loss.ZeroOne{}}}
	want := refine(t, m, s, scheme, settings)
	one, four := settings, settings
	one.Workers, four.Workers = 1, 4
	for m.MaxBytes = linalg.SymBytes(m.Sites()); ; m.MaxBytes += 1 << 20 { // until one worker has room
		if _, err := refit.Refine(context.Background(), m, s, scheme, one); !errors.Is(err, linalg.ErrMemory) {
			break
		}
	}
	if _, err := refit.Refine(context.Background(), m, s, scheme, four); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("with four workers: %v", err)
	}
	got := refine(t, m, s, scheme, settings)
	if !reflect.DeepEqual(got.Points, want.Points) || !reflect.DeepEqual(got.Tests, want.Tests) {
		t.Error("with little memory the answer is another")
	}
	m.MaxBytes = linalg.SymBytes(m.Sites())
	if _, err := refit.Refine(context.Background(), m, s, scheme, settings); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("without room: %v", err)
	}
}
