package svm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// TestAgainstCyclicAscent holds the trainer to plain cyclic ascent on problems with shared sites, of both
// labels or one, without examples, too, where alpha need not be unique but f is, and meets the Kuhn-Tucker
// conditions. Eigenvalues are >= 0.3, so that plain cyclic ascent converges to 1e-12 in a few hundred sweeps.
func TestAgainstCyclicAscent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rng := rand.New(rand.NewPCG(seed, 2))
		m := rapid.IntRange(1, 12).Draw(rt, "sites")
		n := rapid.IntRange(0, 20).Draw(rt, "examples")
		k := gram(rng, m, 0.3)
		p := problem(labels(rng, n), make([]int, n), make([]float64, n))
		if rapid.IntRange(0, 9).Draw(rt, "one class") == 0 {
			p.Y = same(n, -1)
		}
		boxes := []float64{0, 0.1, 0.5, 1, 3, 20, hard}
		for i := range n {
			p.Site[i] = rng.IntN(m)
			p.Weight[i] = boxes[rapid.IntRange(0, 6).Draw(rt, "box")]
		}
		r, err := newTrainer(t, k).Train(p, train.Settings{Tolerance: 1e-9})
		if i, j := contradiction(p); i >= 0 {
			var infeasible *InfeasibleError
			if !errors.As(err, &infeasible) || infeasible.I != i || infeasible.J != j ||
				!strings.Contains(err.Error(), fmt.Sprintf("examples %d and %d", i+1, j+1)) {
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
// the one of an earlier example i on its site; -1, -1 if there is none.
func contradiction(p train.Set) (i, j int) {
	for j := range p.Y {
		for i := range j {
			if p.Site.At(i) == p.Site.At(j) && p.Y[i] != p.Y[j] &&
				math.IsInf(min(p.Weight[i], p.Weight[j]), 1) {
				return i, j
			}
		}
	}
	return -1, -1
}

// TestEmbeddedSets recomputes the Kuhn-Tucker conditions and the counts of support vectors of real problems
// by plain loops. These sums differ from the trainer's by rounding, sum |a| times 1e-13.
func TestEmbeddedSets(t *testing.T) {
	for _, name := range []string{"sonar", "crabs", "wisconsin", "pima"} {
		for _, width := range []float64{0.05, 0.5, 4} {
			for _, box := range []float64{hard, 100, 1} {
				k, p := embedded(t, name, width, box)
				r := mustTrain(t, k, p, train.Settings{})
				size, free, bounded := 0.0, 0, 0
				for i, a := range r.Alpha {
					size += a
					switch {
					case a > 0 && a < p.Weight[i]:
						free++
					case a > 0:
						bounded++
					}
				}
				tolerance, worst := 1e-13*(1+size), plainViolation(k, p, r.Alpha)
				if worst > DefaultTolerance+tolerance || math.Abs(worst-r.Violation) > tolerance {
					t.Errorf("%s width %g C %g: violation %g, stated %g",
						name, width, box, worst, r.Violation)
				}
				if free != r.Free || bounded != r.Bounded {
					t.Errorf("%s width %g C %g: %d free and %d bounded support vectors, stated %d and %d",
						name, width, box, free, bounded, r.Free, r.Bounded)
				}
			}
		}
	}
}

// TestClassWeightsAgainstLIBSVM: the training is LIBSVM 3.24's (Debian 3.24+ds-6),
//
//	svm-train -s 0 -t 2 -g 1/d -c C -w-1 A -w1 B -e 1e-8
//
// on z-scored features: the numbers of support vectors, in all and at their bounds, the dual objective and
// the bias, both within 1e-6 of their size, what the kernel matrix of LIBSVM leaves in single precision.
func TestClassWeightsAgainstLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name                  string
		c, negative, positive float64
		objective, rho        float64
		vectors, bounded      int
	}{
		{"pima", 1, 0.5, 2, -215.698953, -0.365145, 342, 275},
		{"crabs", 10, 3, 0.25, -184.707463, 0.307632, 61, 51},
		{"sonar", 1, 1, 5, -83.229106, -0.146178, 148, 60},
	} {
		k, p := embedded(t, c.name, 1, 0)
		for i, y := range p.Y {
			p.Weight[i] = Box(c.c, 1, y, loss.ClassWeights{Negative: c.negative, Positive: c.positive})
		}
		p.Bias = true
		r := mustTrain(t, k, p, train.Settings{Tolerance: 1e-8})
		if objective := -plainDual(k, p.Y, r.Alpha); math.Abs(objective/c.objective-1) > 1e-6 ||
			math.Abs(r.Bias+c.rho) > 1e-6 || r.Free+r.Bounded != c.vectors || r.Bounded != c.bounded {
			t.Errorf("%s: objective %.6f, bias %.6f, %d support vectors, %d at their bounds; svm-train %+v",
				c.name, objective, r.Bias, r.Free+r.Bounded, r.Bounded, c)
		}
	}
}

