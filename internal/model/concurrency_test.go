package model_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"bootbench/blas"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestBusy: while a solve is in progress, a second one, a full fit and what would read an
// earlier solution's G are refused with ErrBusy, at once and without a trace in the first
// one's answer; retraining goes on beside it.
func TestBusy(t *testing.T) {
	m, ctx, few := build(t, grid(t, 200)), t.Context(), model.RetrainSettings{}
	few.Resamples = 2
	earlier := testutil.Must(m.Solve(ctx, bootstrap, solver.Settings{}))(t)
	want, asked := slices.Clone(earlier.Var), false
	s, err := m.Solve(ctx, bootstrap, solver.Settings{Progress: func(solver.Sweep) {
		if asked {
			return
		}
		asked = true
		busy := func(what string, err error) { fails(t, what+" beside a solve", err, linalg.ErrBusy, "") }
		_, err := m.Solve(ctx, bootstrap, solver.Settings{})
		busy("solve", err)
		_, err = m.FullFit(ctx, nil)
		busy("fit", err)
		busy("covariance", earlier.Covariance(make([]float64, m.Sites()), 0))
		_, _, err = earlier.Predict(make([]float64, earlier.InputDim()))
		busy("predict", err)
		_, err = model.RetrainAround(ctx, m, earlier, bootstrap, few)
		busy("batch", err)
		_, err = model.Refine(ctx, m, earlier, bootstrap, model.RefineSettings{RetrainSettings: few})
		busy("refine", err)
		testutil.Must(model.Retrain(ctx, m, model.Single, bootstrap, few))(t)
	}})
	if err != nil || !asked || !slices.Equal(s.Var, want) {
		t.Errorf("asked %v, error %v, variances %v, undisturbed %v", asked, err, s.Var[:3], want[:3])
	}
}

// TestManyAtOnce: of solves, fits and predictions by many goroutines on one model every
// one that is not refused has the answer of one that is alone.
func TestManyAtOnce(t *testing.T) {
	lowrank := grid(t, 200)
	lowrank.Set, lowrank.Storage, lowrank.RankTol = load(t, "synthetic:friedman1,n=80"), model.LowRank, 1e-6
	for _, spec := range []model.Spec{grid(t, 200), lowrank,
		labels(t, "synthetic:rings,n=60,d=3", loss.Hinge{C: 1}, 1)} {
		m, ctx := build(t, spec), t.Context()
		alone := testutil.Must(m.Solve(ctx, bootstrap, solver.Settings{}))(t)
		want, wantLeftOut := slices.Clone(alone.Var), leftOut(alone)
		var group sync.WaitGroup
		for range 8 {
			group.Add(1)
			go func() {
				defer group.Done()
				for range 3 {
					s, err := m.Solve(ctx, bootstrap, solver.Settings{})
					if err == nil {
						if !slices.Equal(s.Var, want) || leftOut(s) != wantLeftOut {
							t.Errorf("variance %v, alone %v", s.Var[0], want[0])
						}
						_, _, err = s.Predict(make([]float64, s.InputDim()))
					}
					_, of := m.FullFit(ctx, nil)
					for _, err := range []error{err, of} {
						if err != nil && !errors.Is(err, linalg.ErrBusy) && !errors.Is(err,
							solver.ErrOverwritten) {
							t.Error(err)
						}
					}
				}
			}()
		}
		group.Wait()
	}
}

func leftOut(s *solver.Solution) float64 {
	mean, _ := s.LeftOut(loss.SquareTest{})
	return mean
}

// faulty is a loss whose sites panic.
type faulty struct{ loss.Hinge }

type faultySite struct{ loss.Site }

func (l faulty) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	site, err := l.Hinge.Site(y, law)
	return faultySite{site}, err
}

func (faultySite) Moments(loss.Cavity) loss.Moments { panic("a fault of the loss") }

// TestFaultOfLoss: a panic of a user's loss, on whatever goroutine, is one on the goroutine
// that asked, where it can be recovered, and the model can be used again.
func TestFaultOfLoss(t *testing.T) {
	m := build(t, model.Spec{Set: load(t, "synthetic:rings,n=700,d=3"), Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 1}, Standardize: true})
	m.Loss = faulty{loss.Hinge{C: 1}}
	func() {
		defer func() {
			p := recover()
			if fault, ok := p.(*blas.Fault); p == nil || ok && fault.Error() != "a fault of the loss" {
				t.Errorf("recovered %v", p)
			}
		}()
		m.Solve(t.Context(), bootstrap, solver.Settings{})
	}()
	m.Loss = loss.Hinge{C: 1}
	if s := solve(t, m); s.Status != solver.Converged || math.IsNaN(s.Var[0]) {
		t.Errorf("after a fault: %v", s.Status)
	}
}
