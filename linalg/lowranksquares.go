package linalg

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// squares32 is MulVecSquaredOffDiag with its 2 N r^2 flops in single precision: blocks of the factor
// are converted as they pass.
type squares32 struct {
	e     *LowRankEngine
	form  blas32.General // rank x rank
	lanes []lane32
}

// lane32 is what one of the engine's lanes computes in.
type lane32 struct {
	part, twin blas32.General // rank x siteBlock
	sum        blas32.General // rank x rank
}

// Coupler is nil.
func (e *LowRankEngine) Coupler() Coupler { return nil }

// Squares32 computes in workspace of its own, which is made once: 4 r^2 bytes and two blocks of the factor, for each lane.
func (e *LowRankEngine) Squares32() Squares {
	if !fastTriangles() || e.k.rank == 0 {
		return nil
	}
	if e.squares == nil {
		e.squares = e.newSquares32()
	}
	return e.squares
}

func (e *LowRankEngine) newSquares32() *squares32 {
	r := e.k.rank
	s := &squares32{e: e, form: newGeneral32(r, r), lanes: make([]lane32, len(e.ws.lanes))}
	for i := range s.lanes {
		s.lanes[i] = lane32{newGeneral32(r, siteBlock(e.k.share.Own(), r)), newGeneral32(r, siteBlock(e.k.share.Own(), r)), newGeneral32(r, r)}
	}
	return s
}

// eachBlock is that of the engine, with the lane of the same number cut as its lane is.
func (s *squares32) eachBlock(f func(l lane, l32 lane32, first, last int)) {
	s.e.eachBlock(func(l lane, first, last int) {
		l32 := s.lanes[l.number]
		l32.part, l32.twin = cols32(l32.part, last-first), cols32(l32.twin, last-first)
		f(l, l32, first, last)
	})
}

// MulVecSquaredOffDiag is that of the engine. What is left of the diagonal of G is a rounding
// error of it in single precision.
func (s *squares32) MulVecSquaredOffDiag(dst, x []float64) {
	e := s.e
	clear(dst)
	s.quadraticForm(x)
	triangle := blas32.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: s.form.Rows, Stride: s.form.Stride, Data: s.form.Data}
	s.eachBlock(func(_ lane, l lane32, first, last int) {
		part, twin := grid32(l.part), grid32(l.twin)
		e.eachRow(first, last, func(q int, row []float64) {
			convert(part.row(q), row)
			copy(twin.row(q), part.row(q))
		})
		blas32.Trmm(gblas.Left, gblas.NoTrans, 1, triangle, l.twin)
		addProducts(dst[first:last], part, twin)
	})
	for i, v := range dst {
		dst[i] = 2*v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
	}
}

// quadraticForm leaves the lower triangle of the engine's quadraticForm in form, in the basis of its
// factor, with half of the diagonal.
func (s *squares32) quadraticForm(x []float64) {
	e := s.e
	e.rootScale(x)
	for _, l := range s.lanes {
		clear(l.sum.Data)
	}
	s.eachBlock(func(l lane, l32 lane32, first, last int) {
		sites, positive := bySign(l.list, x, first, last)
		scaled(grid32(l32.part), e, first, last, sites, positive)
		l32.addGram(1, 0, positive)
		l32.addGram(-1, positive, last-first)
	})
	clear(s.form.Data)
	for _, l := range s.lanes {
		for i, v := range l.sum.Data {
			s.form.Data[i] += v
		}
	}
	e.k.share.sum32(s.form.Data)
	if !e.kept() {
		s.toPivots()
	}
	for q := range s.form.Rows {
		s.form.Data[q*(s.form.Stride+1)] /= 2
	}
}

// addGram adds alpha times the products of columns first to last-1 of part to the lane's sum.
func (l lane32) addGram(alpha float32, first, last int) {
	if first < last {
		blas32.Syrk(gblas.NoTrans, alpha, blas32.General{Rows: l.part.Rows, Cols: last - first, Stride: l.part.Stride, Data: l.part.Data[first:]},
			1, blas32.Symmetric{Uplo: gblas.Lower, N: l.sum.Rows, Stride: l.sum.Stride, Data: l.sum.Data})
	}
}

// toPivots carries L into form, in double precision.
func (s *squares32) toPivots() {
	e, form := s.e, s.form
	for q := range form.Rows {
		for j, v := range form.Data[q*form.Stride:][:q+1] {
			e.ws.form.Data[q*e.ws.form.Stride+j] = float64(v)
		}
	}
	mirrorLower(e.ws.form)
	e.bothSides(func(a blas64.General) { solveLower(e.lower, a) })
	e.toPivots()
	for q := range form.Rows {
		convert(grid32(form).row(q), grid64(e.ws.form).row(q))
	}
}

// cols32 are the first n columns of a.
func cols32(a blas32.General, n int) blas32.General {
	return blas32.General{Rows: a.Rows, Cols: n, Stride: a.Stride, Data: a.Data}
}
