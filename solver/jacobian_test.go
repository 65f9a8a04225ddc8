package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// crowd is an iteration on n sites on a line, two sweeps from its start.
func crowd(t *testing.T, n int, l loss.Loss) *fixedPoint {
	t.Helper()
	rng := rand.New(rand.NewPCG(51, uint64(n)))
	k := linalg.NewSym(n)
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
	p := Problem{Gram: k, Y: y, Loss: l, Law: resample.Poisson{Ratio: 1}}
	settings, err := Settings{}.withDefaults(k.N())
	if err != nil {
		t.Fatal(err)
	}
	sites, err := p.groupSites()
	if err != nil {
		t.Fatal(err)
	}
	x := (&run{problem: p, settings: settings, Solution: &Solution{examples: examples{sites: sites},
		reader: reader{engine: linalg.NewCholeskyEngine(k)}}}).newFixedPoint()
	untroubled(t, x.start())
	untroubled(t, dampedSweep{}.advance(t.Context(), x))
	return x
}

func untroubled(t *testing.T, trouble *trouble) {
	t.Helper()
	if trouble != nil {
		t.Fatal(trouble.cause)
	}
}

// evaluateAt takes the sweep from cavities.
func (x *fixedPoint) evaluateAt(t *testing.T, at cavities) {
	t.Helper()
	copy(x.trial.cavities, at)
	untroubled(t, x.evaluate(false))
}

// TestJacobian: the derivative of a sweep is that of differences of sweeps, for
// sites that are all there and for thinned ones. The sites' slopes are by forward
// differences of 1e-5, which err by half that of the second derivative: Newton's
// method solves its equations to 1e-4 at best. The central ones here err by 1e-10 of
// the third derivative and by rounding over 1e-5.
func TestJacobian(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}} {
		for _, share := range []float64{1, 0.4} {
			x := crowd(t, 15, l)
			x.model.presence = share
			x.evaluateAt(t, x.accepted.cavities)
			j := newJacobian(&workspace{}, 15)
			j.sites = x.model
			j.linearize(&x.accepted.iterate, x.accepted.image)
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
					t.Errorf("%s, share %g, coordinate %d: %g, differences %g", l.Name(), share, i, got[i], want)
				}
			}
		}
	}
}

// TestGMRES: the system is solved as a dense LU factorisation solves it.
func TestGMRES(t *testing.T) {
	const n = 25
	rng := rand.New(rand.NewPCG(51, 2))
	a := mat.NewDense(n, n, nil)
	right := make([]float64, n)
	for i := range n {
		for j := range n {
			a.Set(i, j, 0.3*rng.NormFloat64())
		}
		a.Set(i, i, a.At(i, i)+1)
		right[i] = rng.NormFloat64()
	}
	var want mat.VecDense
	if err := want.SolveVec(a, mat.NewVecDense(n, right)); err != nil {
		t.Fatal(err)
	}
	apply := func(dst, x []float64) { mat.NewVecDense(n, dst).MulVec(a, mat.NewVecDense(n, x)) }
	x := make([]float64, n)
	k := newGMRES(&workspace{}, n, n)
	if steps := k.solve(x, right, apply, 1e-13); steps > n {
		t.Errorf("%d steps", steps)
	}
	for i := range x {
		if math.Abs(x[i]-want.AtVec(i)) > 1e-9*(1+math.Abs(want.AtVec(i))) {
			t.Errorf("%d: %g, want %g", i, x[i], want.AtVec(i))
		}
	}
	// What it leaves within few steps is what it says.
	left := make([]float64, n)
	steps := k.solve(x, right, apply, 0.3)
	apply(left, x)
	sum, all := 0.0, 0.0
	for i, v := range right {
		sum += (v - left[i]) * (v - left[i])
		all += v * v
	}
	if steps == 0 || steps == n || sum > 0.3*0.3*all*(1+1e-9) {
		t.Errorf("%d steps leave %g", steps, math.Sqrt(sum/all))
	}
	if k.solve(x, make([]float64, n), apply, 0.1) != 0 || x[3] != 0 {
		t.Error("no right side")
	}
}

// TestContinuation: the path that stalled solves fall back on ends where sweeps do, and
// where it ends early it leaves the iteration where it was.
func TestContinuation(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}} {
		x := crowd(t, 30, l)
		if status := (search{x}).iterateLong(t.Context()); status != Converged {
			t.Fatal(status)
		}
		want := slices.Clone(x.accepted.image)
		x.Status = Stalled
		if status := x.followPath(t.Context()); status != Converged {
			t.Fatal(status)
		}
		if far := x.model.maxChange(x.accepted.image, want); far > 1e-5 {
			t.Errorf("%s: %g from where sweeps end", l.Name(), far)
		}
		origin := slices.Clone(x.accepted.cavities)
		x.settings.MaxSweeps = x.Stats.Sweeps + 5
		if status := x.followPath(t.Context()); status != SweepLimit {
			t.Errorf("%v at the limit", status)
		}
		untroubled(t, x.restoreAccepted())
		if !slices.Equal(x.accepted.cavities, origin) || !slices.Equal(x.engine.Precisions(), x.accepted.D) {
			t.Fatal("it is elsewhere")
		}
	}
}

// TestThinned: leaving a site's examples out with probability 1-t is the mixture
// of the site's law with the cavity itself, here for a Poisson law: its p(0) grows
// to 1 - t(1-p(0)), which is a Poisson law of a smaller ratio to the hard margin.
func TestThinned(t *testing.T) {
	const share, ratio = 0.3, 2.0
	thinner := -math.Log(1 - share*-math.Expm1(-ratio))
	bind := func(ratio float64) loss.Site {
		site, err := loss.HardMargin{}.Site([]float64{1}, resample.Poisson{Ratio: ratio})
		if err != nil {
			t.Fatal(err)
		}
		return site
	}
	s := &siteModel{sites: []site{{Site: bind(ratio)}}, unit: 1, presence: share}
	for _, cav := range []loss.Cavity{{C: 2, Mean: 0.5, Var: 1}, {C: 1, Mean: -3, Var: 0.2},
		{C: 7, Mean: 2, Var: 4}} {
		got, want := s.moments(0, cav), bind(thinner).Moments(cav)
		for _, pair := range [][2]float64{{got.Mean, want.Mean}, {got.Var, want.Var}, {got.Response, want.Response},
			{got.Shrinkage, want.Shrinkage}} {
			if math.Abs(pair[0]-pair[1]) > 1e-13*math.Abs(pair[1]) {
				t.Errorf("%+v: %+v, want %+v", cav, got, want)
			}
		}
	}
}
