package linalg

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bootbench/blas"
	"bootbench/internal/testutil"
	"bootbench/linalg/internal/core"
)

// One suite for every engine. The reference solves (I + K D) G = K by Gaussian elimination in 300-bit
// arithmetic, so that what is compared is the engine's own rounding and nothing else.

var engines = map[string]func(k *Sym) Engine{
	"exact":   func(k *Sym) Engine { return NewCholeskyEngine(k) },
	"factor":  func(k *Sym) Engine { return withFactor(k) },
	"lowrank": func(k *Sym) Engine { return factorised(k, RankOptions{}) },

	// Distributed ones are added by spread_test.go and mpi_test.go.
}

func init() {
	if blas.SmallWork(1) > 0 { // else exact is that
		engines["recursions"] = func(k *Sym) Engine {
			e := NewCholeskyEngine(k)
			e.small = nil
			return e
		}
	}
}

// factorised is the low-rank engine on a factor of k, or one that has failed.
func factorised(k *Sym, limit RankOptions) Engine {
	factor, err := PivotedCholesky(context.Background(), k, limit)
	if err != nil {
		return failed{NewCholeskyEngine(k), err}
	}
	return factor.Engine()
}

// failed represents an engine whose kernel matrix was refused.
type failed struct {
	Engine
	err error
}

func (f failed) Factorize([]float64) error { return f.err }

// reference is G, row-major, and 1 - d_i G_ii.
func reference(k *Sym, d []float64) (g, b []float64) { return referenceWith(k, 0, d) }

// referenceWith is reference for k + constant.
func referenceWith(k *Sym, constant float64, d []float64) (g, b []float64) {
	const precision = 300
	n := k.N()
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	zero := func() *big.Float { return num(0) }
	a := make([][]*big.Float, n) // [I + K D | K]
	for i := range a {
		a[i] = make([]*big.Float, 2*n)
		for j := range n {
			a[i][n+j] = zero().Add(num(k.At(i, j)), num(constant))
			a[i][j] = zero().Mul(a[i][n+j], num(d[j]))
		}
		a[i][i].Add(a[i][i], num(1))
	}
	for p := range n {
		best := p
		for i := p + 1; i < n; i++ {
			if zero().Abs(a[i][p]).Cmp(zero().Abs(a[best][p])) > 0 {
				best = i
			}
		}
		a[p], a[best] = a[best], a[p]
		for i := range n {
			factor := zero().Quo(a[i][p], a[p][p])
			for j := p; j < 2*n && i != p; j++ {
				a[i][j].Sub(a[i][j], zero().Mul(factor, a[p][j]))
			}
		}
	}
	g, b = make([]float64, n*n), make([]float64, n)
	for i := range n {
		for j := range n {
			g[i*n+j], _ = zero().Quo(a[i][n+j], a[i][i]).Float64()
		}
		own := zero().Quo(a[i][n+i], a[i][i])
		b[i], _ = zero().Sub(num(1), zero().Mul(num(d[i]), own)).Float64()
	}
	return g, b
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// gaussianGram is exp(-|x-x'|^2/2) on random points of the line; pairs of
// equal points when twins is set, which makes it exactly singular.
func gaussianGram(n int, twins bool, rng *rand.Rand) *Sym {
	x := make([]float64, n)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
		if twins && i%2 == 1 {
			x[i] = x[i-1]
		}
	}
	return symmetric(n, func(i, j int) float64 { return math.Exp(-(x[i] - x[j]) * (x[i] - x[j]) / 2) })
}

// symmetric is the matrix with elements f(i, j), i <= j.
func symmetric(n int, f func(i, j int) float64) *Sym {
	k := ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, f(i, j))
		}
	}
	return k
}

func normals(n int, rng *rand.Rand) []float64 {
	return drawSites(n, func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() }, rng)
}

// siteRegimes are the d that solvers meet: even, over many decades, with zeros.
var siteRegimes = map[string]func(rng *rand.Rand, i int) float64{
	"even":    func(rng *rand.Rand, i int) float64 { return 1 + rng.Float64() },
	"decades": func(rng *rand.Rand, i int) float64 { return math.Pow(10, 24*rng.Float64()-16) },
	"zeros":   func(rng *rand.Rand, i int) float64 { return float64(i % 3) },
	"none":    func(rng *rand.Rand, i int) float64 { return 0 },
	"strong":  func(rng *rand.Rand, i int) float64 { return 1e10 * (1 + rng.Float64()) },
}

