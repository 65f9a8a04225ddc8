package linalg

import (
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// bandRows is the height of the bands of a triangle.
const bandRows = 64

// addGram adds alpha times the lower triangle of a a' to the one of c: a is r x n, c is r x r.
func addGram(c blas64.General, alpha float64, a blas64.General) {
	if a.Cols > 0 && c.Rows > 0 {
		blas.Syrk(gblas.NoTrans, alpha, a, 1, symmetricOf(c))
	}
}

func symmetricOf(a blas64.General) blas64.Symmetric {
	return blas64.Symmetric{Uplo: gblas.Lower, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// LowerGram writes the lower triangle of a a' into c, both of order n. A band right of c's diagonal, n/8 wide
// or bandRows, is overwritten too. With several threads it uses dgemm, since OpenBLAS's dsyrk hardly runs in
// parallel.
func LowerGram(c, a blas64.General) {
	if bound := blas.Bound(); (bound.Name() != blas.OpenBLAS || bound.Threads() == 1) && c.Rows > 0 {
		blas.Syrk(gblas.NoTrans, 1, a, 0, symmetricOf(c))
		return
	}
	height := max(bandRows, c.Rows/8)
	for first := 0; first < c.Rows; first += height {
		last := min(c.Rows, first+height)
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Rows(a, first, last), core.Rows(a, 0, last), 0,
			core.Cols(core.Rows(c, first, last), 0, last))
	}
}

// addGram32 is addGram of a matrix in single precision, whose own gram goes through sum.
func addGram32(c blas64.General, alpha float64, a, sum blas32.General) {
	blas32.Syrk(gblas.NoTrans, 1, a, 0, blas32.Symmetric{Uplo: gblas.Lower, N: sum.Rows, Stride: sum.Stride,
		Data: sum.Data})
	for q := range c.Rows {
		row := core.Row(c, q)[:q+1]
		for i, v := range sum.Data[q*sum.Stride:][:q+1] {
			row[i] += alpha * float64(v)
		}
	}
}

// mulLower overwrites a (r x n) with the product of the lower triangle of c (r x r) and a.
func mulLower(c, a blas64.General) {
	if a.Cols > 0 && c.Rows > 0 {
		blas.Trmm(gblas.Left, gblas.NoTrans, 1, lowerOf(c), a)
	}
}

// addProducts adds the inner products of the columns of a and b, of equal strides, to sums, four rows at a
// time.
func addProducts[T number](sums []float64, rows, stride int, a, b []T) {
	n, q := len(sums), 0
	for ; q+4 <= rows; q += 4 {
		at, bt := a[q*stride:], b[q*stride:]
		a0, a1, a2, a3 := at[:n], at[stride:][:n], at[2*stride:][:n], at[3*stride:][:n]
		b0, b1, b2, b3 := bt[:n], bt[stride:][:n], bt[2*stride:][:n], bt[3*stride:][:n]
		for i, v := range a0 {
			sums[i] += float64(v*b0[i] + a1[i]*b1[i] + (a2[i]*b2[i] + a3[i]*b3[i]))
		}
	}
	for ; q < rows; q++ {
		other := b[q*stride:][:n]
		for i, v := range a[q*stride:][:n] {
			sums[i] += float64(v * other[i])
		}
	}
}

// bySign lists the numbers from first to last-1 of positive x, then the ones of negative x, and counts both.
func bySign(list []int, x []float64, first, last int) (positive, negative []int) {
	at, back := 0, last-first
	for i := first; i < last; i++ {
		if x[i] > 0 {
			list[at] = i
			at++
		} else if x[i] < 0 {
			back--
			list[back] = i
		}
	}
	return list[:at], list[back : last-first]
}

// solveLower overwrites a (r x n) with L^-1 a, L the lower triangle of l, in bands: OpenBLAS's dtrsm is slow.
func solveLower(l, a blas64.General) {
	for first := 0; first < l.Rows; first += bandRows {
		last := min(l.Rows, first+bandRows)
		band := core.Rows(a, first, last)
		if first > 0 {
			blas64.Gemm(gblas.NoTrans, gblas.NoTrans, -1, core.Cols(core.Rows(l, first, last), 0, first),
				core.Rows(a, 0, first), 1, band)
		}
		corner := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: last - first, Stride: l.Stride,
			Data: l.Data[first*l.Stride+first:]}
		blas64.Trsm(gblas.Left, gblas.NoTrans, 1, corner, band)
	}
}

// newGeneral is a zero matrix with padded rows.
func newGeneral(rows, cols int) blas64.General {
	stride := PaddedStride(cols)
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, rows*stride)}
}

// contiguous is a zero matrix without gaps between its rows.
func contiguous(rows, cols int) blas64.General { return blas64.General(NewMatrix(rows, cols)) }

func lowerOf(a blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: a.Rows, Stride: a.Stride,
		Data: a.Data}
}

// copyLower writes the lower triangle of a, and zeros above it, into dst.
func copyLower(dst, a blas64.General) {
	for i := range a.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+a.Cols]
		copy(row[:i+1], a.Data[i*a.Stride:])
		clear(row[i+1:])
	}
}

// Products over the sites, of N r^2 flops, by BLAS on blocks of R'.

