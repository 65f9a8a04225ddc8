package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg/internal/core"
)

// MulVecOffDiag is dst = (G - diag(G)) x. The diagonal is subtracted from U U', which loses
// a factor 1/b of precision.
func (e *LowRankEngine) MulVecOffDiag(dst, x []float64) {
	for i, v := range x {
		e.ws.scale[i] = v * e.inverse[i]
	}
	e.k.MulTrans(e.ws.small, e.ws.scale)
	solveBoth(e.lower, e.ws.small)
	e.k.mul(dst, e.ws.small)
	for i, v := range dst {
		dst[i] = v*e.inverse[i] - e.uNorm2[i]*x[i]
	}
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *LowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	clear(dst)
	e.quadraticForm(x)
	if !e.kept() {
		e.toPivots()
	}
	for q := range e.k.rank { // half the diagonal: x'S x is twice x' times its lower triangle times x
		row := e.ws.form.Data[q*e.ws.form.Stride : (q+1)*e.ws.form.Stride]
		row[q] /= 2
		clear(row[q+1:])
	}
	e.eachBlock(func(first, last int, work, twin blas64.General) {
		v := e.factor(work, first, last)
		copyRows(twin, v)
		mulLower(e.ws.form, twin)
		addProducts(dst[first:last], v, twin)
	})
	e.k.share.gather(dst)
	for i, v := range dst {
		dst[i] = 2*v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
	}
}

// addProducts adds the inner products of the columns of a and b to sums: of four rows at a time, so that sums
// pass a quarter as often.
func addProducts(sums []float64, a, b blas64.General) {
	n, q := len(sums), 0
	for ; q+4 <= a.Rows; q += 4 {
		a0, a1, a2, a3 := head(a, q, n), head(a, q+1, n), head(a, q+2, n), head(a, q+3, n)
		b0, b1, b2, b3 := head(b, q, n), head(b, q+1, n), head(b, q+2, n), head(b, q+3, n)
		for i := range sums {
			sums[i] += a0[i]*b0[i] + a1[i]*b1[i] + (a2[i]*b2[i] + a3[i]*b3[i])
		}
	}
	for ; q < a.Rows; q++ {
		other := head(b, q, n)
		for i, v := range head(a, q, n) {
			sums[i] += v * other[i]
		}
	}
}

// head are the first n elements of row q of a.
func head(a blas64.General, q, n int) []float64 {
	return a.Data[q*a.Stride : q*a.Stride+n : q*a.Stride+n]
}

// quadraticForm leaves L^-1 (R' diag(x/e^2) R) L^-T in form, all of it: a sum over the sites of x >= 0 less one over
// the others, which are symmetric products of what |x|^1/2/e scales.
func (e *LowRankEngine) quadraticForm(x []float64) {
	e.rootScale(x)
	clear(e.ws.form.Data)
	list := make([]int, e.ws.work.Cols)
	e.eachBlock(func(first, last int, _, twin blas64.General) {
		sites, positive := bySign(list, x, first, last)
		e.scaled(twin, first, last, sites, positive)
		addGram(e.ws.form, 1, core.Cols(twin, 0, positive))
		addGram(e.ws.form, -1, core.Cols(twin, positive, last-first))
	})
	e.k.share.Sum(e.ws.form.Data)
	mirrorLower(e.ws.form)
	if !e.kept() {
		e.bothSides(func(a blas64.General) { solveLower(e.lower, a) })
	}
}

// rootScale sets scale to |x|^1/2/e.
func (e *LowRankEngine) rootScale(x []float64) {
	for i, v := range x {
		e.ws.scale[i] = math.Sqrt(math.Abs(v)) * e.inverse[i]
	}
}

// scaled writes sites first to last-1 of what factor is, times scale, into dst: in the order of sites, the first of which are
// positive, unless all have one sign.
func (e *LowRankEngine) scaled(dst blas64.General, first, last int, sites []int, positive int) {
	mixed := positive > 0 && positive < len(sites)
	switch {
	case mixed && e.kept():
		pickColumns(dst, e.solved, sites, e.k.share.First, e.ws.scale)
	case mixed:
		e.k.pick(dst, sites, e.ws.scale)
	case e.kept():
		scaleColumns(dst, e.keptAt(first, last), e.ws.scale[first:last])
	default:
		e.k.block(dst, first, last, e.ws.scale)
	}
}

// toPivots turns form, S, into L^-T S L^-1: from the basis of L^-1 R' to that of R'.
func (e *LowRankEngine) toPivots() {
	e.bothSides(func(a blas64.General) { blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(e.lower), a) })
}

