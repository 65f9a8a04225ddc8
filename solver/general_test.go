package solver_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// kernelOf is a hard-margin problem on an embedded set, without its law: standardised inputs, rbf kernel of
// gamma = gammaD/d, repeated inputs one site, no jitter.
func kernelOf(t testing.TB, name string, gammaD float64) solver.Problem {
	t.Helper()
	set := testutil.Must(dataset.Open(name))(t)
	site, first := set.Distinct()
	z, _ := dataset.Standardize(set.X)
	k, _ := gram(t, kernel.Spec{Gamma: gammaD / float64(set.D())}, z.Gather(first))
	return solver.Problem{Gram: k, Site: site, Y: set.Targets(0), Loss: loss.HardMargin{}}
}

// TestReferenceErrors: left-out errors that independent programs of other languages found, within 0.7 of
// their last digit, in few factorisations.
func TestReferenceErrors(t *testing.T) {
	of := func(set string, gammaD, ratio float64) solver.Problem {
		p := kernelOf(t, set, gammaD)
		p.Law = resample.Poisson{Ratio: ratio}
		return p
	}
	for k, c := range []struct {
		problem      solver.Problem
		want, digits float64
		most         int // factorisations in double precision, all in pure Go
	}{
		{of("sonar", 0.5, 1), 0.14894, 1e-5, 8}, {of("sonar", 0.5, 3), 0.11940, 1e-5, 8},
		{of("pima", 0.5, 1), 0.3170, 1e-4, 8}, {of("crabs", 1, 1), 0.03887, 1e-5, 8},
		{of("wisconsin", 0.5, 1), 0.05729, 1e-5, 8}, {of("wisconsin", 0.5, 2), 0.05398, 1e-5, 8},
		{boston(t, 0.2), 39.342, 1e-3, 12}, {boston(t, 0.5), 21.224, 1e-3, 12},
		{boston(t, 1), 16.248, 1e-3, 12}, {boston(t, 2), 14.640, 1e-3, 12},
	} {
		s := mustConverge(t, c.problem, solver.Settings{})
		test := loss.Test(loss.ZeroOne{})
		if k >= 6 {
			test = loss.SquareTest{}
		}
		got, _ := s.LeftOut(test)
		if math.Abs(got-c.want) > 0.7*c.digits || s.Stats.Refreshes.Exact > c.most {
			t.Errorf("case %d: error %.6f, want %g; %+v", k, got, c.want, s.Stats.Refreshes)
		}
	}
}

// TestGeneralIsQuadratic: the square loss, its structure hidden, goes through the general iteration to the
// fixed point that T10 and T11 give. Both to 1e-9. Variances are compared on the scale of the targets, too:
// where all counts are certain they are 0 by T11, and 1e-20 by the smallest cavity variance here.
func TestGeneralIsQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 2))
	for range 30 {
		p := smallProblem(rng)
		want := mustConverge(t, p, solver.Settings{Tolerance: 1e-9})
		p.Loss = notQuadratic{p.Loss.(loss.Square)}
		got := mustConverge(t, p, solver.Settings{Tolerance: 1e-9})
		same(t, "d", got.SitePrecision, want.SitePrecision, 1e-5)
		same(t, "mean", got.Mean, want.Mean, 1e-5)
		same(t, "variance", append(got.Var, 1e-6), append(want.Var, 1e-6), 1e-5)
		sameCavities(t, got.Cavity, want.Cavity, want, 1e-5)
	}
}

// TestKuhnTucker: where every example is present all but surely, p(0) = e^-ratio, the predictor no longer
// varies and solves the hard-margin problem: y f >= 1, f = K alpha with y alpha >= 0 and alpha (y f - 1) = 0.
// The left-out error becomes the Opper-Winther estimate, the share of support vectors with y alpha_i >
// (K_SV^-1)_ii. All up to sqrt(p(0)) times a condition of K of some 1e2.
func TestKuhnTucker(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 4))
	for _, ratio := range []float64{25, 40, 100} {
		_, k := line(rng, 30, 0.4, 0.1)
		y := coins(rng, 30)
		s := mustConverge(t, bootstrap(k, y, loss.HardMargin{}, ratio), solver.Settings{})
		finite(t, s)
		const tol = 1e-4
		weights := new(mat.VecDense) // K^-1 f
		weights.MulVec(inverse(t, denseOf(k)), mat.NewVecDense(30, s.Mean))
		var support []int
		for i := range y {
			alpha, slack := y[i]*weights.AtVec(i), y[i]*s.Mean[i]-1
			if s.Var[i] > tol || slack < -tol || alpha < -tol || math.Abs(alpha*slack) > tol {
				t.Errorf("ratio %g, site %d: variance %g, alpha %g, slack %g",
					ratio, i, s.Var[i], alpha, slack)
			}
			if slack < tol {
				support = append(support, i)
			}
		}
		part := inverse(t, denseOf(symmetric(len(support),
			func(i, j int) float64 { return k.At(support[i], support[j]) })))
		wrong := 0.0
		for i, at := range support {
			alpha := 0.0
			for j, other := range support {
				alpha += part.At(i, j) * y[other]
			}
			if y[at]*alpha > part.At(i, i) {
				wrong += 1. / 30
			}
		}
		got, _ := s.LeftOut(loss.ZeroOne{})
		if math.Abs(got-wrong) > 1e-6 {
			t.Errorf("ratio %g: left-out error %g, Opper-Winther %g", ratio, got, wrong)
		}
	}
}

