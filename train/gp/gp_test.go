package gp

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/internal/testutil/problems"
	"bootbench/linalg"
	"bootbench/train"
)

var symmetric, normals, near = problems.Symmetric, problems.Normals, problems.Near

// rbf is exp(-|x-x'|^2) over m random points of the unit cube in 3 dimensions.
func rbf(rng *rand.Rand, m int) *linalg.Sym {
	x := make([][3]float64, m)
	for i := range x {
		x[i] = [3]float64{rng.Float64(), rng.Float64(), rng.Float64()}
	}
	return symmetric(m, func(i, j int) float64 {
		return math.Exp(-math.Pow(floats.Distance(x[i][:], x[j][:], 2), 2))
	})
}

// sample is a training set row by row.
type sample struct {
	site   []int
	target []float64
}

// drawRows draws s rows over m sites, each with its target, in random order.
func drawRows(rng *rand.Rand, m, s int) sample {
	r := sample{target: normals(rng, s)}
	for range s {
		r.site = append(r.site, rng.IntN(m))
	}
	return r
}

// merged counts the rows of each of m sites and averages their targets.
func (r sample) merged(m int) (count, target []float64) {
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

// oracle is the posterior mean at all sites given every row, by one LU factorisation of the S x S system.
func oracle(t rapid.TB, k *linalg.Sym, noise float64, r sample) []float64 {
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
	testutil.Check(t, alpha.SolveVec(system, mat.NewVecDense(s, r.target)))
	for i := range f {
		for p, j := range r.site {
			f[i] += k.At(i, j) * alpha.AtVec(p)
		}
	}
	return f
}

func fit(t testing.TB, tr *Trainer, count, target []float64) []float64 {
	t.Helper()
	return slices.Clone(testutil.Must(tr.Train(train.Set{Y: target, Weight: count}))(t).F)
}

func newTrainer(t testing.TB, k *linalg.Sym, noise float64) *Trainer {
	t.Helper()
	return testutil.Must(NewTrainer(k, noise))(t)
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

// The merged fit is the one by elimination on every row, also when a Trainer has fitted other sets before.
func TestFitMatchesEliminationOnAllRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		m := rapid.IntRange(1, 40).Draw(rt, "sites")
		noise := rapid.Float64Range(0.02, 2).Draw(rt, "noise")
		k := rbf(rng, m)
		tr := newTrainer(t, k, noise)
		for range 3 {
			r := drawRows(rng, m, rapid.IntRange(0, 80).Draw(rt, "rows"))
			want := oracle(rt, k, noise, r)
			count, target := r.merged(m)
			if d := farthest(fit(t, tr, count, target), want); d > tolerance {
				rt.Fatalf("merged fit is off by %g", d)
			}
		}
	})
}

func TestFullMatchesTrainerAndKeepsKernel(t *testing.T) {
	const noise = 0.3
	for _, m := range []int{0, 1, 2, 63, 64, 65, 130} {
		rng := rand.New(rand.NewPCG(11, uint64(m)))
		k := rbf(rng, m)
		before := symmetric(m, k.At)
		count, target := make([]float64, m), normals(rng, m)
		for i := range m {
			count[i] = float64(1 + rng.IntN(3))
		}
		full := testutil.Must(FitFull(k, noise, false, count, target))(t)[0]
		for i := range m {
			if !slices.Equal(before.Row(i), k.Row(i)) {
				t.Fatalf("m=%d: row %d of the kernel matrix changed", m, i)
			}
		}
		tr := newTrainer(t, k, noise)
		want := fit(t, tr, count, target)
		if d := farthest(full, want); d > tolerance {
			t.Errorf("m=%d: full fit is off by %g", m, d)
		}
		if m == 0 {
			continue
		}
		engine, _ := testutil.Must2(FitByEngine(k, noise, count, target))(t)
		if d := farthest(engine, want); d > tolerance {
			t.Errorf("m=%d: the fit by the engine is off by %g", m, d)
		}
	}
}

