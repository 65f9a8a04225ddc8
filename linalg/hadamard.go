package linalg

import (
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg/internal/core"
)

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G. G o G is never
// stored: every element of the triangle is squared as it passes and serves its
// row and its column.
func (e *CholeskyEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.mustHoldG()
	if e.small.Usable() {
		e.small.MulSquared(e.k.Scratch(), x, dst)
		return
	}
	t := double(e.k)
	count := core.Blocks(t.n, tile)
	core.OverTriangle(t.n, core.Lanes, func(lane int) {
		sum := e.lanes[lane]
		clear(sum)
		for block := lane; block < count; block += core.Lanes {
			i, last := block*tile, min(t.n, (block+1)*tile)
			for ; i+1 < last; i += 2 {
				squareRows(t.row(i)[:i], t.row(i + 1)[:i+1], x, sum)
			}
			if i < last {
				sum[i] += core.SquareRow(t.row(i)[:i], x[:i], sum[:i], x[i])
			}
		}
	})
	for i := range dst {
		dst[i] = 0
		for _, sum := range e.lanes {
			dst[i] += sum[i]
		}
	}
}

// Couple is that of Coupler.
func (e *CholeskyEngine) Couple(crossed blas64.General, u []float64) {
	e.mustHoldG()
	e.small.Couple(e.k.Scratch(), e.sites.Chi, u, crossed)
}

// MulCoupled is that of Coupler.
func (e *CholeskyEngine) MulCoupled(dst *[4][]float64, crossed blas64.General, d, u, f []float64) {
	e.mustHoldG()
	e.small.MulCoupled(e.k.Scratch(), crossed, d, u, f, dst)
}

// squareRows is squareRow for row i and the one after it, in one pass over x and
// y, to which it adds the sums too: i is the length of the first.
func squareRows(first, second, x, y []float64) {
	i := len(first)
	xi, xk := x[i], x[i+1]
	corner := second[i] * second[i]
	second = second[:len(first)]
	head, sums := x[:len(first)], y[:len(first)]
	var one, two float64
	for j, v := range first {
		g, h := v*v, second[j]*second[j]
		one += g * head[j]
		two += h * head[j]
		sums[j] += g*xi + h*xk
	}
	y[i] += one + corner*xk
	y[i+1] += two + corner*xi
}
