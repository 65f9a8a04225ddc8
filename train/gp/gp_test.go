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

// merged sums the weights of each of m sites and averages their targets.
func (r sample) merged(m int, weights []float64) (weight, target []float64) {
	weight, target = make([]float64, m), make([]float64, m)
	train.Sites(r.site).Merge(r.target, weights, weight, target)
	return weight, target
}

func fit(t testing.TB, tr *Trainer, count, target []float64) []float64 {
	t.Helper()
	return slices.Clone(testutil.Must(tr.Train(train.Set{Y: target, Weight: count}))(t).F)
}

func newTrainer(t testing.TB, k *linalg.Sym, noise float64) *Trainer {
	t.Helper()
	return testutil.Must(NewTrainer(k, noise))(t)
}

// The condition number is at most (S + noise)/noise, below 1e4 here, and the
// targets are of order 1: rounding stays below 1e4 * S * 1e-16 = 1e-10.
const tolerance = 1e-10

// TestFit: fits of merged rows, with a bias and without, are those by elimination on every row, also when a
// Trainer has fitted other sets before; where every site has a row, so are those of all data, which leave the
// kernel matrix as it is.
func TestFit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		m := rapid.SampledFrom([]int{1, 2, 20, 63, 64, 65, 130}).Draw(rt, "sites")
		noise := rapid.Float64Range(0.02, 2).Draw(rt, "noise")
		k := rbf(rng, m)
		before, tr := symmetric(m, k.At), newTrainer(t, k, noise)
		for trial := range 3 {
			r := drawRows(rng, m, rapid.IntRange(1, 80).Draw(rt, "rows"))
			bias := rapid.Bool().Draw(rt, "bias")
			if trial == 2 {
				for i := range m {
					r.site, r.target = append(r.site, i), append(r.target, rng.NormFloat64())
				}
			}
			weights := make([]float64, len(r.site))
			for p := range weights {
				weights[p] = float64(1+rng.IntN(4)) / 2
			}
			want := make([]float64, m)
			for i := range m {
				want[i], _ = refit(rt, k, r, weights, upTo(len(r.site)), i, noise, bias)
			}
			set := train.Set{Y: r.target, Site: r.site, Weight: weights, Bias: bias}
			got := testutil.Must(tr.Train(set))(rt)
			near(rt, "merged fit", got.F, want, tolerance)
			if sum := floats.Sum(got.Weight); bias && math.Abs(sum) > 1e-10 {
				rt.Fatalf("the weights sum to %g", sum)
			}
			if trial < 2 {
				continue
			}
			weight, target := r.merged(m, weights)
			full := testutil.Must(FitFull(k, noise, bias, weight, target))(rt)[0]
			near(rt, "fit to all", full, want, tolerance)
			for i := range m {
				if !slices.Equal(before.Row(i), k.Row(i)) {
					rt.Fatalf("row %d of the kernel matrix changed", i)
				}
			}
			if !bias {
				byEngine, _ := testutil.Must2(FitByEngine(k, noise, weight, target))(rt)
				near(rt, "fit by the engine", byEngine, want, tolerance)
			}
		}
	})
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
func refit(t testutil.T, k *linalg.Sym, r sample, weights []float64, keep []int, x int, noise float64,
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
			system.Set(a, b, k.At(r.site[p], r.site[q]))
		}
		system.Set(a, a, k.At(r.site[p], r.site[p])+noise/weights[p])
		y.SetVec(a, r.target[p])
		cross.SetVec(a, k.At(r.site[p], x))
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