// Tolerances here: trained to 1e-9, f is good to about 1e-8 where K has
// condition 1e3 or less; alpha likewise.

func fixedProblem(box float64) (*linalg.Sym, train.Set) {
	rng := rand.New(rand.NewPCG(5, 5))
	n := 60
	return gram(rng, n, 0.05), problem(labels(rng, n), nil, same(n, box))
}

var fine = train.Settings{Tolerance: 1e-9}

// TestReuse: a Trainer gives for each training set what a new one gives, to the last bit, whatever it trained
// before, and so does another one on its kernel matrix.
func TestReuse(t *testing.T) {
	k, p := fixedProblem(1)
	trainer := newTrainer(t, k)
	another := NewTrainer(trainer.dual.whole)
	rng := rand.New(rand.NewPCG(8, 8))
	for range 40 {
		for i := range p.Weight {
			p.Weight[i] = float64(rng.IntN(3))
			if p.Weight[i] > 0 && rng.IntN(5) == 0 {
				p.Weight[i] = hard
			}
		}
		want := mustTrain(t, k, p, train.Settings{})
		for _, tr := range []*Trainer{trainer, another} {
			r := testutil.Must(tr.Train(p, train.Settings{}))(t)
			near(t, "alpha", r.Alpha, want.Alpha, 0)
			near(t, "beta", r.Weight, want.Weight, 0)
			near(t, "f", r.F, want.F, 0)
		}
	}
}

