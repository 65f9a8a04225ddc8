package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/train"
	"bootbench/linalg"
)

func TestIterationLimit(t *testing.T) {
	k, p := embedded(t, "sonar", 0.5, hard)
	r := need.One(newTrainer(t, k).Train(p, Settings{MaxIterations: 40}))(t)
	if r.Status != train.IterationLimit || !errors.Is(r.Status.Err(), train.ErrIterationLimit) ||
		r.Iterations != 40 {
		t.Fatalf("%v after %d steps", r.Status, r.Iterations)
	}
	if v := plainViolation(k, p, r.Alpha); !(v > 1e-3) || math.Abs(v-r.Violation) > 1e-9 {
		t.Errorf("violation %g, stated %g", v, r.Violation)
	}
}

// TestStalled asks for more than float64 can give: weights of 1e4 and more
// make f uncertain by 1e-12.
func TestStalled(t *testing.T) {
	k, p := embedded(t, "pima", 0.5, hard)
	r := need.One(newTrainer(t, k).Train(p, Settings{Tolerance: 1e-16}))(t)
	if r.Status != train.Stalled || !errors.Is(r.Status.Err(), train.ErrStalled) {
		t.Fatalf("%v, violation %g", r.Status, r.Violation)
	}
	if v := plainViolation(k, p, r.Alpha); v > 1e-8 {
		t.Errorf("violation %g after a stall", v)
	}
}

// TestDiverged: two sites that the kernel cannot tell apart, with opposite
// labels, amid a problem that is feasible otherwise.
func TestDiverged(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{2, 3, 20, 90} {
		k := gram(rng, n, 0.01)
		y := labels(rng, n)
		twin := n - 1
		for i := range n {
			k.Set(twin, i, k.At(0, i))
		}
		k.Set(twin, twin, k.At(0, 0))
		y[twin] = -y[0]
		r := need.One(newTrainer(t, k).Train(Problem{Y: y, C: same(n, hard)}, Settings{}))(t)
		if r.Status != train.Diverged || !errors.Is(r.Status.Err(), train.ErrDiverged) {
			t.Fatalf("n = %d: %v after %d steps, violation %g", n, r.Status, r.Iterations, r.Violation)
		}
	}
}

// TestRankDeficient: a linear kernel in two dimensions separates what a line
// through the origin separates, and nothing else.
func TestRankDeficient(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	n := 50
	x := make([][2]float64, n)
	k, y := linalg.NewSym(n), make([]float64, n)
	for i := range x {
		x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		y[i] = math.Copysign(1, x[i][0]+0.5*x[i][1])
		for j := range i + 1 {
			k.Set(i, j, x[i][0]*x[j][0]+x[i][1]*x[j][1])
		}
	}
	r := mustTrain(t, k, Problem{Y: y, C: same(n, hard)}, Settings{Tolerance: 1e-6})
	if v := plainViolation(k, Problem{Y: y, C: same(n, hard)}, r.Alpha); v > 1e-5 {
		t.Errorf("violation %g", v)
	}
	y[7] = -y[7]
	r, err := newTrainer(t, k).Train(Problem{Y: y, C: same(n, hard)}, Settings{})
	if err != nil || r.Status != train.Diverged {
		t.Fatalf("error %v, status %v", err, r.Status)
	}
	mustTrain(t, k, Problem{Y: y, C: same(n, 10)}, Settings{Tolerance: 1e-6})
}

// TestIndefinite: a matrix that is not a kernel keeps the trainer busy for a while only, and
// gives numbers.
func TestIndefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for range 50 {
		n := 1 + rng.IntN(30)
		k := linalg.NewSym(n)
		for i := range n {
			for j := range i + 1 {
				k.Set(i, j, rng.NormFloat64())
			}
			k.Set(i, i, rng.Float64()+0.1)
		}
		for _, box := range []float64{1, hard} {
			r := need.One(newTrainer(t, k).Train(Problem{Y: labels(rng, n), C: same(n, box)}, Settings{}))(t)
			for _, f := range r.F {
				if math.IsNaN(f) {
					t.Fatalf("%v with f = NaN", r.Status)
				}
			}
		}
	}
}

