package gp_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "bootbench/internal/fixedseed"
	"bootbench/internal/gp"
	"bootbench/internal/need"
	"bootbench/linalg"
)

// rbf is exp(-|x-x'|^2) over m random points of the unit cube in 3 dimensions.
func rbf(rng *rand.Rand, m int) *linalg.Sym {
	x := make([][3]float64, m)
	for i := range x {
		x[i] = [3]float64{rng.Float64(), rng.Float64(), rng.Float64()}
	}
	k := linalg.NewSym(m)
	for i := range m {
		for j := i; j < m; j++ {
			r2 := 0.0
			for d := range 3 {
				r2 += (x[i][d] - x[j][d]) * (x[i][d] - x[j][d])
			}
			k.Set(i, j, math.Exp(-r2))
		}
	}
	return k
}

// rows is a training set row by row.
type rows struct {
	site   []int
	target []float64
}

// drawRows draws s rows over m sites, each with a target of its own, in random order.
func drawRows(rng *rand.Rand, m, s int) rows {
	var r rows
	for range s {
		r.site = append(r.site, rng.IntN(m))
		r.target = append(r.target, rng.NormFloat64())
	}
	return r
}

// merged counts the rows of each of m sites and averages their targets.
func (r rows) merged(m int) (count, target []float64) {
	count, target = make([]float64, m), make([]float64, m)
	for p, i := range r.site {
		count[i]++
		target[i] += r.target[p]
	}
	for i, k := range count {
		if k > 0 {
			target[i] /= k
		}
	}
	return count, target
}

// oracle is the posterior mean at all sites given every row, by one LU factorisation of the
// S x S system.
func oracle(k *linalg.Sym, noise float64, r rows) []float64 {
	s, f := len(r.site), make([]float64, k.N())
	if s == 0 {
		return f
	}
	system, alpha := mat.NewDense(s, s, nil), mat.NewVecDense(s, nil)
	for p, i := range r.site {
		for q, j := range r.site {
			system.Set(p, q, k.At(i, j))
		}
		system.Set(p, p, k.At(i, i)+noise)
	}
	if err := alpha.SolveVec(system, mat.NewVecDense(s, r.target)); err != nil {
		panic(err)
	}
	for i := range f {
		for p, j := range r.site {
			f[i] += k.At(i, j) * alpha.AtVec(p)
		}
	}
	return f
}

func fit(t testing.TB, tr *gp.Trainer, count, target []float64) []float64 {
	t.Helper()
	f := make([]float64, len(count))
	if err := tr.Fit(count, target, f); err != nil {
		t.Fatal(err)
	}
	return f
}

func newTrainer(t testing.TB, k *linalg.Sym, noise float64) *gp.Trainer {
	t.Helper()
	return need.One(gp.NewTrainer(k, noise, false))(t)
}

func farthest(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = math.Max(worst, math.Abs(a[i]-b[i]))
		if math.IsNaN(a[i] - b[i]) {
			return math.Inf(1)
		}
	}
	return worst
}

// The condition number is at most (S + noise)/noise, below 1e4 here, and the
// targets are of order 1: rounding stays below 1e4 * S * 1e-16 = 1e-10.
const tolerance = 1e-10

// The merged fit, the naive fit and elimination on every row are three ways to
// one answer, also when a Trainer has fitted other sets before.
func TestFitMatchesEliminationOnAllRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		m := rapid.IntRange(1, 40).Draw(rt, "sites")
		noise := rapid.Float64Range(0.02, 2).Draw(rt, "noise")
		k := rbf(rng, m)
		tr := newTrainer(t, k, noise)
		for range 3 {
			r := drawRows(rng, m, rapid.IntRange(0, 80).Draw(rt, "rows"))
			want := oracle(k, noise, r)
			count, target := r.merged(m)
			if d := farthest(fit(t, tr, count, target), want); d > tolerance {
				rt.Fatalf("merged fit is off by %g", d)
			}
			f := make([]float64, m)
			if err := tr.FitRows(r.site, r.target, f); err != nil {
				rt.Fatal(err)
			}
			if d := farthest(f, want); d > tolerance {
				rt.Fatalf("naive fit is off by %g", d)
			}
		}
	})
}

