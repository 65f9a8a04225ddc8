package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/internal/testutil"
	"bootbench/linalg/internal/core"
)

// TestLanes: three lanes compute what one does, to the rounding of sums in another order, and the same bits
// each time; so does an engine whether it keeps L^-1 R' or not.
func TestLanes(t *testing.T) {
	const n = 3*laneSites + 100
	rng := rand.New(rand.NewPCG(18, 4))
	points := newRandomPoints(n, rng)
	d, x := drawSites(n, siteRegimes["even"], rng), normals(n, rng)
	var kept [][]float64
	for _, keep := range []bool{true, false} {
		one := onThreads(1, func() [][]float64 { return lowRankAnswers(t, points, d, x, keep, 1) })
		three := onThreads(3, func() [][]float64 { return lowRankAnswers(t, points, d, x, keep, 3) })
		again := onThreads(3, func() [][]float64 { return lowRankAnswers(t, points, d, x, keep, 3) })
		if keep {
			kept = one
		}
		for c := range one {
			if off := floats.Distance(one[c], kept[c], 2) / floats.Norm(one[c], 2); !(off <= 1e-10) {
				t.Errorf("answer %d is off by %g where L^-1 R' is not kept", c, off)
			}
			if off := floats.Distance(one[c], three[c], 2) / floats.Norm(one[c], 2); !(off <= 1e-11) {
				t.Errorf("kept %v: answer %d of three lanes is off by %g", keep, c, off)
			}
			if !slices.Equal(three[c], again[c]) {
				t.Errorf("kept %v: answer %d of three lanes differs from run to run", keep, c)
			}
		}
	}
}

// TestRough: a refresh in single precision is as accurate as it says, to a factor of some tens. In a rough
// engine chi, b and the product with G o G err by a few roundings of single precision, which the product
// multiplies by up to 1/b^2; where that is too much, the engine is in double precision.
func TestRough(t *testing.T) {
	if _, fast := blas.Bound().(blas.Single); !fast {
		t.Skip("no single precision")
	}
	const n = 2000
	rng := rand.New(rand.NewPCG(18, 4))
	k := mustFactorise(t, newRandomPoints(n, rng), RankOptions{MaxRank: 60})
	d, x := drawSites(n, siteRegimes["even"], rng), normals(n, rng)
	for _, scale := range []float64{0.1, 10, 1e6} {
		floats.Scale(scale, d)
		answers := func(e *lowRankEngine) (all [][]float64) {
			e.solved.Data = nil
			testutil.Check(t, e.Factorize(d))
			image := make([]float64, n)
			e.MulVecSquaredOffDiag(image, x)
			return [][]float64{e.chi, e.b, image}
		}
		rough, exact := newLowRankEngine(k, false), newLowRankEngine(k, false)
		rough.rough = true
		got, want := answers(rough), answers(exact)
		want[0], want[1] = slices.Clone(exact.chi), slices.Clone(exact.b)
		bound := 50 * exact.SingleError(d)
		testutil.Check(t, exact.FactorizeSingle(d))
		for i, chi := range exact.chi {
			off := math.Max(math.Abs(chi/want[0][i]-1), math.Abs(exact.b[i]/want[1][i]-1))
			if off > bound || !math.IsInf(rough.SingleError(d), 1) {
				t.Fatalf("d times %g: chi or b of site %d is off by %.1e, bound %.1e", scale, i, off, bound)
			}
		}
		if testutil.Check(t, exact.Factorize(d)); !slices.Equal(exact.chi, want[0]) {
			t.Error("single precision remains")
		}
		least := slices.Min(want[1])
		for c := range want {
			off := floats.Distance(got[c], want[c], math.Inf(1)) / floats.Norm(want[c], math.Inf(1))
			if single := least > leastRough; !(off <= 1e-5) || single != (off > 1e-12) {
				t.Errorf("d times %g, least b %.1e: answer %d is off by %.1e", scale, least, c, off)
			}
		}
	}
}

// onThreads runs f with so many threads of Go and of BLAS.
func onThreads(threads int, f func() [][]float64) [][]float64 {
	procs, before := runtime.GOMAXPROCS(threads), blas.Bound().Threads()
	blas.Bound().SetThreads(threads)
	defer func() {
		runtime.GOMAXPROCS(procs)
		blas.Bound().SetThreads(before)
	}()
	return f()
}

// lowRankAnswers are the factor, the refresh, the products and a trainer's solution.
func lowRankAnswers(t *testing.T, k Columns, d, x []float64, keep bool, count int) (all [][]float64) {
	f := mustFactorise(t, k, RankOptions{MaxRank: 40})
	e := newLowRankEngine(f, false)
	if len(e.lanes) != count {
		t.Fatalf("%d lanes, want %d", len(e.lanes), count)
	}
	if !keep {
		e.solved.Data = nil
	}
	testutil.Check(t, e.Factorize(d))
	add := func(call func(dst, x []float64)) {
		dst := make([]float64, len(x))
		call(dst, x)
		all = append(all, dst)
	}
	all = append(all, slices.Clone(f.Residual()), slices.Clone(e.chi), slices.Clone(e.b))
	add(func(dst, x []float64) { MulVecOffDiag(e, dst, x) })
	add(e.MulVecSquaredOffDiag)
	rows, products := newGeneral(2, len(x)), newGeneral(2, len(x))
	copy(rows.Data, x)
	copy(rows.Data[rows.Stride:], d)
	e.MulOffDiag(products, rows)
	e.MulOffDiag(newGeneral(0, len(x)), newGeneral(0, len(x)))
	all = append(all, products.Data)
	s := f.System()
	testutil.Check(t, s.Factorize(d))
	solution := slices.Clone(x)
	s.Solve(solution)
	all = append(all, solution)
	return all
}

