package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/need"
)

// Blocks against the whole matrix: rows and columns in any order, repeated, with a
// stride, for kinds with and without a distance, dense and sparse. The products are
// summed in another order, so that they agree to rounding.
func TestBlockIsCutFromGram(t *testing.T) {
	const m, d, stride = 40, 5, 9
	rng := rand.New(rand.NewPCG(21, 0))
	x := blas64.General{Rows: m, Cols: d, Stride: d, Data: make([]float64, m*d)}
	sparse := CSR{Rows: m, Cols: d, Start: []int{0}}
	for i := range m {
		for j := range d {
			if v := rng.NormFloat64(); rng.IntN(3) > 0 {
				x.Data[i*d+j] = v
				sparse.Index, sparse.Value = append(sparse.Index, int32(j)), append(sparse.Value, v)
			}
		}
		sparse.Start = append(sparse.Start, len(sparse.Index))
	}
	rows, cols := []int{39, 3, 3, 17}, []int{38, 0, 21, 3, 5, 21, 39}
	for _, spec := range []Spec{{Gamma: 0.3, Constant: 0.5, Jitter: 0.25}, {Kind: Matern32, Amplitude: 2},
		{Kind: Poly, Coef0: 1}, {Kind: Linear}} {
		dense := need.One(spec.Prepare(x))(t)
		fromSparse := need.One(spec.PrepareSparse(sparse))(t)
		gram := need.One(dense.Gram())(t)
		for name, in := range map[string]interface {
			Block(dst []float64, stride int, rows, cols []int)
		}{"dense": dense, "sparse": fromSparse} {
			dst := make([]float64, len(rows)*stride)
			for i := range dst {
				dst[i] = -77
			}
			in.Block(dst, stride, rows, cols)
			for r, i := range rows {
				for c := range stride {
					want := -77.0
					if c < len(cols) {
						want = gram.At(i, cols[c])
						if i == cols[c] {
							want -= spec.Jitter
						}
					}
					if got := dst[r*stride+c]; math.Abs(got-want) > 1e-13*math.Max(1, math.Abs(want)) {
						t.Errorf("%s, %v: element (%d, %d) is %v, want %v", name, spec.Kind, r, c, got, want)
					}
				}
			}
			in.Block(dst, stride, nil, cols)
			in.Block(dst, stride, rows, nil)
		}
	}
}
