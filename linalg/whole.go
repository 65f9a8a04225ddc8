package linalg

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Whole is the engine e, at its present d, with vectors over all sites on every rank: e itself where they
// are. It is for read-outs that need all of them: products gather N numbers a row, and d stays.
func Whole(e Engine) Engine {
	share := e.Sites()
	if share.Alone() {
		return e
	}
	chi, b := e.Diag()
	w := &wholeEngine{Engine: e, share: share, chi: share.Gather(chi), b: share.Gather(b),
		d: share.Gather(e.Precisions())}
	if biased, ok := e.(*BiasEngine); ok {
		w.z, w.w = share.Gather(biased.z), biased.w
	}
	return w
}

type wholeEngine struct {
	Engine
	share     Share
	chi, b, d []float64
	z         []float64 // of a BiasEngine, as is w; else nil
	w         float64
}

func (e *wholeEngine) Sites() Share             { return ShareOut(nil, e.N()) }
func (e *wholeEngine) Diag() (chi, b []float64) { return e.chi, e.b }
func (e *wholeEngine) Precisions() []float64    { return e.d }

func (e *wholeEngine) MulVecOffDiag(dst, x []float64) {
	e.Engine.MulVecOffDiag(e.share.Of(dst), e.share.Of(x))
	e.share.gather(dst)
}

func (e *wholeEngine) MulVecSquaredOffDiag(dst, x []float64) {
	e.Engine.MulVecSquaredOffDiag(e.share.Of(dst), e.share.Of(x))
	e.share.gather(dst)
}

func (e *wholeEngine) Row(dst []float64, i int) {
	e.Engine.Row(e.share.Of(dst), i)
	e.share.gather(dst)
}

func (e *wholeEngine) MulRows(dst, x blas64.General) {
	own := func(a blas64.General) blas64.General {
		return blas64.General{Rows: a.Rows, Cols: e.share.Own(), Stride: a.Stride,
			Data: a.Data[min(e.share.First, len(a.Data)):]}
	}
	e.Engine.MulRows(own(dst), own(x))
	for r := range dst.Rows {
		e.share.gather(dst.Data[r*dst.Stride:][:dst.Cols])
	}
}

func (e *wholeEngine) Product32() Product32 { return wholeProduct{e.Engine.Product32(), e.share} }

type wholeProduct struct {
	product Product32
	share   Share
}

func (p wholeProduct) MulRows(dst, x blas32.General) {
	own := func(a blas32.General) blas32.General {
		return blas32.General{Rows: a.Rows, Cols: p.share.Own(), Stride: a.Stride,
			Data: a.Data[min(p.share.First, len(a.Data)):]}
	}
	p.product.MulRows(own(dst), own(x))
	for r := range dst.Rows {
		row := dst.Data[r*dst.Stride:][:dst.Cols]
		clear(row[:p.share.First])
		clear(row[p.share.Last:])
		p.share.sum32(row)
	}
}

// biasOf are the z and w of an engine with a bias.
func biasOf(e Engine) (z []float64, w float64, ok bool) {
	switch e := e.(type) {
	case *BiasEngine:
		return e.z, e.w, true
	case *wholeEngine:
		return e.z, e.w, e.z != nil
	}
	return nil, 0, false
}
