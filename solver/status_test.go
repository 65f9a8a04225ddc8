package solver_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// ordinary is a problem that takes about ten plain sweeps to 1e-6.
func ordinary() solver.Problem {
	rng := rand.New(rand.NewPCG(17, 1))
	_, k := line(rng, 40, 0.5, 0.01)
	return bootstrap(k, normals(rng, 40), loss.Square{Noise: 0.05}, 1)
}

// faulty is an exact engine with something wrong.
type faulty struct {
	linalg.Engine
	refreshes int
	failAt    func(refresh int) bool
	shake     float64 // diag(G) errs by this share, up and down in turn
	boost     float64 // G o G comes out larger by this factor
	nanFrom   int     // products with G are NaN at eight refreshes from this one on
}

var errFaulty = errors.New("the engine broke")

func (e *faulty) Factorize(d []float64) error {
	e.refreshes++
	if e.failAt != nil && e.failAt(e.refreshes) {
		garbage := make([]float64, len(d))
		for i := range garbage {
			garbage[i] = 1e9
		}
		_ = e.Engine.Factorize(garbage) // G is undefined after a failure
		return errFaulty
	}
	return e.Engine.Factorize(d)
}

func (e *faulty) Diag() (chi, b []float64) {
	chi, b = e.Engine.Diag()
	if e.shake == 0 {
		return chi, b
	}
	factor := 1 + e.shake*float64(1-2*(e.refreshes%2))
	return times(factor, chi), b
}

func (e *faulty) MulVecSquaredOffDiag(dst, x []float64) {
	e.Engine.MulVecSquaredOffDiag(dst, x)
	if e.boost != 0 {
		copy(dst, times(e.boost, dst))
	}
}

func (e *faulty) MulOffDiag(dst, x blas64.General) {
	e.Engine.MulOffDiag(dst, x)
	if e.nanFrom > 0 && e.refreshes >= e.nanFrom && e.refreshes < e.nanFrom+8 {
		dst.Data[3] = math.NaN()
	}
}

// with makes Settings.Engine hand out this engine around an exact one, but once: what is
// checked afterwards is checked by exact ones.
func (e *faulty) with(s solver.Settings) solver.Settings {
	s.Engine = func(k linalg.Kernel) linalg.Engine {
		if e.Engine != nil {
			return k.Engine()
		}
		e.Engine = k.Engine()
		return e
	}
	return s
}

// stopped insists that a solve ended with the given status and is as good as it
// says: read-outs finite, the residual known and above the tolerance.
func stopped(t *testing.T, s *solver.Solution, err error, status solver.Status) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != status {
		t.Fatalf("status %q, want %q", s.Status, status)
	}
	if s.Status.Err() == nil || !strings.Contains(s.Status.Err().Error(), status.String()) {
		t.Errorf("status as an error: %v", s.Status.Err())
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), status.String()) {
		t.Errorf("warnings %q do not say %q", s.Warnings, status)
	}
	finite(t, s)
}

