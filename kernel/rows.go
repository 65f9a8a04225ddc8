package kernel

import "gonum.org/v1/gonum/blas/blas64"

// Rows hands out inputs that are held in another form than the kernel takes them in, as
// standardised ones are where the file's own are kept.
type Rows interface {
	Dims() (n, d int)
	// Row is row i, in dst or where it stands. It is not written to.
	Row(dst []float64, i int) []float64
}

// matrixRows are the rows of a matrix.
type matrixRows blas64.General

func (x matrixRows) Dims() (n, d int) { return x.Rows, x.Cols }

func (x matrixRows) Row(_ []float64, i int) []float64 { return row(blas64.General(x), i) }

// gather copies the listed rows, nil for all of them.
func gather(x Rows, rows []int) blas64.General {
	n, d := x.Dims()
	if rows != nil {
		n = len(rows)
	}
	some := blas64.General{Rows: n, Cols: d, Stride: max(1, d), Data: make([]float64, n*d)}
	for r := range n {
		from := r
		if rows != nil {
			from = rows[r]
		}
		to := row(some, r)
		copy(to, x.Row(to, from))
	}
	return some
}

// twoRows is room for two rows at a time; nil: they stand in matrices.
type twoRows [2][]float64

func roomFor(a, b Rows) *twoRows {
	_, first := a.(matrixRows)
	_, second := b.(matrixRows)
	if first && second {
		return nil
	}
	_, d := a.Dims()
	return &twoRows{make([]float64, d), make([]float64, d)}
}

// rows are row i of a and row j of b.
func (r *twoRows) rows(a Rows, i int, b Rows, j int) (x, z []float64) {
	if r == nil {
		return a.Row(nil, i), b.Row(nil, j)
	}
	return a.Row(r[0], i), b.Row(r[1], j)
}
