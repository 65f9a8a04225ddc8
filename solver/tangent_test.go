package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// crowd is a general iteration on n sites on a line, standing somewhere.
func crowd(t *testing.T, n int, l loss.Loss) *general {
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
	settings, err := Settings{}.withDefaults(n)
	if err != nil {
		t.Fatal(err)
	}
	sites, err := p.groupSites()
	if err != nil {
		t.Fatal(err)
	}
	x := (&run{problem: p, settings: settings, Solution: &Solution{sites: sites, engine: linalg.NewCholeskyEngine(k)}}).newGeneral()
	if err := x.begin(); err != nil {
		t.Fatal(err)
	}
	x.propose()
	if err := x.visit(); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestTangent: the derivative of a sweep is that of differences of sweeps, for
// sites that are all there and for thinned ones. The sites' slopes are by forward
// differences of 1e-5, which err by half that of the second derivative: Newton's
// method solves its equations to 1e-4 at best. The central ones here err by 1e-10 of
// the third derivative and by rounding over 1e-5.
func TestTangent(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}} {
		for _, share := range []float64{1, 0.4} {
			x := crowd(t, 15, l)
			x.respondents.share = share
			if err := x.visit(); err != nil {
				t.Fatal(err)
			}
			tan := newTangent(x.respondents)
			tan.take(x.at, x.next, x.stand)
			rng := rand.New(rand.NewPCG(51, 1))
			size := len(x.at)
			base := append(cavities(nil), x.at...)
			way, got := make([]float64, size), make([]float64, size)
			for i := range way {
				way[i] = rng.NormFloat64()
			}
			tan.defect(got, way)
			const h = 1e-5
			var ends [2]cavities
			for side := range ends {
				for i := range base {
					x.at[i] = base[i] + h*float64(2*side-1)*way[i]
				}
				if err := x.visit(); err != nil {
					t.Fatal(err)
				}
				ends[side] = append(cavities(nil), x.next...)
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

// TestKrylov: the system is solved as a dense LU factorisation solves it.
func TestKrylov(t *testing.T) {
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
	k := newKrylov(n, n)
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

// TestPath: the path that stalled solves fall back on ends where sweeps do, and
// without a way to it leaves the iteration where it was.
func TestPath(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}} {
		x := crowd(t, 30, l)
		if status := x.sweeps(t.Context(), giveUp); status != Converged {
			t.Fatal(status)
		}
		want := append(cavities(nil), x.next...)
		x.Status = Stalled
		if status := x.detour(t.Context()); status != Converged {
			t.Fatal(status)
		}
		if far := x.respondents.moved(x.next, want); far > 1e-5 {
			t.Errorf("%s: %g from where sweeps end", l.Name(), far)
		}
		home := append(cavities(nil), x.home...)
		x.settings.MaxSweeps = x.Stats.Sweeps + 5
		if status := x.detour(t.Context()); status != SweepLimit {
			t.Errorf("%v at the limit", status)
		}
		if err := x.comeBack(); err != nil {
			t.Fatal(err)
		}
		for i, v := range home {
			if x.at[i] != v {
				t.Fatalf("it stands elsewhere")
			}
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
	s := &respondents{sites: []site{{Site: bind(ratio)}}, unit: 1, share: share}
	for _, cav := range []loss.Cavity{{C: 2, Mean: 0.5, Var: 1}, {C: 1, Mean: -3, Var: 0.2}, {C: 7, Mean: 2, Var: 4}} {
		got, want := s.moments(0, cav), bind(thinner).Moments(cav)
		for _, pair := range [][2]float64{{got.Mean, want.Mean}, {got.Var, want.Var}, {got.Response, want.Response}, {got.Shrinkage, want.Shrinkage}} {
			if math.Abs(pair[0]-pair[1]) > 1e-13*math.Abs(pair[1]) {
				t.Errorf("%+v: %+v, want %+v", cav, got, want)
			}
		}
	}
}