// TestStatuses forces the ways to end other than at the fixed point, for the square loss and for a margin. A
// solve that is stopped in sweep 2, or whose G cannot follow, gives what a limit at the sweep before gives.
func TestStatuses(t *testing.T) {
	for name, problem := range map[string]func() solver.Problem{"square": ordinary,
		"margin": ordinaryMargin} {
		t.Run(name, func(t *testing.T) {
			solve := func(s solver.Settings) (*solver.Solution, error) {
				return solver.Solve(context.Background(), problem(), s)
			}
			plain := solver.Settings{Steps: solver.ExactSteps}
			for sweeps := 1; sweeps <= 3; sweeps++ {
				s, err := solve(solver.Settings{MaxSweeps: sweeps})
				stopped(t, s, err, solver.SweepLimit)
				if r := s.Stats.Refreshes; r.Exact+r.Woodbury != sweeps ||
					s.Residual <= solver.DefaultTolerance {
					t.Errorf("limit %d: %+v, residual %g", sweeps, r, s.Residual)
				}
			}
			for _, steps := range []solver.Steps{solver.MixedSteps, solver.ExactSteps, solver.WoodburySteps} {
				s, err := solve((&faulty{shake: 0.01}).with(solver.Settings{Steps: steps}))
				stopped(t, s, err, solver.Stalled)
				if s.Stats.Damped == 0 || s.Residual < 1e-4 || s.Residual > 1 {
					t.Errorf("%d sweeps damped, residual %g", s.Stats.Damped, s.Residual)
				}
			}
			broken := &faulty{failAt: func(refresh int) bool { return refresh >= 4 && refresh < 12 }}
			if name == "square" { // which does not try smaller steps
				broken.failAt = func(refresh int) bool { return refresh == 4 }
			}
			poisoned := &faulty{nanFrom: 4}
			for _, e := range []*faulty{broken, poisoned} {
				if e == poisoned && name == "square" {
					continue // its sweeps take no products
				}
				s, err := solve(e.with(plain))
				stopped(t, s, err, solver.NumericalFailure)
				limited := solver.Settings{MaxSweeps: 3, Steps: solver.ExactSteps}
				sameAnswer(t, s, mustSolve(t, problem(), limited), 1e-12)
			}
			for _, from := range []int{1, 4} { // no G at all any more
				e := &faulty{failAt: func(refresh int) bool { return refresh >= from }}
				if s, err := solve(e.with(plain)); s != nil || !errors.Is(err, errFaulty) {
					t.Errorf("no refresh from %d on: %v", from, err)
				}
			}
		})
	}
}

// TestDrift: a logistic loss with a bias has no finite optimum in resamples of one class. If most of them are
// such, the iterates drift without coming nearer to a solution, and the solve ends early and says so.
func TestDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	_, k := line(rng, 40, 0.5, 0.01)
	p := bootstrap(linalg.WithBias(k), coins(rng, 40), loss.Logistic{C: 1}, 0.05)
	s, err := solver.Solve(context.Background(), p, solver.Settings{})
	stopped(t, s, err, solver.Stalled)
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "without bound") || s.Stats.Sweeps > 20 {
		t.Errorf("%d sweeps, %q", s.Stats.Sweeps, s.Warnings)
	}
	p.Gram = k
	mustConverge(t, p, solver.Settings{})
}

// TestCancelled: a solve that is cancelled in a sweep ends with that sweep and gives what a limit there
// gives, to the last bit, read off double precision.
func TestCancelled(t *testing.T) {
	for _, c := range []struct {
		problem solver.Problem
		sweep   int
	}{{ordinary(), 2}, {ordinaryMargin(), 2}, {sizeable(), 1}} {
		ctx, cancel := context.WithCancel(context.Background())
		s, err := solver.Solve(ctx, c.problem, solver.Settings{Progress: func(sweep solver.Sweep) {
			if sweep.Number == c.sweep {
				cancel()
			}
		}})
		stopped(t, s, err, solver.Cancelled)
		sameAnswer(t, s, mustSolve(t, c.problem, solver.Settings{MaxSweeps: c.sweep}), 0)
		if s, err := solver.Solve(ctx, c.problem, solver.Settings{}); s != nil ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before the start: %v", err)
		}
	}
}

// TestIndefinite: a K that is not positive semidefinite breaks down at once, an error of the problem that
// names the pivot, or when d has grown, a failure that keeps the last d that worked. K = 1 1' - a I has the
// eigenvalue -a: B = I + d K is positive definite up to d = 1/a, which the start from a half of that does not
// exceed.
func TestIndefinite(t *testing.T) {
	const a = 0.01
	p := ordinary()
	p.Gram = symmetric(40, func(i, j int) float64 {
		if i == j {
			return 1 - a
		}
		return 1
	})
	p.Loss = loss.Square{Noise: 1e-4}
	var pivot *linalg.PivotError
	_, err := solver.Solve(context.Background(), p, solver.Settings{})
	if !errors.Is(err, solver.ErrProblem) || !errors.As(err, &pivot) || !strings.Contains(err.Error(),
		"jitter") {
		t.Errorf("error %v", err)
	}
	start := slices.Repeat([]float64{0.5 / a}, 40)
	settings := solver.Settings{From: untrained(p, start...), Steps: solver.ExactSteps}
	s, err := solver.Solve(context.Background(), p, settings)
	stopped(t, s, err, solver.NumericalFailure)
}

