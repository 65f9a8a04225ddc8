package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// MulOffDiag is dst = x (G - diag(G)) = (x U) U' minus the diagonal of U U', a cancellation by a factor 1/b.
func (e *lowRankEngine) MulOffDiag(dst, x blas64.General) {
	core.Parallel(x.Rows, func(r int) { floats.MulTo(core.Row(dst, r), core.Row(x, r), e.inverse) })
	t := e.k.coordinates(dst)
	solveBoth(e.lower, t)
	e.k.vectors(dst, t)
	core.Parallel(x.Rows, func(r int) {
		to := core.Row(dst, r)
		for i, v := range core.Row(x, r) {
			to[i] = to[i]*e.inverse[i] - e.uNorm2[i]*v
		}
	})
}

// MulVecSquaredOffDiag is dst = (G o G) x without the diagonal of G.
func (e *lowRankEngine) MulVecSquaredOffDiag(dst, x []float64) {
	u := e.factor()
	u.weighted(e.form, x, e.scale)
	u.forms(dst, e.form)
	for i, v := range e.uNorm2 {
		dst[i] -= v * v * x[i]
	}
}

// rows are the rows u_i of U, perhaps with a further column.
type rows struct {
	*lowRankEngine
	lanes  lanes
	panels []blas64.General // rows of a matrix with columns e_i u_i, or, where L^-1 R' is not kept, e_i L u_i
}

func (e *lowRankEngine) factor() rows { return rows{e, e.lanes, e.basis()} }

// weighted computes S = sum_i x_i u_i u_i'; scale is workspace.
func (u rows) weighted(s blas64.General, x, scale []float64) {
	for i, v := range x {
		scale[i] = math.Copysign(math.Sqrt(math.Abs(v)), v) * u.inverse[i]
	}
	clear(s.Data)
	u.lanes.gram(s, u.panels, scale)
	for i := range s.Rows {
		for j := range i {
			s.Data[j*s.Stride+i] = s.Data[i*s.Stride+j]
		}
	}
	if !u.kept() {
		u.bothSides(gblas.NoTrans, s)
	}
}

// forms writes u_i' A u_i to dst_i for a symmetric A, which it overwrites.
func (u rows) forms(dst []float64, a blas64.General) {
	if !u.kept() {
		u.bothSides(gblas.Trans, a)
	}
	u.lanes.forms(dst, u.panels, a)
	for i, v := range u.inverse {
		dst[i] *= v * v
	}
}

// bothSides replaces S by L^-1 S L^-T (t = NoTrans) or L^-T S L^-1 (Trans): from the basis of R' to the basis
// of L^-1 R', or back. A further column of U stays.
func (e *lowRankEngine) bothSides(t gblas.Transpose, s blas64.General) {
	opposite := gblas.Trans
	if t == gblas.Trans {
		opposite = gblas.NoTrans
	}
	l, top, left := lowerOf(e.lower), core.Rows(s, 0, e.k.rank), core.Cols(s, 0, e.k.rank)
	sideBySide(len(e.lanes), s.Cols, func(_, first, last int) {
		blas64.Trsm(gblas.Left, t, 1, l, core.Cols(top, first, last))
	})
	sideBySide(len(e.lanes), s.Rows, func(_, first, last int) {
		blas64.Trsm(gblas.Right, opposite, 1, l, core.Rows(left, first, last))
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
	e.factor().weighted(e.form, scatter, e.scale)
	e.bothSides(gblas.Trans, e.form)
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
