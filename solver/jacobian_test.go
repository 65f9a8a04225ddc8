package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// crowd is an iteration on n sites on a line, two sweeps from its start, on the kernel matrix or, of a lower
// rank, on a factor.
func crowd(t *testing.T, n, rank int, l loss.Loss) *fixedPoint {
	t.Helper()
	rng := rand.New(rand.NewPCG(51, uint64(n)))
	k := linalg.ZeroSym(n)
	at, y := make([]float64, n), make([]float64, n)
	for i := range n {
		at[i], y[i] = rng.NormFloat64(), float64(2*rng.IntN(2)-1)
	}
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, math.Exp(-2*(at[i]-at[j])*(at[i]-at[j])))
		}
	}
	k.AddDiag(0.05)
	gram := linalg.Kernel(k)
	if rank < n {
		gram = testutil.Must(linalg.PivotedCholesky(t.Context(), k, linalg.RankOptions{MaxRank: rank}))(t)
	}
	p := Problem{Gram: gram, Y: y, Loss: l, Law: resample.Poisson{Ratio: 1}}
	settings := testutil.Must(Settings{}.withDefaults(k.N()))(t)
	sites := testutil.Must(p.sites())(t)
	x := newFixedPoint(&run{settings: settings, noSingle: true, Solution: &Solution{Problem: p, sites: sites,
		engine: gram.Engine()}})
	testutil.Check(t, x.start())
	testutil.Check(t, dampedSweep{}.advance(t.Context(), x))
	return x
}

// evaluateAt takes the sweep from cavities.
func (x *fixedPoint) evaluateAt(t *testing.T, at cavities) {
	t.Helper()
	copy(x.trial.cavities, at)
	testutil.Check(t, x.evaluate(false))
}

// TestJacobian: the derivative of a sweep is the one by differences of sweeps. The sites' slopes are by
// forward differences of 1e-5, which err by half as much of the second derivative: Newton's method solves its
// equations to 1e-4 at best. The central ones here err by 1e-10 of the third derivative and by rounding over
// 1e-5.
func TestJacobian(t *testing.T) {
	for _, c := range []struct {
		l    loss.Loss
		rank int
	}{{loss.HardMargin{}, 15}, {loss.Hinge{C: 2}, 15}, {loss.HardMargin{}, 6}, {loss.Hinge{C: 2}, 6}} {
		x := crowd(t, 15, c.rank, c.l)
		x.evaluateAt(t, x.accepted.cavities)
		j := newJacobian(x.model)
		j.linearize(&x.accepted)
		rng := rand.New(rand.NewPCG(51, 1))
		base := slices.Clone(x.accepted.cavities)
		size := len(base)
		way, got := make([]float64, size), make([]float64, size)
		for i := range way {
			way[i] = rng.NormFloat64()
		}
		j.mulResidual(got, way)
		const h = 1e-5
		var ends [2]cavities
		for side := range ends {
			at := slices.Clone(base)
			floats.AddScaled(at, h*float64(2*side-1), way)
			x.evaluateAt(t, at)
			ends[side] = slices.Clone(x.accepted.image)
		}
		for i := range got {
			want := way[i] - (ends[1][i]-ends[0][i])/(2*h)
			if math.Abs(got[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s, rank %d, coordinate %d: %g, differences %g", c.l.Name(), c.rank, i, got[i],
					want)
			}
		}
	}
}