func drawSites(n int, regime func(*rand.Rand, int) float64, rng *rand.Rand) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = regime(rng, i)
	}
	return d
}

func forEachEngine(t *testing.T, f func(t *testing.T, build func(*Sym) Engine)) {
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		build := engines[name]
		t.Run("engine="+name, func(t *testing.T) { f(t, build) })
	}
}

// relative is |got - want| over |want|, or the absolute error below floor.
func relative(got, want, floor float64) float64 {
	return math.Abs(got-want) / math.Max(math.Abs(want), floor)
}

// allEngines are those with a bias, too.
func allEngines() map[string]func(k *Sym) Engine {
	all := maps.Clone(engines)
	for name, build := range biasedEngines {
		all[name+"+bias"] = build
	}
	return all
}

// Every read-out against the reference, in every regime of d, on a regular and on a singular K, and with a
// bias against the reference of K + 1e40. chi may lose min(K_ii, 1/d_i)/chi_i in units of rounding (see
// diagonals), and in the regimes where B has a condition of 1e10 whatever a change of K in its last bit
// changes: 1e-16 times that, and some; with a bias b loses some in the sum of the others. Elements of G are
// compared with (chi_i chi_j)^1/2, which bounds them.
func TestReadOuts(t *testing.T) {
	for name, build := range allEngines() {
		for _, twins := range []bool{false, true} {
			for regime, draw := range siteRegimes {
				t.Run(fmt.Sprintf("engine=%s/twins=%v/d=%s", name, twins, regime), func(t *testing.T) {
					const n = 24
					rng := rand.New(rand.NewPCG(11, 4))
					k, d := gaussianGram(n, twins, rng), drawSites(n, draw, rng)
					e, constant, accuracy, harsh := build(k), 0.0, 1e-12, 1e-5
					if strings.HasSuffix(name, "+bias") {
						constant, accuracy, harsh = flat, 1e-11, 1e-4
					} else if name == "factor" {
						harsh = 1e-4 // R R' is K up to 8 roundings: 2e-15 d
					}
					err := e.Factorize(d)
					if regime == "none" && constant > 0 {
						if !errors.Is(err, ErrNoBias) {
							t.Fatalf("no site fixes the bias, and the error is %v", err)
						}
						return
					}
					testutil.Check(t, err)
					g, b := referenceWith(k, constant, d)
					if regime == "strong" || regime == "decades" {
						checkProducts(t, e, g, b, d, harsh, true)
						return
					}
					checkProducts(t, e, g, b, d, accuracy, false)
				})
			}
		}
	}
}

// checkProducts compares all that is read off G, the diagonals to the given accuracy.
func checkProducts(t *testing.T, e Engine, g, b, d []float64, accuracy float64, harsh bool) {
	t.Helper()
	n := len(d)
	chi, gotB := e.Diag()
	for i := range chi {
		loss := math.Max(1, math.Min(1, 1/d[i])/g[i*n+i])
		if r := relative(chi[i], g[i*n+i], 0); r > accuracy*loss {
			t.Errorf("site %d, d = %g: chi %g, want %g (off %.1e)", i, d[i], chi[i], g[i*n+i], r)
		}
		if r := relative(gotB[i], b[i], 0); r > accuracy {
			t.Errorf("site %d, d = %g: b %g, want %g (off %.1e)", i, d[i], gotB[i], b[i], r)
		}
	}
	accuracy = 1e-11
	if harsh {
		accuracy = 1e-4 // B has condition up to 1e10 there
	}
	e.FormG()
	x, got := normals(n, rand.New(rand.NewPCG(5, 5))), make([]float64, n)
	plain := func(term func(i, j int) float64) (sum, scale []float64) {
		sum, scale = make([]float64, n), make([]float64, n)
		for i := range sum {
			for j := range x {
				sum[i] += term(i, j)
				scale[i] += math.Sqrt(math.Abs(g[i*n+i]*g[j*n+j])) * math.Abs(x[j])
			}
		}
		return sum, scale
	}
	want, scale := plain(func(i, j int) float64 { return g[i*n+j] * x[j] })
	MulVecOffDiag(e, got, x)
	for i := range got {
		got[i] += chi[i] * x[i]
		if r := math.Abs(got[i]-want[i]) / scale[i]; r > accuracy {
			t.Errorf("G x at %d is off by %.1e", i, r)
		}
	}
	square, _ := plain(func(i, j int) float64 { return g[i*n+j] * g[i*n+j] * x[j] })
	e.MulVecSquaredOffDiag(got, x)
	for i := range got {
		got[i] += chi[i] * chi[i] * x[i]
		if r := math.Abs(got[i]-square[i]) / (scale[i] * math.Sqrt(g[i*n+i])); r > accuracy {
			t.Errorf("(G o G) x at %d is off by %.1e: %g, want %g", i, r, got[i], square[i])
		}
	}
	checkRows(t, e, g, accuracy)
}

