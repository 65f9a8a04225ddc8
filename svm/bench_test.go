package svm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/train"
)

// BenchmarkTrain is one training from nothing, on all data, to the default
// tolerance, by a trainer that has the rows it needs: BenchmarkCold gathers them.
func BenchmarkTrain(b *testing.B) {
	for _, name := range []string{"sonar", "crabs", "wisconsin", "pima"} {
		for _, loss := range []string{"hard", "hinge"} {
			for _, width := range []float64{0.125, 0.5, 2} {
				b.Run(fmt.Sprintf("data=%s/loss=%s/gammad=%g", name, loss, width), func(b *testing.B) {
					k, p := embedded(b, name, width, boxOf(loss))
					benchmarkTrain(b, k, p, Settings{})
				})
			}
		}
	}
	for _, n := range []int{1000, 4000} {
		b.Run(fmt.Sprintf("data=rings/loss=hinge/n=%d", n), func(b *testing.B) {
			k, p := rings(b, n)
			benchmarkTrain(b, k, p, Settings{})
		})
	}
}

func boxOf(loss string) float64 {
	if loss == "hard" {
		return hard
	}
	return 1
}

func benchmarkTrain(b *testing.B, k *linalg.Sym, p Problem, s Settings) {
	trainer, err := NewTrainer(k)
	if err != nil {
		b.Fatal(err)
	}
	var r *Result
	b.ReportAllocs()
	for b.Loop() {
		if r, err = trainer.Train(p, s); err != nil || r.Status != train.Converged {
			b.Fatal(err, r.Status)
		}
	}
	b.ReportMetric(float64(r.Iterations), "steps")
	b.ReportMetric(float64(r.ActiveSetSteps), "climbs")
	b.ReportMetric(float64(r.Free+r.Bounded), "vectors")
}

// rings is a noisy two-class problem of n examples in ten dimensions: the
// radius decides, up to noise.
func rings(b *testing.B, n int) (*linalg.Sym, Problem) {
	rng := rand.New(rand.NewPCG(12, 12))
	x := dataset.NewMatrix(n, 10)
	y := make([]float64, n)
	for i := range y {
		square := 0.0
		for j := range 10 {
			v := rng.NormFloat64()
			x.Data[i*x.Stride+j] = v
			square += v * v
		}
		y[i] = -1
		if square+2*rng.NormFloat64() > 9.3 {
			y[i] = 1
		}
	}
	k := need.One(kernel.Spec{Gamma: 0.05}.Gram(blas64.General(x)))(b)
	return k, Problem{Y: y, C: same(n, 1)}
}

// BenchmarkResample is one retraining on a bootstrap resample, from nothing and
// from the solution of all data.
func BenchmarkResample(b *testing.B) {
	for _, name := range []string{"sonar", "crabs", "wisconsin", "pima"} {
		for _, loss := range []string{"hard", "hinge"} {
			for _, start := range []string{"cold", "warm"} {
				b.Run(fmt.Sprintf("data=%s/loss=%s/start=%s", name, loss, start), func(b *testing.B) {
					k, p := embedded(b, name, 0.5, boxOf(loss))
					benchmarkResample(b, k, p, start == "warm")
				})
			}
		}
	}
}

func benchmarkResample(b *testing.B, k *linalg.Sym, p Problem, warm bool) {
	trainer := need.One(NewTrainer(k))(b)
	var s Settings
	if warm {
		s.Start = mustTrain(b, k, p, Settings{}).Alpha
	}
	rng := rand.New(rand.NewPCG(13, 13))
	n := len(p.Y)
	box, steps, fits := p.C[0], 0, 0
	resample := Problem{Y: p.Y, Site: p.Site, C: make([]float64, n)}
	for b.Loop() {
		clear(resample.C)
		for range n {
			resample.C[rng.IntN(n)] += box
		}
		r, err := trainer.Train(resample, s)
		if err != nil || r.Status != train.Converged {
			b.Fatal(err, r.Status)
		}
		steps += r.Iterations
		fits++
	}
	b.ReportMetric(float64(steps)/float64(fits), "steps")
}

// BenchmarkNewTrainer is the check of the kernel matrix.
func BenchmarkNewTrainer(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			k := linalg.NewSym(n)
			b.SetBytes(int64(4 * n * n))
			for b.Loop() {
				if _, err := NewTrainer(k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCold is a single training by a new trainer, with the check of the
// kernel matrix and the rows gathered from its triangle.
func BenchmarkCold(b *testing.B) {
	for _, bias := range []bool{false, true} {
		for _, n := range []int{500, 1000, 4000} {
			b.Run(fmt.Sprintf("data=rings/loss=hinge/bias=%v/n=%d", bias, n), func(b *testing.B) {
				k, p := rings(b, n)
				p.Bias = bias
				for b.Loop() {
					if r, err := Train(k, p, Settings{}); err != nil || r.Status != train.Converged {
						b.Fatal(err, r.Status)
					}
				}
			})
		}
	}
}
