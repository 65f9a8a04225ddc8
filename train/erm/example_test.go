package erm_test

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
	"bootbench/train/erm"
)

// Kernel logistic regression on the sonar data: the gap certifies how far the objective is from the optimum.
func ExampleTrainer() {
	data := must(bootbench.Load("sonar", bootbench.ReadOptions{}))
	inputs := must(kernel.Spec{Gamma: 1}.Prepare(linalg.Design{X: data.X}))
	k := must(inputs.Gram(context.Background()))
	trainer := must(erm.NewTrainer(k, loss.Logistic{C: 10}))
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N()), Bias: true}
	r := must(trainer.Train(set, train.Settings{}))
	fmt.Printf("%v: objective %.3f, gap below 1e-7: %v\n", r.Status, r.Objective, r.Gap < 1e-7)
	fmt.Printf("bias %.3f; example 1 of label %.0f has field %.2f and dual variable %.3f\n", r.Bias, set.Y[0],
		r.F[0], -r.Weight[0])
	// Output:
	// converged: objective 498.219, gap below 1e-7: true
	// bias -0.493; example 1 of label -1 has field -1.42 and dual variable 1.948
}

// must ends the example at an error.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