// checkRows compares blocks of rows times G, and G itself, with the reference: in
// double precision to the given accuracy, in single precision to 2^-24 for every
// rounding of an element, a number and a sum of a few tens of terms besides.
func checkRows(t *testing.T, e Engine, g []float64, accuracy float64) {
	t.Helper()
	n := len(e.Precisions())
	whole := newGeneral(n, n)
	e.Rows(whole, 0)
	unit := func(i, j int) float64 { return math.Sqrt(g[i*n+i] * g[j*n+j]) }
	for i := range n {
		for j := range n {
			if r := math.Abs(whole.Data[i*whole.Stride+j]-g[i*n+j]) / unit(i, j); r > accuracy {
				t.Errorf("G_%d,%d of all of G is off by %.1e", i, j, r)
			}
		}
	}
	rng := rand.New(rand.NewPCG(7, 5))
	product32 := NewProduct32(e)
	for _, count := range []int{0, 1, 5} {
		x, got := newGeneral(count, n), newGeneral(count, n)
		x32, got32 := newGeneral32(count, n), newGeneral32(count, n)
		for r := range count {
			for i := range n {
				v := float32(rng.NormFloat64())
				x.Data[r*x.Stride+i], x32.Data[r*x32.Stride+i] = float64(v), v
				got.Data[r*got.Stride+i], got32.Data[r*got32.Stride+i] = math.NaN(), float32(math.NaN())
			}
		}
		e.MulOffDiag(got, x)
		product32(got32, x32)
		for r := range count {
			for j := range n {
				want, scale := 0.0, 0.0
				for i := range n {
					want += x.Data[r*x.Stride+i] * g[i*n+j]
					scale += math.Abs(x.Data[r*x.Stride+i]) * unit(i, j)
				}
				want -= x.Data[r*x.Stride+j] * g[j*n+j]
				if off := math.Abs(got.Data[r*got.Stride+j]-want) / scale; !(off <= accuracy) {
					t.Errorf("row %d of %d times G without its diagonal at %d is off by %.1e",
						r, count, j, off)
				}
				off := math.Abs(float64(got32.Data[r*got32.Stride+j])-want) / scale
				if !(off <= accuracy+5e-7) {
					t.Errorf("row %d of %d so in single precision at %d is off by %.1e", r, count, j, off)
				}
			}
		}
	}
}

// Sizes around the tiles and strips: chi against (1-b)/d, and G against its
// definition G (I + D K) = K, by residual.
func TestSizes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, build func(*Sym) Engine) {
		for _, n := range []int{0, 1, 2, tile - 1, tile, tile + 1, strip - 1, strip, strip + 1, 2*strip + 3} {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			k := gaussianGram(n, false, rng)
			d := drawSites(n, siteRegimes["even"], rng)
			e := build(k)
			testutil.Check(t, e.Factorize(d))
			e.FormG()
			g := make([]float64, n)
			for i := 0; i < n; i += max(1, n/5) {
				Row(e, g, i)
				for j := range g {
					residual := g[j] - k.At(i, j)
					for l := range g {
						residual += g[l] * d[l] * k.At(l, j)
					}
					if math.Abs(residual) > 1e-11 {
						t.Errorf("n = %d: residual %g at (%d, %d)", n, residual, i, j)
					}
				}
			}
			chi, b := e.Diag()
			for i := range chi {
				if math.Abs(1-d[i]*chi[i]-b[i]) > 1e-13 {
					t.Errorf("n = %d: b differs from 1 - d chi", n)
				}
			}
		}
	})
}

