package kernel

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// Training is what prepared training inputs offer, dense (Inputs) or sparse
// (SparseInputs): the whole kernel matrix, or its rows one at a time for those
// who never hold it.
type Training interface {
	// M and D are the numbers of inputs and of features.
	M() int
	D() int
	// Gram is the M x M kernel matrix with the jitter on its diagonal.
	Gram() (*linalg.Sym, error)
	// Row writes row i (from 0) of that matrix into dst, and GramDiagonal its
	// diagonal; dst has length M. A covariance that is not finite is an error.
	Row(dst []float64, i int) error
	GramDiagonal(dst []float64) error
}

var _, _ Training = (*Inputs)(nil), (*SparseInputs)(nil)

// prepared is what dense and sparse training inputs have in common.
type prepared struct {
	spec Spec
	m, d int // training inputs, features
}

// M is the number of training inputs.
func (in *prepared) M() int { return in.m }

// N is M, as linalg.Blocks and linalg.Columns call it.
func (in *prepared) N() int { return in.m }

// D is the number of features.
func (in *prepared) D() int { return in.d }

// gram completes a Gram matrix: fill writes the covariances of row i with rows
// i, i+1, ... and returns the first place where one is not finite, or -1.
func (in *prepared) gram(k *linalg.Sym, fill func(i int) int) (*linalg.Sym, error) {
	err := eachRow(k.N(), fill, func(i, j int) error { return in.notFinite(i, i+j) })
	if err != nil {
		return nil, err
	}
	k.AddDiag(in.spec.Jitter)
	return k, nil
}

// variances writes A k(x, x) + B of the inputs into dst; square gives the inner
// product of one with itself.
func (in *prepared) variances(dst []float64, square func(i int) float64) error {
	if len(dst) != in.m {
		return fmt.Errorf("room for %d variances of %d inputs", len(dst), in.m)
	}
	clear(dst) // the squared distance to itself
	if !in.spec.Kind.radial() {
		for i := range dst {
			dst[i] = square(i)
		}
	}
	in.spec.profile(dst, in.d)
	if i := in.spec.affine(dst); i >= 0 {
		return fmt.Errorf("kernel %v of row %d with itself is not finite", in.spec.Kind, i+1)
	}
	return nil
}

// addJitter adds the jitter to a diagonal that was computed without error.
func (in *prepared) addJitter(diagonal []float64, err error) error {
	if err == nil {
		floats.AddConst(in.spec.Jitter, diagonal)
	}
	return err
}

func (in *prepared) checkRow(dst []float64, i int) error {
	if i < 0 || i >= in.m || len(dst) != in.m {
		return fmt.Errorf("row %d of a kernel matrix of order %d into %d numbers", i+1, in.m, len(dst))
	}
	return nil
}

func (in *prepared) notFinite(i, j int) error {
	return fmt.Errorf("kernel %v of rows %d and %d is not finite", in.spec.Kind, i+1, j+1)
}

func (in *prepared) newNotFinite(p, i int) error {
	return fmt.Errorf("kernel %v of new row %d and training row %d is not finite", in.spec.Kind, p+1, i+1)
}

// rowsAtOnce is the number of rows that a goroutine takes at a time.
const rowsAtOnce = 8

// eachRow calls do(i) once for each row i < n, in parallel. do returns the column
// of an element that is not finite, or -1; eachRow returns the failure of the
// lowest row that has one.
func eachRow(n int, do func(i int) int, failure func(row, column int) error) error {
	var lock sync.Mutex
	row, column := n, -1
	linalg.Parallel((n+rowsAtOnce-1)/rowsAtOnce, func(task int) {
		for i := task * rowsAtOnce; i < min((task+1)*rowsAtOnce, n); i++ {
			if j := do(i); j >= 0 {
				lock.Lock()
				if i < row {
					row, column = i, j
				}
				lock.Unlock()
			}
		}
	})
	if row == n {
		return nil
	}
	return failure(row, column)
}
