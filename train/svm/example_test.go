package svm_test

import (
	"context"
	"fmt"
	"log"
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
	data := must(bootbench.Load("sonar", bootbench.ReadOptions{}))
	inputs := must(kernel.Spec{Gamma: 0.2}.Prepare(linalg.Design{X: data.X}))
	k := must(inputs.Gram(context.Background()))
	rows := must(svm.NewRows(k)) // trainers in several goroutines may share them
	trainer := svm.NewTrainer(rows)
	boxes := slices.Repeat([]float64{2}, data.N()) // C of each example
	set := train.Set{Y: data.Targets(0), Weight: boxes, Bias: true}
	r := must(trainer.Train(set, train.Settings{Tolerance: 1e-6}))
	alpha, slack := 0.0, 0.0
	for i, y := range set.Y {
		alpha += r.Alpha[i]
		slack += math.Max(0, 1-y*r.F[i])
	}
	fmt.Println(r.Status, "within", r.Violation <= 1e-6)
	fmt.Println(r.Free, "free and", r.Bounded, "bounded support vectors of", len(set.Y))
	fmt.Printf("bias %.3f, sum of the dual variables %.1f, of the slacks %.2f\n", r.Bias, alpha, slack)

	label, f := set.Y[0], r.F[0]
	left := must(trainer.LeaveOut(0))
	fmt.Printf("label %.0f: field %.2f, without the example %.2f\n", label, f, left.F)
	// Output:
	// converged within true
	// 24 free and 109 bounded support vectors of 208
	// bias -0.401, sum of the dual variables 244.7, of the slacks 55.62
	// label -1: field -0.38, without the example 0.07
}

// must ends the example at an error.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
