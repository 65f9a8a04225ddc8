package solver_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// gaussian is what the one Gaussian says of a site (T5), and its cavity (T6).
type gaussian struct {
	chi, mean, variance float64
	cavity              loss.Cavity
}

// exactGaussian is that of every site at the site parameters of s, by 300-bit arithmetic throughout: K may be
// singular, and d as large as it likes.
func exactGaussian(k linalg.Kernel, s *solver.Solution) (all []gaussian) {
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
	number := func(v *big.Float) float64 { f, _ := v.Float64(); return f }
	for i, row := range exactG(k, s.SitePrecision) {
		off, spread := bigNum(0), bigNum(0)
		for j, g := range row {
			if j != i {
				off.Add(off, mul(g, bigNum(s.SiteMean[j])))
				spread.Add(spread, mul(mul(g, g), bigNum(s.SiteVariance[j])))
			}
		}
		chi := row[i]
		b := bigNum(1)
		b.Sub(b, mul(bigNum(s.SitePrecision[i]), chi))
		mean, variance := mul(chi, bigNum(s.SiteMean[i])), mul(mul(chi, chi), bigNum(s.SiteVariance[i]))
		e := gaussian{chi: number(chi), mean: number(mean.Add(mean, off)),
			variance: number(variance.Add(variance, spread))}
		if chi.Sign() > 0 {
			e.cavity = loss.Cavity{C: number(new(big.Float).Quo(b, chi)), Mean: number(off.Quo(off, b)),
				Var: number(spread.Quo(spread, mul(b, b)))}
		}
		all = append(all, e)
	}
	return all
}

func bigNum(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }

// exactG is G in 300 bits.
func exactG(k linalg.Kernel, d []float64) [][]*big.Float {
	n := k.N()
	num := bigNum
	product := new(big.Float).SetPrec(300)
	a := make([][]*big.Float, n) // [I + K D | K]
	for i := range a {
		for j := range n {
			v := new(big.Float).Mul(num(k.At(i, j)), num(d[j]))
			if i == j {
				v.Add(v, num(1))
			}
			a[i] = append(a[i], v)
		}
		for j := range n {
			a[i] = append(a[i], num(k.At(i, j)))
		}
	}
	for p := range n {
		best := p
		for i := p + 1; i < n; i++ {
			if new(big.Float).Abs(a[i][p]).Cmp(new(big.Float).Abs(a[best][p])) > 0 {
				best = i
			}
		}
		a[p], a[best] = a[best], a[p]
		for i := range a {
			if i != p {
				factor := new(big.Float).Quo(a[i][p], a[p][p])
				for j := p; j < 2*n; j++ {
					a[i][j].Sub(a[i][j], product.Mul(factor, a[p][j]))
				}
			}
		}
	}
	for i, row := range a {
		for j := range n {
			row[n+j].Quo(row[n+j], row[i])
		}
		a[i] = row[n:]
	}
	return a
}

// harsh is a kernel at the edge of what is legal.
type harsh struct {
	name string
	n    int
	k    func(i, j int) float64
	site []int
}

// harshKernels are on at most 12 sites.
func harshKernels() []harsh {
	rng := rand.New(rand.NewPCG(19, 1))
	x, near := normals(rng, 12), normals(rng, 12)
	for i := range near {
		near[i] = x[i/3] + 1e-8*near[i]
	}
	smooth := func(x []float64, length float64) func(i, j int) float64 {
		return func(i, j int) float64 { return rbf(x[i], x[j], length) }
	}
	scaled := func(a float64) func(i, j int) float64 {
		return func(i, j int) float64 { return a * rbf(x[i], x[j], 0.3) }
	}
	copies := make([]int, 53) // 50 of site 0, one each of sites 1 to 3
	for i := range 3 {
		copies[50+i] = i + 1
	}
	return []harsh{
		{"rbf", 12, smooth(x, 0.3), nil},
		{"nearly singular", 12, smooth(x, 3), nil},
		{"near duplicates", 12, smooth(near, 0.3), nil},
		{"near duplicates, broad", 12, smooth(near, 3), nil},
		{"rank one", 12, func(i, j int) float64 { return x[i] * x[j] }, nil},
		{"constant", 12, func(i, j int) float64 { return 1 }, nil},
		{"zero row", 12, func(i, j int) float64 {
			if i == 4 || j == 4 {
				return 0
			}
			return rbf(x[i], x[j], 0.5)
		}, nil},
		{"zero", 4, func(i, j int) float64 { return 0 }, nil},
		{"one site", 1, smooth(x, 1), nil},
		{"two sites", 2, smooth(x, 1), nil},
		{"the same twice", 2, func(i, j int) float64 { return 1 }, nil},
		{"fifty copies", 4, smooth(x, 1), copies},
		{"huge", 12, scaled(1e12), nil},
		{"tiny", 12, scaled(1e-12), nil},
		{"six orders", 12, func(i, j int) float64 {
			return math.Pow(10, float64(i%7-3)+float64(j%7-3)) * rbf(x[i], x[j], 0.5)
		}, nil},
	}
}