// Sites 1 and 4 are the same input: without noise the system is singular, the error names the second, and the
// suggested jitter repairs it.
func TestSingularSystemNamesPivotAndJitter(t *testing.T) {
	const m = 6
	k := rbf(rand.New(rand.NewPCG(5, 5)), m)
	for j := range m {
		k.Set(4, j, k.At(1, j))
	}
	k.Set(4, 4, 1)
	count, target := []float64{1, 1, 0, 2, 1, 1}, []float64{1, -1, 0, 2, 1, 0}
	check := func(t *testing.T, fit func() error) {
		var pivot *PivotError
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
		set := train.Set{Y: target, Weight: count}
		check(t, func() error { _, err := tr.Train(set); return err })
		set.Y = []float64{1, -1, 0, 2, 1, math.NaN()}
		if _, err := tr.Train(set); err == nil {
			t.Error("a NaN target was accepted")
		}
	})
	t.Run("full", func(t *testing.T) {
		count[2] = 1
		check(t, func() error { _, err := FitFull(k, 0, false, count, target); return err })
	})
}

func TestIndefiniteKernelIsRefused(t *testing.T) {
	k := linalg.ZeroSym(3)
	k.AddDiag(1)
	k.Set(0, 2, 3) // third pivot 1 + 0.5 - 9/1.5 = -4.5
	tr := newTrainer(t, k, 0.5)
	fit(t, tr, []float64{1, 1, 0}, []float64{1, 1, 0}) // must not affect the fit after the failure
	var pivot *PivotError
	_, err := tr.Train(train.Set{Y: make([]float64, 3), Weight: []float64{1, 1, 1}})
	if !errors.As(err, &pivot) || pivot.Site != 2 || math.Abs(pivot.Pivot+4.5) > 1e-14 {
		t.Errorf("error %v, want pivot -4.5 at site 2", err)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	k := rbf(rand.New(rand.NewPCG(1, 1)), 3)
	ones, zeros := []float64{1, 1, 1}, make([]float64, 3)
	full := func(k *linalg.Sym, noise float64, count, target []float64) error {
		_, err := FitFull(k, noise, false, count, target)
		return err
	}
	_, negative := NewTrainer(k, -1)
	infinite, absent, short := full(k, math.Inf(1), ones, zeros), full(k, 1, []float64{1, 0, 1}, zeros),
		full(k, 1, ones, zeros[:1])
	k.Set(0, 2, math.NaN())
	_, broken := newTrainer(t, k, 1).Train(train.Set{Y: zeros, Weight: ones})
	for _, c := range []struct {
		err  error
		says string
	}{{broken, ""}, {full(k, 1, ones, zeros), ""}, {negative, "noise"}, {infinite, "noise"},
		{absent, "site 2 has weight 0"}, {short, "3 sites"}} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("error %v does not say %q", c.err, c.says)
		}
	}
}

// TestWeights: a site of weight 2.5 at noise s2 equals 5 rows at noise 2 s2.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const m = 15
	k := rbf(rng, m)
	weight, count, target := make([]float64, m), make([]float64, m), normals(rng, m)
	for i := range count {
		count[i] = float64(rng.IntN(6))
		weight[i] = count[i] / 2
	}
	want := fit(t, newTrainer(t, k, 0.2), count, target)
	if off := farthest(fit(t, newTrainer(t, k, 0.1), weight, target), want); !(off < 1e-12) {
		t.Errorf("off by %g", off)
	}
}

// TestBiasIsLimit: regression with a bias is the limit of regression on K + c, by Trainer on some sites and
// by FitFull on all; the weights sum to 0. The extrapolation errs by 1e-9 and 100 times the rounding of the
// last answer, 1e-12.
func TestBiasIsLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	k := rbf(rng, 12)
	count, target := make([]float64, 12), make([]float64, 12)
	for i := range count {
		count[i], target[i] = float64(rng.IntN(3)), 5+rng.NormFloat64()
	}
	set := train.Set{Y: target, Weight: count, Bias: true}
	trainer := newTrainer(t, k, 0.2)
	r := testutil.Must(trainer.Train(set))(t)
	got := slices.Clone(r.F)
	want := problems.Limit(k, 1e4, func(k *linalg.Sym) []float64 {
		return fit(t, newTrainer(t, k, 0.2), count, target)
	})
	if off := farthest(got, want); !(off < 1e-7) {
		t.Errorf("the fit is off by %g", off)
	}
	if sum := floats.Sum(r.Weight); math.Abs(sum) > 1e-12 {
		t.Errorf("the weights sum to %g", sum)
	}
	for i := range count {
		count[i]++
	}
	full := testutil.Must(FitFull(k, 0.2, true, count, target))(t)[0]
	if off := farthest(full, testutil.Must(trainer.Train(set))(t).F); !(off < 1e-11) {
		t.Errorf("the fit to all data is off by %g", off)
	}
}

