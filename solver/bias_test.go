package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

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
	if err := s.Covariance(row, 1); err != nil {
		t.Fatal(err)
	}
	between := make([]float64, s.Sites())
	for j := range between {
		between[j] = (p.Gram.At(0, j) + p.Gram.At(1, j)) / 2
	}
	m, v, err := s.Predict(between)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(all, row...), leftOut, m[0], v[0])
}

// biasProblems are small problems with every loss, two of the sites holding two examples.
func biasProblems() map[string]struct {
	solver.Problem
	test loss.Test
} {
	const n = 16
	rng := rand.New(rand.NewPCG(71, 1))
	x, k := line(rng, n, 0.6, 0.2)
	site := []int{0, 1}
	for i := range n {
		site = append(site, i)
	}
	labels, targets := make([]float64, len(site)), make([]float64, len(site))
	for e := len(site) - 1; e >= 0; e-- {
		v := x[site[e]]
		targets[e] = 3 + math.Sin(2*v) + 0.3*rng.NormFloat64()
		labels[e] = -1
		if v > -0.4 != (e%9 == 8) {
			labels[e] = 1
		}
	}
	labels[0], labels[1] = labels[2], labels[3]
	problems := map[string]struct {
		solver.Problem
		test loss.Test
	}{}
	add := func(l loss.Loss, y []float64, test loss.Test) {
		p := problems[l.Name()]
		p.Problem, p.test = solver.Problem{Gram: k, Site: site, Y: y, Loss: l, Law: resample.Poisson{Ratio: 1.5}},
			test
		problems[l.Name()] = p
	}
	for _, l := range []loss.Loss{loss.Square{Noise: 0.3}, loss.Huber{C: 2, Delta: 0.5},
		loss.EpsInsensitive{C: 2, Epsilon: 0.1}} {
		add(l, targets, loss.SquareTest{})
	}
	for _, l := range []loss.Loss{loss.Hinge{C: 0.7}, loss.SquaredHinge{C: 0.7}, loss.Logistic{C: 1},
		loss.HardMargin{}, loss.Probit{}} {
		add(l, labels, loss.ZeroOne{})
	}
	return problems
}

// TestBiasIsLimit: the answer with a bias is the limit of those with K + c, which
// differ from it by a series in 1/c: Richardson's extrapolation from c = 1e3, 1e4, 1e5
// leaves 1e-12 of it, the tolerance of the solves, and the rounding of the last, 2e-16 sum d K = 1e-9,
// which the fixed point takes up some tens of times. The plain c = 1e5 is off by 1e-6 and more.
func TestBiasIsLimit(t *testing.T) {
	for name, p := range biasProblems() {
		if testing.Short() && (name == "probit" || name == "logistic") {
			continue // seconds of quadrature
		}
		methods := []solver.Method{solver.ADATAP}
		if name == "square" {
			methods = append(methods, solver.Variational)
		}
		for _, method := range methods {
			t.Run(fmt.Sprintf("%s/%v", name, method), func(t *testing.T) {
				var q [3][]float64
				for i, c := range []float64{1e3, 1e4, 1e5} {
					q[i] = answer(t, withConstant(p.Problem, c), method, p.test)
				}
				worst, plain := 0.0, 0.0
				for i, v := range answer(t, withBias(p.Problem), method, p.test) {
					first, second := (10*q[1][i]-q[0][i])/9, (10*q[2][i]-q[1][i])/9
					worst = math.Max(worst, math.Abs(v-(100*second-first)/99)/(1+math.Abs(v)))
					plain = math.Max(plain, math.Abs(v-q[2][i])/(1+math.Abs(v)))
				}
				if !(worst < 1e-8) {
					t.Errorf("the limit is off by %.1e; c = 1e5 by %.1e", worst, plain)
				}
			})
		}
	}
}