// Updates against a fresh factorisation, with a bias and without: growing, shrinking, mixed, to zero.
func TestUpdateEqualsFactorize(t *testing.T) {
	const n = 60
	for name, build := range allEngines() {
		for what, move := range map[string]func(d float64, k int) float64{
			"grow":   func(d float64, k int) float64 { return 3 * d },
			"shrink": func(d float64, k int) float64 { return -0.7 * d },
			"mixed":  func(d float64, k int) float64 { return d * float64(k%3-1) * 0.9 },
			"off":    func(d float64, k int) float64 { return -d },
			"none":   func(d float64, k int) float64 { return 0 },
		} {
			rng := rand.New(rand.NewPCG(3, 3))
			k := gaussianGram(n, true, rng)
			d := drawSites(n, siteRegimes["even"], rng)
			updated, ok := build(k).(Dense)
			if !ok {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				testutil.Check(t, updated.Factorize(d))
				sites, delta := []int{}, []float64{}
				for i := 2; i < n; i += 5 {
					sites = append(sites, i)
					delta = append(delta, move(d[i], i))
					d[i] += move(d[i], i)
				}
				testutil.Check(t, updated.RankUpdate(sites, delta))
				fresh := build(gaussianGram(n, true, rand.New(rand.NewPCG(3, 3))))
				testutil.Check(t, fresh.Factorize(d))
				compareEngines(t, updated, fresh, 1e-11)
			})
		}
	}
}

func compareEngines(t *testing.T, a, b Engine, accuracy float64) {
	t.Helper()
	b.FormG()
	chiA, bA := a.Diag()
	chiB, bB := b.Diag()
	rowA, rowB := make([]float64, len(chiA)), make([]float64, len(chiA))
	for i := range chiA {
		if relative(chiA[i], chiB[i], 0) > accuracy || relative(bA[i], bB[i], 0) > accuracy {
			t.Errorf("site %d: chi %g against %g, b %g against %g", i, chiA[i], chiB[i], bA[i], bB[i])
		}
		if relative(a.Precisions()[i], b.Precisions()[i], 1e-3) > accuracy {
			t.Errorf("site %d: d %g against %g", i, a.Precisions()[i], b.Precisions()[i])
		}
		Row(a, rowA, i)
		Row(b, rowB, i)
		for j := range rowA {
			if math.Abs(rowA[j]-rowB[j]) > accuracy {
				t.Errorf("G_%d,%d: %g against %g", i, j, rowA[j], rowB[j])
			}
		}
	}
}

// An update that would make d negative, or eat nearly all of b, is refused and leaves a consistent G.
func TestUpdateRefusesLoss(t *testing.T) {
	const n = 10
	for name, delta := range map[string]float64{"negative": -3, "drowned": 1e9} {
		rng := rand.New(rand.NewPCG(8, 8))
		d := drawSites(n, siteRegimes["even"], rng)
		e := NewCholeskyEngine(gaussianGram(n, false, rng))
		testutil.Check(t, e.Factorize(d))
		e.FormG()
		before := slices.Clone(e.sites.Chi)
		if err := e.RankUpdate([]int{4}, []float64{delta}); !errors.Is(err, ErrUpdate) {
			t.Errorf("%s: error %v", name, err)
		}
		for i, v := range e.sites.Chi {
			if v != before[i] || e.sites.D[i] != d[i] {
				t.Errorf("%s: site %d moved", name, i)
			}
		}
	}
}

