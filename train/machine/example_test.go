package machine_test

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
	"bootbench/train/machine"
)

// Four machines on one kernel matrix, each by the algorithm of its loss.
func ExampleFor() {
	data := must(bootbench.Load("sonar", bootbench.ReadOptions{}))
	inputs := must(kernel.Spec{Gamma: 1}.Prepare(linalg.Design{X: data.X}))
	k := must(inputs.Gram(context.Background()))
	set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N())}
	for _, l := range []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 10}, loss.Logistic{C: 10},
		loss.Probit{}} {
		m := must(machine.For(l, k, false, train.Settings{}))
		trainer := must(m.Trainer()) // one for each goroutine
		r := must(trainer(set))
		fmt.Printf("%-8s by %-3s: %v, field of example 1 %.2f\n", l.Name(), m.Algorithm, r.Status, r.F[0])
	}
	// Output:
	// square   by gp : converged, field of example 1 -0.84
	// hinge    by svm: converged, field of example 1 -1.00
	// logistic by erm: converged, field of example 1 -1.41
	// probit   by ep : converged, field of example 1 -0.54
}

// must ends the example at an error.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
