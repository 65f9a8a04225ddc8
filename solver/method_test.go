package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/solver"
)

// Every method is done again here in the plainest way, with dense inverses.
// Tolerance 1e-6 throughout, as for the fixed point.
const methodTol = 1e-6

// methodProblems are 20 problems, half of them with several examples a site.
func methodProblems(t *testing.T, check func(t *testing.T, p solver.Problem)) {
	rng := rand.New(rand.NewPCG(18, 1))
	for trial := range 20 {
		p := smallProblem(rng)
		t.Run(fmt.Sprintf("%d/m=%d,n=%d", trial, p.Gram.N(), len(p.Y)), func(t *testing.T) { check(t, p) })
	}
}

func noiseOf(p solver.Problem) float64 { return p.Loss.(loss.Square).Noise }

// linearSolve is x with A x = b.
func linearSolve(t rapid.TB, a *mat.Dense, b []float64) []float64 {
	t.Helper()
	var x mat.VecDense
	testutil.Check(t, x.SolveVec(a, mat.NewVecDense(len(b), b)))
	return x.RawVector().Data
}

// meansBy is G D y.
func meansBy(g *mat.Dense, y, d []float64) []float64 {
	var mean mat.VecDense
	mean.MulVec(g, mat.NewVecDense(len(y), floats.MulTo(make([]float64, len(y)), y, d)))
	return mean.RawVector().Data
}

// meansAndSpreads are the mean and population variance of the targets of each site.
func meansAndSpreads(p solver.Problem) (mean, spread []float64) {
	for _, targets := range targetsOf(p) {
		m, v := stat.PopMeanVariance(targets, nil)
		mean, spread = append(mean, m), append(spread, v)
	}
	return mean, spread
}

// TestVariational iterates d_i = nu_i/(s2 + G_ii) with damping, then solves
//
//	C_i = sum_j G_ij^2 u_j,   u_i = nu_i (C_i + E (m_i - y)^2)/(s2 + G_ii)^2
//
// for C as it stands, the mean E over the site's examples.
func TestVariational(t *testing.T) {
	methodProblems(t, func(t *testing.T, p solver.Problem) {
		s := mustConverge(t, p, solver.Settings{Method: solver.Variational, Tolerance: 1e-11})
		m, s2 := p.Gram.N(), noiseOf(p)
		nu, d := make([]float64, m), make([]float64, m)
		for i, targets := range targetsOf(p) {
			nu[i] = p.Law.Mean() * float64(len(targets))
			d[i] = nu[i] / s2
		}
		g := denseG(t, p.Gram, d)
		for range 400 {
			for i := range d {
				d[i] = 0.5*d[i] + 0.5*nu[i]/(s2+g.At(i, i))
			}
			g = denseG(t, p.Gram, d)
		}
		y, spread := meansAndSpreads(p)
		mean, q := meansBy(g, y, d), make([]float64, m)
		for i := range m {
			q[i] = (mean[i]-y[i])*(mean[i]-y[i]) + spread[i]
		}
		// (I - W T) C = W T q with W = G o G, T = nu/(s2 + G_ii)^2.
		a, right := mat.NewDense(m, m, nil), make([]float64, m)
		weight := func(j int) float64 { return nu[j] / math.Pow(s2+g.At(j, j), 2) }
		for i := range m {
			a.Set(i, i, 1)
			for j := range m {
				w := g.At(i, j) * g.At(i, j) * weight(j)
				a.Set(i, j, a.At(i, j)-w)
				right[i] += w * q[j]
			}
		}
		c := linearSolve(t, a, right)
		same(t, "d", s.SitePrecision, d, methodTol)
		same(t, "mean", s.Mean, mean, methodTol)
		same(t, "variance", s.Var, c, methodTol)
		for i := range m {
			sameNumber(t, "u", s.SiteVariance[i], weight(i)*(c[i]+q[i]), methodTol)
		}
		sameCavities(t, s.Cavity, exactCavities(p.Gram, s), s, methodTol)
	})
}

// TestMeanField solves m_i = E_k (gc_i + k y_i/s2)/(c_i + k/s2) with c_i =
// (K^-1)_ii and gc = c m - K^-1 m as M linear equations for m:
//
//	m_i - A1_i (c_i m_i - (K^-1 m)_i) = (E (k/s2)/(c_i + k/s2)) y_i.
func TestMeanField(t *testing.T) {
	methodProblems(t, func(t *testing.T, p solver.Problem) {
		s := mustConverge(t, p, solver.Settings{Method: solver.MeanField})
		m, inv := p.Gram.N(), inverse(t, denseOf(p.Gram))
		y, _ := meansAndSpreads(p)
		a, right := mat.NewDense(m, m, nil), make([]float64, m)
		sites := boundSites(t, p)
		for i := range m {
			a1, pull, _, _ := sites[i].Responses(inv.At(i, i))
			for j := range m {
				a.Set(i, j, a1*inv.At(i, j))
			}
			a.Set(i, i, 1) // 1 - A1 (c - c)
			right[i] = pull * y[i]
		}
		mean := linearSolve(t, a, slices.Clone(right))
		cavities, variance := make([]loss.Cavity, m), make([]float64, m)
		for i := range m {
			others := 0.0
			for j := range m {
				if j != i {
					others -= inv.At(i, j) * mean[j]
				}
			}
			cavities[i] = loss.Cavity{C: inv.At(i, i), Mean: others / inv.At(i, i)}
			variance[i] = sites[i].Moments(cavities[i]).Var
		}
		same(t, "mean", s.Mean, mean, methodTol)
		same(t, "variance", s.Var, variance, methodTol)
		sameCavities(t, s.Cavity, cavities, s, methodTol)
		if s.Residual != 0 || s.Stats.Refreshes.Exact != 2 {
			t.Errorf("residual %g, %+v", s.Residual, s.Stats)
		}
		if _, variance, _ := s.Predict(make([]float64, m)); variance[0] != 0 {
			t.Errorf("variance %g at a new input", variance[0])
		}
		if !strings.Contains(strings.Join(s.Warnings, " "), "no variance at new inputs") {
			t.Errorf("warnings %q", s.Warnings)
		}
		finite(t, s)
	})
}

