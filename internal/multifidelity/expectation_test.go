package multifidelity_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/multifidelity"
	"bootbench/internal/need"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// firstIterate is F1 at the sites for given counts, straight from T13: the forces of the
// sites' proximal maps at the theory's cavities, and f = G xi.
func firstIterate(s *solver.Solution, l loss.Proximal, y []float64, members [][]int, counts []int,
	f []float64) {
	engine, err := s.Engine()
	if err != nil {
		panic(err)
	}
	chi, _ := engine.Diag()
	xi := make([]float64, len(members))
	for i, examples := range members {
		var targets, weights []float64
		for _, e := range examples {
			targets, weights = append(targets, y[e]), append(weights, float64(counts[e]))
		}
		c := s.Cavity[i]
		at, _ := l.Prox(c.C, c.Mean, targets, weights)
		xi[i] = c.C*(at-c.Mean) + s.SitePrecision[i]*at
	}
	engine.MulVecOffDiag(f, xi)
	for i := range f {
		f[i] += chi[i] * xi[i]
	}
}

// TestExpectation compares the moments of the first iterate with those over many draws of
// the scheme's own sampler, over all resamples and over those that leave an example out.
// z-scores over M points that vary together are within 5 for the means and, their
// distribution being skewed, 6 for the variances.
func TestExpectation(t *testing.T) {
	draws := 8000
	if testing.Short() {
		draws = 2000
	}
	schemes := func(n int) []resample.Scheme {
		return []resample.Scheme{
			resample.Poisson{Ratio: 0.7}, resample.Bernoulli{Rate: 0.6}, resample.Multinomial{Size: n, N: n},
			resample.Subsample{Size: n / 2, N: n}, resample.KFold{Folds: 7, N: n},
		}
	}
	for _, c := range []struct {
		set    string
		loss   loss.Loss
		merged bool
	}{
		{"synthetic:friedman1,n=60,seed=1", loss.Square{Noise: 1}, false},
		{"synthetic:friedman1,n=60,seed=1", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, false},
		{"synthetic:grid,n=60,d=2", loss.Square{Noise: 0.5}, true},
		// joint counts of different targets
		{"synthetic:grid,n=20,d=2", loss.EpsInsensitive{C: 1, Epsilon: 0.3}, true},
		{"synthetic:rings,n=60,seed=1", loss.Hinge{C: 1}, false},
	} {
		m := build(t, c.set, c.loss, 0.5)
		if merged := m.Merged() > 0; merged != c.merged {
			t.Fatalf("%s: merged inputs: %v", c.set, merged)
		}
		n := len(m.Set.Y)
		members := make([][]int, m.Sites())
		for i, site := range m.Site {
			members[site] = append(members[site], i)
		}
		all := schemes(n)
		if !c.merged {
			all = append(all, designs(t, n)...)
		}
		for _, scheme := range all {
			s := solve(t, m, scheme)
			known := need.One(multifidelity.NewExpectation(multifidelity.Problem{Solution: s,
				Loss: m.Loss.(loss.Proximal), Y: m.Set.Y, Site: m.Site, Scheme: scheme, Responses: blas64.General{}}))(t)
			_, poisson := scheme.(resample.Poisson)
			_, bernoulli := scheme.(resample.Bernoulli)
			_, designed := scheme.(resample.Designed)
			if has := known.Var != nil; has != (!c.merged && !designed || poisson || bernoulli) {
				t.Errorf("%s %s: the variance is known: %v", c.set, scheme.Name(), has)
			}
			all, absent := newTally(known.Mean), newTally(known.AbsentMean)
			counts, f := make([]int, n), make([]float64, m.Sites())
			for b := range draws {
				scheme.Sample(rand.New(rand.NewPCG(11, uint64(b))), counts)
				firstIterate(s, m.Loss.(loss.Proximal), m.Set.Y, members, counts, f)
				for j, v := range f {
					all.add(j, v)
				}
				for i, k := range counts {
					if k == 0 {
						absent.add(i, f[m.Site[i]])
					}
				}
			}
			name := c.set + " " + m.Loss.Name() + " " + scheme.Name()
			all.check(t, name, known.Var)
			absent.check(t, name+" given absent", known.AbsentVar)
		}
	}
}

// designs draw groups of three and four examples, and within two strata.
func designs(t *testing.T, n int) (all []resample.Scheme) {
	group, stratum := make([]int, n), make([]int, n)
	for i := range group {
		group[i], stratum[i] = i%17, min(i%4, 1)
	}
	for _, c := range []struct {
		name string
		resample.Design
	}{{"poisson", resample.Design{N: n, Group: group}}, {"multinomial", resample.Design{N: n, Group: group}},
		{"subsample", resample.Design{N: n, Stratum: stratum}},
		{"multinomial", resample.Design{N: n, Stratum: stratum}}} {
		all = append(all, need.One(c.Of(c.name, resample.Options{Ratio: 0.8}))(t))
	}
	return all
}

// tally are moments about the expected means.
type tally struct {
	mean, n, m1, m2, m4 []float64
}

func newTally(mean []float64) *tally {
	x := &tally{mean: mean}
	for _, v := range []*[]float64{&x.n, &x.m1, &x.m2, &x.m4} {
		*v = make([]float64, len(mean))
	}
	return x
}

func (x *tally) add(j int, v float64) {
	v -= x.mean[j]
	x.n[j]++
	x.m1[j] += v
	x.m2[j] += v * v
	x.m4[j] += v * v * v * v
}

func (x *tally) check(t *testing.T, name string, variance []float64) {
	t.Helper()
	worst, worst2 := 0.0, 0.0
	for j, n := range x.n {
		m2 := x.m2[j] / n
		if m2 < 1e-18 {
			continue // determined by the absence
		}
		worst = math.Max(worst, math.Abs(x.m1[j]/n)/math.Sqrt(m2/n))
		if variance != nil {
			worst2 = math.Max(worst2, math.Abs(m2-variance[j])/math.Sqrt((x.m4[j]/n-m2*m2)/n))
		}
	}
	if !(worst < 5) || !(worst2 < 6) {
		t.Errorf("%s: z-scores of mean %.2g, of variance %.2g", name, worst, worst2)
	}
}
