package fits

import (
	"sync"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// number is the element type of a block.
type number interface{ float32 | float64 }

// matrix is a row-major matrix with stride cols.
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

// gemv is y = alpha op(a) x + beta y.
func gemv[T number](t gblas.Transpose, alpha T, a matrix[T], x []T, beta T, y []T) {
	switch y := any(y).(type) {
	case []float32:
		blas32.Gemv(t, float32(alpha), a.single(), vector32(any(x).([]float32)), float32(beta), vector32(y))
	case []float64:
		blas64.Gemv(t, float64(alpha), a.double(), vector64(any(x).([]float64)), float64(beta), vector64(y))
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
	var one sync.Mutex // an engine is not safe for concurrent use
	return func(dst, x matrix[T]) {
		one.Lock()
		defer one.Unlock()
		e.MulOffDiag(dst.double(), x.double())
	}
}
