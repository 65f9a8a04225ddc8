package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// MulRows writes dst = x G by dsymm on the triangle without its diagonal.
func (e *CholeskyEngine) MulRows(dst, x blas64.General) {
	e.mustBeExpanded()
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	for r := range x.Rows {
		to := dst.Data[r*dst.Stride : r*dst.Stride+e.N()]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+e.N()] {
			to[i] = e.chi[i] * v
		}
	}
	blas64.Symm(gblas.Right, 1, e.k.Scratch(), x, 1, dst)
}

// CopyG writes all of G, tile by tile on both sides of the diagonal.
func (e *CholeskyEngine) CopyG(dst blas64.General) {
	e.mustBeExpanded()
	mirror(double(e.k), e.chi, dst.Data, dst.Stride)
}

// mirror writes the symmetric matrix of a strict lower triangle and a diagonal into
// dst.
func mirror[T number](t triangle[float64], diag []float64, dst []T, stride int) {
	overTriangle(t.n, blocks(t.n, tile), func(block int) {
		first, last := block*tile, min(t.n, (block+1)*tile)
		for j0 := 0; j0 < last; j0 += tile {
			for i := first; i < last; i++ {
				for j, v := range t.row(i)[min(j0, i):min(j0+tile, i)] {
					dst[i*stride+j0+j], dst[(j0+j)*stride+i] = T(v), T(v)
				}
			}
		}
		for i := first; i < last; i++ {
			dst[i*stride+i] = T(diag[i])
		}
	})
}

// Product32 copies G into a full matrix, for sgemm.
func (e *CholeskyEngine) Product32() Product32 {
	e.mustBeExpanded()
	n := e.N()
	p := dense32{newGeneral32(n, n)}
	mirror(double(e.k), e.chi, p.g.Data, p.g.Stride)
	return p
}

// newGeneral32 is newGeneral in single precision.
func newGeneral32(rows, cols int) blas32.General {
	stride := 16 * ((cols+15)/16 | 1)
	return blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
}

// dense32 is G held whole.
type dense32 struct{ g blas32.General }

func (p dense32) MulRows(dst, x blas32.General) {
	if x.Rows > 0 && x.Cols > 0 {
		blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, x, p.g, 0, dst)
	}
}

// Coarse is nil: a dense kernel holds no coarser one.
func (e *CholeskyEngine) Coarse() Engine { return nil }

// MulRows writes dst = x diag(a) + ((x U) U') by two thin products.
func (e *LowRankEngine) MulRows(dst, x blas64.General) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	scaled := newGeneral(x.Rows, e.k.n)
	t := newGeneral(x.Rows, max(1, e.k.rank))
	t.Cols = e.k.rank
	for r := range x.Rows {
		to := scaled.Data[r*scaled.Stride:]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+e.k.n] {
			to[i] = v * e.inverse[i]
		}
	}
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, colsOf(scaled, first, last), e.factor(work, first, last), 1, t)
	})
	if !e.kept() && e.k.rank > 0 {
		blas64.Trsm(gblas.Right, gblas.Trans, 1, e.triangle(), t)
		blas64.Trsm(gblas.Right, gblas.NoTrans, 1, e.triangle(), t)
	}
	for r := range x.Rows { // diag(a) x e = residual x
		to := dst.Data[r*dst.Stride:]
		for i, v := range x.Data[r*x.Stride : r*x.Stride+e.k.n] {
			to[i] = v * e.k.residual[i]
		}
	}
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, e.factor(work, first, last), 1, colsOf(dst, first, last))
	})
	for r := range x.Rows {
		for i, v := range e.inverse {
			dst.Data[r*dst.Stride+i] *= v
		}
	}
}

