package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/need"
	"bootbench/linalg"
)

// cloud is n inputs in d dimensions, the last feature 1, labelled by a
// hyperplane that no input is nearer to than margin, and their linear kernel.
func cloud(rng *rand.Rand, n, d int, margin float64) (x DenseFeatures, y []float64, k *linalg.Sym) {
	x = DenseFeatures{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	y, k = make([]float64, n), linalg.NewSym(n)
	for i := range n {
		row := x.row(i)
		for {
			for j := range row {
				row[j] = rng.NormFloat64()
			}
			row[d-1] = 1
			if side := (row[0] + 0.5*row[d-1]) / math.Hypot(1, 0.5); math.Abs(side) > margin {
				y[i] = math.Copysign(1, side)
				break
			}
		}
		for j := range i + 1 {
			v := 0.0
			for c, a := range row {
				v += a * x.row(j)[c]
			}
			k.Set(i, j, v)
		}
	}
	return x, y, k
}

// TestPerceptron: on separable data it converges within Novikoff's (R/margin)^2
// mistakes, and the dual makes the very mistakes of the primal.
func TestPerceptron(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 25))
	for range 20 {
		const margin = 0.1
		x, y, k := cloud(rng, 50, 3, margin)
		primal := need.One(TrainPerceptron(x, y, 10000))(t)
		rows := need.One(NewRows(k))(t)
		dual := need.One(TrainDualPerceptron(rows, nil, y, 10000))(t)
		csr := SparseFeatures{Cols: x.Cols, Start: make([]int, x.Rows+1)}
		for i := range x.Rows {
			for c, v := range x.row(i) {
				csr.Index, csr.Value = append(csr.Index, int32(c)), append(csr.Value, v)
			}
			csr.Start[i+1] = len(csr.Value)
		}
		sparse := need.One(TrainPerceptron(csr, y, 10000))(t)
		if !slices.Equal(primal.Alpha, sparse.Alpha) {
			t.Errorf("sparse inputs: mistakes %v, dense %v", sparse.Mistakes, primal.Mistakes)
		}
		if !slices.Equal(primal.Mistakes, dual.Mistakes) || !slices.Equal(primal.Alpha, dual.Alpha) {
			t.Errorf("mistakes %v and %v", primal.Mistakes, dual.Mistakes)
		}
		near(t, "f", dual.F, primal.F, 1e-8)
		longest, total := 0.0, 0.0
		for i := range y {
			longest = max(longest, k.At(i, i))
			total += primal.Alpha[i]
			if !(y[i]*primal.F[i] > 0) {
				t.Errorf("example %d is not learned", i)
			}
		}
		if !primal.Converged || total > longest/(margin*margin) {
			t.Errorf("converged %v after %v mistakes", primal.Converged, total)
		}
	}
}

// TestPerceptronByHand follows two passes over three numbers: 1 (+), 2 (-), 1 (+).
func TestPerceptronByHand(t *testing.T) {
	x := DenseFeatures{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 2, 1}}
	// w: 1, then -1, then 0 in the first pass; 1, -1, 0 again in the second.
	r := need.One(TrainPerceptron(x, []float64{1, -1, 1}, 2))(t)
	if r.Converged || !slices.Equal(r.Mistakes, []int{3, 3}) || !slices.Equal(r.Alpha, []float64{2, 2, 2}) ||
		r.Weights[0] != 0 {
		t.Errorf("%+v", r)
	}
}

func TestPerceptronRefuses(t *testing.T) {
	x := DenseFeatures{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 2}}
	for _, c := range []struct {
		y      []float64
		passes int
	}{{[]float64{1}, 1}, {[]float64{1, 0}, 1}, {[]float64{1, math.NaN()}, 1}, {[]float64{1, -1}, 0}} {
		if _, err := TrainPerceptron(x, c.y, c.passes); err == nil {
			t.Errorf("no error for %+v", c)
		}
	}
}
