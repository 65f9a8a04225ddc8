package gp_test

import (
	"context"
	"fmt"
	"slices"

	"bootbench"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
)

// gram is the kernel matrix between the inputs of an embedded set, and the set.
func gram(name string, spec kernel.Spec) (*linalg.Sym, *bootbench.Data, error) {
	data, err := bootbench.Load(name, bootbench.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	inputs, err := spec.Prepare(linalg.Design{X: data.X})
	if err != nil {
		return nil, nil, err
	}
	k, err := inputs.Gram(context.Background())
	return k, data, err
}

// Gaussian-process regression on Boston's houses, with a bias: an example of weight 2 counts as two.
func ExampleTrainer() {
	k, data, err := gram("boston", kernel.Spec{Gamma: 1e-5, Amplitude: 80})
	if err != nil {
		fmt.Println(err)
		return
	}
	trainer, err := gp.NewTrainer(k, 9) // the noise variance, in squared units of the target
	if err != nil {
		fmt.Println(err)
		return
	}
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N()), Bias: true}
	r, err := trainer.Train(set)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("bias %.2f; house 1: %.2f, predicted %.2f\n", r.Bias, set.Y[0], r.F[0])
	set.Weight[0] = 2
	if r, err = trainer.Train(set); err != nil { // overwrites the last result
		fmt.Println(err)
		return
	}
	fmt.Printf("with weight 2 of house 1: %.2f\n", r.F[0])
	// Output:
	// bias 22.78; house 1: 24.00, predicted 28.75
	// with weight 2 of house 1: 28.68
}

// The posterior mean under a probit likelihood, by expectation propagation.
func ExampleEP() {
	k, data, err := gram("sonar", kernel.Spec{Gamma: 1, Amplitude: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	ep, err := gp.NewEP(k, loss.Probit{})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N())}
	r, err := ep.Train(set, train.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v; example 1 of label %.0f has mean %.2f\n", r.Status, set.Y[0], r.F[0])
	// Output:
	// converged; example 1 of label -1 has mean -2.00
}
