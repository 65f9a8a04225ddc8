package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// overlap is a classification problem on a synthetic set whose classes overlap: standardised inputs, rbf
// kernel of gamma = gammaD/d without jitter, which is singular within rounding where it is broad.
type overlap struct {
	set    string // as dataset.Load reads it, without the prefix
	gammaD float64
	loss   loss.Loss
	ratio  float64
	spoil  func(set *dataset.Set) // or nil
}

func (o overlap) String() string {
	return fmt.Sprintf("%s, gamma %g/d, %s, ratio %g", o.set, o.gammaD, o.loss.Name(), o.ratio)
}

func (o overlap) problem(t testing.TB) solver.Problem {
	set := synthetic(t, "synthetic:"+o.set)
	if o.spoil != nil {
		o.spoil(set)
	}
	k, _ := gram(t, kernel.Spec{Gamma: o.gammaD / float64(set.D())}, set.X)
	return bootstrap(k, set.Targets(0), o.loss, o.ratio)
}

func nearCopies(set *dataset.Set) {
	rng := rand.New(rand.NewPCG(41, 1))
	for i := 1; i < set.X.Rows; i += 4 {
		for j, v := range set.X.Row(i - 1) {
			set.X.Row(i)[j] = v + 1e-6*rng.NormFloat64()
		}
	}
}

// untrained is the solution of an empty training set, or with the given d.
func untrained(p solver.Problem, d ...float64) *solver.Solution {
	s := &solver.Solution{SitePrecision: append(d, make([]float64, p.Gram.N()-len(d))...)}
	for i := range p.Gram.N() {
		s.Cavity = append(s.Cavity, loss.Cavity{C: 1 / p.Gram.At(i, i)})
	}
	return s
}

// TestOverlap: hard margins on overlapping classes that plain sweeps stall on, each from the start value and
// from an empty training set to the same answer, though d K reaches 1e15. Tolerance: the residual 1e-6, some
// orders for slow directions, and what rounding of d chi near 1 leaves.
func TestOverlap(t *testing.T) {
	for _, o := range []overlap{
		{"blobs,n=100", 0.25, loss.HardMargin{}, 0.5, nil},
		{"blobs,n=100", 0.25, loss.HardMargin{}, 5, nil},
		{"rings,n=100", 0.05, loss.HardMargin{}, 5, nil},
		{"checker,n=100", 0.05, loss.HardMargin{}, 1, nil},
		{"blobs,n=60,seed=2", 0.25, loss.HardMargin{}, 1, nearCopies},
		{"checker,n=100", 0.25, loss.Hinge{C: 1e4}, 1, nil},
	} {
		p := o.problem(t)
		a := mustConverge(t, p, solver.Settings{})
		finite(t, a)
		b := mustConverge(t, p, solver.Settings{From: untrained(p)})
		x, _ := a.LeftOut(loss.ZeroOne{})
		y, _ := b.LeftOut(loss.ZeroOne{})
		if math.Abs(x-y) > 1e-5 {
			t.Errorf("%v: error %.7f, from zero %.7f", o, x, y)
		}
		same(t, o.String()+": mean", a.Mean, b.Mean, 1e-3)
		plain := mustSolve(t, p, solver.Settings{Steps: solver.ExactSteps, MaxSweeps: 100})
		if plain.Status == solver.Converged && a.Stats.Refreshes.Exact > plain.Stats.Refreshes.Exact {
			t.Errorf("%v: %+v, plain %+v", o, a.Stats, plain.Stats)
		}
	}
}

// TestBroadHardMargin: a hard margin on a kernel so broad that few eigenvalues are above
// rounding lives on the small ones. The exact engine's solution is one in 300 bits; that on a
// low-rank factor comes to it as the factor's tolerance falls, and is another one at 1e-4,
// where the factor has a tenth of the variances. Tolerance of the agreement: the variances
// go as the inverses of eigenvalues of 1e-10 of the trace, of which the factor leaves out 1e-14.
func TestBroadHardMargin(t *testing.T) {
	p := overlap{"blobs,n=40,d=5,seed=6", 0.001, loss.HardMargin{}, 1, nil}.problem(t)
	exact := mustConverge(t, p, solver.Settings{})
	isFixedPoint(t, p, exact)
	byFactor := func(tol float64) *solver.Solution {
		k := testutil.Must(linalg.PivotedCholesky(t.Context(), p.Gram.(*linalg.Sym),
			linalg.RankOptions{Tol: tol}))(t)
		coarse := p
		coarse.Gram = k
		return mustConverge(t, coarse, solver.Settings{})
	}
	same(t, "variances by a fine factor", byFactor(1e-14).Var, exact.Var, 1e-3)
	if v, w := floats.Sum(byFactor(1e-4).Var), floats.Sum(exact.Var); v > 0.5*w {
		t.Errorf("a rank that is far too low leaves %g of the variances %g", v, w)
	}
}

// isFixedPoint recomputes both sides of T6 in 300 bits.
func isFixedPoint(t *testing.T, p solver.Problem, s *solver.Solution) {
	t.Helper()
	for i, e := range exactGaussian(p.Gram, s) {
		site := testutil.Must(p.Loss.Site(p.Y[i:i+1], p.Law))(t)
		m := site.Moments(e.cavity)
		sameNumber(t, "c chi", m.Response, e.cavity.C*e.chi, 1e-5)
		scale := math.Sqrt(1 + e.cavity.Var)
		sameNumber(t, "mean", 1+(m.Mean-e.mean)/scale, 1, 1e-5)
		sameNumber(t, "variance", m.Var, e.variance, 1e-4)
	}
}

