package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// MulOffDiag is dst = x (G - diag(G)) = (x U) U' minus the diagonal of U U', a cancellation by a factor 1/b.
func (e *lowRankEngine) MulOffDiag(dst, x blas64.General) {
	scaled := newGeneral(x.Rows, x.Cols)
	scaleColumns(scaled, x, e.inverse)
	t := e.k.coordinates(scaled)
	solveBoth(e.lower, t)
	e.k.vectors(dst, t)
	for r := range x.Rows {
		to := core.Row(dst, r)
		for i, v := range core.Row(x, r) {
			to[i] = to[i]*e.inverse[i] - e.uNorm2[i]*v
		}
	}
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *lowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.quadraticForm(x)
	if !e.kept() {
		e.bothSides(gblas.Trans)
	}
	e.lanes.forms(dst, e.basis(), e.form)
	for i, v := range dst {
		dst[i] = v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
	}
}

// quadraticForm computes S = L^-1 (R' diag(x/e^2) R) L^-T into form, by products with the basis.
func (e *lowRankEngine) quadraticForm(x []float64) {
	for i, v := range x {
		e.scale[i] = math.Copysign(math.Sqrt(math.Abs(v)), v) * e.inverse[i]
	}
	clear(e.form.Data)
	e.lanes.gram(e.form, e.basis(), e.scale)
	for i := range e.form.Rows {
		for j := range i {
			e.form.Data[j*e.form.Stride+i] = e.form.Data[i*e.form.Stride+j]
		}
	}
	if !e.kept() {
		e.bothSides(gblas.NoTrans)
	}
}

// bothSides replaces form, S, by L^-1 S L^-T (t = NoTrans) or L^-T S L^-1 (Trans): from the basis of R' to
// that of L^-1 R', or back.
func (e *lowRankEngine) bothSides(t gblas.Transpose) {
	opposite := gblas.Trans
	if t == gblas.Trans {
		opposite = gblas.NoTrans
	}
	l := lowerOf(e.lower)
	sideBySide(len(e.lanes), e.k.rank, func(_, first, last int) {
		blas64.Trsm(gblas.Left, t, 1, l, core.Cols(e.form, first, last))
	})
	sideBySide(len(e.lanes), e.k.rank, func(_, first, last int) {
		blas64.Trsm(gblas.Right, opposite, 1, l, core.Rows(e.form, first, last))
	})
}

// Rows copies rows of G into dst.
func (e *lowRankEngine) Rows(dst blas64.General, first int) {
	t := contiguous(dst.Rows, e.k.rank)
	e.k.Rows(t.Data, first, first+dst.Rows)
	solveBoth(e.lower, t)
	e.k.vectors(dst, t)
	scaleColumns(dst, dst, e.inverse)
	for r := range dst.Rows {
		row, i := core.Row(dst, r), first+r
		floats.Scale(e.inverse[i], row)
		row[i] = e.chi[i]
	}
}

// lowRankOf is the engine on a factor, and its bias; nil if there is none.
func lowRankOf(e Engine) (*lowRankEngine, *biasEngine) {
	bias := biasOf(e)
	if bias != nil {
		e = bias.Engine
	}
	low, _ := e.(*lowRankEngine)
	return low, bias
}

// product32 uses copies of U, with z/w^1/2 as a further column for a bias, and of the diagonal of U U'.
func (e *lowRankEngine) product32(bias *biasEngine) Product32 {
	n, r := e.k.n, e.k.rank
	u, diag := newGeneral32(r+1, n), make([]float32, n)
	e.lanes.eachBlock(n, func(l lane, first, last int) {
		e.scaledFactor(l.work, first, last, e.inverse)
		for q := range r {
			convert(u.Data[q*u.Stride+first:][:last-first], l.work.Data[q*l.work.Stride:])
		}
	})
	for i, v := range e.uNorm2 {
		if bias != nil {
			z := bias.z[i] / math.Sqrt(bias.w)
			u.Data[r*u.Stride+i], v = float32(z), v+z*z
		}
		diag[i] = float32(v)
	}
	return func(dst, x blas32.General) {
		if x.Rows == 0 || n == 0 {
			return
		}
		for r := range x.Rows {
			to := dst.Data[r*dst.Stride:]
			for i, v := range x.Data[r*x.Stride : r*x.Stride+n] {
				to[i] = -v * diag[i]
			}
		}
		t := newGeneral32(x.Rows, u.Rows)
		blas32.Gemm(gblas.NoTrans, gblas.Trans, 1, x, u, 0, t)
		blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, t, u, 1, dst)
	}
}

// predictor computes at coordinates phi, with the kernel vector R phi,
//
//	mean = phi'v(field),    v(s) = R'(I + diag(d)K~)^-1 s,
//	variance = phi'S phi,   S = M^-1 R' diag(scatter/e^2) R M^-1,
//
// in O(rank^2). A bias makes z(x) = 1 - phi'v(d) one more coordinate, with mean z'field/w and with v(z o
// scatter)/w and z'(z o scatter)/w^2 in S.
func (e *lowRankEngine) predictor(bias *biasEngine, field, scatter []float64) Predictor {
	r := e.k.rank
	order, weights, level := r, e.coefficients(field), []float64(nil)
	if bias != nil {
		order, level = r+1, e.coefficients(e.d)
		weights = append(weights, floats.Dot(bias.z, field)/bias.w)
	}
	form := newGeneral(order, order)
	e.quadraticForm(scatter)
	e.bothSides(gblas.Trans)
	for q := range r {
		copy(core.Row(form, q), core.Row(e.form, q))
	}
	if bias != nil {
		turned := floats.MulTo(make([]float64, e.k.n), bias.z, scatter)
		for q, v := range append(e.coefficients(turned), floats.Dot(bias.z, turned)/bias.w) {
			form.Data[q*form.Stride+r], form.Data[r*form.Stride+q] = v/bias.w, v/bias.w
		}
	}
	return func(rows, mean, variance []float64) {
		phi, formed := newGeneral(len(mean), order), newGeneral(len(mean), order)
		for i := range mean {
			at := core.Row(phi, i)
			copy(at, rows[i*r:(i+1)*r])
			if bias != nil {
				at[r] = 1 - floats.Dot(at[:r], level)
			}
		}
		core.AddProduct(formed, 1, phi, gblas.NoTrans, form)
		for i := range mean {
			at := core.Row(phi, i)
			mean[i], variance[i] = floats.Dot(at, weights), math.Max(0, floats.Dot(at, core.Row(formed, i)))
		}
	}
}

// coefficients is v(s) = R'(s - d o (G s)).
func (e *lowRankEngine) coefficients(s []float64) []float64 {
	weights := make([]float64, e.k.n)
	MulVecOffDiag(e, weights, s)
	for i, v := range s {
		weights[i] = v - e.d[i]*(weights[i]+e.chi[i]*v)
	}
	return e.k.coordinates(rowOf(weights)).Data
}
