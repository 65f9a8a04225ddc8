package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/train"
)

// TestAgainstCyclicAscent holds the trainer to plain cyclic ascent on problems with shared
// sites, of both labels, where alpha need not be unique but f is, and meets the Kuhn-Tucker
// conditions. Eigenvalues are >= 0.3, so that plain cyclic ascent converges to 1e-12 in a few
// hundred sweeps.
func TestAgainstCyclicAscent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 2))
		m := rapid.IntRange(1, 12).Draw(rt, "sites")
		n := rapid.IntRange(0, 20).Draw(rt, "examples")
		k := gram(rng, m, 0.3)
		p := Problem{Y: labels(rng, n), Site: make([]int, n), C: make([]float64, n)}
		boxes := []float64{0, 0.1, 0.5, 1, 3, 20, hard}
		for i := range n {
			p.Site[i] = rng.IntN(m)
			p.C[i] = boxes[rapid.IntRange(0, 6).Draw(rt, "box")]
		}
		r, err := newTrainer(t, k).Train(p, Settings{Tolerance: 1e-9})
		if i, j := contradiction(p); i >= 0 {
			var infeasible *InfeasibleError
			if !errors.As(err, &infeasible) || infeasible.I != i || infeasible.J != j {
				rt.Fatalf("error %v, want one that names examples %d and %d", err, i, j)
			}
			return
		}
		if err != nil || r.Status != train.Converged {
			rt.Fatalf("error %v, result %+v", err, r)
		}
		_, f := cyclic(k, p)
		for s := range f {
			if math.Abs(f[s]-r.F[s]) > 1e-7 {
				rt.Fatalf("f at site %d is %v, want %v", s, r.F[s], f[s])
			}
		}
		if v := plainViolation(k, p, r.Alpha); v > 1e-8 {
			rt.Fatalf("violation %g", v)
		}
	})
}

// contradiction is the first example j in order that has a hard margin against
// that of an earlier example i on its site; -1, -1 if there is none.
func contradiction(p Problem) (i, j int) {
	for j := range p.Y {
		for i := range j {
			if p.Site.At(i) == p.Site.At(j) && p.Y[i] != p.Y[j] && math.IsInf(p.C[i], 1) && math.IsInf(p.C[j], 1) {
				return i, j
			}
		}
	}
	return -1, -1
}

// TestEmbeddedSets recomputes the Kuhn-Tucker conditions and the counts of support vectors of
// real problems by plain loops. These sums differ from the trainer's by rounding, sum |a|
// times 1e-13.
func TestEmbeddedSets(t *testing.T) {
	for _, name := range []string{"sonar", "crabs", "wisconsin", "pima"} {
		for _, width := range []float64{0.05, 0.5, 4} {
			for _, box := range []float64{hard, 100, 1} {
				k, p := embedded(t, name, width, box)
				r := mustTrain(t, k, p, Settings{})
				size, free, bounded := 0.0, 0, 0
				for i, a := range r.Alpha {
					size += a
					switch {
					case a > 0 && a < p.C[i]:
						free++
					case a > 0:
						bounded++
					}
				}
				tolerance, worst := 1e-13*(1+size), plainViolation(k, p, r.Alpha)
				if worst > DefaultTolerance+tolerance || math.Abs(worst-r.Violation) > tolerance {
					t.Errorf("%s width %g C %g: violation %g, stated %g", name, width, box, worst, r.Violation)
				}
				if free != r.Free || bounded != r.Bounded {
					t.Errorf("%s width %g C %g: %d free and %d bounded support vectors, stated %d and %d", name, width,
						box, free, bounded, r.Free, r.Bounded)
				}
			}
		}
	}
}
