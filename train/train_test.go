package train_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/train"
)

func TestSitesCheck(t *testing.T) {
	for _, c := range []struct {
		s    train.Sites
		n, m int
		says string
	}{
		{nil, 3, 3, ""},
		{nil, 2, 3, "2 targets do not fit 3 sites"},
		{train.Sites{0, 1, 0}, 3, 2, ""},
		{train.Sites{0, 1}, 3, 2, "has length 2, but there are 3 targets"},
		{train.Sites{0, 2, 0}, 3, 2, "example 2 is on site 3 of 2"},
		{train.Sites{0, 0, -1}, 3, 2, "example 3 is on site 0 of 2"},
		{train.Sites{}, 0, 0, ""},
	} {
		err := c.s.Check(c.n, c.m)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v of %d on %d: %v, want %q", c.s, c.n, c.m, err, c.says)
		}
	}
}

// TestMerge: a site has the number of its copies, and their mean target; without
// copies both are 0. Small integers make it exact.
func TestMerge(t *testing.T) {
	s := train.Sites{2, 0, 2, 1}
	y := []float64{1, 5, 4, 7}
	count, mean := []float64{9, 9, 9}, []float64{9, 9, 9} // previous contents do not matter
	s.Merge(y, nil, count, mean)
	if !slices.Equal(count, []float64{1, 1, 2}) || !slices.Equal(mean, []float64{5, 7, 2.5}) {
		t.Errorf("once each: %v, %v", count, mean)
	}
	s.Merge(y, []float64{2, 3, 1, 0}, count, mean)
	if !slices.Equal(count, []float64{3, 0, 3}) || !slices.Equal(mean, []float64{5, 0, 2}) {
		t.Errorf("with copies: %v, %v", count, mean)
	}
}

// TestGroups: every example of positive weight on an admitted site is in its
// site's group, once, and no other is; active sites ascend.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var g train.Groups // used again and again: what was there does not matter
	for range 200 {
		m, n := 1+rng.IntN(6), rng.IntN(12)
		p := train.Set{Y: make([]float64, n), Site: make(train.Sites, n), Weight: make([]float64, n)}
		want := map[int][]int{}
		for j := range n {
			p.Y[j], p.Site[j], p.Weight[j] = rng.NormFloat64(), rng.IntN(m), float64(rng.IntN(3))
			if p.Weight[j] > 0 && p.Site[j] != 2 {
				want[p.Site[j]] = append(want[p.Site[j]], j)
			}
		}
		if err := p.Check(m, false); err != nil {
			t.Fatal(err)
		}
		g.Gather(&p, m, func(s int) bool { return s != 2 })
		if !slices.IsSorted(g.Active) || len(g.Active) != len(want) {
			t.Fatalf("active sites %v, want those of %v", g.Active, want)
		}
		for at, s := range g.Active {
			examples := g.Example[g.First[at]:g.First[at+1]]
			if !slices.Equal(examples, want[s]) {
				t.Fatalf("site %d has examples %v, want %v", s, examples, want[s])
			}
			y, k := g.Of(at)
			for i, j := range examples {
				if y[i] != p.Y[j] || k[i] != p.Weight[j] {
					t.Fatalf("example %d has target %v and weight %v", j, y[i], k[i])
				}
			}
		}
	}
}

// TestKernel: the gathered matrix is K between the listed sites, in both
// triangles, to the last bit; K alpha at inactive sites is that of a double loop,
// to rounding (sums of up to 70 terms of size 1: 1e-13). The orders are those about
// the side of a tile, 32, and its double.
func TestKernel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, m := range []int{0, 1, 2, 31, 32, 33, 65, 70} {
		k := linalg.ZeroSym(m)
		for i := range m {
			for j := range i + 1 {
				k.Set(i, j, rng.NormFloat64())
			}
		}
		for _, share := range []float64{0, 0.5, 1} {
			var active []int
			alpha := make([]float64, m)
			for i := range m {
				if rng.Float64() < share {
					active = append(active, i)
					alpha[i] = rng.NormFloat64()
				}
			}
			n := len(active)
			stride := n + 3
			a := make([]float64, n*stride)
			train.GatherUpper(a, stride, k, active)
			both := blas64.Symmetric{N: n, Stride: stride, Data: a}
			train.TransposeUpper(both, both)
			for p, i := range active {
				for q, j := range active {
					if a[p*stride+q] != k.At(i, j) {
						t.Fatalf("element (%d, %d) of %d is %v", p, q, n, a[p*stride+q])
					}
				}
			}
			f := make([]float64, m)
			train.MulInactive(f, k, active, alpha)
			for i := range m {
				want := 0.0
				for j, v := range alpha {
					want += k.At(i, j) * v
				}
				if !slices.Contains(active, i) && math.Abs(f[i]-want) > 1e-13 {
					t.Fatalf("f at site %d of %d is %v, want %v", i, m, f[i], want)
				}
			}
		}
	}
}

// TestStatus: each status has its own text, and an error unless it is Converged.
func TestStatus(t *testing.T) {
	seen := map[string]bool{}
	for s := train.Converged; s <= train.Cancelled; s++ {
		seen[s.String()] = true
		if (s.Err() == nil) != (s == train.Converged) {
			t.Errorf("%v has error %v", s, s.Err())
		}
	}
	if len(seen) != 5 {
		t.Errorf("statuses %v", seen)
	}
}

// TestProgress: a smaller residual or a larger objective is progress; rounding of
// the objective is none.
func TestProgress(t *testing.T) {
	var p train.Progress
	for i, c := range []struct {
		residual, objective float64
		idle                int
	}{
		{math.Inf(1), -5, 0},
		{1, -5, 0},
		{0.95, -5, 1},
		{0.95, -5 * (1 - 1e-15), 2},
		{2, -4, 0},
		{0.8, -4, 0},
		{0.8, -4, 1},
	} {
		if idle := p.Update(c.residual, c.objective); idle != c.idle {
			t.Errorf("step %d: %d without progress, want %d", i, idle, c.idle)
		}
	}
}