// TestCriteria: the evidence is the density of the targets under N(0, K + noise I), leave-one-out the one of
// LeftOut, and the derivatives of both agree with finite differences, whose error is about 1e-8.
func TestCriteria(t *testing.T) {
	const sites, noise = 9, 0.3
	site := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 4}
	rng := rand.New(rand.NewPCG(16, 3))
	y, x := normals(rng, len(site)), normals(rng, sites)
	moved := [2]int{2, 6}
	gram := func(step float64) *linalg.Sym {
		k := symmetric(sites, func(i, j int) float64 { return 2 * math.Exp(-(x[i]-x[j])*(x[i]-x[j])) })
		k.Set(moved[0], moved[1], k.At(moved[0], moved[1])+step)
		return k
	}
	k, n := gram(0), len(y)
	covariance := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			covariance.SetSym(a, b, k.At(site[a], site[b]))
		}
		covariance.SetSym(a, a, covariance.At(a, a)+noise)
	}
	normal, ok := distmv.NewNormal(make([]float64, n), covariance, nil)
	if !ok {
		t.Fatal("no covariance")
	}
	residuals := testutil.Must(NewLeftOut(gram(0), site, y, nil, nil, noise))(t).Error
	for name, c := range map[string]struct {
		of   func(k *linalg.Sym, noise float64, site train.Sites, y []float64) (*Criterion, error)
		want float64
	}{
		"evidence":      {Evidence, -normal.LogProb(y) / float64(n)},
		"leave-one-out": {LeaveOneOut, floats.Dot(residuals, residuals) / float64(n)},
	} {
		at := func(step, logNoise float64) *Criterion {
			return testutil.Must(c.of(gram(step), noise*math.Exp(logNoise), site, y))(t)
		}
		got := at(0, 0)
		if math.Abs(got.Value-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s %g, want %g", name, got.Value, c.want)
		}
		const h = 1e-4
		for what, pair := range map[string][2]float64{
			"kernel": {2 * got.Kernel.Data[moved[0]*got.Kernel.Stride+moved[1]],
				(at(h, 0).Value - at(-h, 0).Value) / (2 * h)},
			"noise": {got.Noise, (at(0, h).Value - at(0, -h).Value) / (2 * h)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6*(math.Abs(pair[1])+math.Abs(got.Value)) {
				t.Errorf("%s by %s: %g, differences %g", name, what, pair[0], pair[1])
			}
		}
		if _, err := c.of(gram(0), 0, site, y); err == nil {
			t.Errorf("%s without noise", name)
		}
	}
}

// refit is the mean and the standard deviation of a target at point x given some rows, by LU factorisations
// of systems over the rows, which a bias borders: its prior variance is infinite.
func refit(t *testing.T, k *linalg.Sym, r sample, weights []float64, keep []int, x int, noise float64,
	bias bool) (mean, sd float64) {
	t.Helper()
	n := len(keep)
	order := n
	if bias {
		order++
	}
	system, y, cross := mat.NewDense(order, order, nil), mat.NewVecDense(order, nil),
		mat.NewVecDense(order, nil)
	for a, p := range keep {
		for b, q := range keep {
			system.Set(a, b, k.At(min(r.site[p], r.site[q]), max(r.site[p], r.site[q])))
		}
		system.Set(a, a, k.At(r.site[p], r.site[p])+noise/weights[p])
		y.SetVec(a, r.target[p])
		cross.SetVec(a, k.At(min(r.site[p], x), max(r.site[p], x)))
		if bias {
			system.Set(a, n, 1)
			system.Set(n, a, 1)
		}
	}
	if bias {
		cross.SetVec(n, 1)
	}
	w := mat.NewVecDense(order, nil)
	testutil.Check(t, w.SolveVec(system, cross))
	return mat.Dot(w, y), math.Sqrt(k.At(x, x) + noise - mat.Dot(w, cross))
}

