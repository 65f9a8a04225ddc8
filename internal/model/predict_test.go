package model_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/predict"
	"bootbench/internal/refit"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestPredict: at the training inputs Predict gives what the solution has at their sites, in
// units of the target (to rounding in products with G, of a condition of some 1e3), and an
// interval has the share of a normal law that it should. Inputs of another width, none, and a
// solution whose G is no longer there are refused.
func TestPredict(t *testing.T) {
	set := need.One(dataset.Load("synthetic:friedman1,n=30", dataset.Options{}))(t)
	m := need.One(model.Build(model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.5}, Loss: loss.Square{Noise: 1},
		Standardize: true, NormalizeTarget: true}))(t)
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	in := &dataset.Inputs{X: set.X}
	p := need.One(predict.At(m, s, in, nil))(t)
	within := need.One(p.Intervals(0.9))(t)
	sd := p.SD()
	for i, site := range m.Site {
		if want := s.Mean[site] + m.TargetMean; math.Abs(p.Mean[i]-want) > 1e-9*math.Abs(want) ||
			math.Abs(sd[i]*sd[i]-s.Var[site]) > 1e-9*s.Var[site] {
			t.Errorf("example %d: mean %v, variance %v; at its site %v, %v", i+1, p.Mean[i], sd[i]*sd[i], want,
				s.Var[site])
		}
		law := distuv.Normal{Mu: p.Mean[i], Sigma: sd[i]}
		if share := law.CDF(within[i].High) - law.CDF(within[i].Low); math.Abs(share-0.9) > 1e-12 {
			t.Errorf("interval %v holds %v", within[i], share)
		}
	}
	if _, err := p.Intervals(1); err == nil {
		t.Error("an interval of level 1")
	}
	narrow := need.One(dataset.NewInputs(mat.NewDense(2, 3, nil)))(t)
	if p, err := predict.At(m, s, narrow, nil); err == nil {
		t.Errorf("3 features for 10: %+v", p)
	}
	if _, err := m.FullFit(); err != nil {
		t.Fatal(err)
	}
	if p, err := predict.At(m, s, in, nil); err == nil {
		t.Errorf("of a solution that is overwritten: %+v", p)
	}
	if _, err := m.Solve(context.Background(), resample.Poisson{}, solver.Settings{}); err == nil {
		t.Error("a ratio of 0 is solved")
	}
	if _, err := refit.RetrainSingly(context.Background(), m, resample.Poisson{},
		refit.RetrainSettings{}); err == nil {
		t.Error("a ratio of 0 is retrained")
	}
}
