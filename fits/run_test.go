package fits_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
	"bootbench/train/machine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// square and sign are plain test losses, so that these tests rest on no others.
type square struct{}

func (square) Name() string                     { return "square" }
func (square) Value(f, y float64) float64       { return (f - y) * (f - y) }
func (square) Gaussian(_, _, _ float64) float64 { panic("not for retraining") }

type sign struct{ square }

func (sign) Name() string { return "sign" }
func (sign) Value(f, y float64) float64 {
	if f*y <= 0 {
		return 1
	}
	return 0
}

var bothTests = []loss.Test{square{}, sign{}}

// shrunkMean predicts, everywhere, the mean of the drawn targets shrunk
// towards 0: a cheap learner for tests of the machinery around it.
type shrunkMean struct{}

func (s shrunkMean) Fit(set train.Set, f []float64) error { return s.fit(set.Weight, set.Y, f) }

func (shrunkMean) fit(weight, target, f []float64) error {
	for i := range f {
		f[i] = floats.Dot(weight, target) / (1 + floats.Sum(weight))
	}
	return nil
}

// constant makes every worker a trainer that behaves like t.
func constant(t train.Trainer) fits.Trainers {
	return fits.Single(func() (train.Trainer, error) { return t, nil })
}

// trainerFunc is a function as a Trainer.
type trainerFunc func(weight, target, f []float64) error

func (t trainerFunc) Fit(set train.Set, f []float64) error { return t(set.Weight, set.Y, f) }

// process is Gaussian-process regression.
type process struct {
	kernel *linalg.Sym
	noise  float64
	cross  blas64.General
}

func (g process) trainers(p fits.Problem) fits.Trainers {
	of, err := machine.For(loss.Square{Noise: g.noise}, g.kernel, false, train.Settings{})
	if err != nil {
		panic(err)
	}
	return fits.Single(fits.Predicting(of, train.Set{Site: p.Site}, g.kernel.N(), g.cross))
}

// problem resamples targets, each at a site of its own.
func problem(scheme resample.Scheme, seed uint64, y ...float64) fits.Problem {
	return fits.Problem{Y: y, Plan: resample.Resamples{Scheme: scheme, Seed: seed, Y: y}}
}

// regression is a GP problem of n examples over n-2 sites (sites 0 and 1 hold
// two each, the second ones at the end) with two extra inputs.
func regression(n int, seed uint64) (fits.Problem, process) {
	joint, x, rng := inputs(n)
	m := n - 2
	k, cross := linalg.ZeroSym(m), blas64.General{Rows: 2, Cols: m, Stride: m}
	for i := range m {
		copy(k.Row(i), joint.Row(i)[:m-i])
	}
	for p := range 2 {
		for i := range m {
			cross.Data = append(cross.Data, joint.At(m+p, i))
		}
	}
	problem := fits.Problem{Sites: m, Extra: 2}
	for i := range n {
		problem.Site = append(problem.Site, i%m)
		problem.Y = append(problem.Y, math.Sin(x[i%m])+0.3*rng.NormFloat64())
	}
	problem.Plan = resample.Resamples{Scheme: resample.Poisson{Ratio: 1}, Seed: seed, Y: problem.Y}
	return problem, process{k, 0.1, cross}
}

// inputs are n points on a line, the sites of regression(n) and then its extra
// inputs, and the kernel exp(-(x-x')^2) over all of them.
func inputs(n int) (*linalg.Sym, []float64, *rand.Rand) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = 4 * rng.Float64()
	}
	k := linalg.ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])))
		}
	}
	return k, x, rng
}

func run(t testing.TB, p fits.Problem, trainers fits.Trainers, s fits.Settings) *fits.Averages {
	t.Helper()
	return testutil.Must(fits.Run(context.Background(), p, trainers, s))(t)
}

// text writes a Result out, all digits and NaN included, without its costs and without its status.
func text(r *fits.Averages) string {
	c := *r
	c.Stats, c.Status = fits.Stats{}, 0
	return fmt.Sprintf("%+v", c)
}

func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*(1+math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}

