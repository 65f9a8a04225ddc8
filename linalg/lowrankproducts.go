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
func (e *lowRankEngine) MulVecOffDiag(dst, x []float64) {
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

func (e *lowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.quadraticForm(x)
	e.quadraticForms(dst)
	for i, v := range dst {
		dst[i] = v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
	}
}

// toPivots overwrites a with L^-T a, which turns S, on both sides, from the basis of L^-1 R' to that of R'.
func (e *lowRankEngine) toPivots(a blas64.General) {
	blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(e.lower), a)
}

// bothSides turns form, S, into A S A', where solve overwrites its argument with A
// times it, some columns at a time: A (A S)' for a symmetric S.
func (e *lowRankEngine) bothSides(solve func(a blas64.General)) {
	if e.k.rank == 0 {
		return
	}
	for range 2 {
		sideBySide(len(e.ws.lanes), e.k.rank,
			func(_, first, last int) { solve(core.Cols(e.ws.form, first, last)) })
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

// Row copies row i of G into dst. Several goroutines may read rows at a time.
func (e *lowRankEngine) Row(dst []float64, i int) {
	x := e.k.rowsAt([]int{i}).Data[:e.k.rank]
	solveBoth(e.lower, x)
	e.k.mul(dst, x)
	for j := range dst {
		dst[j] *= e.inverse[i] * e.inverse[j]
	}
	dst[i] = e.chi[i]
}

// MulRows writes dst = x diag(a) + ((x U) U') by two thin products.
func (e *lowRankEngine) MulRows(dst, x blas64.General) {
	if x.Rows == 0 || e.k.n == 0 {
		return
	}
	scaled := newGeneral(x.Rows, e.k.n)
	scaleColumns(scaled, x, e.inverse)
	t := e.ws.lanes.product(x.Rows, e.k.n, func(l lane, first, last int) {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, core.Cols(scaled, first, last), e.factor(l.work, first, last), 1,
			l.sum)
	})
	if !e.kept() && e.k.rank > 0 {
		blas64.Trsm(gblas.Right, gblas.Trans, 1, lowerOf(e.lower), t)
		blas64.Trsm(gblas.Right, gblas.NoTrans, 1, lowerOf(e.lower), t)
	}
	scaleColumns(dst, x, e.k.residual) // x e diag(a)
	e.ws.lanes.eachBlock(e.k.n, func(l lane, first, last int) {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, e.factor(l.work, first, last), 1,
			core.Cols(dst, first, last))
	})
	scaleColumns(dst, dst, e.inverse)
}

// eachThin calls f for blocks of sites with U' there, rank x (last-first).
func (e *lowRankEngine) eachThin(f func(first, last int, u blas64.General)) {
	e.ws.lanes.eachBlock(e.k.n, func(l lane, first, last int) {
		e.scaledFactor(l.work, first, last, e.inverse)
		f(first, last, l.work)
	})
}

// copyG multiplies U by itself.
func (e *lowRankEngine) copyG(dst blas64.General) {
	n := e.k.n
	if n == 0 {
		return
	}
	u := newGeneral(e.k.rank, n)
	e.eachThin(func(first, last int, part blas64.General) {
		for q := range part.Rows {
			copy(u.Data[q*u.Stride+first:][:last-first], part.Data[q*part.Stride:])
		}
	})
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

// product32 copies U and a.
func (e *lowRankEngine) product32() Product32 {
	n, r := e.k.n, e.k.rank
	p := &thin32{u: newGeneral32(r, n), diag: make([]float32, n)}
	for i, v := range e.inverse {
		p.diag[i] = float32(e.k.residual[i]*v - e.chi[i]) // minus the diagonal of U U'
	}
	e.eachThin(func(first, last int, part blas64.General) {
		for q := range r {
			to := p.u.Data[q*p.u.Stride+first:]
			for i, v := range part.Data[q*part.Stride : q*part.Stride+last-first] {
				to[i] = float32(v)
			}
		}
	})
	return p
}

// thin32 is G - diag(G) = diag + U U'.
type thin32 struct {
	u    blas32.General // U', rank x N
	diag []float32
}

func (p *thin32) MulRows(dst, x blas32.General) {
	if x.Rows == 0 || len(p.diag) == 0 {
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

// InputDim is the length of the row of numbers that describes a new input to a Predictor: its kernel with
// every site, or its coordinates in the basis of a factor (see LowRankPlusDiag.Coordinates), at least 1.
func InputDim(k Kernel) int {
	if f := FactorOf(k); f != nil {
		return max(1, f.rank)
	}
	return k.N()
}

// Predictor reads off at coordinates phi, where the kernel vector is R phi,
//
//	mean = phi' R' (field - d o G field),   t = (R phi)'(I + diag(d)K~)^-1 = (1/e) o R M^-1 phi,
//	variance = phi' S phi,    S = M^-1 R' diag(scatter/e^2) R M^-1,
//
// in O(rank^2). The new input has no share in any site's residual.
func (e *lowRankEngine) Predictor(field, scatter []float64) Predictor {
	p := &projection{form: newGeneral(e.k.rank, e.k.rank), weights: e.coefficients(field)}
	e.quadraticForm(scatter)
	e.bothSides(e.toPivots)
	copy(p.form.Data, e.ws.form.Data)
	return p
}

// coefficients are v with phi'v = (R phi)'(I + diag(d)K~)^-1 field.
func (e *lowRankEngine) coefficients(field []float64) []float64 {
	v := make([]float64, e.k.rank)
	e.k.MulTrans(v, dualWeights(e, field))
	return v
}

// projection predicts from coordinates.
type projection struct {
	weights []float64
	form    blas64.General
}

func (p *projection) Predict(rows, mean, variance []float64) {
	r := len(p.weights)
	if r == 0 {
		clear(mean)
		clear(variance)
		return
	}
	at := blas64.General{Rows: len(mean), Cols: r, Stride: r, Data: rows}
	formed := newGeneral(len(mean), r)
	if len(mean) > 0 {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, at, p.form, 0, formed)
	}
	for i := range mean {
		mean[i], variance[i] = 0, 0
		for q, v := range rows[i*r : (i+1)*r] {
			mean[i] += v * p.weights[q]
			variance[i] += v * formed.Data[i*formed.Stride+q]
		}
		variance[i] = math.Max(0, variance[i])
	}
}
