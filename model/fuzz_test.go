package model_test

import (
	"encoding/binary"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
)

// FuzzPrecomputed takes any numbers for a kernel matrix, made symmetric or left as they
// are: it is refused, or solves, and what has converged is finite.
func FuzzPrecomputed(f *testing.F) {
	add := func(values ...float64) {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b, true, uint8(0))
		f.Add(b, false, uint8(1))
	}
	add(1, 0.5, 0.5, 1)
	add(2, 0, 0, 0, 2, 0, 0, 0, 2)
	add(1, 2, 2, 1)
	add(1e-320, 0, 0, 1e300)
	add(1, 1, 1, 1, 1, 1, 1, 1, 1)
	losses := []loss.Loss{loss.Square{Noise: 0.1}, loss.Hinge{C: 1}, loss.HardMargin{}, loss.Logistic{C: 1},
		loss.EpsInsensitive{C: 1, Epsilon: 0.1}}
	f.Fuzz(func(t *testing.T, content []byte, symmetric bool, which uint8) {
		n := min(5, int(math.Sqrt(float64(len(content)/8))))
		if n < 2 {
			return
		}
		set := &dataset.Set{Name: "K", X: dataset.Matrix{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)},
			Y: make([]float64, n)}
		for k := range set.X.Data {
			set.X.Data[k] = math.Float64frombits(binary.LittleEndian.Uint64(content[8*k:]))
		}
		for i := range n {
			set.Y[i] = float64(2*(i%2) - 1)
			for j := 0; symmetric && j < i; j++ {
				set.X.Data[i*n+j] = set.X.Data[j*n+i]
			}
		}
		l := losses[int(which)%len(losses)]
		if int(which)%len(losses) >= 1 && int(which)%len(losses) <= 3 {
			set.Task = dataset.Classification
		}
		m, err := model.Build(model.Spec{Set: set, Loss: l, Kernel: kernel.Spec{Kind: kernel.Precomputed}})
		if err != nil {
			return
		}
		s, err := m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{MaxSweeps: 30})
		if err != nil {
			return
		}
		if sum := floats.Sum(s.Mean) + floats.Sum(s.Var); s.Status == solver.Converged &&
			(math.IsNaN(sum) || math.IsInf(sum, 0)) {
			t.Errorf("%s, K = %v: converged with means %v, variances %v", l.Name(), set.X.Data, s.Mean, s.Var)
		}
	})
}
