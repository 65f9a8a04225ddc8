package kernel

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// sparsePoints are sparse rows and what distances need besides.
//
// Inner products come from the columns: row i meets only the rows that share a
// feature with it, so that all products cost sum_c n_c^2/2 multiplications for
// features that occur in n_c rows, where pairs of rows would cost M/2 sum_c n_c.
// The features are not centred, which would fill the matrix; distances that are
// small beside the norms are summed from the rows themselves.
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
