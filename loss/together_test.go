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

// togetherCavity is of any width, some standard deviations from a kink or, one in four, up to 40.
func togetherCavity(rng *rand.Rand) Cavity {
	cav := Cavity{C: math.Exp(3 * rng.NormFloat64()), Var: math.Exp(4 * rng.NormFloat64())}
	z := 4 * rng.NormFloat64()
	if rng.IntN(4) == 0 {
		z = 80*rng.Float64() - 40
	}
	cav.Mean = math.Copysign(1, rng.NormFloat64()) + math.Sqrt(cav.Var)*z
	return cav
}

// TestMomentsTogether holds vector kernels to the sums as they stand, site by site, over rare and
// frequent examples, far from the kink and near it. Tails agree to some roundings and to z^2 of those in the
// exponent; the variance carries those of the mean square, and the shrinkage those of 1% of its largest
// value; far off, that of z beside a narrow flat part.
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
	count, withSlopes, far := 0, 0, 0
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
		z, sd := x.standardKink(cav[i]).z, math.Sqrt(cav[i].Var)
		size := 1 + math.Abs(z)
		close := func(what string, got, want, scale float64) {
			if !(math.Abs(got-want) <= 1e-15*(10+z*z)*scale+1e-300) {
				t.Errorf("%T %+v, z=%g: %s is %.17g, want %.17g", site, cav[i], z, what, got, want)
			}
		}
		got, want, rest := moments[i], site.Moments(cav[i]), 1e-2
		if math.Abs(z) > maxKinkZ {
			far++
			rest = 1e6 * want.Shrinkage
		}
		close("mean", got.Mean, want.Mean, math.Abs(x.kinks[0])+sd*size)
		close("variance", got.Var, want.Var, cav[i].Var*size*size)
		close("response", got.Response, want.Response, want.Response)
		close("shrinkage", got.Shrinkage, want.Shrinkage, want.Shrinkage+rest)
		if !sloped[i] {
			continue
		}
		withSlopes++
		_, bySite, ok := x.kinkSlopes(cav[i])
		if !ok { // the cavity's own
			bySite = [3]Moments{1: {Mean: 1}, 2: {Var: cav[i].Var}}
		}
		for k := range bySite {
			a, b := by[i][k], bySite[k]
			close("slope of the mean", a.Mean, b.Mean, 1+math.Abs(b.Mean)+sd*size*size)
			close("slope of the variance", a.Var, b.Var, math.Abs(b.Var)+cav[i].Var*size*size)
			close("slope of the response", a.Response, b.Response, math.Abs(b.Response)+size)
		}
	}
	if count < n/3 || withSlopes < n/4 || far < n/50 {
		t.Errorf("the kernels know %d, %d and, far off, %d of %d sites", count, withSlopes, far, n)
	}
}

// BenchmarkMomentsTogether is the time of an average by vector kernels, and beside it by one site after the
// other.
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