// randomPoints is the kernel exp(-|x-x'|^2) of random points in 6 dimensions, computed when it is asked for.
type randomPoints struct{ x [][6]float64 }

func newRandomPoints(n int, rng *rand.Rand) randomPoints {
	c := randomPoints{make([][6]float64, n)}
	for i := range c.x {
		for j := range c.x[i] {
			c.x[i][j] = 2 * rng.Float64()
		}
	}
	return c
}

func (c randomPoints) N() int { return len(c.x) }

func (c randomPoints) Diagonal(dst []float64) error {
	for i := range dst {
		dst[i] = 1
	}
	return nil
}

func (c randomPoints) Columns(dst []float64, sites []int) error {
	core.Parallel(len(sites), func(p int) {
		for i, x := range c.x {
			sum := 0.0
			for j, v := range c.x[sites[p]] {
				sum += (v - x[j]) * (v - x[j])
			}
			dst[p*len(c.x)+i] = math.Exp(-sum)
		}
	})
	return nil
}

// TestLowerGram: one band, several, and a rest, element by element. Sums of n products
// of normal numbers err by some n^1/2 roundings.
func TestLowerGram(t *testing.T) {
	for _, n := range []int{0, 1, bandRows, bandRows + 1, 3*bandRows + 5} {
		rng := rand.New(rand.NewPCG(71, uint64(n)))
		a, c := newGeneral(n, n), newGeneral(n, n)
		copy(a.Data, normals(len(a.Data), rng))
		for i := range c.Data {
			c.Data[i] = math.NaN()
		}
		LowerGram(c, a)
		if n > bandRows { // and by dsyrk, which OpenBLAS takes on one thread
			blas.SingleThreaded(func() { LowerGram(c, a) })
		}
		for i := range n {
			for j := range i + 1 {
				want := floats.Dot(core.Row(a, i), core.Row(a, j))
				if got := core.Row(c, i)[j]; !(math.Abs(got-want) <= 1e-13*float64(n)) {
					t.Fatalf("order %d, element (%d, %d): %g, want %g", n, i, j, got, want)
				}
			}
		}
	}
}

// TestSingle: the diagonals and G o G in single precision are as far off as
// SingleError says, on smooth kernels and on one so narrow that its products
// leave the range of float32; and a later Factorize knows nothing of it.
func TestSingle(t *testing.T) {
	if _, ok := blas.Bound().(blas.Single); !ok {
		e := NewCholeskyEngine(gaussianGram(5, false, rand.New(rand.NewPCG(1, 1))))
		if err := e.FactorizeSingle(make([]float64, 5)); !errors.Is(err, ErrSingle) ||
			!math.IsInf(e.SingleError(make([]float64, 5)), 1) {
			t.Errorf("a backend without single precision: error %v", err)
		}
		return
	}
	const n = 300
	rng := rand.New(rand.NewPCG(12, 1))
	narrow := symmetric(n, func(i, j int) float64 { return math.Exp(-2 * float64(j-i)) })
	for name, k := range map[string]*Sym{"smooth": gaussianGram(n, false, rng),
		"twins": gaussianGram(n, true, rng), "narrow": narrow} {
		for _, level := range []float64{0.01, 1, 1000} {
			d := drawSites(n, siteRegimes["even"], rng)
			for i := range d {
				d[i] *= level
			}
			want, e := NewCholeskyEngine(k), NewCholeskyEngine(k)
			square := func(e *CholeskyEngine) []float64 {
				e.FormG()
				dst := make([]float64, n)
				e.MulVecSquaredOffDiag(dst, d)
				return dst
			}
			testutil.Check(t, want.Factorize(d))
			wantSquare := square(want)
			if err := e.FactorizeSingle(d); err != nil {
				t.Fatalf("%s, d = %g: %v", name, level, err)
			}
			gotSquare, rounding := square(e), e.SingleError(d)
			chi, b := e.Diag()
			for i := range d {
				// 1 - d chi + d chi' = 1 - d (chi - chi'): b and d chi share their error.
				off := math.Max(math.Abs(b[i]-want.sites.B[i]), d[i]*math.Abs(chi[i]-want.sites.Chi[i]))
				if off > 4*rounding {
					t.Fatalf("%s, d = %g, site %d: off by %.1e, %.1e announced",
						name, level, i, off, rounding)
				}
				if off := math.Abs(gotSquare[i]-wantSquare[i]) * d[i]; off > 20*rounding {
					t.Fatalf("%s, d = %g, site %d: G o G off by %.1e, %.1e announced",
						name, level, i, off, rounding)
				}
			}
			testutil.Check(t, e.Factorize(d))
			e.FormG()
			compareEngines(t, e, want, 0)
		}
	}
}

// TestSingleRefuses what float32 cannot carry: too large a d_i K_ii, and a site with K_ii = 0.
func TestSingleRefuses(t *testing.T) {
	const n = 20
	k := gaussianGram(n, false, rand.New(rand.NewPCG(1, 2)))
	e := NewCholeskyEngine(k)
	d := drawSites(n, siteRegimes["even"], rand.New(rand.NewPCG(1, 3)))
	d[3] = 1e9
	if r := e.SingleError(d); !math.IsInf(r, 1) {
		t.Errorf("d = %g: error %g", d[3], r)
	}
	d[3] = -1
	if err := e.FactorizeSingle(d); err == nil {
		t.Error("a negative d is accepted")
	}
	d[3] = 1
	for j := range n {
		k.Set(3, j, 0)
	}
	if r := e.SingleError(d); !math.IsInf(r, 1) {
		t.Errorf("K_ii = 0: error %g", r)
	}
}
