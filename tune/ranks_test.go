package tune

import (
	"math"
	"slices"
	"testing"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/solver"
)

// Ranks that share a low-rank matrix search as one process does: the same first steps, to what the solves
// leave (1e-4 of the value), and to the same bits on all ranks. A value that one of them alone has wrong is
// rank 0's.
func TestRanksSearchTogether(t *testing.T) {
	set := need.One(dataset.Load("synthetic:waves,n=150,d=3", dataset.Options{}))(t)
	p := Problem{
		Spec: model.Spec{Set: set, Loss: loss.Square{Noise: 0.1}, Kernel: kernel.Spec{Gamma: 0.05},
			Standardize: true, NormalizeTarget: true, Storage: model.LowRank, Rank: 40},
		Over: []Axis{{Name: "gamma"}, {Name: "noise"}},
	}
	settings := Settings{Direct: true, MaxEvaluations: 4}
	alone := need.One(Run(t.Context(), p, settings))(t)
	results := make([]*Result, 3)
	disttest.OnRanks(1, len(results), func(g dist.Grid) {
		p, settings := p, settings
		p.Spec.Grid = g
		settings.Agree = func(x []float64) {
			if g.Rank() == 1 {
				x[0] = math.NaN()
			}
			g.Broadcast(x, 0)
		}
		r, err := Run(t.Context(), p, settings)
		if err != nil {
			t.Error(g.Rank(), err)
		}
		results[g.Rank()] = r
	})
	for rank, r := range results {
		if r == nil || len(r.Path) != len(alone.Path) || r.Solution.Status != solver.Converged {
			t.Fatalf("rank %d: %+v", rank, r)
		}
		for k, e := range r.Path {
			want := alone.Path[k]
			if !slices.Equal(e.Values, results[0].Path[k].Values) || e.Value != results[0].Path[k].Value {
				t.Errorf("rank %d, model %d: %+v, on rank 0 %+v", rank, k, e, results[0].Path[k])
			}
			if !(math.Abs(e.Value-want.Value) <= 1e-4*want.Value) {
				t.Errorf("rank %d, model %d: %v, of one process %v", rank, k, e, want)
			}
		}
	}
	if len(alone.Path) < 3 {
		t.Errorf("one process has judged %+v: nothing is compared", alone.Path)
	}
}