// The estimate for a common relative move lies between the bounds that hold for
// every K, and so does the truth; it is the closer to it for that, on average,
// than M03's series (T12). A move of site i alone changes nothing at i but d_i.
func TestPredictDiagBounds(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(10, 9))
	k := gaussianGram(n, false, rng)
	d := drawSites(n, siteRegimes["even"], rng)
	e := NewCholeskyEngine(k)
	testutil.Check(t, e.Factorize(d))
	e.FormG()
	g, _ := reference(k, d)
	move, moved, chi, b := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	r := NewResponse(e)
	for _, a := range []float64{-0.6, -0.2, 0.3, 2} {
		for i := range move {
			move[i], moved[i] = a*d[i], (1+a)*d[i]
		}
		if !r.PredictDiag(move, chi, b) {
			t.Errorf("a = %g is called too far", a)
		}
		want, wantB := reference(k, moved)
		ours, series := 0.0, 0.0
		for i := range chi {
			mean, old := 0.0, g[i*n+i]
			plain := old
			for j := range d {
				square := g[i*n+j] * g[i*n+j]
				plain -= square * move[j] / (1 + move[j]*g[j*n+j])
				if j != i {
					mean += square * d[j]
				}
			}
			v := old / (1 - d[i]*old) // cavity variance
			mean /= old * (1 - d[i]*old)
			truth, got := want[i*n+i]/wantB[i]/v, chi[i]/b[i]/v
			low, high := 1/(1+a*mean), 1-mean+mean/(1+a)
			const rounding = 1e-9
			if truth < low-rounding || truth > high+rounding || got < low-rounding || got > high+rounding {
				t.Errorf("a = %g, site %d: bounds %g and %g, truth %g, estimate %g",
					a, i, low, high, truth, got)
			}
			ours += math.Abs(chi[i]/want[i*n+i] - 1)
			series += math.Abs(plain/want[i*n+i] - 1)
		}
		if ours > series/2 {
			t.Errorf("a = %g: off by %g in all, the series by %g", a, ours, series)
		}
	}
	for i := range move {
		move[i] = -0.99 * d[i]
	}
	if r.PredictDiag(move, chi, b) {
		t.Error("a large move is called valid: sites near zero, where G grows manyfold")
	}
	clear(move)
	move[3] = 5
	r.PredictDiag(move, chi, b)
	copy(moved, d)
	moved[3] += 5
	if want, wantB := reference(k, moved); relative(chi[3], want[3*n+3], 0) > 1e-12 ||
		relative(b[3], wantB[3], 0) > 1e-12 {
		t.Errorf("own move: chi %g, want %g", chi[3], want[3*n+3])
	}
}

// The cubic estimate is M03-67 with the elements of a G in 300 bits, and that is near the truth where it
// calls itself valid: what it leaves out, elements off the diagonal in the second order, is some
// thousandths. Larger changes are refused.
func TestCubicDiag(t *testing.T) {
	forEachEngine(t, func(t *testing.T, build func(*Sym) Engine) {
		const n = 30
		k := gaussianGram(n, false, seeded(12))
		k.AddDiag(0.1)
		d := drawSites(n, siteRegimes["even"], seeded(13))
		e := build(k)
		testutil.Check(t, e.Factorize(d))
		e.FormG()
		g, _ := reference(k, d)
		mean := 0.0
		for i := range d {
			mean += g[i*n+i] / n
		}
		move, moved, chi, b := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range move {
			move[i] = 0.04 / mean * float64(1-2*(i%2))
			moved[i] = d[i] + move[i]
		}
		if !CubicDiag(e, move, chi, b) {
			t.Fatal("a small change is refused")
		}
		truth, _ := reference(k, moved)
		for i := range chi {
			want := g[i*n+i]
			for j, v := range move {
				square, own := g[i*n+j]*g[i*n+j], g[j*n+j]
				want -= square * (v - v*v*own + v*v*v*own*own)
			}
			if relative(chi[i], want, 0) > 1e-8 || relative(b[i], 1-moved[i]*want, 0) > 1e-6 {
				t.Errorf("site %d: chi %g, b %g, want %g, %g", i, chi[i], b[i], want, 1-moved[i]*want)
			}
			if relative(want, truth[i*n+i], 0) > 5e-3 {
				t.Errorf("site %d: chi %g, truly %g", i, want, truth[i*n+i])
			}
		}
		move[n/2] = -0.11 / mean
		if CubicDiag(e, move, chi, b) {
			t.Error("a change of 0.11/mean(G) is not refused")
		}
	})
}

func TestFactorizeRefuses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, build func(*Sym) Engine) {
		for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
			e := build(gaussianGram(5, false, rand.New(rand.NewPCG(1, 1))))
			var site *core.SiteError
			if err := e.Factorize([]float64{1, 1, bad, 1, 1}); !errors.As(err, &site) || site.Site != 2 {
				t.Errorf("d = %v: error %v", bad, err)
			}
		}
		indefinite := ZeroSym(3)
		indefinite.Set(0, 0, 1)
		indefinite.Set(1, 1, -2)
		indefinite.Set(2, 2, 1)
		var pivot *PivotError
		if err := build(indefinite).Factorize([]float64{1, 1, 1}); !errors.As(err, &pivot) ||
			pivot.Minor != 2 {
			t.Errorf("indefinite K: error %v", err)
		}
		if err := build(ZeroSym(3)).Factorize([]float64{1}); err == nil {
			t.Error("a short d is accepted")
		}
	})
}

