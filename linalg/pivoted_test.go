package linalg

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
)

// plane is exp(-|x-x'|^2/(2 length^2)) on random points of the plane, whose rank
// grows slowly as the tolerance falls.
func plane(n int, length float64, rng *rand.Rand) *Sym {
	x, z := normals(n, rng), normals(n, rng)
	return symmetric(n, func(i, j int) float64 {
		a, b := x[i]-x[j], z[i]-z[j]
		return math.Exp(-(a*a + b*b) / (2 * length * length))
	})
}

func mustFactorise(t testing.TB, k Columns, limit RankOptions) *LowRankPlusDiag {
	t.Helper()
	return testutil.Must(PivotedCholesky(t.Context(), k, limit))(t)
}

// requireFactor holds a factor with a jitter, of columns of k, to the matrix itself: the diagonal is exact,
// what R R' leaves out is positive semidefinite and so bounded by its diagonal, and Accuracy sums that up.
func requireFactor(t *testing.T, f *LowRankPlusDiag, k *Sym, jitter, rounding float64) {
	t.Helper()
	trace, largest := f.Accuracy()
	sum, residual, dense := 0.0, slices.Clone(f.Residual()), f.Dense()
	for i := range residual {
		residual[i] = math.Max(0, residual[i]-jitter)
		sum += residual[i]
		if off := math.Abs(dense.At(i, i) - jitter - k.At(i, i)); off > rounding {
			t.Fatalf("diagonal %d is off by %g", i, off)
		}
		for j := range i {
			left := math.Abs(k.At(i, j) - dense.At(i, j))
			if left > math.Sqrt(residual[i]*residual[j])+rounding || left > largest+rounding {
				t.Fatalf("%g is left at (%d, %d), above %g", left, i, j, math.Sqrt(residual[i]*residual[j]))
			}
			if (i+j)%97 == 0 && math.Abs(f.At(i, j)-dense.At(i, j)) > rounding {
				t.Fatalf("element (%d, %d) is %g, multiplied out %g", i, j, f.At(i, j), dense.At(i, j))
			}
		}
	}
	if sum /= float64(k.N()); math.Abs(sum-trace) > 1e-15 { // K_ii = 1
		t.Errorf("mean residual %g, said to be %g", sum, trace)
	}
}

// A factor meets its tolerance, by more pivots for less. More than one panel and more than one block are
// passed.
func TestFactoriseKeepsItsPromise(t *testing.T) {
	const n = 400
	k := plane(n, 1, rand.New(rand.NewPCG(1, 7)))
	last := 0
	for _, tolerance := range []float64{0.3, 1e-2, 1e-4, 1e-7, 1e-13} {
		f := mustFactorise(t, k, RankOptions{Tol: tolerance})
		trace, _ := f.Accuracy()
		if !(trace <= tolerance) || f.Rank() <= last || len(f.Pivots()) != f.Rank() {
			t.Errorf("tolerance %g: trace %g at rank %d after %d", tolerance, trace, f.Rank(), last)
		}
		last = f.Rank()
		requireFactor(t, f, k, 0, 3e-14) // the rounding of up to 200 products that add up to at most 1
	}
	if last < maxPanel || last > 3*n/4 {
		t.Errorf("numerical rank %d of %d", last, n)
	}
}

// A matrix of exact rank 3 with a constant, and one with pairs of equal sites:
// the factorisation ends there by itself.
func TestFactoriseFindsExactRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	x := normals(40*3, rng)
	k := symmetric(40, func(i, j int) float64 { return 5 + floats.Dot(x[3*i:3*i+3], x[3*j:3*j+3]) })
	if f := mustFactorise(t, k, RankOptions{}); f.Rank() != 4 {
		t.Errorf("rank %d, want 4", f.Rank())
	}
	if f := mustFactorise(t, gaussianGram(20, true, rng), RankOptions{Tol: 1e-13}); f.Rank() > 10 {
		t.Errorf("rank %d of ten pairs", f.Rank())
	}
	if f := mustFactorise(t, ZeroSym(7), RankOptions{}); f.Rank() != 0 {
		t.Errorf("a zero matrix has rank %d", f.Rank())
	}
}

