package fits_test

import (
	"context"
	"fmt"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
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

// A plan is weights and targets. Blocks train it around a theory, single trainers without one: the same fits.
func Example_plan() {
	set, _ := dataset.Load("synthetic:friedman1,n=40", dataset.Options{})
	m, _ := model.Build(context.Background(), model.NewSpec(set, loss.Square{Noise: 1}))
	settings := model.RetrainSettings{Plan: leaveTwoOut{m.Y}, Settings: fits.Settings{
		Resamples: 40 * 39 / 2, Tests: []loss.Test{loss.SquareTest{}}}}
	for _, method := range []model.RetrainMethod{model.Batch, model.Single} {
		r, err := model.Retrain(context.Background(), m, method, resample.KFold{Folds: 20, N: 40}, settings)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d fits, left-out error %.3f\n", r.Method, r.Resamples, r.Tests[0].Error)
	}
	// Output:
	// batch: 780 fits, left-out error 9.795
	// single: 780 fits, left-out error 9.795
}