// bothSides turns form, S, into A S A', where solve overwrites its argument with A
// times it: A (A S)' for a symmetric S.
func (e *LowRankEngine) bothSides(solve func(a blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for range 2 {
		solve(e.ws.form)
		transpose(e.ws.half, e.ws.form)
		e.ws.form, e.ws.half = e.ws.half, e.ws.form
	}
}

// mirrorLower copies the lower triangle of a onto the upper one.
func mirrorLower(a blas64.General) {
	for i := range a.Rows {
		for j := range i {
			a.Data[j*a.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

func transpose(dst, a blas64.General) {
	for i := range a.Rows {
		for j := range a.Cols {
			dst.Data[j*dst.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
}

// Row copies row i of G into dst. Several goroutines may read rows at a time, unless the
// factor is a team's.
func (e *LowRankEngine) Row(dst []float64, i int) {
	x := e.k.rowsAt([]int{i}).Data[:e.k.rank]
	solveBoth(e.lower, x)
	e.k.mul(dst, x)
	for j := range dst {
		dst[j] *= e.inverse[i] * e.inverse[j]
	}
	dst[i] = e.chi[i]
}

// MulRows writes dst = x diag(a) + ((x U) U') by two thin products.
func (e *LowRankEngine) MulRows(dst, x blas64.General) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	scaled := newGeneral(x.Rows, e.k.n)
	t := newGeneral(x.Rows, max(1, e.k.rank))
	t.Cols = e.k.rank
	scaleColumns(scaled, x, e.inverse)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Cols(scaled, first, last), e.factor(work, first, last), 1, t)
	})
	e.k.share.Sum(t.Data)
	if !e.kept() && e.k.rank > 0 {
		blas64.Trsm(gblas.Right, gblas.Trans, 1, lowerOf(e.lower), t)
		blas64.Trsm(gblas.Right, gblas.NoTrans, 1, lowerOf(e.lower), t)
	}
	scaleColumns(dst, x, e.k.residual) // x e diag(a)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, e.factor(work, first, last), 1, core.Cols(dst, first, last))
	})
	scaleColumns(dst, dst, e.inverse)
	gatherRows(e.k.share, dst.Data, dst.Rows, dst.Cols, dst.Stride, e.k.share.Sum)
}

// eachThin calls f for blocks of own sites with U' there, rank x (last-first), which f may
// overwrite.
func (e *LowRankEngine) eachThin(f func(first, last int, u blas64.General)) {
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		if e.kept() {
			scaleColumns(work, e.keptAt(first, last), e.inverse[first:last])
		} else {
			e.k.block(work, first, last, e.inverse)
			solveLower(e.lower, work)
		}
		f(first, last, work)
	})
}

// CopyG multiplies U by itself.
func (e *LowRankEngine) CopyG(dst blas64.General) {
	n := e.k.n
	if n == 0 {
		return
	}
	u := newGeneral(e.k.rank, n)
	e.eachThin(func(first, last int, part blas64.General) {
		for q := range part.Rows {
			copy(u.Data[q*u.Stride+first:q*u.Stride+last], part.Data[q*part.Stride:])
		}
	})
	e.k.share.Sum(u.Data)
	if e.k.rank == 0 {
		for i := range n {
			clear(dst.Data[i*dst.Stride : i*dst.Stride+n])
		}
	} else {
		blas64.Gemm(gblas.Trans, gblas.NoTrans, 1, u, u, 0, dst)
	}
	for i, v := range e.chi {
		dst.Data[i*dst.Stride+i] = v
	}
}

// Product32 copies U and a.
func (e *LowRankEngine) Product32() Product32 {
	n, r := e.k.n, e.k.rank
	p := &thin32{share: e.k.share, u: newGeneral32(r, e.k.share.Own()), diag: make([]float32, n)}
	for i, v := range e.inverse {
		p.diag[i] = float32(e.k.residual[i] * v)
	}
	e.eachThin(func(first, last int, part blas64.General) {
		for q := range r {
			to := p.u.Data[q*p.u.Stride+first-p.share.First:]
			for i, v := range part.Data[q*part.Stride : q*part.Stride+last-first] {
				to[i] = float32(v)
			}
		}
	})
	return p
}

// thin32 is G = diag + U U'.
type thin32 struct {
	share Share
	u     blas32.General // U', rank x own sites
	diag  []float32
}

func (p *thin32) MulRows(dst, x blas32.General) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	for r := range x.Rows {
		to := dst.Data[r*dst.Stride:]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+x.Cols] {
			to[i] = v * p.diag[i]
		}
	}
	if p.u.Rows == 0 {
		return
	}
	t := newGeneral32(x.Rows, p.u.Rows)
	blas32.Gemm(gblas.NoTrans, gblas.Trans, 1, p.own(x), p.u, 0, t)
	p.share.sum32(t.Data)
	blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, p.u, 1, p.own(dst))
	gatherRows(p.share, dst.Data, dst.Rows, dst.Cols, dst.Stride, p.share.sum32)
}

// own are the columns of the own sites.
func (p *thin32) own(a blas32.General) blas32.General {
	return blas32.General{Rows: a.Rows, Cols: p.share.Own(), Stride: a.Stride, Data: a.Data[p.share.First:]}
}