// ordinaryMargin is a hard-margin problem that takes some 15 sweeps.
func ordinaryMargin() solver.Problem {
	p := ordinary()
	p.Loss = loss.HardMargin{}
	for i, y := range p.Y {
		p.Y[i] = math.Copysign(1, y)
	}
	return p
}

// TestShortBreakdown: a G that does not factorise once is stepped around.
func TestShortBreakdown(t *testing.T) {
	once := &faulty{failAt: func(refresh int) bool { return refresh == 4 || refresh == 5 }}
	s := mustConverge(t, ordinaryMargin(), once.with(solver.Settings{Tolerance: 1e-8}))
	sameAnswer(t, s, mustConverge(t, ordinaryMargin(), solver.Settings{Tolerance: 1e-8}), 1e-5)
	if s.Stats.Damped < 2 {
		t.Errorf("%+v", s.Stats)
	}
}

// TestStartFromSolution: along a curve every solution starts the next, which saves sweeps
// and does not change the answer.
func TestStartFromSolution(t *testing.T) {
	p := kernelOf(t, "sonar", 0.5)
	p.Law = resample.Poisson{Ratio: 1}
	near := mustConverge(t, p, solver.Settings{})
	p.Law = resample.Poisson{Ratio: 1.02}
	cold := mustConverge(t, p, solver.Settings{Tolerance: 1e-8})
	warm := mustConverge(t, p, solver.Settings{Tolerance: 1e-8, From: near})
	sameAnswer(t, warm, cold, 1e-5)
	if warm.Stats.Sweeps >= cold.Stats.Sweeps {
		t.Errorf("%d sweeps warm, %d cold", warm.Stats.Sweeps, cold.Stats.Sweeps)
	}
	small := ordinaryMargin()
	if _, err := solver.Solve(context.Background(), small, solver.Settings{From: near}); !errors.Is(err,
		solver.ErrProblem) {
		t.Errorf("a start of other size: %v", err)
	}
	square := ordinary()
	a := mustConverge(t, square, solver.Settings{Tolerance: 1e-8})
	b := mustConverge(t, square, solver.Settings{Tolerance: 1e-8, From: a})
	sameAnswer(t, a, b, 1e-6)
	if b.Stats.Refreshes.Exact > 2 {
		t.Errorf("from its own solution: %+v", b.Stats)
	}
}

// TestGrid: all cells of a grid of widths and ratios converge. From ratio 20 on, rounding of the kernel
// matrix moves some answers by more than the tolerance.
func TestGrid(t *testing.T) {
	for _, set := range []string{"crabs", "sonar"} {
		for _, gammaD := range []float64{0.05, 0.25, 1, 4} {
			p := kernelOf(t, set, gammaD)
			for _, ratio := range []float64{0.1, 0.5, 2, 5, 18} {
				p.Law = resample.Poisson{Ratio: ratio}
				s := mustConverge(t, p, solver.Settings{MaxSweeps: 200})
				finite(t, s)
				if s.Stats.Clamps > 0 {
					t.Errorf("%s %g %g: %+v", set, gammaD, ratio, s.Stats)
				}
			}
		}
	}
}

// cube is three matrices of order n.
type cube [3]blas64.General

func newCube(n int) (c cube) {
	for i := range c {
		c[i] = blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	return c
}

// seconds is the time of n^3 flops of dgemm of order n, half of a product.
func (c cube) seconds() float64 {
	began := time.Now()
	blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, c[0], c[1], 0, c[2])
	return time.Since(began).Seconds() / 2
}

// boston is the regression of M03 figures 1 to 3: raw inputs and targets, noise variance 0.01, kernel
// exp(-sum_j (x_j - x'_j)^2/(73.54 v_j)), v_j the standard deviation of input j.
func boston(t rapid.TB, ratio float64) solver.Problem {
	t.Helper()
	set := testutil.Must(dataset.Open("boston"))(t)
	spec := kernel.Spec{Kind: kernel.RBF}
	for _, v := range set.Standardizer().SD {
		spec.LengthScale = append(spec.LengthScale, math.Sqrt(v*73.54/2))
	}
	k, _ := gram(t, spec, set.X)
	return bootstrap(k, set.Targets(0), loss.Square{Noise: 0.01}, ratio)
}

// TestWeightedSites: where many sites differ only in their weights, each has the moments of its own loss.
func TestWeightedSites(t *testing.T) {
	p := ordinaryMargin()
	p.Loss, p.Weights = loss.Logistic{C: 1}, make([]float64, len(p.Y))
	for i := range p.Weights {
		p.Weights[i] = float64(1 + 3*(i%2))
	}
	s := mustConverge(t, p, solver.Settings{})
	for i, bound := range s.Bound() {
		alone := testutil.Must(loss.Logistic{C: p.Weights[i]}.Site(p.Y[i:i+1], p.Law))(t)
		got, want := bound.Moments(s.Cavity[i]), alone.Moments(s.Cavity[i])
		same(t, "moments", []float64{got.Mean, got.Var, got.Shrinkage},
			[]float64{want.Mean, want.Var, want.Shrinkage}, 1e-8)
	}
}

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
