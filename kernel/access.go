package kernel

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// Parts of a Gram matrix that is never held whole.
var (
	_    linalg.Columns = (*Inputs)(nil)
	_, _ linalg.Blocks  = (*Inputs)(nil), (*SparseInputs)(nil)
)

// Row writes row i of Gram into dst (length M), up to rounding, without the rest.
func (in *Inputs) Row(dst []float64, i int) error {
	if err := in.checkRow(dst, i); err != nil {
		return err
	}
	x := blas64.Vector{N: in.d, Inc: 1, Data: row(in.train.scaled, i)}
	blas64.Gemv(blas.NoTrans, 1, in.train.scaled, x, 0, blas64.Vector{N: len(dst), Inc: 1, Data: dst})
	if j := in.covariances(dst, &in.train, i, 0); j >= 0 {
		return in.notFinite(i, j)
	}
	dst[i] += in.spec.Jitter
	return nil
}

// Columns writes elements first to last-1 of columns of the Gram matrix without its jitter into
// the rows of dst, len(sites) x (last-first) row-major, and takes 8 len(sites) (2d + 1) bytes beside it.
// A covariance that is not finite is an error that names the pair of rows.
func (in *Inputs) Columns(dst []float64, sites []int, first, last int) error {
	m := last - first
	if len(sites) == 0 || m == 0 {
		return nil
	}
	some, rows := in.some(sites), in.train.scaled
	linalg.SideBySide(m, func(from, to int) {
		part := rows
		part.Rows, part.Data = to-from, rows.Data[(first+from)*rows.Stride:]
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, some.scaled, part, 0,
			blas64.General{Rows: len(sites), Cols: to - from, Stride: m, Data: dst[from:]})
	})
	return eachRow(len(sites), func(p int) int { return in.covariances(dst[p*m:(p+1)*m], &some, p, first) },
		func(p, i int) error { return in.notFinite(sites[p], first+i) })
}

// Block writes elements (rows[r], cols[c]) of Gram without its jitter into
// dst[r*stride+c], and takes 8 (2d + 1) bytes for each row and column beside it.
// Elements that are not finite are left for the caller to find.
func (in *Inputs) Block(dst []float64, stride int, rows, cols []int) {
	if len(rows) == 0 || len(cols) == 0 {
		return
	}
	some, others := in.some(rows), in.Subset(cols)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, some.scaled, others.train.scaled, 0,
		blas64.General{Rows: len(rows), Cols: len(cols), Stride: stride, Data: dst})
	linalg.Parallel(len(rows), func(r int) {
		others.covariances(dst[r*stride:r*stride+len(cols)], &some, r, 0)
	})
}

// Subset is the same covariance with the listed training inputs only, so that
// Cross gives kernel vectors with these.
func (in *Inputs) Subset(sites []int) *Inputs { return in.With(gather(in.train.raw, sites)) }

// With is the same covariance with others in the place of the training inputs. It keeps a view of x.
func (in *Inputs) With(x blas64.General) *Inputs {
	some := *in
	some.train, some.m = in.points(matrixRows(x)), x.Rows
	return &some
}

// some are the listed training inputs.
func (in *Inputs) some(sites []int) points {
	x := gather(in.train.raw, sites)
	return in.points(matrixRows(x))
}

// gather copies the listed rows of x.
// Row writes row i of Gram into dst (length M), bit for bit, without the rest.
func (in *SparseInputs) Row(dst []float64, i int) error {
	if err := in.checkRow(dst, i); err != nil {
		return err
	}
	if j := in.covariances(dst, &in.train, i, 0); j >= 0 {
		return in.notFinite(i, j)
	}
	dst[i] += in.spec.Jitter
	return nil
}

// Subset is that of Inputs.
func (in *SparseInputs) Subset(sites []int) *SparseInputs {
	some, x := *in, in.train.raw
	rows := CSR{Rows: len(sites), Cols: x.Cols, Start: []int{0}}
	for _, i := range sites {
		index, value := x.Row(i)
		rows.Index, rows.Value = append(rows.Index, index...), append(rows.Value, value...)
		rows.Start = append(rows.Start, len(rows.Index))
	}
	some.m, some.train = len(sites), in.points(rows)
	some.columns = transpose(rows, some.train.scaled)
	return &some
}

// Diagonal is GramDiagonal without the jitter.
func (in *SparseInputs) Diagonal(dst []float64) error { return in.variances(dst, in.train.raw.squares) }

// Columns is that of Inputs.
func (in *SparseInputs) Columns(dst []float64, sites []int, first, last int) error {
	m := last - first
	return eachRow(len(sites), func(p int) int {
		return in.covariances(dst[p*m:(p+1)*m], &in.train, sites[p],
			first)
	},
		func(p, i int) error { return in.notFinite(sites[p], first+i) })
}

// Block writes elements (rows[r], cols[c]) of Gram without its jitter into
// dst[r*stride+c]. It computes whole rows from the first of the columns on, one
// at a time on each processor. Elements that are not finite are left for the
// caller to find.
func (in *SparseInputs) Block(dst []float64, stride int, rows, cols []int) {
	if len(rows) == 0 || len(cols) == 0 {
		return
	}
	from := slices.Min(cols)
	linalg.Parallel(len(rows), func(r int) {
		whole := make([]float64, in.m-from)
		in.covariances(whole, &in.train, rows[r], from)
		for c, j := range cols {
			dst[r*stride+c] = whole[j-from]
		}
	})
}