// TestNoPositiveVariance: linear equations for the variances that have no
// positive solution, here because G o G is given too large, are a failure.
func TestNoPositiveVariance(t *testing.T) {
	boosted := &faulty{boost: 1e4}
	exact := boosted.with(solver.Settings{Steps: solver.ExactSteps})
	s, err := solver.Solve(context.Background(), ordinary(), exact)
	stopped(t, s, err, solver.NumericalFailure)
	if s.Residual > solver.DefaultTolerance {
		t.Errorf("d has residual %g", s.Residual)
	}

	// Cavity variances that come out negative, as by rounding, are raised to 0 and counted.
	negative := &faulty{boost: -1}
	s = testutil.Must(solver.Solve(context.Background(), ordinary(), negative.with(solver.Settings{})))(t)
	if s.Stats.Clamps == 0 {
		t.Error("nothing was raised to zero")
	}
	for i, cav := range s.Cavity {
		if !(cav.Var >= 0) {
			t.Errorf("site %d: cavity variance %g", i, cav.Var)
		}
	}
}

// notQuadratic is the square loss with its structure hidden.
type notQuadratic struct{ loss.Square }

func (notQuadratic) Name() string { return "quartic" }
func (l notQuadratic) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	site, err := l.Square.Site(y, law)
	return struct{ loss.Site }{site}, err
}

// TestRefusals: what no solve could make sense of is an ErrProblem that says what is wrong.
func TestRefusals(t *testing.T) {
	type setup struct {
		problem  solver.Problem
		settings solver.Settings
	}
	for _, c := range []struct {
		says   string
		spoils func(*setup)
	}{
		{"no sites", func(s *setup) { s.problem.Gram = nil }},
		{"no sites", func(s *setup) { s.problem.Gram = linalg.ZeroSym(0); s.problem.Y = nil }},
		{"no loss", func(s *setup) { s.problem.Loss = nil }},
		{"no law", func(s *setup) { s.problem.Law = nil }},
		{"ratio", func(s *setup) { s.problem.Law = exactly{0} }},
		{"no examples", func(s *setup) { s.problem.Y = nil }},
		{"target 3 is NaN", func(s *setup) { s.problem.Y[2] = math.NaN() }},
		{"example 40 is on site 41 of 40",
			func(s *setup) { s.problem.Site = upTo(39); s.problem.Site[39] = 40 }},
		{"site 40 holds no example", func(s *setup) { s.problem.Site = upTo(39); s.problem.Site[39] = 1 }},
		{"site 1: loss: noise variance must be positive", func(s *setup) { s.problem.Loss = loss.Square{} }},
		{`for quadratic training losses, not for "quartic"`, func(s *setup) {
			s.problem.Loss, s.settings.Method = notQuadratic{loss.Square{Noise: 1}}, solver.Variational
		}},
		{"method variational is for draws with replacement", func(s *setup) {
			s.problem.Law, s.settings.Method = resample.KFold{Folds: 4, N: 40}, solver.Variational
		}},
		{"tolerance is -1", func(s *setup) { s.settings.Tolerance = -1 }},
		{"tolerance is NaN", func(s *setup) { s.settings.Tolerance = math.NaN() }},
		{"sweep limit is -3", func(s *setup) { s.settings.MaxSweeps = -3 }},
		{"a solution of 7 sites",
			func(s *setup) { s.settings.From = &solver.Solution{SitePrecision: make([]float64, 7)} }},
		{"kernel of inputs 3 and 7 is NaN",
			func(s *setup) { s.problem.Gram.(*linalg.Sym).Set(2, 6, math.NaN()) }},
		{"no method 7", func(s *setup) { s.settings.Method = 7 }},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := setup{problem: ordinary()}
			c.spoils(&s)
			solution, err := solver.Solve(context.Background(), s.problem, s.settings)
			if solution != nil || !errors.Is(err, solver.ErrProblem) ||
				!strings.Contains(err.Error(), c.says) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("solution %t, error %v", solution != nil, err)
			}
		})
	}
}

// upTo is 0, 1, ..., n.
func upTo(n int) []int {
	v := make([]int, n+1)
	for i := range v {
		v[i] = i
	}
	return v
}
