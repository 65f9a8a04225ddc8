package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/blas"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLowRank: on a factor that is K up to rounding the answer is the exact engine's, with a bias and
// without, covariances and a new input among it, and the same again to the last bit. (With more sites than
// one task takes, rows of G are read side by side.)
func TestLowRank(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(72, 1))
	x, k := line(rng, n, 0.3, 0)
	factor := testutil.Must(linalg.PivotedCholesky(t.Context(), k, linalg.RankOptions{Tol: 1e-13}))(t)
	targets, labels, row := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range x {
		targets[i] = 3 + math.Sin(5*v) + 0.3*rng.NormFloat64()
		labels[i] = math.Copysign(1, math.Sin(5*v)+0.5+0.5*rng.NormFloat64())
		row[i] = rbf(0.1, v, 0.3)
	}
	for _, p := range []solver.Problem{
		{Y: targets, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 1}},
		{Y: labels, Loss: loss.Hinge{C: 1}, Law: resample.Poisson{Ratio: 1}},
	} {
		for _, bias := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/bias=%t", p.Loss.Name(), bias), func(t *testing.T) {
				solve := func(k linalg.Kernel) (s *solver.Solution, covariance []float64) {
					p := p
					if p.Gram = k; bias {
						p = withBias(p)
					}
					s = mustConverge(t, p, solver.Settings{Tolerance: 1e-9})
					covariance = make([]float64, n)
					testutil.Check(t, s.Covariance(covariance, 3))
					return s, covariance
				}
				exact, want := solve(k)
				m, v := testutil.Must2(exact.Predict(slices.Clone(row)))(t)
				first, _ := solve(factor)
				low, got := solve(factor)
				if !slices.Equal(low.Mean, first.Mean) || !slices.Equal(low.Var, first.Var) {
					t.Error("the same solve has two answers")
				}
				sameAnswer(t, low, exact, 1e-6)
				same(t, "covariances", got, want, 1e-5)
				coordinates := make([]float64, low.InputDim())
				for q, pivot := range factor.Pivots() {
					coordinates[q] = row[pivot]
				}
				factor.Coordinates(coordinates)
				lowMean, lowVar := testutil.Must2(low.Predict(coordinates))(t)
				sameNumber(t, "mean at a new input", lowMean[0], m[0], 1e-6)
				sameNumber(t, "variance at a new input", lowVar[0], v[0], 1e-6)
			})
		}
	}
}

// withBias is p with a bias.
func withBias(p solver.Problem) solver.Problem {
	switch k := p.Gram.(type) {
	case *linalg.Sym:
		p.Gram = linalg.WithBias(k)
	case *linalg.LowRankPlusDiag:
		p.Gram = linalg.WithBias(k)
	}
	return p
}

// withConstant is p with K + c.
func withConstant(p solver.Problem, c float64) solver.Problem {
	k := p.Gram
	p.Gram = symmetric(k.N(), func(i, j int) float64 { return k.At(i, j) + c })
	return p
}

// answer is all that is read off a solution, at the sites and at an input that is half-way
// between two sites in feature space, in the units of the targets.
func answer(t testing.TB, p solver.Problem, method solver.Method, test loss.Test) []float64 {
	t.Helper()
	s := mustConverge(t, p, solver.Settings{Tolerance: 1e-9, Method: method})
	c, mean, variance := parts(s.Cavity)
	all := slices.Concat(s.Mean, s.Var, mean, variance)
	for _, v := range c {
		all = append(all, math.Log(v))
	}
	leftOut, _ := s.LeftOut(test)
	row := make([]float64, s.Sites())
	testutil.Check(t, s.Covariance(row, 1))
	between := make([]float64, s.Sites())
	for j := range between {
		between[j] = (p.Gram.At(0, j) + p.Gram.At(1, j)) / 2
	}
	m, v := testutil.Must2(s.Predict(between))(t)
	return append(append(all, row...), leftOut, m[0], v[0])
}

// TestBiasIsLimit: the answer with a bias is the limit of those with K + c, for every loss, two of the sites
// holding two examples. They differ from it by a series in 1/c: Richardson's extrapolation from c = 1e3, 1e4,
// 1e5 leaves 1e-12 of it, the tolerance of the solves, and the rounding of the last, 2e-16 sum d K = 1e-9,
// which the fixed point takes up some tens of times. The plain c = 1e5 is off by 1e-6 and more.
func TestBiasIsLimit(t *testing.T) {
	for _, l := range ownLosses(0.7, 0.3) {
		name := l.loss.Name()
		if testing.Short() && (name == "probit" || name == "logit" || name == "logistic") {
			continue // seconds of quadrature
		}
		k, y := lineProblem(rand.New(rand.NewPCG(71, 1)), 16, 0.6, 1, l.labels)
		k.AddDiag(0.2)
		p := solver.Problem{Gram: k, Site: append([]int{0, 1}, upTo(15)...), Y: append(y[:2:2], y...),
			Loss: l.loss, Law: resample.Poisson{Ratio: 1.5}}
		test, methods := loss.Test(loss.SquareTest{}), []solver.Method{solver.ADATAP}
		if name == "square" {
			methods = append(methods, solver.Variational)
		} else if l.labels {
			test = loss.ZeroOne{}
		}
		for _, method := range methods {
			var q [3][]float64
			for i, c := range []float64{1e3, 1e4, 1e5} {
				q[i] = answer(t, withConstant(p, c), method, test)
			}
			worst := 0.0
			for i, v := range answer(t, withBias(p), method, test) {
				first, second := (10*q[1][i]-q[0][i])/9, (10*q[2][i]-q[1][i])/9
				worst = math.Max(worst, math.Abs(v-(100*second-first)/99)/(1+math.Abs(v)))
			}
			if !(worst < 1e-8) {
				t.Errorf("%s, %v: the limit is off by %.1e", name, method, worst)
			}
		}
	}
}

