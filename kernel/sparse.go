package kernel

import (
	"sort"

	"bootbench/linalg"
)

// Inner products of sparse points are computed by columns, over the rows that share a feature: all products
// cost sum_c n_c^2/2 multiplications for features in n_c rows, instead of M/2 sum_c n_c by pairs of rows.
// Centring the features would fill the matrix.

// multiply writes the inner products of row i of others with the rows from, from+1, ... into dst, as many as
// it holds. Each sum is over the shared features in ascending order, so that products are symmetric.
func (p *points) multiply(dst []float64, others *points, i, from int) {
	clear(dst)
	features, factors := others.scaled.Sparse.Row(i)
	for k, c := range features {
		if int(c) >= p.columns.Rows {
			return
		}
		rows, values := p.columns.Row(int(c))
		if from > 0 {
			skip := sort.Search(len(rows), func(q int) bool { return int(rows[q]) >= from })
			rows, values = rows[skip:], values[skip:]
		}
		if n := len(rows); n > 0 && int(rows[n-1]) >= from+len(dst) {
			rows = rows[:sort.Search(n, func(q int) bool { return int(rows[q]) >= from+len(dst) })]
		}
		v := factors[k]
		for q, r := range rows {
			dst[int(r)-from] += v * values[q]
		}
	}
}

// sparseDistance is squaredDistance over the features of either row.
func (p *points) sparseDistance(others *points, i, j int) (sum float64) {
	xi, x := others.raw.Sparse.Row(i)
	zi, z := p.raw.Sparse.Row(j)
	for len(xi) > 0 || len(zi) > 0 {
		var t float64
		switch {
		case len(zi) == 0 || len(xi) > 0 && xi[0] < zi[0]:
			t = x[0] * p.of(int(xi[0]))
			xi, x = xi[1:], x[1:]
		case len(xi) == 0 || zi[0] < xi[0]:
			t = z[0] * p.of(int(zi[0]))
			zi, z = zi[1:], z[1:]
		default:
			t = (x[0] - z[0]) * p.of(int(xi[0]))
			xi, x, zi, z = xi[1:], x[1:], zi[1:], z[1:]
		}
		sum += t * t
	}
	return sum
}

// transpose is the transpose of x, with ascending entries.
func transpose(x *linalg.CSR) *linalg.CSR {
	t := &linalg.CSR{Rows: x.Cols, Cols: x.Rows, Start: make([]int, x.Cols+1),
		Index: make([]int32, len(x.Index)), Value: make([]float64, len(x.Index))}
	for _, c := range x.Index {
		t.Start[c+1]++
	}
	for c := range x.Cols {
		t.Start[c+1] += t.Start[c]
	}
	for i := range x.Rows {
		for k := x.Start[i]; k < x.Start[i+1]; k++ {
			c := x.Index[k]
			place := t.Start[c]
			t.Index[place], t.Value[place] = int32(i), x.Value[k]
			t.Start[c]++
		}
	}
	copy(t.Start[1:], t.Start) // each start has moved to the end of its column
	t.Start[0] = 0
	return t
}