// TestAllocations: with workspaces of sufficient size Train allocates nothing.
func TestAllocations(t *testing.T) {
	k, p := fixedProblem(hard)
	for i := range p.Weight {
		if i%3 == 0 {
			p.Weight[i] = 0
		}
	}
	trainer := newTrainer(t, k)
	fit := func() {
		testutil.Must(trainer.Train(p, train.Settings{}))(t)
	}
	fit()
	if n := testing.AllocsPerRun(20, fit); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestResume: a training that starts from the last one's weights, at a larger or smaller C, has its solution;
// at other sites it starts from 0.
func TestResume(t *testing.T) {
	for _, bias := range []bool{false, true} {
		k, p := fixedProblem(0.1)
		p.Bias = bias
		trainer := newTrainer(t, k)
		testutil.Must(trainer.Train(p, fine))(t)
		last := 0.1
		for _, c := range []float64{0.4, 5, 100, 2} {
			p.Weight, p.Resume = same(len(p.Y), c), c/last
			if c == 100 {
				p.Weight[7] = 0
			}
			r := testutil.Must(trainer.Train(p, fine))(t)
			cold := p
			cold.Resume = 0
			want := mustTrain(t, k, cold, fine)
			near(t, "f", r.F, want.F, 1e-6)
			near(t, "alpha", r.Alpha, want.Alpha, 1e-6*c)
			last = c
		}
	}
}

// TestLeaveOut: leaving out an example gives the predictor of a training from 0 without it, in any order and
// repeatedly, and does not change the full solution.
func TestLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 22))
	asked, known := 0, 0
	for trial := range 60 {
		m := 4 + rng.IntN(20)
		k := gram(rng, m, 0.05)
		p := drawProblem(rng, m)
		p.Bias = trial%2 == 0
		for i := range p.Weight {
			if trial%3 == 0 && rng.IntN(3) == 0 {
				p.Weight[i] = hard
			}
		}
		if i, _ := contradiction(p); i >= 0 {
			continue
		}
		trainer := newTrainer(t, k)
		s := train.Settings{Tolerance: 1e-10}
		full, err := trainer.Train(p, s)
		if err != nil || full.Status != train.Converged {
			t.Fatal(err, full.Status)
		}
		alpha, f := slices.Clone(full.Alpha), slices.Clone(full.F)
		response := testutil.Must(trainer.Response())(t)
		for _, i := range append(rng.Perm(len(p.Y)), rng.Perm(len(p.Y))...) {
			left, err := trainer.LeaveOut(i)
			if err != nil || left.Status != train.Converged {
				t.Fatal(err, left.Status)
			}
			without := p
			without.Weight = slices.Clone(p.Weight)
			without.Weight[i] = 0
			want := mustTrain(t, k, without, s).F[p.Site[i]]
			if math.Abs(left.F-want) > 1e-7 {
				t.Errorf("trial %d, example %d: f = %v, from nothing %v", trial, i, left.F, want)
			}
			if f, ok := response.LeaveOut(i); ok && math.Abs(f-want) > 1e-7 {
				t.Errorf("trial %d, example %d: f = %v by responses, from nothing %v", trial, i, f, want)
			} else if ok {
				known++
			}
			asked++
		}
		near(t, "alpha", full.Alpha, alpha, 0)
		near(t, "f", full.F, f, 0)
	}
	if 10*known < 9*asked {
		t.Errorf("responses know %d of %d", known, asked)
	}
}

func TestLeaveOutRefuses(t *testing.T) {
	k, p := fixedProblem(1)
	trainer := newTrainer(t, k)
	if _, err := trainer.LeaveOut(0); !errors.Is(err, errNotTrained) {
		t.Errorf("untrained: %v", err)
	}
	testutil.Must(trainer.Train(p, train.Settings{}))(t)
	for _, i := range []int{-1, len(p.Y)} {
		if _, err := trainer.LeaveOut(i); err == nil {
			t.Errorf("example %d left out", i)
		}
	}
	testutil.Must(trainer.Train(p, train.Settings{Tolerance: 1e-9, Limit: 1}))(t)
	if _, err := trainer.LeaveOut(0); !errors.Is(err, errNotTrained) {
		t.Errorf("not converged: %v", err)
	}
}

// TestStatuses: a training that cannot end at its tolerance says why, its violation is what it says, and f is
// as good as rounding allows: with weights of 1e4 and more it is uncertain by 1e-12.
func TestStatuses(t *testing.T) {
	sonar, hardSonar := embedded(t, "sonar", 0.5, hard)
	pima, hardPima := embedded(t, "pima", 0.5, hard)
	for _, c := range []struct {
		k       *linalg.Sym
		p       train.Set
		s       train.Settings
		status  train.Status
		largest float64 // violation
	}{
		{sonar, hardSonar, train.Settings{Limit: 40}, train.IterationLimit, math.Inf(1)},
		{pima, hardPima, train.Settings{Tolerance: 1e-16}, train.Stalled, 1e-8},
	} {
		r := testutil.Must(newTrainer(t, c.k).Train(c.p, c.s))(t)
		if r.Status != c.status || r.Status.Err() == nil || c.s.Limit > 0 && r.Iterations != c.s.Limit {
			t.Errorf("%v after %d steps, want %v", r.Status, r.Iterations, c.status)
		}
		v := plainViolation(c.k, c.p, r.Alpha)
		if v > c.largest || c.s.Limit > 0 && (!(v > 1e-3) || math.Abs(v-r.Violation) > 1e-9) {
			t.Errorf("%v with violation %g, stated %g", r.Status, v, r.Violation)
		}
	}
	// Two sites with equal rows of K and opposite labels, in an otherwise feasible problem.
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{2, 3, 20, 90} {
		k, y, twin := gram(rng, n, 0.01), labels(rng, n), n-1
		for i := range n {
			k.Set(twin, i, k.At(0, i))
		}
		k.Set(twin, twin, k.At(0, 0))
		y[twin] = -y[0]
		r := testutil.Must(newTrainer(t, k).Train(problem(y, nil, same(n, hard)), train.Settings{}))(t)
		if r.Status != train.Diverged || r.Status.Err() == nil {
			t.Fatalf("n = %d: %v after %d steps, violation %g", n, r.Status, r.Iterations, r.Violation)
		}
	}
	mustTrain(t, linalg.ZeroSym(0), train.Set{}, train.Settings{})
}

