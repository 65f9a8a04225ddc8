package gp

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// density is a likelihood with log p(y|f), written out.
type density struct {
	Likelihood
	log func(f, y float64) float64
}

func densities() []density {
	return []density{
		{loss.Probit{}, func(f, y float64) float64 { return math.Log(math.Erfc(-y*f/math.Sqrt2) / 2) }},
		{loss.Logit{},
			func(f, y float64) float64 { return -max(0, -y*f) - math.Log1p(math.Exp(-math.Abs(f))) }},
	}
}

// normal is the Gaussian likelihood, with tilted moments in closed form.
type normal struct{ noise float64 }

func (normal) Name() string { return "normal" }
func (l normal) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	precision, shift := c, c*h
	for j := range y {
		precision += k[j] / l.noise
		shift += k[j] * y[j] / l.noise
	}
	return 0, shift / precision, 1 / precision
}

func mustFit(t testing.TB, k *linalg.Sym, l Likelihood, set train.Set) *EPResult {
	t.Helper()
	r := testutil.Must(testutil.Must(NewEP(k, l))(t).Train(set, train.Settings{}))(t)
	if r.Status != train.Converged || !(r.Residual <= defaultEPTolerance) {
		t.Fatalf("%s: %v after %d sweeps, residual %g", l.Name(), r.Status, r.Sweeps, r.Residual)
	}
	return r
}

// plane is a Gaussian kernel of variance v over m points of the plane.
func plane(rng *rand.Rand, m int, v float64) *linalg.Sym {
	k := problems.Plane(rng, m)
	return symmetric(m, func(i, j int) float64 { return v * k.At(i, j) })
}

// examples are n weighted examples anywhere on m sites; labels or numbers.
func examples(rng *rand.Rand, m, n int, labels bool) train.Set {
	set := train.Set{Y: make([]float64, n), Site: make([]int, n), Weight: make([]float64, n)}
	for i := range n {
		set.Y[i], set.Site[i], set.Weight[i] = 2*rng.NormFloat64(), rng.IntN(m), float64(rng.IntN(3))
		if labels {
			set.Y[i] = float64(2*rng.IntN(2) - 1)
		}
	}
	return set
}

// TestEPGaussian: with a Gaussian likelihood expectation propagation is exact
// regression, at the sites and at new inputs.
func TestEPGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	for range 10 {
		const m = 12
		k, set := plane(rng, m, 2), examples(rng, m, 25, false)
		want := testutil.Must(newTrainer(t, k, 0.3).Train(set))(t)
		r := mustFit(t, k, normal{0.3}, set)
		near(t, "mean", r.F, want.F, 1e-7)
		near(t, "weights", r.Weight, want.Weight, 1e-6)
	}
}

// TestEPIndependent: independent sites are exact for any likelihood: E f by sums over a grid.
func TestEPIndependent(t *testing.T) {
	k := linalg.ZeroSym(3)
	for i := range 3 {
		k.Set(i, i, []float64{1, 4, 0}[i])
	}
	for _, l := range densities() {
		set := train.Set{Y: []float64{1, -1, 1, 1}, Site: []int{0, 0, 1, 2}, Weight: []float64{2, 1, 3, 1}}
		r := mustFit(t, k, l, set)
		var want [3]float64
		for s := range 2 {
			mass := 0.0
			for f := -20.0; f < 20; f += 1e-3 {
				v := -f * f / 2 / k.At(s, s)
				for j, w := range set.Weight {
					if set.Site[j] == s {
						v += w * l.log(f, set.Y[j])
					}
				}
				mass += math.Exp(v)
				want[s] += f * math.Exp(v)
			}
			want[s] /= mass
		}
		near(t, l.Name(), r.F, want[:], 1e-7)
	}
}

