package kernel_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/kernel"
	"bootbench/linalg"
)

// The Gram matrix of three inputs with two features, and the covariances of a new input with them.
func ExampleSpec_Prepare() {
	x := linalg.NewMatrix(3, 2)
	copy(x.Data, []float64{0, 0, 1, 0, 0, 2})
	inputs, err := kernel.Spec{Kind: kernel.RBF, LengthScale: []float64{1, 2}}.Prepare(linalg.Design{X: x})
	if err != nil {
		log.Fatal(err)
	}
	k, err := inputs.Gram(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(k))
	cross := blas64.General{Rows: 1, Cols: 3, Stride: 3, Data: make([]float64, 3)}
	if err := inputs.Cross(linalg.Design{X: x.Gather([]int{1})}, cross); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", cross.Data)
	// Output:
	// ⎡1.0000  0.6065  0.6065⎤
	// ⎢0.6065  1.0000  0.3679⎥
	// ⎣0.6065  0.3679  1.0000⎦
	// [0.6065 1.0000 0.3679]
}