func TestFullMatchesTrainerAndKeepsKernel(t *testing.T) {
	const noise = 0.3
	for _, m := range []int{0, 1, 2, 63, 64, 65, 130} {
		rng := rand.New(rand.NewPCG(11, uint64(m)))
		k := rbf(rng, m)
		before := linalg.NewSym(m)
		count, target := make([]float64, m), make([]float64, m)
		for i := range m {
			copy(before.Row(i), k.Row(i))
			count[i] = float64(1 + rng.IntN(3))
			target[i] = rng.NormFloat64()
		}
		full := need.One(gp.FitFull(k, noise, false, count, target))(t)
		for i := range m {
			if farthest(before.Row(i), k.Row(i)) != 0 {
				t.Fatalf("m=%d: row %d of the kernel matrix changed", m, i)
			}
		}
		tr := newTrainer(t, k, noise)
		want := fit(t, tr, count, target)
		if d := farthest(full, want); d > tolerance {
			t.Errorf("m=%d: full fit is off by %g", m, d)
		}
		engine, _, err := gp.FitByEngine(k, noise, count, target)
		if m == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := farthest(engine, want); d > tolerance {
			t.Errorf("m=%d: the fit by the engine is off by %g", m, d)
		}
	}
}

// Sites 1 and 4 are one input held apart: without noise the system is singular,
// the error names the second of them, and the suggested jitter repairs it.
func TestSingularSystemNamesPivotAndJitter(t *testing.T) {
	const m = 6
	k := rbf(rand.New(rand.NewPCG(5, 5)), m)
	for j := range m {
		k.Set(4, j, k.At(1, j))
	}
	k.Set(4, 4, 1)
	count, target := []float64{1, 1, 0, 2, 1, 1}, []float64{1, -1, 0, 2, 1, 0}
	check := func(t *testing.T, fit func() error) {
		var pivot *gp.PivotError
		if err := fit(); !errors.As(err, &pivot) {
			t.Fatalf("error is %v, not a PivotError", err)
		}
		if pivot.Site != 4 || math.Abs(pivot.Pivot) > 1e-13 {
			t.Errorf("pivot %v at site %d, want rounding at site 4", pivot.Pivot, pivot.Site)
		}
		if !(pivot.Jitter > 0 && pivot.Jitter < 1e-10) {
			t.Errorf("jitter %v is not a repair of rounding", pivot.Jitter)
		}
		k.AddDiag(pivot.Jitter)
		defer k.AddDiag(-pivot.Jitter)
		if err := fit(); err != nil {
			t.Errorf("with the suggested jitter: %v", err)
		}
	}
	t.Run("trainer", func(t *testing.T) {
		tr := newTrainer(t, k, 0)
		check(t, func() error { return tr.Fit(count, target, make([]float64, m)) })
		if err := tr.Fit(count, []float64{1, -1, 0, 2, 1, math.NaN()}, make([]float64, m)); err == nil {
			t.Error("a NaN target was accepted")
		}
	})
	t.Run("full", func(t *testing.T) {
		count[2] = 1
		check(t, func() error { _, err := gp.FitFull(k, 0, false, count, target); return err })
	})
}

func TestIndefiniteKernelIsRefused(t *testing.T) {
	k := linalg.NewSym(3)
	for i := range 3 {
		k.Set(i, i, 1)
	}
	k.Set(0, 2, 3) // third pivot 1 + 0.5 - 9/1.5 = -4.5
	tr := newTrainer(t, k, 0.5)
	fit(t, tr, []float64{1, 1, 0}, []float64{1, 1, 0}) // what the failure must not leave behind
	var pivot *gp.PivotError
	if err := tr.Fit([]float64{1, 1, 1}, make([]float64, 3), make([]float64, 3)); !errors.As(err, &pivot) {
		t.Fatalf("error is %v", err)
	}
	if pivot.Site != 2 || math.Abs(pivot.Pivot+4.5) > 1e-14 {
		t.Errorf("pivot %v at site %d, want -4.5 at site 2", pivot.Pivot, pivot.Site)
	}
}