// An offset does not count: the tolerance is for the kernel without it.
func TestOffset(t *testing.T) {
	k := plane(200, 0.5, rand.New(rand.NewPCG(3, 7)))
	without := mustFactorise(t, k, RankOptions{Tol: 1e-3})
	raised := symmetric(200, func(i, j int) float64 { return k.At(i, j) + 1000 })
	with := mustFactorise(t, raised, RankOptions{Tol: 1e-3, Offset: 1000})
	if trace, _ := with.Accuracy(); !(trace <= 1e-3) || with.Rank() < without.Rank()-8 ||
		with.Rank() > without.Rank()+8 {
		t.Errorf("rank %d with the offset, %d without; residual %g", with.Rank(), without.Rank(), trace)
	}
}

func TestFactoriseLimits(t *testing.T) {
	k := plane(300, 0.1, rand.New(rand.NewPCG(4, 7)))
	_, err := PivotedCholesky(t.Context(), k, RankOptions{Tol: 1e-6, MaxRank: 20})
	var short *RankError
	if !errors.As(err, &short) || short.Rank != 20 || short.Memory || !(short.Residual > 1e-2) ||
		!errors.Is(err, ErrRank) {
		t.Errorf("rank limit: %v", err)
	}
	room := LowRankBytes(300, 30)
	if _, err = PivotedCholesky(t.Context(), k, RankOptions{Tol: 1e-6, MaxBytes: room}); !errors.As(err,
		&short) ||
		!short.Memory || LowRankBytes(300, short.Rank) > room {
		t.Errorf("memory limit: %v", err)
	}
	if f := mustFactorise(t, k, RankOptions{MaxRank: 20}); f.Rank() != 20 {
		t.Errorf("rank %d, 20 asked for", f.Rank())
	}
	for _, bad := range []RankOptions{{Tol: -1}, {Tol: 1}, {Tol: math.NaN()}, {MaxRank: -1}} {
		if _, err := PivotedCholesky(t.Context(), k, bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// broken hands out columns with a fault.
type broken struct {
	*Sym
	err error
}

func (b broken) Columns([]float64, []int) error { return b.err }

func TestFactoriseRefuses(t *testing.T) {
	good := func() *Sym { return plane(30, 0.5, rand.New(rand.NewPCG(5, 7))) }
	refused := func(i, j int, v float64) error {
		k := good()
		k.Set(i, j, v)
		_, err := PivotedCholesky(t.Context(), k, RankOptions{})
		return err
	}
	own := errors.New("own")
	if _, err := PivotedCholesky(t.Context(), broken{good(), own}, RankOptions{}); err != own {
		t.Errorf("error of the columns: %v", err)
	}
	var entry *EntryError
	if err := refused(3, 3, math.NaN()); !errors.As(err, &entry) || entry.I != 3 {
		t.Errorf("NaN on the diagonal: %v", err)
	}
	var pivot *PivotError
	if err := refused(3, 3, -1); !errors.As(err, &pivot) || pivot.Minor != 4 {
		t.Errorf("negative diagonal: %v", err)
	}
	if err := refused(3, 9, 1.5); !errors.As(err, &pivot) {
		t.Errorf("larger than its diagonal elements: %v", err)
	}
}

// An engine on a truncated factor with its residuals and a jitter, against the
// exact engine on the same matrix multiplied out.
func TestLowRankEqualsCholesky(t *testing.T) {
	const n = 300
	for name, draw := range siteRegimes {
		if name == "strong" || name == "decades" {
			continue // there both are as good as the reference says
		}
		rng := rand.New(rand.NewPCG(6, 7))
		f := mustFactorise(t, plane(n, 0.3, rng), RankOptions{Tol: 1e-2})
		f.AddDiag(1e-3)
		d := drawSites(n, draw, rng)
		a, b := f.Engine(), f.Dense().Engine()
		for _, e := range []Engine{a, b} {
			testutil.Check(t, e.Factorize(d))
			e.FormG()
		}
		compareEngines(t, a, b, 1e-11)
		x := drawSites(n, siteRegimes["zeros"], rng)
		x[5] = -2
		for what, product := range map[string]func(e Engine, dst, x []float64){
			"G x": MulVecOffDiag, "(G o G) x": Engine.MulVecSquaredOffDiag,
		} {
			got, want := make([]float64, n), make([]float64, n)
			product(a, got, x)
			product(b, want, x)
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
					t.Errorf("d = %s: %s at %d is %g, want %g", name, what, i, got[i], want[i])
				}
			}
		}
	}
}

// TestLeverageNearOne: where nearly all of a site's response is its own, 1 - d chi keeps its digits: a single
// strong site has b = 1/(1 + d (K_ii - k_i'(K + 1/d)^-1 k_i)). Beside d = 1e13 other sites lose five digits.
func TestLeverageNearOne(t *testing.T) {
	const n = 40
	for _, c := range []struct {
		strong float64
		every  int  // so many sites
		alone  bool // the strong sites are judged alone
	}{{1e9, 4, false}, {1e13, 20, true}} {
		rng := rand.New(rand.NewPCG(7, 7))
		k := gaussianGram(n, false, rng)
		d := drawSites(n, siteRegimes["even"], rng)
		for i := 0; i < n; i += c.every {
			d[i] = c.strong
		}
		_, want := reference(k, d)
		e := factorised(k, RankOptions{})
		testutil.Check(t, e.Factorize(d))
		_, b := e.Diag()
		for i := range b {
			if (!c.alone || i%c.every == 0) && relative(b[i], want[i], 0) > 1e-6 {
				t.Errorf("d = %g, site %d: b %g, want %g", c.strong, i, b[i], want[i])
			}
		}
	}
}

func TestRankThatFits(t *testing.T) {
	for _, n := range []int{1, 100, 100000} {
		for _, bytes := range []int64{1, 1 << 20, 8 << 30} {
			r := RankThatFits(n, bytes)
			if r > 0 && LowRankBytes(n, r) > bytes || r < n && LowRankBytes(n, r+1) <= bytes {
				t.Errorf("rank %d of %d sites in %d bytes", r, n, bytes)
			}
		}
	}
	if r := RankThatFits(100000, 8<<30); r < 5000 || r > 10737 {
		t.Errorf("rank %d of 100000 sites in 8 GiB", r)
	}
}

// TestTruncate: the first pivots alone make the factor that ends there, with a jitter too.
func TestTruncate(t *testing.T) {
	k := plane(300, 0.5, rand.New(rand.NewPCG(1, 9)))
	f := mustFactorise(t, k, RankOptions{MaxRank: 200})
	f.AddDiag(0.01)
	for _, rank := range []int{8, 128, 130, 200} { // ends of the first block, of a panel, and between
		cut := f.Truncate(rank)
		if cut.Rank() != rank || cut.triangle.Rows != rank {
			t.Fatalf("rank %d, triangle of %d rows", cut.Rank(), cut.triangle.Rows)
		}
		requireFactor(t, cut, k, 0.01, 1e-13)
	}
}

// TestSmallestRank: the rank is the smallest at which the residuals of Truncate, each times its weight, have
// a sum within the limit, across panels and with a jitter, which does not count.
func TestSmallestRank(t *testing.T) {
	const n, rank = 200, 150
	k := symmetric(n, func(i, j int) float64 { return math.Exp(-math.Abs(float64(i-j)) / 40) })
	factor := testutil.Must(PivotedCholesky(t.Context(), k, RankOptions{MaxRank: rank}))(t)
	weight, sums := drawSites(n, siteRegimes["even"], seeded(4)), make([]float64, rank+1)
	for r := range sums {
		for i, v := range factor.Truncate(r).Residual() {
			sums[r] += weight[i] * v
		}
	}
	factor.AddDiag(0.5)
	for _, want := range []int{0, 1, 60, 127, 128, 129, rank, rank + 1} {
		limit := 0.9999 * sums[rank]
		if want <= rank {
			limit = 1.0001 * sums[want]
		}
		got := factor.SmallestRank(weight, func(_ int, sum float64) bool { return sum <= limit })
		if got != want {
			t.Errorf("rank %d, want %d", got, want)
		}
	}
}

// TestWeightedPivots: a factor meets its tolerance in the weighted residuals, with fewer pivots than without
// weights; sites of weight 0 are no pivots.
func TestWeightedPivots(t *testing.T) {
	const n, each = 300, 1e-4
	rng := rand.New(rand.NewPCG(3, 7))
	k, weight := plane(n, 0.7, rng), make([]float64, n)
	for i := range weight {
		weight[i] = math.Max(0, math.Exp(3*rng.NormFloat64())-0.1)
	}
	f := mustFactorise(t, k, RankOptions{Weight: weight, PerRank: each})
	whole := mustFactorise(t, k, RankOptions{Tol: 1e-12})
	plain := whole.SmallestRank(weight, func(rank int, sum float64) bool { return sum <= each*float64(rank) })
	if sum := floats.Dot(weight, f.Residual()); sum > each*float64(f.Rank()) || 4*f.Rank() > 3*plain {
		t.Errorf("rank %d, sum %g; without weights %d", f.Rank(), sum, plain)
	}
	for _, site := range f.Pivots() {
		if weight[site] == 0 {
			t.Errorf("pivot %d has no weight", site)
		}
	}
	if _, err := PivotedCholesky(t.Context(), k, RankOptions{Weight: weight[1:]}); err == nil {
		t.Error("too few weights pass")
	}
}

// TestExtend: the factor of a part of the sites, extended to all, is a factor of K with those pivots, and
// agrees with the part between its sites. More than one panel is passed.
func TestExtend(t *testing.T) {
	const n, rounding = 300, 1e-10 // of pivots down to 1e-7
	k := plane(n, 0.3, rand.New(rand.NewPCG(2, 7)))
	var sites []int
	for i := 1; i < n; i += 3 {
		sites = append(sites, i)
	}
	part := symmetric(len(sites), func(i, j int) float64 { return k.At(sites[i], sites[j]) })
	few := mustFactorise(t, part, RankOptions{Tol: 1e-7})
	all := testutil.Must(few.Extend(t.Context(), k, sites, 0))(t)
	if all.Rank() != few.Rank() || few.Rank() < 40 {
		t.Fatalf("rank %d became %d", few.Rank(), all.Rank())
	}
	requireFactor(t, all, k, 0, rounding)
	for i, site := range sites {
		if off := math.Abs(all.Residual()[site] - few.Residual()[i]); off > rounding {
			t.Fatalf("the residual of site %d is off by %g", i, off)
		}
	}
}

// TestPivotWeights: the kernel sum over the pivots is that over all sites, of the kernel of the factor at a
// new input.
func TestPivotWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	at := func(a, b float64) float64 { return 2 + math.Exp(-(a-b)*(a-b)) }
	x, w, k := make([]float64, 40), make([]float64, 40), ZeroSym(40)
	for i := range x {
		x[i], w[i] = 4*rng.Float64(), rng.NormFloat64()
		for j := range x[:i+1] {
			k.Set(i, j, at(x[i], x[j]))
		}
	}
	for _, rank := range []int{1, 3, 8} {
		f := testutil.Must(PivotedCholesky(t.Context(), k, RankOptions{MaxRank: rank}))(t)
		f.AddDiag(0.1)
		v := f.PivotWeights(w)
		for range 5 {
			z, all, sum := 4*rng.Float64(), make([]float64, 40), 0.0
			toPivots := make([]float64, rank)
			for q, site := range f.Pivots() {
				toPivots[q] = at(z, x[site])
				sum += v[q] * toPivots[q]
			}
			f.Coordinates(toPivots)
			f.Vectors(all, toPivots)
			if want := floats.Dot(all, w); !(math.Abs(sum-want) <= 1e-8*(1+math.Abs(want))) {
				t.Errorf("rank %d at %g: %v, over all sites %v", rank, z, sum, want)
			}
		}
	}
}
