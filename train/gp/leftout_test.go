package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

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
