package solver_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// readable is a problem of 30 sites, some of several examples with different
// targets, with its solution to 1e-11.
func readable(t *testing.T, seed uint64) (solver.Problem, *solver.Solution) {
	t.Helper()
	rng := rand.New(rand.NewPCG(16, seed))
	x, k := line(rng, 30, 0.5, 0.05)
	p := solver.Problem{Gram: k, Loss: loss.Square{Noise: 0.1}, Law: resample.Poisson{Ratio: 0.8}}
	for i := range 30 {
		for range 1 + i%3 {
			p.Site, p.Y = append(p.Site, i), append(p.Y, math.Sin(2*x[i])+0.4*rng.NormFloat64())
		}
	}
	rng.Shuffle(len(p.Y), func(a, b int) {
		p.Site[a], p.Site[b] = p.Site[b], p.Site[a]
		p.Y[a], p.Y[b] = p.Y[b], p.Y[a]
	})
	return p, mustConverge(t, p, solver.Settings{Tolerance: 1e-11})
}

// allTests are the test losses that read-outs are tried with.
func allTests() []loss.Test {
	return []loss.Test{loss.SquareTest{}, loss.Absolute{}, loss.ZeroOne{}, loss.SmoothEps{Eps: 0.1, Beta: 0.1}}
}

// TestPredictAnywhere: at a new input with kernel vector k the mean is k'T g and
// the variance sum_j (k'T)_j^2 u_j, T = (I + D K)^-1 (M03-48), with dense
// inverses: T = K^-1 G.
func TestPredictAnywhere(t *testing.T) {
	p, s := readable(t, 2)
	m := s.Sites()
	k := normals(rand.New(rand.NewPCG(16, 9)), m)
	g, inv := denseG(t, p.Gram, s.SitePrecision), inverse(t, denseOf(p.Gram))
	wantMean, wantVar := 0.0, 0.0
	for j := range m {
		response := 0.0 // (k'K^-1 G)_j
		for a := range m {
			for b := range m {
				response += k[a] * inv.At(a, b) * g.At(b, j)
			}
		}
		wantMean += response * s.SiteMean[j]
		wantVar += response * response * s.SiteVariance[j]
	}
	mean, variance, err := s.Predict(slices.Clone(k))
	if err != nil {
		t.Fatal(err)
	}
	sameNumber(t, "mean", mean[0], wantMean, 1e-8)
	sameNumber(t, "variance", variance[0], wantVar, 1e-8)
}

// TestCovariance: row i of G diag(u) G by dense products; its diagonal is Var, and it is symmetric.
func TestCovariance(t *testing.T) {
	p, s := readable(t, 3)
	g, m := denseG(t, p.Gram, s.SitePrecision), s.Sites()
	rows := make([][]float64, m)
	for i := range rows {
		rows[i] = make([]float64, m)
		s.Covariance(rows[i], i)
		want := make([]float64, m)
		for j := range want {
			for a := range m {
				want[j] += g.At(i, a) * s.SiteVariance[a] * g.At(a, j)
			}
		}
		same(t, "row of the covariance", rows[i], want, 1e-8)
		sameNumber(t, "diagonal", rows[i][i], s.Var[i], 1e-10)
		for j := range i {
			if math.Abs(rows[i][j]-rows[j][i]) > 1e-12*math.Sqrt(s.Var[i]*s.Var[j]) {
				t.Errorf("covariance of %d and %d: %g and %g", i, j, rows[i][j], rows[j][i])
			}
		}
	}
}

// TestLeftOut: for an example alone on its site the predictor without it is the
// cavity; with companions it is the cavity pulled by their counts, here Poisson
// with the mean of n-1 examples and summed term by term. The mean is over
// examples, not sites.
func TestLeftOut(t *testing.T) {
	p, s := readable(t, 4)
	targets := targetsOf(p)
	const weight = 1 / 0.1 // 1/s2
	for _, test := range allTests() {
		mean, each := s.LeftOut(test)
		sum, seen := 0.0, 0
		for e, y := range p.Y {
			sum += each[e] / float64(len(p.Y))
			cav := s.Cavity[p.Site[e]]
			others := slices.Clone(targets[p.Site[e]])
			at := slices.Index(others, y)
			others = slices.Delete(others, at, at+1)
			want := 0.0
			switch len(others) {
			case 0:
				want = test.Gaussian(cav.Mean, cav.Var, y)
			case 1:
				for k, pk := range p.Law.Counts(1).All() {
					kw := float64(k) * weight
					keep := cav.C / (cav.C + kw)
					want += pk * test.Gaussian(keep*cav.Mean+(1-keep)*others[0], keep*keep*cav.Var, y)
				}
			default:
				continue // three examples: the law over their split is package loss's own matter
			}
			seen++
			sameNumber(t, test.Name(), each[e], want, 1e-12)
		}
		sameNumber(t, "mean over examples", mean, sum, 1e-13)
		if seen != 10+20 {
			t.Errorf("%d examples compared, want 30", seen)
		}
	}
}

// err632plus is the .632+ rule in the form of its weight (Efron and Tibshirani
// 1997, 29) where that holds, and says which case applies. Beyond the
// no-information rate gamma R = 1, and their (32) comes to .632 of the left-out
// error and .368 gamma.
func err632plus(leftOut, apparent, gamma float64) (plus float64, which string) {
	switch {
	case leftOut <= apparent:
		return 0.368*apparent + 0.632*leftOut, "no overfitting"
	case gamma <= apparent:
		return 0.368*apparent + 0.632*leftOut, "worse than shuffled"
	case leftOut > gamma:
		return 0.632*leftOut + 0.368*gamma, "worse than no information"
	}
	weight := 0.632 / (1 - 0.368*(leftOut-apparent)/(gamma-apparent))
	return (1-weight)*apparent + weight*leftOut, "between"
}

// TestOverwritten: once a later solve has overwritten G in K's scratch triangle, what is
// read off G refuses; what the solution holds itself stays.
func TestOverwritten(t *testing.T) {
	p, first := readable(t, 6)
	leftOut, _ := first.LeftOut(loss.SquareTest{})
	p.Law = resample.Poisson{Ratio: 2}
	second := mustConverge(t, p, solver.Settings{})
	row := make([]float64, first.Sites())
	if _, _, err := first.Predict(slices.Clone(row)); !errors.Is(err, solver.ErrOverwritten) {
		t.Errorf("Predict: %v", err)
	}
	if err := first.Covariance(row, 0); !errors.Is(err, solver.ErrOverwritten) {
		t.Errorf("Covariance: %v", err)
	}
	if again, _ := first.LeftOut(loss.SquareTest{}); again != leftOut {
		t.Errorf("left-out error was %v and is %v", leftOut, again)
	}
	if _, _, err := second.Predict(row); err != nil {
		t.Errorf("the newer solution: %v", err)
	}
}