func TestOneClass(t *testing.T) {
	k, p := fixedProblem(hard)
	p.Y = same(len(p.Y), -1)
	r := mustTrain(t, k, p, fine)
	for i, f := range r.F {
		if f > -1+1e-8 {
			t.Fatalf("f at site %d is %v", i, f)
		}
	}
}

func TestNoExamples(t *testing.T) {
	k, p := fixedProblem(0)
	r := mustTrain(t, k, p, Settings{})
	near(t, "f", r.F, same(k.N(), 0), 0)
	mustTrain(t, linalg.NewSym(0), Problem{}, Settings{})
}

// TestZeroRow: where the kernel is zero, f is 0: a soft margin pays in full and
// a hard one is impossible.
func TestZeroRow(t *testing.T) {
	k, p := fixedProblem(2)
	for i := range k.N() {
		k.Set(4, i, 0)
	}
	r := mustTrain(t, k, p, fine)
	if r.Alpha[4] != 2 || r.F[4] != 0 {
		t.Errorf("alpha %v and f %v where the kernel is zero", r.Alpha[4], r.F[4])
	}
	if v := plainViolation(k, p, r.Alpha); v > 1e-8 {
		t.Errorf("violation %g", v)
	}
	p.C[4] = hard
	var infeasible *InfeasibleError
	if _, err := newTrainer(t, k).Train(p, Settings{}); !errors.As(err, &infeasible) || infeasible.I != 4 ||
		infeasible.J != -1 {
		t.Errorf("error %v", err)
	}
}

func TestInfeasible(t *testing.T) {
	k, p := fixedProblem(hard)
	p.Site = make([]int, len(p.Y))
	for i := range p.Site {
		p.Site[i] = i
	}
	p.Site[40], p.Y[3], p.Y[40] = 3, 1, -1
	_, err := newTrainer(t, k).Train(p, Settings{})
	if err == nil || !strings.Contains(err.Error(), "examples 4 and 41") {
		t.Errorf("error %v", err)
	}
	p.C[40] = 1 // one hard and one soft margin do not contradict each other
	mustTrain(t, k, p, Settings{})
}

func TestBadInput(t *testing.T) {
	k, good := fixedProblem(1)
	n := len(good.Y)
	change := func(f func(p *Problem, s *Settings)) (Problem, Settings) {
		p := Problem{Y: slices.Clone(good.Y), C: slices.Clone(good.C), Site: make([]int, n)}
		var s Settings
		f(&p, &s)
		return p, s
	}
	for want, f := range map[string]func(p *Problem, s *Settings){
		"label of example 3":   func(p *Problem, _ *Settings) { p.Y[2] = 0 },
		"label of example 4":   func(p *Problem, _ *Settings) { p.Y[3] = math.NaN() },
		"box C of example 5":   func(p *Problem, _ *Settings) { p.C[4] = -1 },
		"box C of example 6":   func(p *Problem, _ *Settings) { p.C[5] = math.NaN() },
		"example 7 is on site": func(p *Problem, _ *Settings) { p.Site[6] = n },
		"boxes C do not fit":   func(p *Problem, _ *Settings) { p.C = p.C[1:] },
		"map to sites has":     func(p *Problem, _ *Settings) { p.Site = p.Site[1:] },
		"targets do not fit":   func(p *Problem, _ *Settings) { p.Site, p.Y, p.C = nil, p.Y[1:], p.C[1:] },
		"tolerance must be":    func(_ *Problem, s *Settings) { s.Tolerance = math.NaN() },
		"iteration limit must": func(_ *Problem, s *Settings) { s.MaxIterations = -1 },
	} {
		p, s := change(f)
		if _, err := newTrainer(t, k).Train(p, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
	bad := linalg.NewSym(70)
	bad.Set(69, 69, -1)
	if _, err := NewRows(bad); err == nil {
		t.Error("a kernel with a negative diagonal is accepted")
	}
}
