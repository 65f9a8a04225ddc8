package loss

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/blas"
	"bootbench/resample"
)

// togetherSites are sites of losses of one kink, of several, and of another kind, mixed.
func togetherSites(t testing.TB) (sites []Site) {
	t.Helper()
	add := func(l Loss, law resample.CountDistribution, y ...float64) {
		site, err := l.Site(y, law)
		if err != nil {
			t.Fatal(err)
		}
		sites = append(sites, site)
	}
	for _, nu := range []float64{1e-12, 0.3, 1, 5, 50} {
		law := resample.Poisson{Ratio: nu}
		for _, l := range []Loss{HardMargin{}, Hinge{C: 1}, Hinge{C: 1e-4}, Hinge{C: 1e4}, SquaredHinge{C: 2}} {
			add(l, law, 1)
			add(l, law, -1, -1)
		}
		add(LeastAbsolute{C: 0.7}, law, 0.3)
		add(LeastAbsolute{C: 0.7}, law, -1.5)
		add(FromProximal(pinball{0.3}), law, 0.3)
		add(FromProximal(pinball{0.3}), law, 2.5)
		add(Logistic{C: 1}, law, 1)
		add(Hinge{C: 1}, law, 1, -1)
		add(Huber{C: 1, Delta: 0.5}, law, 0.3)
	}
	return sites
}

// togetherCavity is at most some 10 standard deviations from the kink, of any width.
func togetherCavity(rng *rand.Rand) Cavity {
	cav := Cavity{C: math.Exp(3 * rng.NormFloat64()), Var: math.Exp(4 * rng.NormFloat64())}
	cav.Mean = math.Copysign(1, rng.NormFloat64()) + 4*math.Sqrt(cav.Var)*rng.NormFloat64()
	return cav
}

// TestMomentsTogether holds vector kernels to the sums as they stand, site by site, over rare and
// frequent examples, far from the kink and near it. Tails agree to some roundings and to z^2 of those in the exponent; the
// variance carries those of the mean square; and pull has the mass beyond a tail that is left out.
func TestMomentsTogether(t *testing.T) {
	if !blas.HasKinks() {
		t.Skip("no vector kernels here")
	}
	sites := togetherSites(t)
	Share(sites)
	rng := rand.New(rand.NewPCG(5, 2))
	n := 40 * len(sites)
	all, cav := make([]Site, n), make([]Cavity, n)
	for i := range all {
		all[i], cav[i] = sites[rng.IntN(len(sites))], togetherCavity(rng)
	}
	moments, slopes, by := make([]Moments, n), make([]Moments, n), make([][3]Moments, n)
	done, sloped := make([]bool, n), make([]bool, n)
	MomentsTogether(moments, done, all, cav)
	MomentSlopesTogether(slopes, by, sloped, all, cav)
	count, countSloped := 0, 0
	worst := 0.0
	for i, site := range all {
		if !done[i] {
			continue
		}
		count++
		var x *mixture
		if s, ok := site.(*piecewiseSite); ok {
			x = s.all
		} else {
			x = site.(*straightSite).all
		}
		s, ok := x.aroundKink(cav[i], true)
		if !ok {
			t.Fatal("the kernel knew what the plain sums do not")
		}
		want, off := s.moments(x.kinks[0], cav[i]), 1e-15*(10+s.z*s.z)
		close := func(what string, got, want, scale float64) {
			if !(math.Abs(got-want) <= off*scale+1e-300) {
				t.Errorf("%T %+v: %s is %.17g, want %.17g", site, cav[i], what, got, want)
			}
			worst = math.Max(worst, math.Abs(got-want)/(scale*off))
		}
		got := moments[i]
		close("mean", got.Mean, want.Mean, math.Abs(x.kinks[0])+s.sd*(math.Abs(s.first)+math.Sqrt(s.second)))
		close("variance", got.Var, want.Var, cav[i].Var*s.second)
		close("response", got.Response, want.Response, want.Response)
		close("shrinkage", got.Shrinkage, want.Shrinkage, want.Shrinkage+1e-2)
		if !sloped[i] {
			continue
		}
		countSloped++
		_, byWant, _ := x.kinkSlopes(cav[i])
		for k := range byWant {
			a, b := by[i][k], byWant[k]
			size := 1 + math.Abs(s.z)
			close("slope of the mean", a.Mean, b.Mean, 1+math.Abs(b.Mean)+s.sd*size*size)
			close("slope of the variance", a.Var, b.Var, math.Abs(b.Var)+cav[i].Var*(s.second+1)*size*size)
			close("slope of the response", a.Response, b.Response, math.Abs(b.Response)+size)
		}
	}
	t.Log(count, countSloped, n, worst)
	if count < n/3 || countSloped < n/4 {
		t.Errorf("the kernels know %d and %d of %d sites", count, countSloped, n)
	}
}

// BenchmarkMomentsTogether is the time of an average by vector kernels, and beside it by one site after the other.
func BenchmarkMomentsTogether(b *testing.B) {
	for _, l := range []Loss{HardMargin{}, Hinge{C: 1}, SquaredHinge{C: 1}} {
		sites, cav := make([]Site, 48), make([]Cavity, 48)
		rng := rand.New(rand.NewPCG(1, 1))
		var two [2]Site
		two[0], _ = l.Site([]float64{1}, resample.Poisson{Ratio: 1})
		two[1], _ = l.Site([]float64{-1}, resample.Poisson{Ratio: 1})
		for i := range sites {
			sites[i], cav[i] = two[rng.IntN(2)], Cavity{C: 2, Mean: rng.NormFloat64(), Var: 0.4}
		}
		m, by, done := make([]Moments, 48), make([][3]Moments, 48), make([]bool, 48)
		perSite := func(b *testing.B) {
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/48, "ns/site")
		}
		b.Run(l.Name()+"/together", func(b *testing.B) {
			for b.Loop() {
				clear(done)
				MomentsTogether(m, done, sites, cav)
			}
			perSite(b)
		})
		b.Run(l.Name()+"/slopes", func(b *testing.B) {
			for b.Loop() {
				clear(done)
				MomentSlopesTogether(m, by, done, sites, cav)
			}
			perSite(b)
		})
		b.Run(l.Name()+"/each", func(b *testing.B) {
			for b.Loop() {
				for i, s := range sites {
					m[i] = s.Moments(cav[i])
				}
			}
			perSite(b)
		})
	}
}
