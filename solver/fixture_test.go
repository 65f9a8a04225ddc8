package solver_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

var symmetric, normals, coins = problems.Symmetric, problems.Normals, problems.Labels

// rbf is the covariance exp(-((a-b)/length)^2/2) on a line.
func rbf(a, b, length float64) float64 {
	r := (a - b) / length
	return math.Exp(-r * r / 2)
}

// line draws n inputs on a line and the matrix of their covariances, with a
// jitter that keeps its condition number below about n/jitter.
func line(rng *rand.Rand, n int, length, jitter float64) (x []float64, k *linalg.Sym) {
	x = normals(rng, n)
	k = symmetric(n, func(i, j int) float64 { return rbf(x[i], x[j], length) })
	k.AddDiag(jitter)
	return x, k
}

// logUniform is between lo and hi.
func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	return lo * math.Pow(hi/lo, rng.Float64())
}

func mustSolve(t rapid.TB, p solver.Problem, s solver.Settings) *solver.Solution {
	t.Helper()
	solution := testutil.Must(solver.Solve(context.Background(), p, s))(t)
	if r := solution.Stats.Refreshes; s.Steps == solver.ExactSteps && r.Woodbury+r.Diagonal+r.Single > 0 {
		t.Fatalf("exact steps only: %+v", r)
	}
	return solution
}

// mustConverge solves and insists on Converged.
func mustConverge(t rapid.TB, p solver.Problem, s solver.Settings) *solver.Solution {
	t.Helper()
	solution := mustSolve(t, p, s)
	if solution.Status != solver.Converged {
		t.Fatalf("%v, residual %g: %v", solution.Status, solution.Residual, solution.Warnings)
	}
	return solution
}

// bootstrap is the problem of Poisson resamples of a ratio, every example on its own site.
func bootstrap(k linalg.Kernel, y []float64, l loss.Loss, ratio float64) solver.Problem {
	return solver.Problem{Gram: k, Y: y, Loss: l, Law: resample.Poisson{Ratio: ratio}}
}

// targetsOf groups the targets by site.
func targetsOf(p solver.Problem) [][]float64 {
	groups := make([][]float64, p.Gram.N())
	for e, y := range p.Y {
		groups[p.Site.At(e)] = append(groups[p.Site.At(e)], y)
	}
	return groups
}

// boundSites binds the loss to every site, as a user of package loss would.
func boundSites(t rapid.TB, p solver.Problem) []loss.Quadratic {
	t.Helper()
	sites := make([]loss.Quadratic, p.Gram.N())
	for i, targets := range targetsOf(p) {
		site := testutil.Must(p.Loss.Site(targets, p.Law))(t)
		sites[i] = site.(loss.Quadratic)
	}
	return sites
}

// denseOf is K as gonum/mat has it.
func denseOf(k linalg.Kernel) *mat.Dense {
	n := k.N()
	dense := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			dense.Set(i, j, k.At(i, j))
		}
	}
	return dense
}

func inverse(t rapid.TB, a mat.Matrix) *mat.Dense {
	t.Helper()
	var inv mat.Dense
	testutil.Check(t, inv.Inverse(a))
	return &inv
}

// denseG is (K^-1 + diag d)^-1 by two inversions, K positive definite.
func denseG(t rapid.TB, k linalg.Kernel, d []float64) *mat.Dense {
	t.Helper()
	a := inverse(t, denseOf(k))
	for i, v := range d {
		a.Set(i, i, a.At(i, i)+v)
	}
	return inverse(t, a)
}

// far is the largest |a_i - b_i|/(|b_i| + share max|b|), NaN if any is.
func far(a, b []float64, share float64) float64 {
	scale, worst := floats.Norm(b, math.Inf(1)), 0.0
	for i, v := range b {
		if a[i] == v {
			continue
		}
		if r := math.Abs(a[i]-v) / (math.Abs(v) + share*scale); !(r <= worst) {
			worst = r
		}
	}
	return worst
}

// same fails unless a and b agree within tol, relative to |b_i| + max|b|/1000.
func same(t rapid.TB, what string, a, b []float64, tol float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%s: length %d, want %d", what, len(a), len(b))
		return
	}
	if r := far(a, b, 1e-3); !(r <= tol) {
		t.Errorf("%s: off by %.2g, more than %.2g", what, r, tol)
	}
}