// sizeable is a problem large enough for single precision: friedman1-like inputs
// in the plane, so that no low-rank update serves.
func sizeable() solver.Problem {
	const n = 220
	rng := rand.New(rand.NewPCG(31, 1))
	x, z := normals(rng, n), normals(rng, n)
	k := symmetric(n, func(i, j int) float64 { return rbf(x[i], x[j], 0.3) * rbf(z[i], z[j], 0.3) })
	return bootstrap(k, normals(rng, n), loss.Square{Noise: 0.05}, 1)
}

func hasSingle() bool {
	_, ok := blas.Bound().(blas.Single)
	return ok
}

// TestPrecision: single precision changes the way to the answer only: within thirty tolerances (variances
// answer to d several times as strongly) it is the answer of plain exact steps at a much finer one; and
// single precision that breaks down or lies costs time, never the answer.
func TestPrecision(t *testing.T) {
	p := sizeable()
	want := mustConverge(t, p, solver.Settings{Steps: solver.ExactSteps, Tolerance: 1e-11})
	for _, tolerance := range []float64{1e-4, 1e-6, 1e-9} {
		s := mustConverge(t, p, solver.Settings{Tolerance: tolerance})
		sameAnswer(t, s, want, 30*tolerance)
		if r := s.Stats.Refreshes; (r.Single > 0) != hasSingle() || r.Exact == 0 {
			t.Errorf("refreshes %+v", r)
		}
	}
	for name, e := range map[string]*unreliable{"refuses": {refuse: true}, "garbles": {garble: true}} {
		if !hasSingle() {
			break
		}
		s := mustConverge(t, p, solver.Settings{Tolerance: 1e-6, Engine: func(k linalg.Kernel) linalg.Engine {
			e.CholeskyEngine = linalg.NewCholeskyEngine(k.(*linalg.Sym))
			return e
		}})
		sameAnswer(t, s, want, 1e-5)
		if e.singles == 0 || e.refuse && e.singles != 1 {
			t.Errorf("an engine that %s is asked %d times", name, e.singles)
		}
	}
}

// unreliable is an exact engine whose cheap ways are faulty.
type unreliable struct {
	*linalg.CholeskyEngine
	refuse, garble bool // single precision
	singles        int
}

func (e *unreliable) FactorizeSingle(d []float64) error {
	e.singles++
	if e.refuse {
		return linalg.ErrSingle
	}
	err := e.CholeskyEngine.FactorizeSingle(d)
	if e.garble {
		chi, b := e.CholeskyEngine.Diag()
		for i := range chi {
			chi[i] *= 0.2 + 0.7*float64(i%2)
			b[i] = 1 - d[i]*chi[i]
		}
	}
	return err
}

// TestRankUpdates: where few sites move, G follows by updates of low rank (M03-65) instead of refreshes,
// and the answer is the one of plain steps from the start value, within thirty tolerances as in
// TestPrecision. Blocks of four sites do not see each other here; from the solution of a problem without
// them, second examples at two sites of one block move the d of that block only.
func TestRankUpdates(t *testing.T) {
	const n, block, tolerance = 120, 4, 1e-8
	rng := rand.New(rand.NewPCG(31, 2))
	at := normals(rng, n)
	p := solver.Problem{Loss: loss.Square{Noise: 0.05}, Law: resample.Poisson{Ratio: 1}, Y: normals(rng, n),
		Gram: symmetric(n, func(i, j int) float64 {
			if i/block != j/block {
				return 0
			}
			return rbf(at[i], at[j], 1)
		})}
	neighbour := mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
	p.Y = append(p.Y, 0.3, -0.8)
	for i := range n {
		p.Site = append(p.Site, i)
	}
	p.Site = append(p.Site, 17, 18)
	want := mustConverge(t, p, solver.Settings{Steps: solver.ExactSteps, Tolerance: 1e-11})
	warm := mustConverge(t, p, solver.Settings{From: neighbour, Tolerance: tolerance})
	sameAnswer(t, warm, want, 30*tolerance)
	if r := warm.Stats.Refreshes; r.Woodbury == 0 || r.Exact != 1 {
		t.Errorf("%+v from a neighbour of which one block differs", r)
	}
}
