package fits_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench"
	"bootbench/fits"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/machine"
)

// leaveTwoOut is the plan of all fits that lack two examples.
type leaveTwoOut struct{ y []float64 }

func (p leaveTwoOut) Fit(r int, weight []float64) (target []float64) {
	for i := range weight {
		weight[i] = 1
	}
	first := 0
	for rest := len(weight) - 1; r >= rest; rest-- { // pairs (first, later) in order
		r -= rest
		first++
	}
	weight[first], weight[first+1+r] = 0, 0
	return p.y
}

func (leaveTwoOut) Period() int { return 1 }

// A plan is weights and targets: here 780 regressions on one kernel matrix, each without two of 40 rows.
func Example_plan() {
	ctx := context.Background()
	data, err := bootbench.Load("synthetic:friedman1,n=40", bootbench.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	inputs, err := kernel.Spec{Gamma: 0.5, Amplitude: 100}.Prepare(linalg.Design{X: data.X})
	if err != nil {
		log.Fatal(err)
	}
	k, err := inputs.Gram(ctx)
	if err != nil {
		log.Fatal(err)
	}
	y := data.Targets(0)
	machines, err := machine.For(loss.Square{Noise: 1}, k, false, train.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	trainers := fits.Predicting(machines, train.Set{Y: y}, len(y), blas64.General{}) // at the sites alone
	r, err := fits.Run(ctx, fits.Problem{Y: y, Plan: leaveTwoOut{y}}, fits.Single(trainers),
		fits.Settings{Resamples: 40 * 39 / 2, Tests: []loss.Test{loss.SquareTest{}}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d fits, left-out error %.2f\n", r.Resamples, r.Tests[0].Error)
	// Output:
	// 780 fits, left-out error 9.82
}
