package core

import "gonum.org/v1/gonum/blas/blas64"

// Plan hands out memory and counts it. A dry plan counts and hands out nothing, so
// that the code that allocates is also what answers how many bytes it takes.
type Plan struct {
	Dry   bool
	bytes int64
}

// Bytes is what has been handed out, or would have been.
func (p *Plan) Bytes() int64 { return p.bytes }

// Vector is a zero vector of length n, nil of a dry plan.
func (p *Plan) Vector(n int) []float64 {
	p.bytes += 8 * int64(n)
	if p.Dry {
		return nil
	}
	return make([]float64, n)
}

// Vectors sets every destination to a zero vector of length n.
func (p *Plan) Vectors(n int, dst ...*[]float64) {
	for _, v := range dst {
		*v = p.Vector(n)
	}
}

// Ints is a slice of n zeros, nil of a dry plan.
func (p *Plan) Ints(n int) []int {
	p.bytes += 8 * int64(n)
	if p.Dry {
		return nil
	}
	return make([]int, n)
}

// Matrix is a zero matrix whose rows are an odd number of cache lines apart, so that
// walking down a column never returns to the same cache set.
func (p *Plan) Matrix(rows, cols int) blas64.General {
	stride := 8 * ((cols+7)/8 | 1)
	a := blas64.General{Rows: rows, Cols: cols, Stride: stride}
	p.bytes += 8 * int64(rows) * int64(stride)
	if !p.Dry {
		a.Data = make([]float64, rows*stride)
	}
	return a
}
