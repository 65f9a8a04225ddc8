package model_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// sharedCases are models whose factor ranks can share: each loss that is trained in a way
// of its own, merged inputs, and a bias.
func sharedCases(t *testing.T) map[string]model.Spec {
	t.Helper()
	cases := spreadCases(t)
	delete(cases, "hard") // trained with the whole matrix
	cases["logistic"] = cases["hinge"]
	for name, spec := range cases {
		spec.Storage, spec.RankTol = model.LowRank, 1e-3
		if name == "logistic" {
			spec.Loss, spec.Bias = loss.Logistic{C: 1}, true
		}
		cases[name] = spec
	}
	return cases
}

// sharedAnswers are those of a spread model, and those of resamples one by one.
func sharedAnswers(t *testing.T, spec model.Spec) map[string][]float64 {
	m := build(t, spec)
	a := answers(t, m, resample.Poisson{Ratio: 1})
	for _, pivot := range m.Factor.Pivots() {
		a["pivots"] = append(a["pivots"], float64(pivot))
	}
	single := need.One(m.Retrain(context.Background(), resample.Poisson{Ratio: 1},
		model.RetrainSettings{Settings: retrain.Settings{Resamples: 3}}))(t)
	a["single mean"] = single.Mean
	return a
}

// agreeWithOne compares with the answers of one process: fits to the trainers' tolerance, the rest as for a
// matrix that is spread.
func agreeWithOne(t *testing.T, want, got map[string][]float64) {
	t.Helper()
	for what, tolerance := range map[string]float64{"single mean": 1e-5} {
		for i, v := range want[what] {
			if d := got[what][i] - v; !(d <= tolerance && d >= -tolerance) {
				t.Errorf("%s %d is %v, of one process %v", what, i, got[what][i], v)
			}
		}
		delete(want, what)
	}
	agree(t, want, got)
}

// spreadSet is a set of which a rank holds its part of the inputs only.
func spreadSet(t *testing.T, set *dataset.Set, g dist.Grid) *dataset.Set {
	part, err := set.Spread(dist.NewTeam(g))
	if err != nil {
		t.Error(err)
	}
	return part
}

// Ranks that share a factor find what one process finds, each with its part of the inputs, in a factor of the
// same pivots.
func TestSharedFactorFindsTheSame(t *testing.T) {
	cases := sharedCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		if slow := name == "logistic" || name == "insensible" || name == "squared"; slow && testing.Short() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			spec := cases[name]
			want := sharedAnswers(t, spec)
			got := make([]map[string][]float64, 3)
			disttest.OnRanks(1, len(got), func(g dist.Grid) {
				spec := spec
				spec.Grid, spec.Set = g, spreadSet(t, spec.Set, g)
				got[g.Rank()] = sharedAnswers(t, spec)
			})
			for rank := range got {
				agreeWithOne(t, maps.Clone(want), got[rank])
				for what, v := range got[0] {
					if !slices.Equal(v, got[rank][what]) {
						t.Errorf("%s: rank %d has other bits than rank 0", what, rank)
					}
				}
			}
		})
	}
}

// What ranks cannot share is refused on all of them, as are ranks that have read different
// data, and a factor that does not fit into any one's memory.
func TestSharedFactorRefuses(t *testing.T) {
	refused := func(says string, kind error, change func(s *model.Spec, rank int)) {
		t.Helper()
		disttest.OnRanks(1, 2, func(g dist.Grid) {
			spec := grid(t, 50)
			spec.Storage, spec.Grid = model.LowRank, g
			change(&spec, g.Rank())
			if _, err := model.Build(spec); !errors.Is(err, kind) || !strings.Contains(fmt.Sprint(err), says) {
				t.Errorf("rank %d: %v", g.Rank(), err)
			}
		})
	}
	refused("take --engine scalapack", model.ErrInput, func(s *model.Spec, _ int) {
		set := load(t, "crabs")
		s.Set, s.Loss, s.Kernel = set, loss.HardMargin{}, kernel.Spec{}
	})
	refused("not those of rank 0", model.ErrInput, func(s *model.Spec, rank int) {
		if rank == 1 {
			s.Set.Y[7]++
		}
	})
	refused("rank", linalg.ErrMemory, func(s *model.Spec, rank int) {
		s.Rank, s.MaxBytes = 40, 1<<40
		if rank == 1 {
			s.MaxBytes = 10000
		}
	})
	disttest.OnRanks(1, 2, func(g dist.Grid) {
		spec := grid(t, 50)
		spec.Storage, spec.Grid = model.LowRank, g
		if _, err := build(t, spec).Dense(); !errors.Is(err, model.ErrInput) {
			t.Errorf("rank %d: all of a shared matrix: %v", g.Rank(), err)
		}
	})
}

// Ranks that share a factor find the objective and the derivatives of one process by all hyperparameters, to
// the residual of the linear equations (1e-6), and all of them the same bits. Their number is no matter, nor
// that one holds no pivot.
func TestSharedFactorHasTheGradient(t *testing.T) {
	for name, c := range map[string]struct {
		loss loss.Loss
		test loss.Test
		kind kernel.Spec
		over []string
	}{
		"square": {loss.Square{Noise: 2}, loss.SquareTest{},
			kernel.Spec{LengthScale: []float64{3, 3, 4, 4, 5, 5, 6, 6, 7, 7}, Constant: 1, Jitter: 0.01},
			[]string{"noise", "length-scale", "amplitude", "constant", "jitter"}},
		"eps": {loss.EpsInsensitive{C: 0.5, Epsilon: 1}, loss.SquareTest{}, kernel.Spec{Kind: kernel.Poly,
			Gamma: 0.01, Coef0: 1, Amplitude: 1}, []string{"epsilon", "C", "gamma", "coef0"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := model.Spec{Set: load(t, "synthetic:friedman1,n=90"), Loss: c.loss, Kernel: c.kind,
				Standardize: true, NormalizeTarget: c.kind.Amplitude == 0, Storage: model.LowRank, Rank: 25}
			answer := func(spec model.Spec) []float64 {
				m := build(t, spec)
				s, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-9})
				if err != nil {
					t.Error(err)
					return nil
				}
				over, err := m.Hyperparameters(c.over...)
				if err != nil {
					t.Error(err)
					return nil
				}
				value, gradient, err := m.Gradient(context.Background(), s, solver.Objective{Criterion: solver.Err632Plus,
					Test: c.test}, over)
				if err != nil {
					t.Error(err)
				}
				return append(gradient, value)
			}
			want := answer(spec)
			for _, ranks := range []int{2, 5} {
				got := make([][]float64, ranks)
				disttest.OnRanks(1, ranks, func(g dist.Grid) {
					spec := spec
					if spec.Grid = g; ranks > 2 {
						spec.Set = spreadSet(t, spec.Set, g)
					}
					got[g.Rank()] = answer(spec)
				})
				for rank := range got {
					if !slices.Equal(got[rank], got[0]) {
						t.Fatalf("of %d ranks rank %d has %v, rank 0 %v", ranks, rank, got[rank], got[0])
					}
				}
				value := want[len(want)-1]
				for k, v := range want {
					if len(got[0]) != len(want) || !(math.Abs(got[0][k]-v) <= 1e-5*(math.Abs(v)+0.1*value)) {
						t.Fatalf("%d ranks: derivatives and value %v, of one process %v", ranks, got[0], want)
					}
				}
			}
		})
	}
}
