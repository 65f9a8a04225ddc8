package svm_test

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bootbench"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/svm"
)

// A support vector machine on the sonar data: its dual variables, slacks and bias, and its certificate. Then
// the first example is left out, from the solution of all.
func ExampleTrainer() {
	data, err := bootbench.Load("sonar", bootbench.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, err := kernel.Spec{Gamma: 0.2}.Prepare(linalg.Design{X: data.X})
	if err != nil {
		fmt.Println(err)
		return
	}
	k, err := inputs.Gram(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := svm.NewRows(k) // trainers in several goroutines may share them
	if err != nil {
		fmt.Println(err)
		return
	}
	trainer := svm.NewTrainer(rows)
	boxes := slices.Repeat([]float64{2}, data.N()) // C of each example
	set := train.Set{Y: data.Targets(0), Weight: boxes, Bias: true}
	r, err := trainer.Train(set, train.Settings{Tolerance: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	alpha, slack := 0.0, 0.0
	for i, y := range set.Y {
		alpha += r.Alpha[i]
		slack += math.Max(0, 1-y*r.F[i])
	}
	fmt.Println(r.Status, "within", r.Violation <= 1e-6)
	fmt.Println(r.Free, "free and", r.Bounded, "bounded support vectors of", len(set.Y))
	fmt.Printf("bias %.3f, sum of the dual variables %.1f, of the slacks %.2f\n", r.Bias, alpha, slack)

	label, f := set.Y[0], r.F[0]
	left, err := trainer.LeaveOut(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("label %.0f: field %.2f, without the example %.2f\n", label, f, left.F)
	// Output:
	// converged within true
	// 24 free and 109 bounded support vectors of 208
	// bias -0.401, sum of the dual variables 244.7, of the slacks 55.62
	// label -1: field -0.38, without the example 0.07
}