// TestNearlySingular recomputes solutions in 300 bits: a hard margin on a nearly singular K, of which the
// solver has c up to some 1e-16 (sum d K)^1/2 and more, and a hinge loss at inputs that nearly repeat, where
// acceleration goes round between two branches: damped sweeps find what plain ones find. Tolerance of that:
// the residual of 1e-6, and slow directions.
func TestNearlySingular(t *testing.T) {
	for _, o := range []overlap{
		{"blobs,n=40", 0.5, loss.HardMargin{}, 1, nil},
		{"blobs,n=54,seed=3,d=5", 8, loss.Hinge{C: 1}, 2, nearCopies},
		{"rings,n=54,seed=3,d=5", 1, loss.Hinge{C: 1}, 5, nearCopies},
		{"checker,n=54,seed=3,d=2", 8, loss.Hinge{C: 100}, 2, nearCopies},
	} {
		p := o.problem(t)
		a := mustConverge(t, p, solver.Settings{})
		isFixedPoint(t, p, a)
		if o.spoil != nil {
			exact := mustConverge(t, p, solver.Settings{Steps: solver.ExactSteps})
			same(t, o.String()+": mean", a.Mean, exact.Mean, 1e-4)
		}
	}
}

// neighbour is a kernel matrix whose elements beside the diagonal are neighbours of k's in
// double precision.
func neighbour(k linalg.Kernel, seed uint64) *linalg.Sym {
	rng := rand.New(rand.NewPCG(seed, 5))
	return symmetric(k.N(), func(i, j int) float64 {
		if i == j {
			return k.At(i, i)
		}
		return math.Nextafter(k.At(i, j), math.Inf(1-2*rng.IntN(2)))
	})
}

// movedBy is the largest change of the cavities from k to a neighbour of it, in the solver's units:
// means in (1 + V_c)^1/2. It is infinite where one of the two, as rounded, is not positive semidefinite
// enough for a cavity to exist.
func movedBy(p solver.Problem, s *solver.Solution) float64 {
	other := exactGaussian(neighbour(p.Gram, 1), s)
	worst := 0.0
	for i, e := range exactGaussian(p.Gram, s) {
		a, b := e.cavity, other[i].cavity
		for _, change := range []float64{math.Log(a.C / b.C), (a.Mean - b.Mean) / math.Sqrt(1+a.Var),
			math.Log(a.Var / b.Var)} {
			if math.IsNaN(change) {
				return math.Inf(1)
			}
			worst = math.Max(worst, math.Abs(change))
		}
	}
	return worst
}

// TestUndeterminedExactly proves of problems that end "undetermined by rounding" that K itself leaves the
// answer open: in 300 bits, too, the cavities that follow from the last iterate differ by more than the
// tolerance between K and a neighbour of it in double precision, which nobody could distinguish.
func TestUndeterminedExactly(t *testing.T) {
	hard := loss.HardMargin{}
	cells := []overlap{{"blobs,n=100,seed=3,d=5", 0.25, hard, 20, nearCopies},
		{"blobs,n=150", 0.02, hard, 3, nil}} // more than the rank that K has within rounding
	if !testing.Short() {
		cells = append(cells, []overlap{
			{"checker,n=100", 0.25, hard, 20, nil}, {"blobs,n=100", 0.05, hard, 20, nil},
			{"rings,n=100,seed=3,d=5", 8, hard, 20, nearCopies},
			{"blobs,n=100,seed=3,d=5", 8, hard, 5, nearCopies},
		}...)
	}
	for _, o := range cells {
		p := o.problem(t)
		s := mustSolve(t, p, solver.Settings{})
		stopped(t, s, nil, solver.Undetermined)
		warnings, hopeless := "\n"+strings.Join(s.Warnings, "\n"), p.Gram.N() > 100
		if hopeless && !strings.Contains(warnings, "\nthe kernel matrix") || s.Stats.Refreshes.Exact > 700 {
			t.Errorf("%v: %+v, warnings %q", o, s.Stats, warnings)
		}
		if testing.Short() && hopeless {
			continue // seconds of elimination
		}
		if moved := movedBy(p, s); !(moved > 1e-6) {
			t.Errorf("%v: residual %.1e, moved by %.1e only", o, s.Residual, moved)
		}
	}
}

// TestReachableTolerance: where rounding is all that is left of the residual, a tolerance is named that can
// be met: ten times what rounding of the kernel matrix changes.
func TestReachableTolerance(t *testing.T) {
	p := overlap{"blobs,n=100", 0.25, loss.HardMargin{}, 5, nil}.problem(t)
	s := mustSolve(t, p, solver.Settings{Tolerance: 1e-14})
	stopped(t, s, nil, solver.Undetermined)
	number := func(after string) (v float64) {
		_, rest, _ := strings.Cut(strings.Join(s.Warnings, " "), after)
		if _, err := fmt.Sscanf(rest, "%g", &v); err != nil {
			t.Fatalf("warnings %q", s.Warnings)
		}
		return v
	}
	tolerance, change := number("a tolerance of "), number("move the answer by ")
	if !(tolerance >= 5*change && tolerance <= 20*change) {
		t.Errorf("a tolerance of %g for a change of %g", tolerance, change)
	}
	mustConverge(t, p, solver.Settings{Tolerance: tolerance})
}
