package solver_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// neighbour is a kernel matrix whose elements beside the diagonal are neighbours of those of k in
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

// TestUndeterminedExactly proves of problems that end "undetermined by rounding" that K itself
// leaves the answer open: in 300 bits, too, the cavities that follow from the last iterate differ by
// more than the tolerance between K and a neighbour of it in double precision, which nobody could
// tell apart.
func TestUndeterminedExactly(t *testing.T) {
	hard := loss.HardMargin{}
	cells := []overlap{{"blobs,n=100,seed=3,d=5", 0.25, hard, 20, nearCopies}}
	if !testing.Short() {
		cells = append(cells, overlap{"checker,n=100", 0.25, hard, 20, nil}, overlap{"blobs,n=100", 0.05, hard, 20,
			nil},
			overlap{"rings,n=100,seed=3,d=5", 8, hard, 20, nearCopies}, overlap{"blobs,n=100,seed=3,d=5", 8, hard, 5,
				nearCopies})
	}
	for _, o := range cells {
		p := o.problem(t)
		s := mustSolve(t, p, solver.Settings{})
		stopped(t, s, nil, solver.Undetermined)
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
