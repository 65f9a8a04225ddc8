package model_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"bootbench/blas"
	"bootbench/fits"
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
	m := build(t, grid(t, 200))
	law := bootstrap
	ctx := context.Background()
	earlier := testutil.Must(m.Solve(ctx, law, solver.Settings{}))(t)
	want := slices.Clone(earlier.Var)
	trials := map[string]func() error{
		"solve":      func() error { _, err := m.Solve(ctx, law, solver.Settings{}); return err },
		"fit":        func() error { _, err := m.FullFit(t.Context(), nil); return err },
		"covariance": func() error { return earlier.Covariance(make([]float64, m.Sites()), 0) },
		"predict": func() error {
			_, _, err := earlier.Predict(make([]float64, earlier.InputDim()))
			return err
		},
		"batch": func() error {
			_, err := model.RetrainAround(ctx, m, earlier, law,
				model.RetrainSettings{Settings: fits.Settings{Resamples: 2}})
			return err
		},
		"refine": func() error {
			_, err := model.Refine(ctx, m, earlier, law, model.RefineSettings{
				RetrainSettings: model.RetrainSettings{Settings: fits.Settings{Resamples: 2}}})
			return err
		},
	}
	asked := false
	s, err := m.Solve(ctx, law, solver.Settings{Progress: func(solver.Sweep) {
		if asked {
			return
		}
		asked = true
		for name, try := range trials {
			fails(t, name+" beside a solve", try(), linalg.ErrBusy, "")
		}
		if _, err := model.Retrain(ctx, m, model.Single, law,
			model.RetrainSettings{Settings: fits.Settings{Resamples: 4}}); err != nil {
			t.Errorf("retraining beside a solve: %v", err)
		}
	}})
	if err != nil || !asked || !slices.Equal(s.Var, want) {
		t.Errorf("asked %v, error %v, variances %v, undisturbed %v", asked, err, s.Var[:3], want[:3])
	}
}

// TestManyAtOnce: of solves, fits and predictions by many goroutines on one model every
// one that is not refused has the answer of one that is alone.
func TestManyAtOnce(t *testing.T) {
	margin := model.Spec{Set: load(t, "synthetic:rings,n=60,d=3"), Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 1}, Standardize: true}
	lowrank := grid(t, 200)
	lowrank.Set, lowrank.Storage, lowrank.RankTol = load(t, "synthetic:friedman1,n=80"), model.LowRank, 1e-6
	for name, spec := range map[string]model.Spec{"square": grid(t, 200), "hinge": margin,
		"low rank": lowrank} {
		t.Run(name, func(t *testing.T) {
			m := build(t, spec)
			alone := testutil.Must(m.Solve(context.Background(), bootstrap, solver.Settings{}))(t)
			want, wantLeftOut := slices.Clone(alone.Var), leftOut(alone)
			row := make([]float64, alone.InputDim())
			var group sync.WaitGroup
			for range 8 {
				group.Add(1)
				go func() {
					defer group.Done()
					for range 3 {
						s, err := m.Solve(context.Background(), bootstrap, solver.Settings{})
						switch {
						case errors.Is(err, linalg.ErrBusy):
							continue
						case err != nil:
							t.Error(err)
						case !slices.Equal(s.Var, want) || leftOut(s) != wantLeftOut:
							t.Errorf("variance %v, alone %v", s.Var[0], want[0])
						default:
							_, _, err := s.Predict(slices.Clone(row))
							if err != nil && !errors.Is(err, linalg.ErrBusy) && !errors.Is(err,
								solver.ErrOverwritten) {
								t.Error(err)
							}
						}
						_, err = m.FullFit(t.Context(), nil)
						if err != nil && !errors.Is(err, linalg.ErrBusy) {
							t.Error(err)
						}
					}
				}()
			}
			group.Wait()
		})
	}
}

func leftOut(s *solver.Solution) float64 {
	mean, _ := s.LeftOut(loss.SquareTest{})
	return mean
}

// faulty is a loss whose sites panic once they have been asked some times.
type faulty struct{ loss.Hinge }

type faultySite struct{ loss.Site }

func (l faulty) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	site, err := l.Hinge.Site(y, law)
	return faultySite{site}, err
}

func (faultySite) Moments(loss.Cavity) loss.Moments { panic("a fault of the loss") }

func (faulty) Prox(c, h float64, y, k []float64) (f, slope float64) { panic("a fault of the loss") }

// TestFaultOfLoss: a panic of a user's loss, on whatever goroutine, is one on the goroutine
// that asked, where it can be recovered, and the model can be used again.
func TestFaultOfLoss(t *testing.T) {
	spec := model.Spec{Set: load(t, "synthetic:rings,n=700,d=3"), Loss: loss.Hinge{C: 1},
		Kernel: kernel.Spec{Gamma: 1}, Standardize: true}
	m := build(t, spec)
	m.Loss = faulty{loss.Hinge{C: 1}}
	ctx, law := context.Background(), bootstrap
	for name, call := range map[string]func(){
		"solve": func() { m.Solve(ctx, law, solver.Settings{}) },
		"retrain": func() {
			how := fits.Settings{Resamples: 8, Workers: 2}
			model.Retrain(ctx, m, model.Single, law, model.RetrainSettings{Settings: how})
		},
	} {
		func() {
			defer func() {
				p := recover()
				if fault, ok := p.(*blas.Fault); p == nil || ok && fault.Error() != "a fault of the loss" {
					t.Errorf("%s: recovered %v", name, p)
				}
			}()
			call()
		}()
	}
	m.Loss = spec.Loss
	if s := solve(t, m); s.Status != solver.Converged || math.IsNaN(s.Var[0]) {
		t.Errorf("after a fault: %v", s.Status)
	}
}
