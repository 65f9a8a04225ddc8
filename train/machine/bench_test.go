package machine_test

import (
	"fmt"
	"slices"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/machine"
)

// BenchmarkTrainer: one training with all examples of real data, standardised, by the algorithm of each loss,
// and by proximal Newton, which finds the same minimum, to a smaller tolerance than svm.
func BenchmarkTrainer(b *testing.B) {
	for name, losses := range map[string][]loss.Loss{
		"boston": {loss.Square{Noise: 8.8}},
		"sonar":  {loss.Square{Noise: 0.3}, loss.Hinge{C: 1}, loss.Logistic{C: 1}, loss.Probit{}},
		"pima":   {loss.Square{Noise: 0.3}, loss.Hinge{C: 1}, loss.Logistic{C: 1}, loss.Probit{}},
	} {
		data := testutil.Must(dataset.Open(name))(b)
		x, _ := dataset.Standardize(data.X)
		inputs := testutil.Must(kernel.Spec{}.Prepare(linalg.Design{X: x}))(b)
		k := testutil.Must(inputs.Gram(b.Context()))(b)
		set := train.Set{Y: data.Targets(0), Weight: slices.Repeat([]float64{1}, data.N())}
		for _, l := range losses {
			m := testutil.Must(machine.For(l, k, false, train.Settings{}))(b)
			trainer := testutil.Must(m.Trainer())(b)
			measure := func(by machine.Algorithm, train func() (train.Status, error)) {
				b.Run(fmt.Sprintf("data=%s/loss=%s/by=%s", name, l.Name(), by), func(b *testing.B) {
					for b.Loop() {
						if err := testutil.Must(train())(b).Err(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			measure(m.Algorithm, func() (train.Status, error) {
				r, err := trainer(set)
				return r.Status, err
			})
			if convex := loss.TraitsOf(l).Proximal; convex != nil && m.Algorithm != machine.Proximal {
				newton := testutil.Must(erm.NewTrainer(k, convex))(b)
				measure(machine.Proximal, func() (train.Status, error) {
					r, err := newton.Train(set, train.Settings{})
					if err != nil {
						return 0, err
					}
					return r.Status, nil
				})
			}
		}
	}
}