// gram adds R' diag(root o |root|) R to the lower triangle of dst: the sum over lanes, in their order.
func (l lanes) gram(dst blas64.General, m []blas64.General, root []float64) {
	into := slices.Clone(l)
	into[0].sum = dst
	for _, other := range into[1:] {
		clear(other.sum.Data)
	}
	into.eachBlock(len(root), func(l lane, first, last int) { l.addGram(m, root, first, last) })
	for _, other := range into[1:] {
		for q := range dst.Rows {
			floats.Add(core.Row(dst, q)[:q+1], core.Row(other.sum, q)[:q+1])
		}
	}
}

// addGram is gram of a block: the symmetric product of the sites of positive root minus the one of negative.
func (l lane) addGram(m []blas64.General, root []float64, first, last int) {
	positive, negative := bySign(l.list, root, first, last)
	l.addSites(1, positive, m, root, first, last)
	l.addSites(-1, negative, m, root, first, last)
}

// addSites adds sign times the product of the listed sites of a block.
func (l lane) addSites(sign float64, sites []int, m []blas64.General, root []float64, first, last int) {
	if len(sites) == 0 {
		return
	}
	if l.single {
		picked := l.work32
		picked.Cols = len(sites)
		eachPanelRow(m, first, last, func(q int, row []float64) {
			to := picked.Data[q*picked.Stride:][:len(sites)]
			for c, i := range sites {
				to[c] = float32(row[i-first] * root[i])
			}
		})
		addGram32(l.sum, sign, picked, l.sum32)
		return
	}
	picked := core.Cols(l.work, 0, len(sites))
	eachPanelRow(m, first, last, func(q int, row []float64) {
		to := core.Row(picked, q)
		if len(to) == len(row) {
			floats.MulTo(to, row, root[first:last])
			return
		}
		for c, i := range sites {
			to[c] = row[i-first] * root[i]
		}
	})
	addGram(l.sum, sign, picked)
}

// forms writes x_i'A x_i to dst_i, for rows x_i of the matrix whose transpose is m and a symmetric A that it
// overwrites: twice the form of its lower triangle with half of its diagonal.
func (l lanes) forms(dst []float64, m []blas64.General, a blas64.General) {
	for q := range a.Rows {
		row := core.Row(a, q)
		row[q] /= 2
		clear(row[q+1:])
	}
	clear(dst)
	narrow := narrowLower(a)
	l.eachBlock(len(dst), func(l lane, first, last int) {
		if l.single {
			copyBlock32(l.work32, m, first, last)
			copy(l.twin32.Data, l.work32.Data)
			blas32.Trmm(gblas.Left, gblas.NoTrans, 1, narrow, l.twin32)
			addProducts(dst[first:last], narrow.N, l.work32.Stride, l.work32.Data, l.twin32.Data)
			return
		}
		copyBlock(l.work, m, first, last)
		copyBlock(l.twin, []blas64.General{l.work}, 0, last-first)
		mulLower(a, l.twin)
		addProducts(dst[first:last], a.Rows, l.work.Stride, l.work.Data, l.twin.Data)
	})
	floats.Scale(2, dst)
}

// norms writes |L x_i|^2 to dst_i, for rows x_i of the matrix whose transpose is m and a lower triangle L,
// and L R' to kept unless that is empty.
func (l lanes) norms(dst []float64, m []blas64.General, lower, kept blas64.General) {
	clear(dst)
	narrow := narrowLower(lower)
	l.eachBlock(len(dst), func(l lane, first, last int) {
		if l.single {
			copyBlock32(l.work32, m, first, last)
			blas32.Trmm(gblas.Left, gblas.NoTrans, 1, narrow, l.work32)
			addProducts(dst[first:last], narrow.N, l.work32.Stride, l.work32.Data, l.work32.Data)
			return
		}
		solved := l.work
		if len(kept.Data) > 0 {
			solved = core.Cols(kept, first, last)
		}
		copyBlock(solved, m, first, last)
		mulLower(lower, solved)
		addSquares(dst[first:last], solved)
	})
}

// copyBlock copies R' at sites first to last-1 into dst.
func copyBlock(dst blas64.General, m []blas64.General, first, last int) {
	eachPanelRow(m, first, last, func(q int, row []float64) { copy(core.Row(dst, q), row) })
}

func copyBlock32(dst blas32.General, m []blas64.General, first, last int) {
	eachPanelRow(m, first, last, func(q int, row []float64) {
		convert(dst.Data[q*dst.Stride:][:len(row)], row)
	})
}

// narrowLower is the lower triangle of a matrix in single precision.
func narrowLower(a blas64.General) blas32.Triangular {
	t := newGeneral32(a.Rows, a.Rows)
	for q := range a.Rows {
		convert(t.Data[q*t.Stride:][:q+1], core.Row(a, q))
	}
	return blas32.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: t.Rows, Stride: t.Stride,
		Data: t.Data}
}

// eachPanelRow calls f for the rows of panels, at sites first to last-1.
func eachPanelRow(panels []blas64.General, first, last int, f func(q int, row []float64)) {
	q := 0
	for _, p := range panels {
		part := core.Cols(p, first, last)
		for r := range part.Rows {
			f(q, core.Row(part, r))
			q++
		}
	}
}