// The same bits for any number of goroutines (except in BLAS).
func TestOffSquareMulVecIgnoresWorkers(t *testing.T) {
	const n = core.SmallOrder + 3*strip + 5
	rng := rand.New(rand.NewPCG(2, 2))
	e := NewCholeskyEngine(gaussianGram(n, false, rng))
	testutil.Check(t, e.Factorize(drawSites(n, siteRegimes["even"], rng)))
	e.FormG()
	x, one, many := drawSites(n, siteRegimes["even"], rng), make([]float64, n), make([]float64, n)
	before := runtime.GOMAXPROCS(1)
	e.MulVecSquaredOffDiag(one, x)
	runtime.GOMAXPROCS(4)
	e.MulVecSquaredOffDiag(many, x)
	runtime.GOMAXPROCS(before)
	if !slices.Equal(one, many) {
		t.Fatal("one goroutine and four differ")
	}
}

// smoothGram is exp(-(x-x')^2/2) on n points within one length scale: of rank 8 to 12 within rounding.
func smoothGram(n int, rng *rand.Rand) *Sym {
	x := drawSites(n, func(rng *rand.Rand, _ int) float64 { return rng.Float64() }, rng)
	return symmetric(n, func(i, j int) float64 { return math.Exp(-(x[i] - x[j]) * (x[i] - x[j]) / 2) })
}

// withFactor is an engine that goes by the factor of K where d is large.
func withFactor(k *Sym) *CholeskyEngine {
	e := NewCholeskyEngine(k)
	e.UseFactor(make([]float64, k.N()), 0)
	return e
}

// TestUseFactorWhereNotNeeded: where d is small, or K of full rank, B is factorised as
// before, to the last bit; where R is used, updates are refused.
func TestUseFactorWhereNotNeeded(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 2))
	for _, c := range []struct {
		k *Sym
		d float64
	}{{smoothGram(30, rng), 100}, {gaussianGram(5, false, rng), 1e9}} {
		n := c.k.N()
		d := slices.Repeat([]float64{c.d}, n)
		e := NewCholeskyEngine(c.k)
		testutil.Check(t, e.Factorize(d))
		f := withFactor(c.k)
		chi, b := slices.Clone(e.sites.Chi), slices.Clone(e.sites.B)
		testutil.Check(t, f.Factorize(d))
		for i := range chi {
			if f.sites.Chi[i] != chi[i] || f.sites.B[i] != b[i] {
				t.Fatalf("n = %d: chi %g, %g; b %g, %g", n, f.sites.Chi[i], chi[i], f.sites.B[i], b[i])
			}
		}
		if err := f.RankUpdate([]int{1}, []float64{0.1}); err != nil && !errors.Is(err, ErrUpdate) {
			t.Error(err)
		}
	}
	f := withFactor(smoothGram(30, rng))
	d := make([]float64, 30)
	d[3] = 1e9
	testutil.Check(t, f.Factorize(d))
	if err := f.RankUpdate([]int{1}, []float64{0.1}); !errors.Is(err, ErrUpdate) {
		t.Errorf("update: %v", err)
	}
	d[3] = math.NaN()
	if err := f.Factorize(d); err == nil {
		t.Error("NaN passes")
	}
}

// TestUseFactorBudget: a factor that would take more than its room is not made, whether there is none from
// the start or the rank grows past it. B is factorised then.
func TestUseFactorBudget(t *testing.T) {
	const n = 120
	rng := rand.New(rand.NewPCG(61, 2))
	k := smoothGram(n, rng) // of rank 8 to 12
	d := slices.Repeat([]float64{1e6}, n)
	for room, want := range map[int64]bool{-1: false, 1: false, LowRankBytes(n, 4): false,
		LowRankBytes(n, 20): true, 0: true} {
		e := NewCholeskyEngine(k)
		rank, used := e.UseFactor(d, room)
		if used != want {
			t.Errorf("room %d: a factor is made: %v", room, used)
		}
		if want {
			if rank > 20 {
				t.Errorf("room %d: rank %d", room, rank)
			}
			continue
		}
		plain := NewCholeskyEngine(symmetric(n, k.At))
		got, wanted := e.Factorize(d), plain.Factorize(d)
		if rank != n || (got == nil) != (wanted == nil) {
			t.Errorf("room %d: rank %d, %v and %v", room, rank, got, wanted)
		}
		if got == nil {
			e.FormG()
			plain.FormG()
			compareEngines(t, e, plain, 0)
		}
	}
}