// What Run streams is recomputed by brute force: the counts drawn anew from the documented streams, each
// training set expanded to rows and fitted without merging, extra inputs as sites that hold no row, and every
// average taken in two passes over the stored fits.
func TestRunMatchesBruteForce(t *testing.T) {
	const n, resamples, seed = 7, 60, 42
	p, learner := regression(n, seed)
	got := run(t, p, learner.trainers(p), fits.Settings{Resamples: resamples, Tests: bothTests})

	joint, _, _ := inputs(n)
	var counts [][]float64
	var fits [][]float64
	for b := range resamples {
		drawn := make([]float64, n)
		resample.Poisson{Ratio: 1}.Draw(seed, b, drawn)
		var site []int
		var y []float64
		for i, k := range drawn {
			for range int(k) {
				site, y = append(site, p.Site[i]), append(y, p.Y[i])
			}
		}
		counts, fits = append(counts, drawn), append(fits, posterior(t, joint, learner.noise, site, y))
	}

	brute{p, counts, fits}.check(t, got)
}

// posterior is the posterior mean at all sites given rows, by an LU factorisation of the system of all rows.
func posterior(t *testing.T, k *linalg.Sym, noise float64, site []int, y []float64) []float64 {
	t.Helper()
	f, n := make([]float64, k.N()), len(y)
	if n == 0 {
		return f
	}
	system, alpha := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for p, i := range site {
		for q, j := range site {
			system.Set(p, q, k.At(i, j))
		}
		system.Set(p, p, k.At(i, i)+noise)
	}
	testutil.Check(t, alpha.SolveVec(system, mat.NewVecDense(n, y)))
	for i := range f {
		for p, j := range site {
			f[i] += k.At(i, j) * alpha.AtVec(p)
		}
	}
	return f
}

// brute are fits whose averages are taken in plain loops.
type brute struct {
	p            fits.Problem
	counts, fits [][]float64
}

// check compares all averages.
func (u brute) check(t *testing.T, got *fits.Averages) {
	t.Helper()
	equal := func(what string, i int, value, want float64) {
		t.Helper()
		if !near(value, want, 1e-9) {
			t.Errorf("%s %d: %v, brute force %v", what, i, value, want)
		}
	}
	over := func(what string, value, se float64, of func(i, without int) float64) {
		t.Helper()
		mean, wantSE := u.over(of)
		equal(what, 0, value, mean)
		equal("standard error of "+what, 0, se, wantSE)
	}
	prediction := func(f, _ float64) float64 { return f }
	vote := func(f, _ float64) float64 {
		if f == 0 {
			return 0.5
		}
		return (1 + math.Copysign(1, f)) / 2
	}
	for k, test := range bothTests {
		r := got.Tests[k]
		over("left-out "+test.Name(), r.Error, r.SE, func(i, without int) float64 {
			return u.mean(i, without, test.Value)
		})
		over("bagged "+test.Name(), r.BaggedError, r.BaggedSE, func(i, without int) float64 {
			return test.Value(u.mean(i, without, prediction), u.p.Y[i])
		})
		for i := range u.p.Y {
			equal("loss of "+test.Name(), i, r.Examples[i], u.mean(i, -1, test.Value))
		}
	}
	over("vote", got.VoteError, got.VoteErrorSE, func(i, without int) float64 {
		return vote(-u.p.Y[i]*(u.mean(i, without, vote)-0.5), 0)
	})
	for i := range u.p.Y {
		absent := 0.0
		for _, c := range u.counts {
			if c[i] == 0 {
				absent++
			}
		}
		equal("absences of", i, float64(got.Absent[i]), absent)
		equal("ensemble at", i, got.OutOfBag[i], u.mean(i, -1, prediction))
		equal("ensemble's vote at", i, got.OutOfBagVote[i], u.mean(i, -1, vote))
	}
	for s := range u.fits[0] {
		var values []float64
		positive := 0.0
		for _, f := range u.fits {
			values = append(values, f[s])
			positive += vote(f[s], 0)
		}
		mean, meanSE, variance, varianceSE := bruteMoments(values)
		equal("vote at", s, got.Vote[s], positive/float64(len(values)))
		equal("mean at", s, got.Mean[s], mean)
		equal("its standard error at", s, got.MeanSE[s], meanSE)
		equal("variance at", s, got.Variance[s], variance)
		equal("its standard error at", s, got.VarianceSE[s], varianceSE)
	}
}

