package solver_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// drawProblem is smallProblem for property tests.
func drawProblem(rt *rapid.T) (*rand.Rand, solver.Problem) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 13))
	return rng, smallProblem(rng)
}

// invariant is the tolerance of the properties below: all solves end within
// 1e-11 of the fixed point, relative to d, and cavities lose up to d/c = 1e4 of it.
const invariant = 1e-6

var tight = solver.Settings{Tolerance: 1e-11}

// siteOf is the site of an example of p.
func siteOf(p solver.Problem, example int) int {
	if p.Site == nil {
		return example
	}
	return p.Site[example]
}

// TestPermutation: to rename the sites and to reorder the examples renames and
// reorders the answer, no more.
func TestPermutation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng, p := drawProblem(rt)
		m, n := p.Gram.N(), len(p.Y)
		sites, examples := rng.Perm(m), rng.Perm(n) // new number of each old one
		moved := p
		gram := linalg.NewSym(m)
		moved.Gram = gram
		for i := range m {
			for j := i; j < m; j++ {
				gram.Set(sites[i], sites[j], p.Gram.At(i, j))
			}
		}
		moved.Y, moved.Site = make([]float64, n), make([]int, n)
		for e, y := range p.Y {
			moved.Y[examples[e]], moved.Site[examples[e]] = y, sites[siteOf(p, e)]
		}
		a, b := mustConverge(rt, p, tight), mustConverge(rt, moved, tight)
		back := func(v []float64, order []int) []float64 {
			out := make([]float64, len(order))
			for old, new := range order {
				out[old] = v[new]
			}
			return out
		}
		same(rt, "d", back(b.SitePrecision, sites), a.SitePrecision, invariant)
		same(rt, "mean", back(b.Mean, sites), a.Mean, invariant)
		same(rt, "variance", back(b.Var, sites), a.Var, invariant)
		_, x := a.LeftOut(loss.Absolute{})
		_, y := b.LeftOut(loss.Absolute{})
		same(rt, "left-out losses", back(y, examples), x, invariant)
	})
}

// TestScaling: targets a y, kernel b K and noise b s2 give the predictor a f: d
// scales like 1/b, means like a, variances and the left-out square loss like a^2.
func TestScaling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng, p := drawProblem(rt)
		a := logUniform(rng, 1e-6, 1e6) * math.Copysign(1, rng.NormFloat64())
		b := logUniform(rng, 1e-6, 1e6)
		scaled := p
		scaled.Gram = symmetric(p.Gram.N(), func(i, j int) float64 { return b * p.Gram.At(i, j) })
		scaled.Loss = loss.Square{Noise: b * p.Loss.(loss.Square).Noise}
		scaled.Y = times(a, p.Y)
		s, z := mustConverge(rt, p, tight), mustConverge(rt, scaled, tight)
		same(rt, "d", times(b, z.SitePrecision), s.SitePrecision, invariant)
		same(rt, "mean", times(1/a, z.Mean), s.Mean, invariant)
		same(rt, "variance", times(1/(a*a), z.Var), s.Var, invariant)
		x, _ := s.LeftOut(loss.SquareTest{})
		y, _ := z.LeftOut(loss.SquareTest{})
		sameNumber(rt, "left-out error", y/(a*a), x, invariant)
	})
}

func times(a float64, v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = a * v[i]
	}
	return out
}
