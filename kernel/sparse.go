package kernel

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// sparsePoints are sparse rows and what distances need besides.
//
// Inner products come from the columns: row i meets only the rows that share a feature with it, so that all
// products cost sum_c n_c^2/2 multiplications for features that occur in n_c rows, where pairs of rows would
// cost M/2 sum_c n_c. The features are not centred, which would fill the matrix; distances that are small
// beside the norms are summed from the rows themselves.
type sparsePoints struct {
	scaling
	raw     CSR
	scaled  []float64 // the values over their length scale; the raw ones without a distance
	norm    []float64 // |scaled row|^2
	columns columns   // of the scaled rows; empty of new inputs
}

// of is 1/L of feature c.
func (s scaling) of(c int32) float64 {
	if len(s.inverse) == 1 {
		return s.inverse[0]
	}
	return s.inverse[c]
}

// sparse prepares x, of which it keeps a view, with its columns if others are to be multiplied by it.
func (s scaling) sparse(x CSR, train bool) *sparsePoints {
	p := &sparsePoints{scaling: s, raw: x, scaled: x.Value}
	if s.inverse != nil {
		p.scaled, p.norm = make([]float64, len(x.Value)), make([]float64, x.Rows)
		for k, v := range x.Value {
			p.scaled[k] = v * s.of(x.Index[k])
		}
		for i := range p.norm {
			p.norm[i] = squaredNorm(p.scaled[x.Start[i]:x.Start[i+1]])
		}
	}
	if train {
		p.columns = transpose(x, p.scaled)
	}
	return p
}

func (p *sparsePoints) count() int { return p.raw.Rows }

func (p *sparsePoints) norms() []float64 { return p.norm }

func (p *sparsePoints) gram(k blas64.Symmetric) {
	linalg.Parallel(k.N, func(i int) { p.multiply(k.Data[i*k.Stride+i:i*k.Stride+k.N], p, i, i) })
}

func (p *sparsePoints) products(dst blas64.General, others points, first int) {
	linalg.Parallel(dst.Rows, func(r int) { p.multiply(row(dst, r), others.(*sparsePoints), r, first) })
}

// multiply writes the inner products of row i of others with the rows from,
// from+1, ... into dst, as many as it holds. Each sum runs over the shared features in
// ascending order, so a product does not depend on which of its rows is asked.
func (p *sparsePoints) multiply(dst []float64, others *sparsePoints, i, from int) {
	clear(dst)
	t := p.columns
	for k := others.raw.Start[i]; k < others.raw.Start[i+1]; k++ {
		c := others.raw.Index[k]
		if int(c) >= len(t.start)-1 {
			return
		}
		first, end := t.start[c], t.start[c+1]
		rows, values := t.row[first:end], t.value[first:end]
		if from > 0 {
			skip := sort.Search(len(rows), func(q int) bool { return int(rows[q]) >= from })
			rows, values = rows[skip:], values[skip:]
		}
		if n := len(rows); n > 0 && int(rows[n-1]) >= from+len(dst) {
			rows = rows[:sort.Search(n, func(q int) bool { return int(rows[q]) >= from+len(dst) })]
		}
		v := others.scaled[k]
		for q, r := range rows {
			dst[int(r)-from] += v * values[q]
		}
	}
}

// distance is sum_c ((x_c - z_c) w_c)^2 over the features of either row.
func (p *sparsePoints) distance(others points, i, j int) float64 {
	xi, x := others.(*sparsePoints).raw.Row(i)
	zi, z := p.raw.Row(j)
	sum := 0.0
	for len(xi) > 0 || len(zi) > 0 {
		var t float64
		switch {
		case len(zi) == 0 || len(xi) > 0 && xi[0] < zi[0]:
			t = x[0] * p.of(xi[0])
			xi, x = xi[1:], x[1:]
		case len(xi) == 0 || zi[0] < xi[0]:
			t = z[0] * p.of(zi[0])
			zi, z = zi[1:], z[1:]
		default:
			t = (x[0] - z[0]) * p.of(xi[0])
			xi, x, zi, z = xi[1:], x[1:], zi[1:], z[1:]
		}
		sum += t * t
	}
	if sum > math.MaxFloat64 {
		return math.NaN()
	}
	return sum
}

func (p *sparsePoints) square(i int) float64 {
	_, value := p.raw.Row(i)
	return squaredNorm(value)
}

func (p *sparsePoints) subset(list []int) points {
	x := CSR{Rows: len(list), Cols: p.raw.Cols, Start: []int{0}}
	for _, i := range list {
		index, value := p.raw.Row(i)
		x.Index, x.Value = append(x.Index, index...), append(x.Value, value...)
		x.Start = append(x.Start, len(x.Index))
	}
	return p.sparse(x, true)
}

// CSR is a sparse matrix in compressed rows. Row i holds the entries
// Start[i] to Start[i+1]-1: entry k is Value[k] in column Index[k], counted from
// 0. Columns ascend within a row; what is not stored is zero.
type CSR struct {
	Rows, Cols int
	Start      []int // length Rows+1, from 0
	Index      []int32
	Value      []float64
}

// Row is row i (from 0): its columns and their values, views.
func (x CSR) Row(i int) (index []int32, value []float64) {
	first, end := x.Start[i], x.Start[i+1]
	return x.Index[first:end], x.Value[first:end]
}

// Check reports the first thing wrong with x: lengths that do not fit, columns
// that do not ascend or lie outside, values that are not finite.
func (x CSR) Check() error {
	if x.Rows < 0 || x.Cols < 0 || len(x.Start) != x.Rows+1 || x.Start[0] != 0 {
		return fmt.Errorf("%d row starts do not make a sparse matrix of %d x %d", len(x.Start), x.Rows, x.Cols)
	}
	for i := range x.Rows {
		if x.Start[i+1] < x.Start[i] {
			return fmt.Errorf("sparse row %d ends before it starts", i+1)
		}
	}
	if end := x.Start[x.Rows]; end != len(x.Index) || end != len(x.Value) {
		return fmt.Errorf("a sparse matrix of %d entries has %d columns and %d values", end, len(x.Index),
			len(x.Value))
	}
	for i := range x.Rows {
		index, value := x.Row(i)
		previous := -1
		for k, c := range index {
			if int(c) <= previous || int(c) >= x.Cols {
				return fmt.Errorf("sparse row %d: column %d after %d, of %d columns, which must ascend", i+1, int(c)+1,
					previous+1, x.Cols)
			}
			previous = int(c)
			if math.IsNaN(value[k]) || math.IsInf(value[k], 0) {
				return fmt.Errorf("input row %d, feature %d is %v", i+1, int(c)+1, value[k])
			}
		}
	}
	return nil
}

// columns is the same matrix in compressed columns: column c holds the entries
// start[c] to start[c+1]-1, rows ascending.
type columns struct {
	start []int
	row   []int32
	value []float64
}

// transpose sorts the entries of x, with the given values, by column.
func transpose(x CSR, value []float64) columns {
	t := columns{start: make([]int, x.Cols+1), row: make([]int32, len(x.Index)),
		value: make([]float64, len(x.Index))}
	for _, c := range x.Index {
		t.start[c+1]++
	}
	for c := range x.Cols {
		t.start[c+1] += t.start[c]
	}
	for i := range x.Rows {
		for k := x.Start[i]; k < x.Start[i+1]; k++ {
			c := x.Index[k]
			place := t.start[c]
			t.row[place], t.value[place] = int32(i), value[k]
			t.start[c]++
		}
	}
	copy(t.start[1:], t.start) // each start has moved to the end of its column
	t.start[0] = 0
	return t
}
