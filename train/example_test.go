package train_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/machine"
)

// A training set on a kernel matrix of one's own, whose second example counts twice; the end of a context
// ends the training.
func ExampleSet() {
	k := linalg.NewSym(mat.NewSymDense(3, []float64{1, 0.5, 0.2, 0.5, 1, 0.5, 0.2, 0.5, 1}))
	m, err := machine.For(loss.Logistic{C: 1}, k, false, train.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	trainer, err := m.Trainer()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	set := train.Set{Y: []float64{1, -1, 1}, Weight: []float64{1, 2, 1}, Stop: train.Until(ctx)}
	r, err := trainer(set)
	fmt.Printf("%v %.3f %v\n", r.Status, r.F, err)
	cancel()
	r, err = trainer(set)
	fmt.Println(r.Status, err)
	// Output:
	// converged [0.145 -0.359 0.145] <nil>
	// cancelled <nil>
}