// sameNumber is same for two numbers.
func sameNumber(t rapid.TB, what string, a, b, tol float64) {
	t.Helper()
	same(t, what, []float64{a}, []float64{b}, tol)
}

// parts splits cavities into vectors.
func parts(cavities []loss.Cavity) (c, mean, variance []float64) {
	for _, cav := range cavities {
		c, mean, variance = append(c, cav.C), append(mean, cav.Mean), append(variance, cav.Var)
	}
	return c, mean, variance
}

// sameCavities compares cavities. Their means and variances count against the largest at the sites, too: the
// cavity of a site that is nearly alone is nearly the prior, with mean and variance 0.
func sameCavities(t rapid.TB, a, b []loss.Cavity, sites *solver.Solution, tol float64) {
	t.Helper()
	m, v := floats.Norm(sites.Mean, math.Inf(1)), floats.Norm(sites.Var, math.Inf(1))
	ac, am, av := parts(a)
	bc, bm, bv := parts(b)
	same(t, "cavity c", ac, bc, tol)
	same(t, "cavity mean", append(am, m), append(bm, m), tol)
	same(t, "cavity variance", append(av, v), append(bv, v), tol)
}

// sameAnswer compares everything that a Solution holds over its sites.
func sameAnswer(t rapid.TB, a, b *solver.Solution, tol float64) {
	t.Helper()
	same(t, "d", a.SitePrecision, b.SitePrecision, tol)
	same(t, "mean", a.Mean, b.Mean, tol)
	same(t, "variance", a.Var, b.Var, tol)
	sameCavities(t, a.Cavity, b.Cavity, b, tol)
	x, _ := a.LeftOut(loss.SquareTest{})
	y, _ := b.LeftOut(loss.SquareTest{})
	sameNumber(t, "left-out error", x, y, tol)
}

// finite fails if anything that can be read off s is not a finite number.
func finite(t rapid.TB, s *solver.Solution) {
	t.Helper()
	c, means, variances := parts(s.Cavity)
	_, each := s.LeftOut(loss.SquareTest{})
	row := make([]float64, s.Sites())
	s.Covariance(row, 0)
	m, v, _ := s.Predict(make([]float64, s.Sites()))
	all := slices.Concat([]float64{s.Residual}, s.SitePrecision, s.SiteMean, s.SiteVariance, c, means,
		variances, s.Mean, s.Var, each, row, m, v)
	for i := range s.Sites() {
		law := s.Distribution(i)
		all = append(all, law.Mean(), law.Var())
		if s.Var[i] < 0 || s.Cavity[i].Var < 0 || s.Cavity[i].C <= 0 || s.SitePrecision[i] < 0 {
			t.Errorf("site %d: variance %g, cavity %+v, d %g", i, s.Var[i], s.Cavity[i], s.SitePrecision[i])
		}
	}
	if i := slices.IndexFunc(all, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); i >= 0 {
		t.Errorf("number %d of the answer is %v", i, all[i])
	}
}

// gram is the kernel matrix of the distinct inputs, and their kernel inputs.
func gram(t rapid.TB, spec kernel.Spec, x linalg.Matrix) (*linalg.Sym, *kernel.Inputs) {
	t.Helper()
	in := testutil.Must(spec.Prepare(linalg.Design{X: x}))(t)
	k := testutil.Must(in.Gram(context.Background()))(t)
	return k, in
}

// synthetic draws a set by its specification, with standardised inputs.
func synthetic(t rapid.TB, specification string) *dataset.Set {
	t.Helper()
	set := testutil.Must(dataset.Load(specification, dataset.Options{}))(t)
	set.X, _ = dataset.Standardize(set.X)
	return set
}

// exactly is the law of counts that are k without fail.
type exactly struct{ k int }

func (l exactly) Mean() float64 { return float64(l.k) }
func (l exactly) Counts(n int) resample.Counts {
	return resample.Counts{First: n * l.k, P: []float64{1}}
}
func (l exactly) Absent() float64                    { return 0 }
func (l exactly) WithinSiteVar(int, float64) float64 { return 0 }
