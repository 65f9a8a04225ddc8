package linalg

import (
	"errors"
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"

	"bootbench/blas"
	"bootbench/linalg/internal/core"
)

// ErrSingle: single precision does not suffice for a factorisation.
var ErrSingle = errors.New("not available in single precision")

const (
	// Added to every element of B, whose diagonal is at least 1, this is less than a rounding error, and
	// avoids denormal numbers, which are slow.
	leastSingle = 1e-15

	// A d_i K_ii below minDK is raised to it, less than a rounding error of B's diagonal; above maxDK it
	// would overflow.
	minDK = 1e-8
	maxDK = 1e6
)

// single is the scratch triangle in float32, each row in the first half of its float64 row.
func single(k *Sym) triangle[float32] {
	s := k.Scratch()
	if s.N == 0 {
		return triangle[float32]{stride: 2 * s.Stride}
	}
	return triangle[float32]{s.N, 2 * s.Stride, unsafe.Slice((*float32)(unsafe.Pointer(&s.Data[0])),
		2*len(s.Data))}
}

// SingleError is 2^-25 N^1/2 max d_i K_ii, the rounding of sums of N numbers of the size of B's diagonal.
// Measured errors were 0.3 to 1.2 of that. It is infinite after UseFactor.
func (e *CholeskyEngine) SingleError(d []float64) float64 {
	if _, ok := blas.Bound().(blas.Single); !ok || e.singular.wary || len(d) != e.k.N() {
		return math.Inf(1)
	}
	most := 1.0
	for i, v := range d {
		dk := v * e.k.At(i, i)
		if !(dk >= 0 && dk <= maxDK && e.k.At(i, i) > 0) {
			return math.Inf(1)
		}
		most = math.Max(most, dk)
	}
	return most * math.Sqrt(float64(e.k.N())) * 0x1p-25
}

// FactorizeSingle computes all of G at d in float32, in half of the scratch triangle, and converts all of it
// to float64 in its place. A d_i K_ii below 1e-8 counts as 1e-8, at which Precisions then is.
func (e *CholeskyEngine) FactorizeSingle(d []float64) error {
	bound, ok := blas.Bound().(blas.Single)
	if !ok || e.singular.wary {
		return ErrSingle
	}
	if err := core.Check(d, e.k.N()); err != nil {
		return err
	}
	if err := e.begin(clipBelow(e.k, d)); err != nil {
		return err
	}
	var err error
	if e.small.Usable() {
		err = e.factorizeSmall(true)
	} else {
		t := single(e.k)
		err = factorize(e, t, leastSingle, bound.Potrf32, bound.Trtri32, bound.Lauum32)
		invert32 := e.form
		e.form = func() {
			invert32()
			toDouble(e.k, t)
		}
	}
	if err != nil {
		return errors.Join(ErrSingle, err)
	}
	if !core.Positive(e.sites.Chi) || !core.Positive(e.sites.B) {
		return ErrSingle
	}
	e.defined = true
	e.FormG()
	return nil
}

// clipBelow is d, raised to the lower limit of float32.
func clipBelow(k *Sym, d []float64) []float64 {
	clipped := make([]float64, len(d))
	for i, v := range d {
		clipped[i] = v
		if diagonal := k.At(i, i); diagonal > 0 {
			clipped[i] = math.Max(v, minDK/diagonal*(1+1e-9))
		}
	}
	return clipped
}

// toDouble converts the float32 triangle to float64 in place, each row from its end.
func toDouble(k *Sym, narrow triangle[float32]) {
	wide := double(k)
	eachRow(wide.n, func(i int) {
		row, from := wide.row(i), narrow.row(i)
		for j := i; j >= 0; j-- {
			row[j] = float64(from[j])
		}
	})
}

func newGeneral32(rows, cols int) blas32.General {
	stride := 16 * ((cols+15)/16 | 1)
	return blas32.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
}
