package linalg

import (
	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// squares32 is MulVecSquaredOffDiag with its 2 N r^2 flops in single precision: blocks of the factor
// are converted as they pass.
type squares32 struct {
	e          *LowRankEngine
	form       blas32.General // rank x rank
	work, twin blas32.General // rank x siteBlock
}

// Squares32 computes in workspace of its own, 4 r^2 bytes and two blocks of the factor.
func (e *LowRankEngine) Squares32() Squares {
	if !fastTriangles() || e.k.rank == 0 {
		return nil
	}
	block := e.ws.work.Cols
	return &squares32{e, newGeneral32(e.k.rank, e.k.rank), newGeneral32(e.k.rank, block), newGeneral32(e.k.rank, block)}
}

// MulVecSquaredOffDiag is that of the engine. What is left of the diagonal of G is a rounding
// error of it in single precision.
func (s *squares32) MulVecSquaredOffDiag(dst, x []float64) {
	e := s.e
	clear(dst)
	s.quadraticForm(x)
	triangle := blas32.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: s.form.Rows, Stride: s.form.Stride, Data: s.form.Data}
	e.eachBlock(func(first, last int, work, _ blas64.General) {
		part, twin := cols32(s.work, last-first), cols32(s.twin, last-first)
		convert32(part, e.factor(work, first, last))
		for q := range twin.Rows {
			copy(twin.Data[q*twin.Stride:][:twin.Cols], part.Data[q*part.Stride:])
		}
		blas32.Trmm(gblas.Left, gblas.NoTrans, 1, triangle, twin)
		sums := dst[first:last]
		for q := range part.Rows {
			other := twin.Data[q*twin.Stride:][:len(sums)]
			for i, v := range part.Data[q*part.Stride:][:len(sums)] {
				sums[i] += float64(v * other[i])
			}
		}
	})
	e.k.share.gather(dst)
	for i, v := range dst {
		dst[i] = 2*v*e.inverse[i]*e.inverse[i] - e.uNorm2[i]*e.uNorm2[i]*x[i]
	}
}

// quadraticForm leaves the lower triangle of the engine's quadraticForm in form, in the basis of its
// factor, with half of the diagonal.
func (s *squares32) quadraticForm(x []float64) {
	e := s.e
	e.rootScale(x)
	clear(s.form.Data)
	list := make([]int, s.twin.Cols)
	e.eachBlock(func(first, last int, _, work blas64.General) {
		sites, positive := bySign(list, x, first, last)
		e.scaled(work, first, last, sites, positive)
		convert32(cols32(s.work, last-first), work)
		s.addGram(1, 0, positive)
		s.addGram(-1, positive, last-first)
	})
	e.k.share.sum32(s.form.Data)
	if !e.kept() {
		s.toPivots()
	}
	for q := range s.form.Rows {
		s.form.Data[q*(s.form.Stride+1)] /= 2
	}
}

// addGram adds alpha times the products of columns first to last-1 of work to form.
func (s *squares32) addGram(alpha float32, first, last int) {
	if first < last {
		blas32.Syrk(gblas.NoTrans, alpha, blas32.General{Rows: s.work.Rows, Cols: last - first, Stride: s.work.Stride, Data: s.work.Data[first:]},
			1, blas32.Symmetric{Uplo: gblas.Lower, N: s.form.Rows, Stride: s.form.Stride, Data: s.form.Data})
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
	convert32(form, e.ws.form)
}

// convert32 rounds a, of dst's size.
func convert32(dst blas32.General, a blas64.General) {
	for q := range dst.Rows {
		to := dst.Data[q*dst.Stride:][:dst.Cols]
		for i, v := range a.Data[q*a.Stride:][:dst.Cols] {
			to[i] = float32(v)
		}
	}
}

// cols32 are the first n columns of a.
func cols32(a blas32.General, n int) blas32.General {
	return blas32.General{Rows: a.Rows, Cols: n, Stride: a.Stride, Data: a.Data}
}