// TestLeftOut: means, standard deviations and errors without every row, and without every group, are the ones
// of refits one by one, with rows that share a site, weights, a bias, and on a factor of full rank.
func TestLeftOut(t *testing.T) {
	const m, n, fresh, noise = 12, 20, 4, 0.05
	rng := rand.New(rand.NewPCG(3, 9))
	all := rbf(rng, m+fresh)
	k := symmetric(m, all.At)
	for _, bias := range []bool{false, true} {
		for _, grouped := range []bool{false, true} {
			for _, lowRank := range []bool{false, true} {
				name := fmt.Sprintf("bias %t, groups %t, low rank %t", bias, grouped, lowRank)
				r, weights := drawRows(rng, m, n), make([]float64, n)
				for i := range weights {
					r.target[i] += 3
					if weights[i] = 1; grouped {
						weights[i] = 0.5 + rng.Float64()
					}
					r.site[i] = (i + r.site[i]/4) % m // every site has a row
					if i < m {
						r.site[i] = i
					}
				}
				var group []int
				if grouped {
					for i := range n {
						group = append(group, i%4)
					}
				}
				matrix := linalg.Kernel(k)
				if lowRank {
					matrix = testutil.Must(linalg.PivotedCholesky(t.Context(), k, linalg.RankOptions{}))(t)
				}
				if bias {
					matrix = linalg.WithBias(matrix)
				}
				l := testutil.Must(NewLeftOut(matrix, r.site, r.target, weights, group, noise))(t)
				without := func(u int) (keep []int) {
					for i := range n {
						if l.Unit[i] != u {
							keep = append(keep, i)
						}
					}
					return keep
				}
				near := func(what string, got, want float64) {
					t.Helper()
					if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
						t.Errorf("%s, %s: %v, refitted %v", name, what, got, want)
					}
				}
				for i := range n {
					mean, sd := refit(t, all, r, weights, without(l.Unit[i]), r.site[i], noise, bias)
					near(fmt.Sprintf("error of row %d", i+1), l.Error[i], r.target[i]-mean)
					near(fmt.Sprintf("deviation of row %d", i+1), l.SD[i], sd)
				}
				for x := m; x < m+fresh; x++ {
					cross := blas64.General{Rows: 1, Cols: m, Stride: m, Data: make([]float64, m)}
					for s := range m {
						cross.Data[s] = all.At(s, x)
					}
					means, sds := make([]float64, l.Units()), make([]float64, l.Units())
					response := linalg.Responses(l.Engine(), cross)
					mean, sd := l.At(cross.Data, response.Data, all.At(x, x), means, sds)
					wantMean, wantSD := refit(t, all, r, weights, without(-1), x, noise, bias)
					near("mean", mean, wantMean)
					near("deviation", sd, wantSD)
					for u := range l.Units() {
						mean, sd := refit(t, all, r, weights, without(u), x, noise, bias)
						near(fmt.Sprintf("mean without unit %d", u+1), means[u], mean)
						near(fmt.Sprintf("deviation without unit %d", u+1), sds[u], sd)
					}
				}
			}
		}
	}
	if _, err := NewLeftOut(linalg.WithBias(k), nil, make([]float64, m), nil, make([]int, m),
		noise); err == nil {
		t.Error("a bias without any row: no error")
	}
	if _, err := NewLeftOut(k, nil, make([]float64, m), nil, nil, 0); err == nil {
		t.Error("noise 0: no error")
	}
	if _, err := NewLeftOut(k, []int{0, m}, make([]float64, 2), nil, nil, noise); err == nil {
		t.Error("a row on no site: no error")
	}
}
