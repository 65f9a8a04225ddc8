package solver_test

import (
	"math/rand/v2"
	"testing"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// sizeable is a problem large enough for single precision: friedman1-like inputs
// in the plane, so that no low-rank update serves.
func sizeable() solver.Problem {
	const n = 220
	rng := rand.New(rand.NewPCG(31, 1))
	x, z := normals(rng, n), normals(rng, n)
	k := symmetric(n, func(i, j int) float64 { return rbf(x[i], x[j], 0.3) * rbf(z[i], z[j], 0.3) })
	return solver.Problem{Gram: k, Y: normals(rng, n), Loss: loss.Square{Noise: 0.05},
		Law: resample.Poisson{Ratio: 1}}
}

func hasSingle() bool {
	_, ok := blas.Bound().(blas.Single)
	return ok
}

// TestPrecision: single precision changes the way to the answer only: within thirty tolerances (variances
// answer to d several times as strongly) it is that of plain exact steps at a much finer one.
func TestPrecision(t *testing.T) {
	p := sizeable()
	want := mustConverge(t, p, solver.Settings{Plain: true, Tolerance: 1e-11})
	for _, tolerance := range []float64{1e-4, 1e-6, 1e-9} {
		s := mustConverge(t, p, solver.Settings{Tolerance: tolerance})
		sameAnswer(t, s, want, 30*tolerance)
		if r := s.Stats.Refreshes; (r.Single > 0) != hasSingle() || r.Exact == 0 {
			t.Errorf("refreshes %+v", r)
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

// TestUnreliable: single precision that breaks down or lies costs time,
// never the answer.
func TestUnreliable(t *testing.T) {
	if !hasSingle() {
		t.Skip("the backend has no single precision")
	}
	p := sizeable()
	const tolerance = 1e-6
	want := mustConverge(t, p, solver.Settings{Plain: true, Tolerance: 1e-11})
	for name, e := range map[string]*unreliable{
		"refuses": {refuse: true},
		"garbles": {garble: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustConverge(t, p, solver.Settings{Tolerance: tolerance, Engine: func(k linalg.Kernel) linalg.Engine {
				e.CholeskyEngine = linalg.NewCholeskyEngine(k.(*linalg.Sym))
				return e
			}})
			sameAnswer(t, s, want, 10*tolerance)
			if e.refuse && e.singles != 1 {
				t.Errorf("asked %d times after a refusal", e.singles-1)
			}
		})
	}
}

// TestRankUpdates: where few sites move, G follows by updates of low rank (M03-65) in the
// place of refreshes, and the answer is that of plain steps from the start value, within
// thirty tolerances as in TestPrecision. Blocks of four sites do not see each other here; from
// the solution of a problem without them, second examples at two sites of one block move the
// d of that block only.
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
	want := mustConverge(t, p, solver.Settings{Plain: true, Tolerance: 1e-11})
	warm := mustConverge(t, p, solver.Settings{From: neighbour, Tolerance: tolerance})
	sameAnswer(t, warm, want, 30*tolerance)
	if r := warm.Stats.Refreshes; r.Woodbury == 0 || r.Exact != 1 {
		t.Errorf("%+v from a neighbour of which one block differs", r)
	}
}
