package linalg

import (
	"errors"
	"math"
	"unsafe"

	"bootbench/blas"
)

// ErrSingle reports a refresh that float32 cannot carry.
var ErrSingle = errors.New("not to be had in single precision")

const (
	// B, whose diagonal is at least 1, is changed by less than a rounding error
	// when every element grows by this; and no decay of the kernel then leads to
	// numbers below the smallest normal one, which processors are slow at.
	leastSingle = 1e-15

	// d_i K_ii outside these bounds would lose all digits, or overflow.
	leastShare = 1e-8
	mostShare  = 1e6
)

// single is the scratch triangle as numbers of half the size, each row in the
// first half of its place.
func single(k *Sym) triangle[float32] {
	s := k.Scratch()
	if s.N == 0 {
		return triangle[float32]{stride: 2 * s.Stride}
	}
	return triangle[float32]{s.N, 2 * s.Stride, unsafe.Slice((*float32)(unsafe.Pointer(&s.Data[0])), 2*len(s.Data))}
}

// SingleError is 2^-25 N^1/2 max d_i K_ii: numbers of the size of B's diagonal
// are rounded in sums of N. Measured errors were 0.3 to 1.2 of that.
func (e *CholeskyEngine) SingleError(d []float64) float64 {
	if _, ok := blas.Bound().(blas.Single); !ok {
		return math.Inf(1)
	}
	most := 1.0
	for i, v := range d {
		share := v * e.k.At(i, i)
		if !(share >= leastShare && share <= mostShare) {
			return math.Inf(1)
		}
		most = math.Max(most, share)
	}
	return most * math.Sqrt(float64(e.N())) * 0x1p-25
}

// FactorizeSingle moves G to d in float32, in half of the scratch triangle.
func (e *CholeskyEngine) FactorizeSingle(d []float64) error {
	bound, ok := blas.Bound().(blas.Single)
	if !ok {
		return ErrSingle
	}
	if err := e.begin(d); err != nil {
		return err
	}
	t := single(e.k)
	if err := refresh(e, t, leastSingle, bound.Potrf32, bound.Trtri32); err != nil {
		return errors.Join(ErrSingle, err)
	}
	for i, b := range e.b {
		if !(e.chi[i] > 0 && b > 0) {
			return ErrSingle
		}
	}
	expand(e, t, bound.Lauum32)
	e.single = true
	return nil
}