// TestHarsh: at noise 1e-8 to 1e8 and ratios 0.01 to 1000, with kernels that are
// singular, empty or out of scale, a solve converges in few factorisations and
// is what it says it is. Checked in 300 bits: the residual of d, c, both sides'
// means and variances.
//
// What double precision must lose: B = I + d^1/2 K d^1/2 is rounded to 1e-16 of
// its size, against its smallest eigenvalues near 1, so c and all that follows
// have errors of a few 1e-16 sum d_i K_ii.
func TestHarsh(t *testing.T) {
	bound := blas.Bound().Name()
	defer func() {
		if err := blas.Bind(bound); err != nil {
			t.Error(err)
		}
	}()
	for _, backend := range blas.Names() {
		if err := blas.Bind(backend); err != nil {
			t.Fatal(err)
		}
		for _, h := range harshKernels() {
			for _, noise := range []float64{1e-8, 1e-3, 1, 1e8} {
				for _, ratio := range []float64{0.01, 0.3, 1, 30, 1000} {
					t.Run(fmt.Sprintf("%s/%s/noise=%g/ratio=%g", backend, h.name, noise, ratio), func(t *testing.T) {
						h.check(t, noise, ratio)
					})
				}
			}
		}
	}
}

func (h harsh) check(t *testing.T, noise, ratio float64) {
	p := solver.Problem{Gram: symmetric(h.n, h.k), Site: h.site, Loss: loss.Square{Noise: noise},
		Law: resample.Poisson{Ratio: ratio}}
	for e := range max(h.n, len(h.site)) {
		p.Y = append(p.Y, math.Sin(float64(7*e+1)))
	}
	s := mustConverge(t, p, solver.Settings{})
	finite(t, s)
	if r := s.Stats.Refreshes; r.Exact > 60 {
		t.Errorf("%d factorisations", r.Exact)
	}
	if s.Stats.Clamps > 0 {
		t.Errorf("%d clamps", s.Stats.Clamps)
	}
	size, share := 0.0, 0.0
	exact := exactGaussian(p.Gram, s)
	for i, d := range s.SitePrecision {
		size += d * p.Gram.At(i, i)
		share = math.Max(share, d*exact[i].chi)
	}
	tol := 1e-5 + 1e-14*size
	topMean, topVar := 1e-14, 1e-300 // targets are of order 1
	for i := range exact {
		topMean, topVar = math.Max(topMean, math.Abs(s.Mean[i])), math.Max(topVar, s.Var[i])
	}
	near := func(what string, i int, got, want, scale float64) {
		if !(math.Abs(got-want) <= tol*scale) {
			t.Errorf("%s of site %d: %g, want %g within %.2g", what, i, got, want, tol*scale)
		}
	}
	for i, site := range boundSites(t, p) {
		e := exact[i]
		near("mean (T5)", i, s.Mean[i], e.mean, topMean)
		near("variance (T5)", i, s.Var[i], e.variance, topVar)
		if p.Gram.At(i, i) == 0 {
			continue // no cavity to speak of: the predictor is 0
		}
		c := e.cavity.C
		near("c", i, s.Cavity[i].C, c, c)
		a1, pull, _, _ := site.Responses(c)
		near("d", i, s.SitePrecision[i], pull/a1, s.SitePrecision[i]+1e-3*share/e.chi)
		moments := site.Moments(s.Cavity[i])
		// Moments forms the mean as y + c A1 (m_c - y), to 1e-16 of y.
		near("mean (T4)", i, moments.Mean, e.mean, topMean+1e-15/tol)
		near("variance (T4)", i, moments.Var, e.variance, 10*topVar)
	}
}

// TestZeroRow: an input with K_ii = 0 takes no part, and nobody notices it.
func TestZeroRow(t *testing.T) {
	for _, l := range []loss.Loss{loss.Square{Noise: 0.05}, loss.Hinge{C: 1}} {
		p := ordinaryMargin()
		p.Loss = l
		with := p
		with.Gram = symmetric(41, func(i, j int) float64 {
			if j == 40 {
				return 0
			}
			return p.Gram.At(i, j)
		})
		with.Y = append(slices.Clone(p.Y), 1)
		methods := []solver.Method{solver.ADATAP, solver.Variational, solver.MeanField}
		if _, square := l.(loss.Square); !square {
			methods = methods[:1]
		}
		for _, method := range methods {
			a := mustConverge(t, p, solver.Settings{Method: method, Tolerance: 1e-10})
			b := mustConverge(t, with, solver.Settings{Method: method, Tolerance: 1e-10})
			finite(t, b)
			same(t, "mean", b.Mean, append(slices.Clone(a.Mean), 0), 1e-7)
			same(t, "variance", b.Var, append(slices.Clone(a.Var), 0), 1e-7)
			if _, each := b.LeftOut(loss.SquareTest{}); each[40] != 1 {
				t.Errorf("left-out loss of target 1 is %g", each[40])
			}
		}
	}
}
