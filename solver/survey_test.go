package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// overlap is a classification problem on a synthetic set whose classes overlap:
// standardised inputs, rbf kernel of gamma = gammaD/d without jitter, which is
// singular within rounding where it is broad.
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

// gram is its kernel matrix and its labels.
func (o overlap) gram(t testing.TB) (*linalg.Sym, []float64) {
	set := synthetic(t, "synthetic:"+o.set)
	if o.spoil != nil {
		o.spoil(set)
	}
	k, _ := gram(t, kernel.Spec{Gamma: o.gammaD / float64(set.D())}, set.X)
	return k, set.Y
}

func (o overlap) problem(t testing.TB) solver.Problem {
	k, y := o.gram(t)
	return solver.Problem{Gram: k, Y: y, Loss: o.loss, Law: resample.Poisson{Ratio: o.ratio}}
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

// TestOverlap: hard margins on overlapping classes that plain sweeps stall on,
// each from the start value and from an empty training set to the same answer,
// though d K reaches 1e15. Tolerance: the residual 1e-6, some orders for slow
// directions, and what rounding of d chi near 1 leaves.
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
		plain := mustSolve(t, p, solver.Settings{Plain: true, MaxSweeps: 100})
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
		k, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: p.Gram.(*linalg.Sym)}, linalg.RankOptions{Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
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
		site, err := p.Loss.Site(p.Y[i:i+1], p.Law)
		if err != nil {
			t.Fatal(err)
		}
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
			same(t, o.String()+": mean", a.Mean, mustConverge(t, p, solver.Settings{Plain: true}).Mean, 1e-4)
		}
	}
}

// TestHopeless: a hard margin that needs more than the rank that K has within
// rounding ends, says so, and is finite.
func TestHopeless(t *testing.T) {
	p := overlap{"blobs,n=150", 0.02, loss.HardMargin{}, 3, nil}.problem(t)
	s := mustSolve(t, p, solver.Settings{})
	finite(t, s)
	stopped(t, s, nil, solver.Undetermined)
	found := false
	for _, w := range s.Warnings {
		found = found || len(w) > 17 && w[:17] == "the kernel matrix"
	}
	if !found {
		t.Errorf("warnings %q", s.Warnings)
	}
	if s.Stats.Refreshes.Exact > 700 {
		t.Errorf("%+v", s.Stats)
	}
}
