package batch

import (
	"sync"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// number is the precision of a block.
type number interface{ float32 | float64 }

// matrix is row-major without gaps.
type matrix[T number] struct {
	rows, cols int
	data       []T
}

func newMatrix[T number](rows, cols int) matrix[T] {
	return matrix[T]{rows, cols, make([]T, rows*cols)}
}

func (a matrix[T]) row(i int) []T { return a.data[i*a.cols : (i+1)*a.cols] }

// top is the first rows.
func (a matrix[T]) top(rows int) matrix[T] { return matrix[T]{rows, a.cols, a.data[:rows*a.cols]} }

func (a matrix[T]) double() blas64.General {
	return blas64.General{Rows: a.rows, Cols: a.cols, Stride: a.cols, Data: any(a.data).([]float64)}
}

func (a matrix[T]) single() blas32.General {
	return blas32.General{Rows: a.rows, Cols: a.cols, Stride: a.cols, Data: any(a.data).([]float32)}
}

// mulVec is dst = a x.
func mulVec[T number](dst []T, a matrix[T], x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		blas32.Gemv(gblas.NoTrans, 1, a.single(), vector32(any(x).([]float32)), 0, vector32(dst))
	case []float64:
		blas64.Gemv(gblas.NoTrans, 1, a.double(), vector64(any(x).([]float64)), 0, vector64(dst))
	}
}

// subMulVec is dst -= a' x.
func subMulVec[T number](dst []T, a matrix[T], x []T) {
	switch dst := any(dst).(type) {
	case []float32:
		blas32.Gemv(gblas.Trans, -1, a.single(), vector32(any(x).([]float32)), 1, vector32(dst))
	case []float64:
		blas64.Gemv(gblas.Trans, -1, a.double(), vector64(any(x).([]float64)), 1, vector64(dst))
	}
}

func vector32(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }
func vector64(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// product multiplies the rows of x by G without its diagonal. It is safe for concurrent use.
type product[T number] func(dst, x matrix[T])

// newProduct takes a copy of G in the precision T, or of its factor.
func newProduct[T number](e linalg.Engine) product[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		g := linalg.NewProduct32(e)
		return func(dst, x matrix[T]) { g(dst.single(), x.single()) }
	}
	var one sync.Mutex // an engine's workspace serves one goroutine
	return func(dst, x matrix[T]) {
		one.Lock()
		defer one.Unlock()
		e.MulOffDiag(dst.double(), x.double())
	}
}
