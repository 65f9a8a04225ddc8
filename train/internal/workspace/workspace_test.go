package workspace_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// TestGroups: every example of positive weight on an admitted site is in its
// site's group, once, and no other is; active sites ascend.
func TestGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var g workspace.Groups // used again and again: what was there does not matter
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
// triangles, to the last bit; K alpha at inactive sites is as by a double loop,
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
			workspace.GatherUpper(a, stride, k, active)
			both := blas64.Symmetric{N: n, Stride: stride, Data: a}
			workspace.TransposeUpper(both, both)
			for p, i := range active {
				for q, j := range active {
					if a[p*stride+q] != k.At(i, j) {
						t.Fatalf("element (%d, %d) of %d is %v", p, q, n, a[p*stride+q])
					}
				}
			}
			f := make([]float64, m)
			workspace.MulInactive(f, k, active, alpha)
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

// TestProgress: a smaller residual or a larger objective is progress; rounding of
// the objective is none.
func TestProgress(t *testing.T) {
	var p workspace.Progress
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