// TestEPFixedPoint: the answer is a fixed point on larger problems. S = (I + K T)^-1 K is recomputed from the
// sites' Gaussians, and every tilted mean and variance agree with S and m.
func TestEPFixedPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 4))
	for _, v := range []float64{1, 100, 1e4} {
		const m = 25
		k, set, l := plane(rng, m, v), examples(rng, m, 30, true), loss.Probit{}
		e := testutil.Must(NewEP(k, l))(t)
		r := testutil.Must(e.Train(set, train.Settings{}))(t)
		system, s, shift := mat.NewDense(m, m, nil), mat.NewDense(m, m, nil), mat.NewVecDense(m, nil)
		for i := range m {
			system.Set(i, i, 1)
		}
		for p, j := range e.set.Active {
			shift.SetVec(j, e.u[p])
			for i := range m {
				system.Set(i, j, system.At(i, j)+k.At(i, j)*e.t[p])
			}
		}
		testutil.Check(t, s.Solve(system, whole(k)))
		var mean mat.VecDense
		mean.MulVec(s, shift)
		near(t, "mean", r.F, mean.RawVector().Data, 1e-8*math.Sqrt(v))
		for p, i := range e.set.Active {
			y, w := e.set.Of(p)
			own := s.At(i, i)
			cavity := 1/own - e.t[p]
			_, tilted, variance := l.TiltedMoments(cavity, (mean.AtVec(i)/own-e.u[p])/cavity, y, w)
			if math.Abs(tilted-mean.AtVec(i)) > 1e-7*math.Sqrt(v) || math.Abs(variance-own) > 1e-7*v {
				t.Errorf("site %d has moments %v, %v; its tilted distribution %v, %v",
					i, mean.AtVec(i), own, tilted, variance)
			}
		}
	}
}

// whole is k with both triangles.
func whole(k *linalg.Sym) *mat.SymDense {
	s := mat.NewSymDense(k.N(), nil)
	for i := range k.N() {
		for j := range i + 1 {
			s.SetSym(i, j, k.At(i, j))
		}
	}
	return s
}

func TestEPStatus(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 5))
	k, set := plane(rng, 6, 1), examples(rng, 6, 12, true)
	e := testutil.Must(NewEP(k, loss.Probit{}))(t)
	for _, c := range []struct {
		s    train.Settings
		want train.Status
	}{
		{train.Settings{}, train.Converged},
		{train.Settings{Limit: 2}, train.IterationLimit},
		{train.Settings{Tolerance: 1e-300}, train.NoFixedPoint},
	} {
		r := testutil.Must(e.Train(set, c.s))(t)
		if r.Status != c.want {
			t.Errorf("%v after %d sweeps, residual %g, want %v", r.Status, r.Sweeps, r.Residual, c.want)
		}
	}
	// Undamped updates oscillate at strongly correlated sites with equal labels.
	const n = 40
	rng = rand.New(rand.NewPCG(25, 0))
	x, separable := normals(rng, n), train.Set{}
	strong := symmetric(n, func(i, j int) float64 { return 1e4 * math.Exp(-(x[i]-x[j])*(x[i]-x[j])/2) })
	strong.AddDiag(0.01)
	for i := range x {
		separable.Y = append(separable.Y, math.Copysign(1, x[i]))
		separable.Weight = append(separable.Weight, float64(rng.IntN(3)))
	}
	damped := testutil.Must(NewEP(strong, loss.Probit{}))(t)
	if r := testutil.Must(damped.Train(separable, train.Settings{}))(t); r.Status != train.Converged {
		t.Errorf("%v after %d sweeps, residual %g", r.Status, r.Sweeps, r.Residual)
	}
	clear(set.Weight)
	near(t, "prior mean", mustFit(t, k, loss.Probit{}, set).F, make([]float64, 6), 0)
}

// moments is a likelihood with the same mean and variance everywhere.
type moments struct {
	name           string
	mean, variance float64
}

func (m moments) Name() string { return m.name }
func (m moments) TiltedMoments(_, _ float64, _, _ []float64) (logZ, mean, variance float64) {
	return 0, m.mean, m.variance
}

// TestEPRefusals: no likelihood, one without moments, and one that is not log-concave.
func TestEPRefusals(t *testing.T) {
	k := linalg.ZeroSym(2)
	k.AddDiag(1)
	if _, err := NewEP(k, nil); err == nil {
		t.Error("no likelihood passes")
	}
	one := []float64{1, 1}
	for says, l := range map[string]Likelihood{"broken likelihood": moments{"broken", math.NaN(), 1},
		"log-concave": moments{"of two minds", 0, 2}} {
		_, err := testutil.Must(NewEP(k, l))(t).Train(train.Set{Y: one, Weight: one}, train.Settings{})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}