// mean is the mean of a value of the predictions for example i over the fits that leave it out, except the
// fits of a group b mod 20; -1: of none.
func (u brute) mean(i, without int, value func(f, y float64) float64) float64 {
	sum, count := 0.0, 0.0
	for b, c := range u.counts {
		if c[i] == 0 && b%20 != without {
			sum += value(u.fits[b][u.p.Site.At(i)], u.p.Y[i])
			count++
		}
	}
	return sum / count
}

// over averages over the examples, with the jackknife's standard error over the 20 groups.
func (u brute) over(of func(i, without int) float64) (overall, se float64) {
	var values []float64
	for without := -1; without < 20; without++ {
		mean := 0.0
		for i := range u.p.Y {
			mean += of(i, without) / float64(len(u.p.Y))
		}
		values = append(values, mean)
	}
	_, _, spread, _ := bruteMoments(values[1:])
	return values[0], math.Sqrt(spread * 19 * 19 / 20)
}

// bruteMoments are in two passes, with the fourth k-statistic from power sums.
func bruteMoments(x []float64) (mean, meanSE, variance, varianceSE float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	var s1, s2, s3, s4 float64
	for _, v := range x {
		d := v - mean
		s1 += d
		s2 += d * d
		s3 += d * d * d
		s4 += d * d * d * d
	}
	variance = s2 / (n - 1)
	k4 := (-6*s1*s1*s1*s1 + 12*n*s1*s1*s2 - 3*n*(n-1)*s2*s2 - 4*n*(n+1)*s1*s3 + n*n*(n+1)*s4) /
		(n * (n - 1) * (n - 2) * (n - 3))
	return mean, math.Sqrt(variance / n), variance,
		math.Sqrt((2*n*variance*variance + (n-1)*k4) / (n * (n + 1)))
}

// 300 examples make training matrices that BLAS works on in blocks. A slow fit holds up neither the order nor
// the other workers; BLAS has one thread meanwhile.
func TestAnswerDoesNotDependOnWorkers(t *testing.T) {
	p, learner := regression(300, 3)
	var want string
	threads := blas.Bound().Threads()
	for _, workers := range []int{1, 2, 5} {
		next, finished := 0, 0
		s := fits.Settings{Resamples: 101, Workers: workers, Tests: bothTests,
			OnFit: func(r int, _, _ []float64) {
				if r != next {
					t.Errorf("resample %d came when %d was due", r, next)
				}
				next++
			},
			Progress: func(done, _ int) { finished = done },
		}
		trainers := learner.trainers(p)
		work := trainers.New
		trainers.New = func() (fits.Worker, error) {
			worker, err := work()
			return func(ctx context.Context, all []fits.Fit) {
				if now := blas.Bound().Threads(); now != 1 && blas.Bound().Name() == blas.OpenBLAS {
					t.Errorf("%d BLAS threads during a fit", now)
				}
				if workers > 1 && all[0].Weight[0] == 0 {
					time.Sleep(2 * time.Millisecond)
				}
				worker(ctx, all)
			}, err
		}
		r := run(t, p, trainers, s)
		if after := blas.Bound().Threads(); after != threads {
			t.Errorf("%d BLAS threads before, %d after", threads, after)
		}
		if r.Status != fits.Complete || r.Resamples != 101 || finished != 101 || r.Stats.Workers != workers {
			t.Errorf("%d workers: %v after %d resamples, %d reported, by %d workers", workers, r.Status,
				r.Resamples, finished, r.Stats.Workers)
		}
		if want == "" {
			want = text(r)
		}
		if got := text(r); got != want {
			t.Errorf("%d workers: the answer differs:\n%s\n%s", workers, got, want)
		}
	}
}