// TestRankDeficient: a linear kernel in two dimensions separates what a line through the origin separates,
// with a bias, here beside a constant in the kernel, what a point does; no hard margin separates more.
func TestRankDeficient(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(10, 10))
	for _, bias := range []bool{false, true} {
		x, y := make([][2]float64, n), make([]float64, n)
		for i := range x {
			for y[i] = 0; math.Abs(y[i]) < 0.05; {
				x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
				if bias {
					x[i][1] = 1
				}
				y[i] = x[i][0] + 0.5*x[i][1]
			}
			y[i] = math.Copysign(1, y[i])
		}
		k := symmetric(n, func(i, j int) float64 { return x[i][0]*x[j][0] + x[i][1]*x[j][1] })
		check := func(p train.Set) {
			t.Helper()
			r := mustTrain(t, k, p, train.Settings{Tolerance: 1e-8})
			if bias {
				if gap, dual := plainGap(t, k, p, r); math.Abs(gap) > 1e-6*dual {
					t.Errorf("gap %g of %g", gap, dual)
				}
			} else if v := plainViolation(k, p, r.Alpha); v > 1e-7 {
				t.Errorf("violation %g", v)
			}
			for i, f := range r.F {
				if math.IsInf(p.Weight[i], 1) && y[i]*f < 1-1e-7 {
					t.Errorf("bias %v: margin %v of %v", bias, y[i]*f, x[i])
				}
			}
		}
		p := train.Set{Y: y, Weight: same(n, hard), Bias: bias}
		check(p)
		y[0] = -y[0]
		r, err := newTrainer(t, k).Train(p, train.Settings{})
		if err != nil || r.Status != train.Diverged {
			t.Fatalf("error %v, status %v", err, r.Status)
		}
		p.Weight = same(n, 5)
		check(p)
	}
}

// TestIndefinite: on an indefinite matrix the trainer ends, with finite numbers.
func TestIndefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	for range 50 {
		n := 1 + rng.IntN(30)
		k := symmetric(n, func(i, j int) float64 {
			if i == j {
				return rng.Float64() + 0.1
			}
			return rng.NormFloat64()
		})
		for _, box := range []float64{1, hard} {
			r := testutil.Must(newTrainer(t, k).Train(problem(labels(rng, n), nil, same(n, box)),
				train.Settings{}))(t)
			for _, f := range r.F {
				if math.IsNaN(f) {
					t.Fatalf("%v with f = NaN", r.Status)
				}
			}
		}
	}
}

// TestZeroRow: where the kernel is zero, f is 0: a soft margin pays in full and a hard one is impossible.
// Labels other than -1 and +1 and a negative diagonal are refused.
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
	p.Weight[4] = hard
	var infeasible *InfeasibleError
	_, err := newTrainer(t, k).Train(p, train.Settings{})
	if !errors.As(err, &infeasible) || infeasible.I != 4 || infeasible.J != -1 {
		t.Errorf("error %v", err)
	}
	p.Y[2] = 0
	if _, err := newTrainer(t, k).Train(p, train.Settings{}); err == nil ||
		!strings.Contains(err.Error(), "label of example 3") {
		t.Errorf("label 0: %v", err)
	}
	k.Set(4, 4, -1)
	if _, err := NewRows(k); err == nil {
		t.Error("a kernel with a negative diagonal is accepted")
	}
}

