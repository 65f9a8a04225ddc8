package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

var _ linalg.Columns = (*Inputs)(nil)

// N is the number M of training inputs.
func (in *Inputs) N() int { return in.M() }

// Diagonal writes the prior variances A k(x, x) + B of the training inputs into
// dst (length M), without jitter.
func (in *Inputs) Diagonal(dst []float64) error { return in.Diag(in.train.raw, dst) }

// Columns writes columns of the Gram matrix without its jitter into the rows of
// dst, len(sites) x M row-major, and takes 8 len(sites) (2d + 1) bytes beside it.
// A covariance that is not finite is an error that names the pair of rows.
func (in *Inputs) Columns(dst []float64, sites []int) error {
	if len(sites) == 0 {
		return nil
	}
	some, m := in.points(gather(in.train.raw, sites)), in.M()
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, some.scaled, in.train.scaled, 0,
		blas64.General{Rows: len(sites), Cols: m, Stride: m, Data: dst})
	bad := eachRow(len(sites), func(p int) int { return in.covariances(dst[p*m:(p+1)*m], &some, p, 0) })
	if bad != nil {
		return fmt.Errorf("kernel %v of rows %d and %d is not finite", in.spec.Kind, sites[bad.row]+1, bad.col+1)
	}
	return nil
}

// Only is the same covariance with the listed training inputs only, so that
// Cross gives kernel vectors with these.
func (in *Inputs) Only(sites []int) *Inputs {
	only := *in
	only.train = in.points(gather(in.train.raw, sites))
	return &only
}

// gather copies the listed rows of x.
func gather(x blas64.General, rows []int) blas64.General {
	some := blas64.General{Rows: len(rows), Cols: x.Cols, Stride: max(1, x.Cols), Data: make([]float64, len(rows)*x.Cols)}
	for r, i := range rows {
		copy(row(some, r), row(x, i))
	}
	return some
}
