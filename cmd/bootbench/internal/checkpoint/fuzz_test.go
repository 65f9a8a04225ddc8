package checkpoint

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
)

// FuzzCheckpoint reads anything as a checkpoint, and as the body of one whose checksum fits.
// A State that is read is resumed or refused; a solve that has converged from it is finite.
func FuzzCheckpoint(f *testing.F) {
	set := need.One(dataset.Load("synthetic:friedman1,n=6", dataset.Options{}))(f)
	solve := func(t testing.TB, l loss.Loss, settings solver.Settings) (*solver.Solution, error) {
		m := need.One(model.Build(model.Spec{Set: set, Loss: l, Kernel: kernel.Spec{Gamma: 0.1}}))(t)
		return m.Solve(context.Background(), resample.Poisson{Ratio: 1}, settings)
	}
	losses := []loss.Loss{loss.Square{Noise: 1}, loss.EpsInsensitive{C: 1, Epsilon: 0.1}}
	for _, l := range losses {
		solve(f, l, solver.Settings{MaxSweeps: 2, Checkpoint: func(s *solver.State) error {
			d := Document{State: s}
			content := need.One(d.encode())(f)
			f.Add(content)
			f.Add(content[len(seal.Head(nil)):])
			body, _ := json.Marshal(d)
			f.Add(body)
			return nil
		}})
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		decode(content)
		mayReplace(content)
		d, err := decode(seal.Close(content))
		if err != nil {
			return
		}
		d.progress()
		if d.State == nil {
			return
		}
		d.State.Stats.Sweeps %= 100
		for _, l := range losses {
			s, err := solve(t, l, solver.Settings{MaxSweeps: d.State.Stats.Sweeps + 2, Resume: d.State})
			if err == nil && s.Status == solver.Converged && math.IsNaN(floats.Sum(s.Mean)+floats.Sum(s.Var)) {
				t.Errorf("%s: converged with means %v, variances %v", l.Name(), s.Mean, s.Var)
			}
		}
	})
}
