package model

import (
	"math"
	"syscall"
	"testing"
	"time"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// BenchmarkGradient is the time of the gradient by all hyperparameters, in times of the solve that it
// belongs to: the least of each over the runs, CPU seconds of the process.
func BenchmarkGradient(b *testing.B) {
	square, hinge, logistic := loss.Square{Noise: 1}, loss.Hinge{C: 1}, loss.Logistic{C: 1}
	for _, c := range []struct {
		set  string
		loss loss.Loss
		test loss.Test
		rank int
	}{
		{"boston", loss.Square{Noise: 10}, loss.SquareTest{}, 0},
		{"synthetic:friedman1,n=500,d=13", square, loss.SquareTest{}, 0},
		{"synthetic:friedman1,n=1000,d=60", square, loss.SquareTest{}, 0},
		{"synthetic:friedman1,n=2000,d=13", square, loss.SquareTest{}, 0},
		{"pima", hinge, loss.ZeroOne{}, 0},
		{"synthetic:blobs,n=1000,d=2", hinge, loss.ZeroOne{}, 0},
		{"synthetic:blobs,n=2000,d=2", hinge, loss.ZeroOne{}, 0},
		{"pima", logistic, loss.ZeroOne{}, 0},
		{"sonar", logistic, loss.ZeroOne{}, 0},
		{"synthetic:waves,n=4000,d=2", loss.Square{Noise: 0.1}, loss.SquareTest{}, 150},
		{"synthetic:blobs,n=3000,d=2", hinge, loss.ZeroOne{}, 150},
	} {
		set := need.One(dataset.Load(c.set, dataset.Options{}))(b)
		scales := make([]float64, set.D())
		for k := range scales {
			scales[k] = math.Sqrt(float64(set.D()))
		}
		spec := Spec{Set: set, Loss: c.loss, Standardize: true, NormalizeTarget: true,
			Kernel: kernel.Spec{LengthScale: scales}}
		if c.rank > 0 {
			spec.Storage, spec.Rank = LowRank, c.rank
		}
		b.Run("set="+c.set+"/loss="+c.loss.Name(), func(b *testing.B) {
			m := need.One(Build(spec))(b)
			about := need.One(loss.About(c.loss.Name()))(b)
			over := need.One(m.Hyperparameters(append([]string{"length-scale"}, about.Takes...)...))(b)
			least := [2]float64{math.Inf(1), math.Inf(1)}
			for b.Loop() {
				began := processSeconds()
				s, err := m.Solve(b.Context(), resample.Poisson{Ratio: 1}, solver.Settings{})
				if err != nil || s.Status != solver.Converged {
					b.Fatal(err, s.Status)
				}
				solved := processSeconds()
				if _, _, err := m.Gradient(b.Context(), s, solver.Objective{Criterion: solver.LeftOutError, Test: c.test},
					over); err != nil {
					b.Fatal(err)
				}
				least[0], least[1] = math.Min(least[0], solved-began), math.Min(least[1], processSeconds()-solved)
			}
			b.ReportMetric(float64(len(over)), "parameters")
			b.ReportMetric(1e3*least[0], "solve-ms")
			b.ReportMetric(1e3*least[1], "gradient-ms")
			b.ReportMetric(least[1]/least[0], "ratio")
		})
	}
}

// processSeconds are the CPU seconds of this process.
func processSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
