package solver_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// nestedProblem is regression in two inputs on a factor of a broad kernel.
func nestedProblem(t testing.TB, noise, ratio float64) solver.Problem {
	t.Helper()
	set := synthetic(t, "synthetic:waves,n=500,d=2,seed=4")
	k, _ := gram(t, kernel.Spec{Gamma: 0.5}, set.X)
	factor, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, linalg.RankOptions{Tol: 1e-8 * noise})
	if err != nil {
		t.Fatal(err)
	}
	return solver.Problem{Gram: factor, Y: set.Y, Loss: loss.Square{Noise: noise},
		Law: resample.Poisson{Ratio: ratio}}
}

// sameReadOuts fails unless the read-outs agree to tol: d, means beside the standard
// deviations, variances, errors.
func sameReadOuts(t *testing.T, what string, a, b *solver.Solution, tol float64) {
	t.Helper()
	errorA, _ := a.LeftOut(loss.SquareTest{})
	errorB, _ := b.LeftOut(loss.SquareTest{})
	if math.Abs(errorA-errorB) > tol*errorB {
		t.Errorf("%s: left-out error %g, %g", what, errorA, errorB)
	}
	for i, v := range b.Var {
		if math.Abs(a.SitePrecision[i]-b.SitePrecision[i]) > tol*b.SitePrecision[i] ||
			math.Abs(a.Var[i]-v) > tol*v || math.Abs(a.Mean[i]-b.Mean[i]) > tol*math.Sqrt(v) {
			t.Fatalf("%s, site %d: d %g, %g, mean %g, %g, variance %g, %g", what, i, a.SitePrecision[i],
				b.SitePrecision[i], a.Mean[i], b.Mean[i], a.Var[i], v)
		}
	}
}

// TestCoarser: coarser factors save refreshes and products, and change no answer:
// what a solve with them and one without end at differs by their tolerance of 1e-9,
// times some tens for what single sites make of it.
func TestCoarser(t *testing.T) {
	for _, noise := range []float64{0.1, 1e-3} {
		for _, ratio := range []float64{0.3, 1, 3} {
			p := nestedProblem(t, noise, ratio)
			tight := func(s solver.Settings) *solver.Solution {
				s.Tolerance = 1e-9
				return mustConverge(t, p, s)
			}
			with, without, plain := tight(solver.Settings{}), tight(solver.Settings{Disable: solver.CoarseKernels}),
				tight(solver.Settings{Disable: solver.AllAccelerations})
			name := fmt.Sprintf("noise %g, ratio %g", noise, ratio)
			sameReadOuts(t, name+", left out", with, without, 1e-7)
			sameReadOuts(t, name+", plain", with, plain, 1e-7)
			if a, b := with.Stats, without.Stats; a.Refreshes.Exact >= b.Refreshes.Exact || a.Linear > b.Linear+1 ||
				b.Refreshes.Diagonal > 0 {
				t.Errorf("%s: %+v with coarser factors, %+v without", name, a, b)
			}
			got, want := make([]float64, len(with.SitePrecision)), make([]float64, len(with.SitePrecision))
			with.Covariance(got, 3)
			plain.Covariance(want, 3)
			if math.Abs(got[3]-with.Var[3]) > 1e-9*with.Var[3] || math.Abs(got[8]-want[8]) > 1e-6*want[3] {
				t.Errorf("%s: covariance %g, %g; variance %g", name, got[8], want[8], with.Var[3])
			}
		}
	}
}

// misled is an engine whose coarser one errs.
type misled struct {
	*linalg.LowRankEngine
	scale float64 // of products on the coarser one, 0: there is none
	guess float64 // by which its cavities err, at each refresh in another way
}

type wrong struct {
	linalg.Engine
	scale, guess float64
	refreshes    int
}

func (e *wrong) Factorize(d []float64) error {
	e.refreshes++
	return e.Engine.Factorize(d)
}

func (e *wrong) Diag() (chi, b []float64) {
	chi, b = e.Engine.Diag()
	b = slices.Clone(b)
	for i := range b {
		b[i] *= 1 + e.guess*math.Sin(float64(i+e.refreshes))
	}
	return chi, b
}

func (e *wrong) MulVecSquaredOffDiag(dst, x []float64) {
	e.Engine.MulVecSquaredOffDiag(dst, x)
	for i := range dst {
		dst[i] *= e.scale
	}
}

func (e misled) Coarse() linalg.Engine {
	if e.scale == 0 {
		return nil
	}
	return &wrong{e.LowRankEngine.Coarse(), e.scale, e.guess, 0}
}

// TestMisled: a coarser kernel that misleads costs time, never the answer.
func TestMisled(t *testing.T) {
	p := nestedProblem(t, 0.1, 1)
	settings := solver.Settings{Tolerance: 1e-8, Disable: solver.AllAccelerations}
	want := mustConverge(t, p, settings)
	for what, e := range map[string]misled{
		"no coarser engine":          {},
		"products too small":         {scale: 0.5},
		"products a little off":      {scale: 0.999},
		"products not positive":      {scale: -3},
		"products far off":           {scale: 30},
		"estimates a little off":     {scale: 1, guess: 0.02},
		"estimates far off":          {scale: 1, guess: 0.9},
		"estimates of no use at all": {scale: 1, guess: math.NaN()},
	} {
		settings := solver.Settings{Tolerance: 1e-8, Engine: func(k linalg.Kernel) linalg.Engine {
			e.LowRankEngine = linalg.NewLowRankEngine(k.(*linalg.LowRankPlusDiag))
			return e
		}}
		sameReadOuts(t, what, mustConverge(t, p, settings), want, 1e-6)
	}
}