// TestStartOnly: the start value of d stays, c = 1/G_ii - d, and the variances
// follow from (T11) as it is written, with H = A2(c), a site's H W_ii/(H - W_ii)
// and sy E2 W_ii/(H - W_ii) where targets differ within it.
func TestStartOnly(t *testing.T) {
	methodProblems(t, func(t *testing.T, p solver.Problem) {
		settings := solver.Settings{Method: solver.StartOnly}
		s := mustSolve(t, p, settings)
		if s.Status != solver.Converged || s.Stats.Refreshes.Exact != 1 || s.Stats.Sweeps != 1 {
			t.Fatalf("%v, %+v", s.Status, s.Stats)
		}
		m, g := p.Gram.N(), denseG(t, p.Gram, s.SitePrecision)
		y, spread := meansAndSpreads(p)
		a, right := mat.NewDense(m, m, nil), make([]float64, m)
		mean, sites := meansBy(g, y, s.SitePrecision), boundSites(t, p)
		for i := range m {
			for j := range m {
				a.Set(i, j, g.At(i, j)*g.At(i, j))
			}
			w := g.At(i, i) * g.At(i, i)
			_, _, h, e2 := sites[i].Responses(1/g.At(i, i) - s.SitePrecision[i])
			if h <= w {
				t.Skip("the start value has no variance at a site") // clamped; see TestStartOnlyClamps
			}
			a.Set(i, i, w-h*w/(h-w))
			right[i] = (mean[i]-y[i])*(mean[i]-y[i]) + spread[i]*e2*w/(h-w)
		}
		lambda := linearSolve(t, a, right)
		same(t, "mean", s.Mean, mean, methodTol)
		same(t, "u", s.SiteVariance, times(-1, lambda), methodTol)
		sameCavities(t, s.Cavity, exactCavities(p.Gram, s), s, methodTol)
	})
}

// TestStartOnlyClamps: far from the fixed point H - G_ii^2 may be negative, where
// it ought to be a variance. It is raised to zero, counted and reported.
func TestStartOnlyClamps(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 3))
	_, k := line(rng, 40, 1.3, 0)
	p := bootstrap(k, normals(rng, 40), loss.Square{Noise: 1e-8}, 1)
	s := mustSolve(t, p, solver.Settings{Method: solver.StartOnly})
	if s.Stats.Clamps == 0 || !strings.Contains(strings.Join(s.Warnings, " "), "raised to zero") {
		t.Errorf("%+v, warnings %q", s.Stats, s.Warnings)
	}
	finite(t, s)
}

// TestStartValue: with one example per site and one law all d start alike, and at the root of the one-site
// equation: 1/G - d = c, d = 1/A1(c) - c, where G is the mean over the spectrum of K of w/(1 + w d), here by
// gonum's eigenvalues. Settings.From replaces it.
func TestStartValue(t *testing.T) {
	p := ordinary()
	s := mustSolve(t, p, solver.Settings{Method: solver.StartOnly})
	sameNumber(t, "1/A1(c) - c", oneSiteResponse(t, p, s.SitePrecision), s.SitePrecision[0], 1e-9)

	// Of many sites the iteration asks a random quarter, and takes hardly more sweeps than from all.
	rng := rand.New(rand.NewPCG(18, 2))
	_, many := line(rng, 400, 0.1, 0.01)
	p = bootstrap(many, normals(rng, 400), loss.Square{Noise: 1}, 1)
	s = mustSolve(t, p, solver.Settings{Method: solver.StartOnly})
	sameNumber(t, "1/A1(c) - c, 400 sites", oneSiteResponse(t, p, s.SitePrecision), s.SitePrecision[0], 1e-9)
	quarter, all := mustSolve(t, p, solver.Settings{}), mustSolve(t, p, solver.Settings{From: s})
	if quarter.Stats.Sweeps > all.Stats.Sweeps+1 {
		t.Errorf("%d sweeps from a quarter, %d from all", quarter.Stats.Sweeps, all.Stats.Sweeps)
	}

	p = ordinary()
	start := make([]float64, 40)
	floats.Span(start, 1, 40)
	s = mustSolve(t, p, solver.Settings{Method: solver.StartOnly, From: untrained(p, start...)})
	if !slices.Equal(s.SitePrecision, start) {
		t.Errorf("d %v, started at %v", s.SitePrecision, start)
	}
	finite(t, s)
}

// oneSiteResponse is 1/A1(c) - c at the c = 1/G - d that belongs to one d for all
// sites, by all eigenvalues of K.
func oneSiteResponse(t *testing.T, p solver.Problem, d []float64) float64 {
	t.Helper()
	for _, v := range d {
		if v != d[0] {
			t.Fatalf("start values %g and %g", d[0], v)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(len(d), denseOf(p.Gram).RawMatrix().Data), false) {
		t.Fatal("no eigenvalues")
	}
	g := 0.0
	for _, w := range eigen.Values(nil) {
		g += w / (1 + w*d[0]) / float64(len(d))
	}
	c := 1/g - d[0]
	a1, _, _, _ := boundSites(t, p)[0].Responses(c)
	return 1/a1 - c
}