func TestCancelledRunIsAShorterRun(t *testing.T) {
	p, learner := regression(10, 8)
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		s := fits.Settings{Resamples: 100000, Workers: workers, Tests: bothTests,
			Progress: func(done, _ int) {
				if done == 50 {
					cancel()
				}
			}}
		r := testutil.Must(fits.Run(ctx, p, learner.trainers(p), s))(t)
		if r.Status != fits.Cancelled {
			t.Errorf("status is %v", r.Status)
		}
		if r.Resamples < 50 || r.Resamples > 50+3*workers {
			t.Errorf("cancelled after 50 resamples, stopped after %d", r.Resamples)
		}
		shorter := run(t, p, learner.trainers(p), fits.Settings{Resamples: r.Resamples,
			Tests: bothTests})
		if text(r) != text(shorter) {
			t.Errorf("cancelled run:\n%s\nshorter run:\n%s", text(r), text(shorter))
		}
	}
}

// The fit during which the context ends is finished and kept, and no other starts.
func TestFitInProgressIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := problem(firstStays{resample.Poisson{Ratio: 1}}, 0, 1)
	trained := 0
	r, err := fits.Run(ctx, p, constant(trainerFunc(func(weight, target, f []float64) error {
		trained++
		cancel()
		time.Sleep(5 * time.Millisecond) // let the collector see the end first
		return shrunkMean{}.fit(weight, target, f)
	})), fits.Settings{Workers: 1})
	if err != nil || r.Status != fits.Cancelled || r.Resamples != 1 || trained != 1 || r.Mean[0] != 0.5 {
		t.Errorf("after %d trained, error %v, the answer is %+v", trained, err, r)
	}
}

// The resample that is reported is the first that fails in the order of b.
func TestFailedFitIsNamed(t *testing.T) {
	p, _ := regression(6, 5)
	fails := func(weight []float64) bool { return weight[2] >= 4 }
	weight, want := make([]float64, 6), -1
	for r := 0; want < 0; r++ {
		if p.Plan.Fit(r, weight); fails(weight) {
			want = r
		}
	}
	cause := errors.New("four copies")
	failing := trainerFunc(func(weight, target, f []float64) error {
		if fails(weight) {
			return cause
		}
		return shrunkMean{}.fit(weight, target, f)
	})
	for _, workers := range []int{1, 2, 5} {
		r, err := fits.Run(context.Background(), p, constant(failing), fits.Settings{Resamples: 100000,
			Workers: workers})
		var fit *fits.FitError
		if r != nil || !errors.As(err, &fit) || !errors.Is(err, cause) || fit.Resample != want {
			t.Errorf("%d workers: result %v, error %v; want failure at resample %d", workers, r, err, want)
		}
	}
}

// At ratio 0.4 two examples are both absent from e^-0.8 = 45% of the
// resamples; no trainer sees those, and they predict 0.
func TestEmptyResamplesPredictThePrior(t *testing.T) {
	p := problem(resample.Poisson{Ratio: 0.4}, 0, 3, -3)
	p.Extra = 1
	empty := 0
	r := run(t, p, constant(trainerFunc(func(weight, target, f []float64) error {
		if weight[0]+weight[1] == 0 {
			t.Error("a trainer was given an empty set")
		}
		return shrunkMean{}.fit(weight, target, f)
	})), fits.Settings{Resamples: 200, Workers: 2, OnFit: func(_ int, weight, f []float64) {
		if weight[0]+weight[1] == 0 {
			empty++
			if !reflect.DeepEqual(f, []float64{0, 0, 0}) {
				t.Errorf("an empty resample predicts %v", f)
			}
		}
	}})
	if empty < 60 || r.Empty != empty || r.Stats.Fits != 200-empty {
		t.Errorf("%d resamples were empty, counted %d, with %d fits", empty, r.Empty, r.Stats.Fits)
	}
}

// firstStays draws example 0 always once and the others by Poisson(1).
type firstStays struct{ resample.Poisson }

func (s firstStays) Draw(seed uint64, b int, counts []float64) {
	s.Poisson.Draw(seed, b, counts)
	counts[0] = 1
}

