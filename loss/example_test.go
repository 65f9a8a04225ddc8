package loss_test

import (
	"fmt"

	"bootbench/loss"
	"bootbench/resample"
)

// A loss of one's own: the pinball loss of quantile regression, q (y-f) above the prediction f and (1-q)
// (f-y) below it, has a bend at the target, and slopes on either side.
func ExampleFromPiecewise() {
	const q = 0.8
	quantile := loss.FromPiecewise("quantile", func(y float64) loss.Piecewise {
		return loss.Piecewise{Breakpoints: []float64{y}, Slopes: []float64{-q, 1 - q}}
	})
	site, err := quantile.Site([]float64{0.7}, resample.Poisson{Ratio: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := site.Moments(loss.Cavity{C: 2, Mean: 0.1, Var: 0.5})
	fmt.Printf("mean %.6f, variance %.6f\n", m.Mean, m.Var)
	fmt.Printf("loss of 1 below the target: %.1f\n", quantile.Value(-0.3, 0.7))
	// Output:
	// mean 0.326857, variance 0.371398
	// loss of 1 below the target: 0.8
}
