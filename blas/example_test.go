package blas_test

import (
	"fmt"

	gonum "gonum.org/v1/gonum/blas"

	"bootbench/blas"
)

// The Cholesky factor of a matrix of order 2, row-major, by the backend that is bound.
func ExampleBound() {
	a := []float64{4, 2, 2, 5}
	minor := blas.Bound().Potrf(gonum.Lower, 2, a, 2)
	fmt.Println("not positive definite at", minor, "L =", a[0], a[2], a[3])
	// Output:
	// not positive definite at 0 L = 2 1 2
}