// thin writes U', rank x N.
func (e *LowRankEngine) thin() blas64.General {
	u := newGeneral(e.k.rank, e.k.n)
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		part := colsOf(u, first, last)
		if e.kept() {
			copyScaled(part, e.factor(work, first, last), e.inverse[first:last])
			return
		}
		e.k.block(part, first, last, e.inverse)
		solveLower(e.lower, part)
	})
	return u
}

// copyScaled writes a, column i times scale_i, into dst.
func copyScaled(dst, a blas64.General, scale []float64) {
	for q := range a.Rows {
		to := dst.Data[q*dst.Stride:]
		for i, v := range a.Data[q*a.Stride : q*a.Stride+a.Cols] {
			to[i] = v * scale[i]
		}
	}
}

// CopyG multiplies U by itself.
func (e *LowRankEngine) CopyG(dst blas64.General) {
	n := e.k.n
	if n == 0 {
		return
	}
	u := e.thin()
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
	p := &thin32{u: newGeneral32(r, n), diag: make([]float32, n)}
	for i, v := range e.inverse {
		p.diag[i] = float32(e.k.residual[i] * v)
	}
	u := e.thin()
	for q := range r {
		for i, v := range u.Data[q*u.Stride : q*u.Stride+n] {
			p.u.Data[q*p.u.Stride+i] = float32(v)
		}
	}
	return p
}

// thin32 is G = diag + U U'.
type thin32 struct {
	u    blas32.General // U', rank x N
	diag []float32
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
	blas32.Gemm(gblas.NoTrans, gblas.Trans, 1, x, p.u, 0, t)
	blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, p.u, 1, dst)
}

// FactorizeSingle refuses: low-rank engines work in double precision only.
func (e *LowRankEngine) FactorizeSingle([]float64) error { return ErrSingle }

// SingleError is infinite.
func (e *LowRankEngine) SingleError([]float64) float64 { return math.Inf(1) }

// MulRows writes dst = x G on every rank.
func (e *DistributedEngine) MulRows(dst, x blas64.General) {
	e.mustBeExpanded("product of rows with G")
	n := e.k.n
	flat, product := make([]float64, x.Rows*n), make([]float64, x.Rows*n)
	for r := range x.Rows {
		copy(flat[r*n:(r+1)*n], x.Data[r*x.Stride:])
	}
	e.multiply(product, flat, x.Rows)
	e.total(product)
	for r := range x.Rows {
		to := dst.Data[r*dst.Stride:]
		for i, v := range product[r*n : (r+1)*n] {
			to[i] = v + e.chi[i]*flat[r*n+i]
		}
	}
}

// CopyG writes all of G on every rank.
func (e *DistributedEngine) CopyG(dst blas64.General) {
	for i := range e.k.n {
		e.Row(dst.Data[i*dst.Stride:i*dst.Stride+e.k.n], i)
	}
}

// Product32 is MulRows on rows of double precision.
func (e *DistributedEngine) Product32() Product32 { return widened{e} }

// widened multiplies by an engine's G in double precision.
type widened struct{ Engine }

func (p widened) MulRows(dst, x blas32.General) {
	in, out := newGeneral(x.Rows, x.Cols), newGeneral(x.Rows, x.Cols)
	for r := range x.Rows {
		for i, v := range x.Data[r*x.Stride : r*x.Stride+x.Cols] {
			in.Data[r*in.Stride+i] = float64(v)
		}
	}
	p.Engine.MulRows(out, in)
	for r := range x.Rows {
		for i, v := range out.Data[r*out.Stride : r*out.Stride+x.Cols] {
			dst.Data[r*dst.Stride+i] = float32(v)
		}
	}
}

// FactorizeSingle refuses: ScaLAPACK is bound in double precision only.
func (e *DistributedEngine) FactorizeSingle([]float64) error { return ErrSingle }

// SingleError is infinite.
func (e *DistributedEngine) SingleError([]float64) float64 { return math.Inf(1) }

// Coarse is nil: a kernel that is spread holds no coarser one.
func (e *DistributedEngine) Coarse() Engine { return nil }