func TestNonFiniteKernelIsRefused(t *testing.T) {
	k := rbf(rand.New(rand.NewPCG(5, 5)), 4)
	k.Set(1, 3, math.NaN())
	ones, zeros := []float64{1, 1, 1, 1}, make([]float64, 4)
	if err := newTrainer(t, k, 1).Fit(ones, zeros, make([]float64, 4)); err == nil {
		t.Error("trainer accepted a NaN in the kernel matrix")
	}
	if _, err := gp.FitFull(k, 1, false, ones, zeros); err == nil {
		t.Error("full fit accepted a NaN in the kernel matrix")
	}
}

func TestBadInputIsRefused(t *testing.T) {
	k := rbf(rand.New(rand.NewPCG(1, 1)), 3)
	tr := newTrainer(t, k, 1)
	zeros := make([]float64, 3)
	full := func(noise float64, count, target []float64) error {
		_, err := gp.FitFull(k, noise, false, count, target)
		return err
	}
	for _, c := range []struct {
		err  error
		says string
	}{
		{func() error { _, err := gp.NewTrainer(k, -1, false); return err }(), "noise"},
		{tr.Fit([]float64{1, 1}, zeros, zeros), "3 sites"},
		{tr.Fit([]float64{1, -2, 1}, zeros, zeros), "site 2 has weight -2"},
		{full(math.Inf(1), []float64{1, 1, 1}, zeros), "noise"},
		{full(1, []float64{1, 0, 1}, zeros), "site 2 has weight 0"},
		{full(1, []float64{1, 1, 1}, zeros[:1]), "3 sites"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("error %v does not say %q", c.err, c.says)
		}
	}
}

// TestWeights: a site of weight 2.5 at noise s2 is one of 5 rows at noise 2 s2, and a weight that is no
// number is refused.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const m = 15
	k := rbf(rng, m)
	weight, count, target := make([]float64, m), make([]float64, m), make([]float64, m)
	for i := range count {
		count[i], target[i] = float64(rng.IntN(6)), rng.NormFloat64()
		weight[i] = count[i] / 2
	}
	want := fit(t, newTrainer(t, k, 0.2), count, target)
	tr := newTrainer(t, k, 0.1)
	got := fit(t, tr, weight, target)
	if off := farthest(got, want); !(off < 1e-12) {
		t.Errorf("off by %g", off)
	}
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		weight[3] = bad
		if err := tr.Fit(weight, target, got); err == nil || !strings.Contains(err.Error(), "site 4") {
			t.Errorf("weight %v: %v", bad, err)
		}
	}
}

// TestResiduals: the closed form agrees with fits that lack one row, with repeated inputs and without.
func TestResiduals(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 33))
	const m, noise = 30, 0.3
	k := rbf(rng, m)
	for _, extra := range []int{0, m} {
		r := drawRows(rng, m, extra)
		for _, s := range rng.Perm(m) { // no site is empty
			r.site, r.target = append(r.site, s), append(r.target, rng.NormFloat64())
		}
		got := need.One(gp.Residuals(k, r.site, r.target, nil, noise))(t)
		tr, f := newTrainer(t, k, noise), make([]float64, m)
		for i, v := range r.target {
			site, target := slices.Delete(slices.Clone(r.site), i, i+1), slices.Delete(slices.Clone(r.target), i, i+1)
			if err := tr.FitRows(site, target, f); err != nil {
				t.Fatal(err)
			}
			if want := v - f[r.site[i]]; math.Abs(got[i]-want) > 1e-10 {
				t.Errorf("%d rows, row %d: residual %v, fitted anew %v", len(r.site), i, got[i], want)
			}
		}
	}
	two := rbf(rng, 2)
	for want, f := range map[string]func() error{
		"positive noise": func() error { _, err := gp.Residuals(two, nil, []float64{1, 2}, nil, 0); return err },
		"do not fit":     func() error { _, err := gp.Residuals(two, nil, []float64{1}, nil, 1); return err },
		"is on site 3": func() error {
			_, err := gp.Residuals(two, []int{0, 2}, []float64{1, 2}, nil,
				1)
			return err
		},
		"weight 0": func() error {
			_, err := gp.Residuals(two, []int{0, 0}, []float64{1, 2}, nil,
				1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