func TestExampleNeverLeftOutDoesNotCount(t *testing.T) {
	p := problem(firstStays{resample.Poisson{Ratio: 1}}, 0, 100, 1, 2)
	r := run(t, p, constant(shrunkMean{}), fits.Settings{Resamples: 100, Tests: bothTests})
	e := r.Tests[0]
	if !math.IsNaN(e.Examples[0]) || r.Absent[0] != 0 || !near(e.Error, (e.Examples[1]+e.Examples[2])/2,
		1e-14) {
		t.Errorf("examples %v give %v", e.Examples, e.Error)
	}
}

// A mean of 1e8 with a spread of 1 must not cost the variance its digits:
// values near 1e8 carry 1e-8, so do their differences.
func TestMomentsSurviveALargeMean(t *testing.T) {
	p := problem(firstStays{resample.Poisson{Ratio: 1}}, 0, 0)
	var values []float64
	rng := rand.New(rand.NewPCG(1, 1))
	r := run(t, p, constant(trainerFunc(func(_, _, f []float64) error {
		f[0] = 1e8 + rng.NormFloat64()
		values = append(values, f[0]-1e8)
		return nil
	})), fits.Settings{Resamples: 500, Workers: 1})
	_, _, variance, varianceSE := bruteMoments(values)
	if !near(r.Variance[0], variance, 1e-6) || !near(r.VarianceSE[0], varianceSE, 1e-6) {
		t.Errorf("variance %v +- %v, want %v +- %v", r.Variance[0], r.VarianceSE[0], variance, varianceSE)
	}
}

func TestDefaults(t *testing.T) {
	p, _ := regression(4, 0)
	r := run(t, p, constant(shrunkMean{}), fits.Settings{})
	if r.Resamples != fits.DefaultResamples || r.Stats.Workers < 1 || len(r.Tests) != 0 {
		t.Errorf("zero settings gave %+v", r)
	}
	p = problem(resample.KFold{Folds: 3, N: len(p.Y)}, 0, p.Y...)
	if r := run(t, p, constant(shrunkMean{}), fits.Settings{}); r.Resamples != 1002 || len(r.Warnings) != 0 {
		t.Errorf("three folds gave %d resamples, warnings %q", r.Resamples, r.Warnings)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	good, learner := regression(5, 0)
	change := func(f func(*fits.Problem)) fits.Problem { p := good; f(&p); return p }
	for _, c := range []struct {
		p    fits.Problem
		gp   process
		s    fits.Settings
		says string
	}{
		{p: change(func(p *fits.Problem) { p.Site = p.Site[:4] }), gp: learner, says: "has length 4"},
		{p: change(func(p *fits.Problem) { p.Sites = 2 }), gp: learner, says: "example 3 is on site 3 of 2"},
		{p: change(func(p *fits.Problem) { p.Site = nil }), gp: learner, says: "do not fit 3 sites"},
		{p: good, gp: learner, s: fits.Settings{Resamples: -1}, says: "resamples must be positive, got -1"},
		{p: good, gp: learner, s: fits.Settings{Workers: -2}, says: "workers must be positive, got -2"},
		{p: good, gp: process{learner.kernel, -1, learner.cross}, says: "noise"},
	} {
		r, err := fits.Run(context.Background(), c.p, c.gp.trainers(c.p), c.s)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
}

// faultyTrainer panics at its third fit.
type faultyTrainer struct{ fits *atomic.Int64 }

func (f faultyTrainer) Fit(train.Set, []float64) error {
	if f.fits.Add(1) == 3 {
		panic("a fault of the trainer")
	}
	return nil
}

// TestFaultOfTrainer: a panic of a trainer on a worker's goroutine is one of Run, which
// does not wait for what will never end.
func TestFaultOfTrainer(t *testing.T) {
	for _, workers := range []int{2, 4} {
		func() {
			defer func() {
				if fault, ok := recover().(*blas.Fault); !ok || fault.Value != "a fault of the trainer" ||
					len(fault.Stack) == 0 {
					t.Errorf("%d workers: recovered %v", workers, fault)
				}
			}()
			trained := new(atomic.Int64)
			fits.Run(context.Background(), problem(resample.Poisson{Ratio: 1}, 0, 1, 2),
				constant(faultyTrainer{trained}), fits.Settings{Resamples: 1000,
					Workers: workers})
		}()
	}
}
