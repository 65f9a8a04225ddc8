package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

var _, _ linalg.Blocks = (*Inputs)(nil), (*SparseInputs)(nil)

// Block writes elements (rows[r], cols[c]) of Gram without its jitter into
// dst[r*stride+c], and takes 8 (2d + 1) bytes for each row and column beside it.
// Elements that are not finite are left for the caller to find.
func (in *Inputs) Block(dst []float64, stride int, rows, cols []int) {
	if len(rows) == 0 || len(cols) == 0 {
		return
	}
	some, others := in.points(gather(in.train.raw, rows)), in.Only(cols)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, some.scaled, others.train.scaled, 0,
		blas64.General{Rows: len(rows), Cols: len(cols), Stride: stride, Data: dst})
	eachRow(len(rows), func(r int) int {
		return others.covariances(dst[r*stride:r*stride+len(cols)], &some, r, 0)
	})
}

// N is the number M of training inputs.
func (in *SparseInputs) N() int { return in.M() }

// Block writes elements (rows[r], cols[c]) of Gram without its jitter into
// dst[r*stride+c]. It makes whole rows from the first of the columns on, one at a
// time on each processor. Elements that are not finite are left for the caller to
// find.
func (in *SparseInputs) Block(dst []float64, stride int, rows, cols []int) {
	if len(rows) == 0 || len(cols) == 0 {
		return
	}
	from := cols[0]
	for _, j := range cols {
		from = min(from, j)
	}
	eachRow(len(rows), func(r int) int {
		whole := make([]float64, in.M()-from)
		in.row(whole, &in.train, rows[r], from)
		for c, j := range cols {
			dst[r*stride+c] = whole[j-from]
		}
		return -1
	})
}
