package erm_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"bootbench/erm"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/svm"
	"bootbench/train"
)

// BenchmarkResample is one retraining on a bootstrap resample from nothing, by
// this package and, where it can, by package svm.
func BenchmarkResample(b *testing.B) {
	for _, name := range []string{"sonar", "crabs", "wisconsin", "pima"} {
		k, y, site := embedded(b, name, kernel.Spec{Gamma: 0.5})
		w := make([]float64, len(y))
		for _, loss := range []erm.Loss{hingeLoss(1), hardLoss{}, squaredHingeLoss(1), logisticLoss{1},
			tubeLoss("eps", 1, 1, 0.1), huberLoss(1, 0.5), tubeLoss("absolute", 1, 1, 0), squareLoss(0.1)} {
			b.Run(fmt.Sprintf("data=%s/loss=%s/trainer=erm", name, loss.Name()), func(b *testing.B) {
				trainer := need.One(erm.NewTrainer(k, loss))(b)
				rng := rand.New(rand.NewPCG(13, 13))
				steps, sweeps := 0, 0
				for b.Loop() {
					bootstrap(rng, w)
					r, err := trainer.Train(train.Set{Y: y, Site: site, Weight: w}, erm.Settings{})
					if err != nil || r.Status != train.Converged {
						b.Fatal(err, r)
					}
					steps += r.Steps
					sweeps += r.Sweeps
				}
				b.ReportMetric(float64(steps)/float64(b.N), "steps")
				b.ReportMetric(float64(sweeps)/float64(b.N), "sweeps")
			})
			if loss.Name() != "hinge" && loss.Name() != "hard" {
				continue
			}
			b.Run(fmt.Sprintf("data=%s/loss=%s/trainer=svm", name, loss.Name()), func(b *testing.B) {
				trainer := need.One(svm.NewTrainer(k))(b)
				rng := rand.New(rand.NewPCG(13, 13))
				box := make([]float64, len(y))
				for b.Loop() {
					bootstrap(rng, w)
					copy(box, w)
					if loss.Name() == "hard" {
						for i, k := range w {
							box[i] = 0
							if k > 0 {
								box[i] = inf
							}
						}
					}
					r, err := trainer.Train(svm.Problem{Y: y, Site: site, C: box}, svm.Settings{})
					if err != nil || r.Status != train.Converged {
						b.Fatal(err, r)
					}
				}
			})
		}
	}
}
