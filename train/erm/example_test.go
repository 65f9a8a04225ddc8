package erm_test

import (
	"context"
	"fmt"
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
	data, err := bootbench.Load("sonar", bootbench.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, err := kernel.Spec{Gamma: 1}.Prepare(linalg.Design{X: data.X})
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := inputs.Gram(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	trainer, err := erm.NewTrainer(k, loss.Logistic{C: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N()), Bias: true}
	r, err := trainer.Train(set, train.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: objective %.3f, gap below 1e-7: %v\n", r.Status, r.Objective, r.Gap < 1e-7)
	fmt.Printf("bias %.3f; example 1 of label %.0f has field %.2f and dual variable %.3f\n", r.Bias, set.Y[0],
		r.F[0], -r.Weight[0])
	// Output:
	// converged: objective 498.219, gap below 1e-7: true
	// bias -0.493; example 1 of label -1 has field -1.42 and dual variable 1.948
}
