package gp_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"bootbench"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
)

// gram is the kernel matrix between the inputs of an embedded set, and the set.
func gram(name string, spec kernel.Spec) (*linalg.Sym, *bootbench.Data) {
	data := must(bootbench.Load(name, bootbench.ReadOptions{}))
	inputs := must(spec.Prepare(linalg.Design{X: data.X}))
	return must(inputs.Gram(context.Background())), data
}

// Gaussian-process regression on Boston's houses, with a bias: an example of weight 2 counts as two.
func ExampleTrainer() {
	k, data := gram("boston", kernel.Spec{Gamma: 1e-5, Amplitude: 80})
	trainer := must(gp.NewTrainer(k, 9)) // the noise variance, in squared units of the target
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N()), Bias: true}
	r := must(trainer.Train(set))
	fmt.Printf("bias %.2f; house 1: %.2f, predicted %.2f\n", r.Bias, set.Y[0], r.F[0])
	set.Weight[0] = 2
	r = must(trainer.Train(set)) // overwrites the last result
	fmt.Printf("with weight 2 of house 1: %.2f\n", r.F[0])
	// Output:
	// bias 22.78; house 1: 24.00, predicted 28.75
	// with weight 2 of house 1: 28.68
}

// The posterior mean under a probit likelihood, by expectation propagation.
func ExampleEP() {
	k, data := gram("sonar", kernel.Spec{Gamma: 1, Amplitude: 10})
	ep := must(gp.NewEP(k, loss.Probit{}))
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N())}
	r := must(ep.Train(set, train.Settings{}))
	fmt.Printf("%v; example 1 of label %.0f has mean %.2f\n", r.Status, set.Y[0], r.F[0])
	// Output:
	// converged; example 1 of label -1 has mean -2.00
}

// must ends the example at an error.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