var symmetric, labels, near = problems.Symmetric, problems.Labels, problems.Near

var hard = math.Inf(1)

// same is n copies of v.
func same(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// problem is one without a bias.
func problem(y []float64, site []int, box []float64) train.Set {
	return train.Set{Y: y, Site: site, Weight: box}
}

// drawProblem has one to two examples a site, of either label, and boxes of all sizes.
func drawProblem(rng *rand.Rand, sites int) train.Set {
	n := sites + rng.IntN(sites)
	p := problem(labels(rng, n), make([]int, n), make([]float64, n))
	for i := range p.Y {
		p.Site[i], p.Weight[i] = rng.IntN(sites), math.Exp(2.5*rng.NormFloat64())
	}
	return p
}

// gram is a Gaussian Gram matrix of n points in the plane plus ridge I.
func gram(rng *rand.Rand, n int, ridge float64) *linalg.Sym {
	k := problems.Plane(rng, n)
	k.AddDiag(ridge)
	return k
}

// embedded is an embedded set with an rbf kernel of gamma = width/d over its distinct inputs.
func embedded(t testing.TB, name string, width, box float64) (*linalg.Sym, train.Set) {
	t.Helper()
	k, y, site := problems.Embedded(t, name, kernel.Spec{Gamma: width})
	return k, problem(y, site, same(len(y), box))
}

func newTrainer(t testing.TB, k *linalg.Sym) *Trainer {
	t.Helper()
	return NewTrainer(testutil.Must(NewRows(k))(t))
}

func mustTrain(t testing.TB, k *linalg.Sym, p train.Set, s train.Settings) *Result {
	t.Helper()
	r := testutil.Must(newTrainer(t, k).Train(p, s))(t)
	if r.Status != train.Converged {
		t.Fatalf("status %v, violation %g after %d steps", r.Status, r.Violation, r.Iterations)
	}
	return r
}

// plainField is f at every site by a plain double loop over examples.
func plainField(k *linalg.Sym, p train.Set, alpha []float64) []float64 {
	f := make([]float64, k.N())
	for s := range f {
		for j, a := range alpha {
			f[s] += a * p.Y[j] * k.At(s, p.Site.At(j))
		}
	}
	return f
}

// plainViolation is the largest Kuhn-Tucker violation of the dual point alpha,
// and an infinite one where alpha leaves its box.
func plainViolation(k *linalg.Sym, p train.Set, alpha []float64) float64 {
	f, worst := plainField(k, p, alpha), 0.0
	for i, a := range alpha {
		margin := p.Y[i] * f[p.Site.At(i)]
		switch {
		case !(a >= 0 && a <= p.Weight[i]):
			return math.Inf(1)
		case a == 0 && p.Weight[i] > 0:
			worst = max(worst, 1-margin)
		case a > 0 && a < p.Weight[i]:
			worst = max(worst, math.Abs(1-margin))
		case a > 0:
			worst = max(worst, margin-1)
		}
	}
	return worst
}

// cyclic solves the dual by plain cyclic coordinate ascent in the examples' weights, until a sweep moves no
// margin by more than 1e-13 or sweeps are up. It is slow and needs a well-conditioned K.
func cyclic(k *linalg.Sym, p train.Set) (alpha, f []float64) {
	alpha, f = make([]float64, len(p.Y)), make([]float64, k.N())
	for range 200000 {
		moved := 0.0
		for i, y := range p.Y {
			s := p.Site.At(i)
			a := min(max(alpha[i]+(1-y*f[s])/k.At(s, s), 0), p.Weight[i])
			step := a - alpha[i]
			for j := range f {
				f[j] += step * y * k.At(s, j)
			}
			alpha[i] = a
			moved = max(moved, math.Abs(step)*k.At(s, s))
		}
		if moved < 1e-13 {
			break
		}
	}
	return alpha, f
}
