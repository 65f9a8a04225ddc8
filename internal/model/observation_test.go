package model_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/predict"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestObservationCoverage: intervals hold new targets with their level, whatever the noise.
// Between training sets of 250 the coverage has a standard deviation of at most
// (0.8 x 0.2/250)^1/2 = 2.5 points at level 0.8, and 250 new targets add as much, so that over
// three splits it lies within 6 points (3 standard errors), on average over sets within 3.5. Scaled residuals
// hold more than plain ones in the third of the inputs where predictions vary most.
func TestObservationCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	uneven := load(t, "synthetic:waves,n=1000,d=2,seed=7,noise=0")
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range uneven.Y { // Student-t of 3 degrees of freedom, growing with |x1|
		chi := math.Pow(rng.NormFloat64(), 2) + math.Pow(rng.NormFloat64(), 2) + math.Pow(rng.NormFloat64(), 2)
		uneven.Y[i] += 0.3 * math.Abs(uneven.X.At(i, 0)) * rng.NormFloat64() / math.Sqrt(chi/3)
	}
	const splits = 3
	levels, total := []float64{0.8, 0.9, 0.95}, [3]float64{}
	for name, set := range map[string]*dataset.Set{"boston": load(t, "boston"),
		"waves": load(t, "synthetic:waves,n=1000,seed=7"), "uneven noise": uneven} {
		var held, wide [3][2]float64 // shares, with plain and scaled residuals
		for split := range splits {
			train, test := need.Two(set.Split(250, rand.New(rand.NewPCG(uint64(split), 5))))(t)
			test = test.Head(250)
			spec := model.NewSpec(train, loss.Square{Noise: 0.1 * stat.Variance(train.Y, nil)})
			spec.Kernel.Gamma = 0.3 / float64(train.D())
			m, in := build(t, spec), &dataset.Inputs{X: test.X}
			s := need.One(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
			order := make([]int, test.N())
			floats.Argsort(slices.Clone(need.One(predict.At(m, s, in, nil))(t).Var), order)
			for l, level := range levels {
				for k, unit := range []predict.Residuals{predict.PlainResiduals, predict.ScaledResiduals} {
					intervals := need.One(predict.ObservationIntervals(m, s, in, level, unit))(t)
					for rank, p := range order {
						if y := test.Y[p] - m.TargetMean; intervals[p].Low <= y && y <= intervals[p].High {
							held[l][k]++
							if 3*rank >= 2*test.N() {
								wide[l][k]++
							}
						}
					}
				}
			}
		}
		for l, level := range levels {
			off := held[l][0]/(250*splits) - level
			if total[l] += off / 3; math.Abs(off) > 0.06 {
				t.Errorf("%s: off by %.3f at level %v", name, off, level)
			}
		}
		if wide[1][1] < wide[1][0] {
			t.Errorf("%s: scaled residuals hold less where predictions vary most", name)
		}
	}
	for l, off := range total {
		if math.Abs(off) > 0.035 {
			t.Errorf("level %v: off by %.3f on average", levels[l], off)
		}
	}
}

// TestWithoutEach: where inputs are merged, the theory's intervals are those of 4000
// retrainings. The ends are quantiles of what is known within the theory's own accuracy, a
// few percent of the spread of residuals, which is a third of the width.
func TestWithoutEach(t *testing.T) {
	spec := grid(t, 120)
	m := build(t, spec)
	ctx := context.Background()
	s, err := m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	in := &dataset.Inputs{X: load(t, "synthetic:grid,n=30,d=2,seed=9").X}
	cross, err := m.CrossAll(in)
	if err != nil {
		t.Fatal(err)
	}
	var kept predict.Replicates
	if _, _, err = refit.RetrainAround(ctx, m, s, resample.Poisson{Ratio: 1}, refit.RetrainSettings{Cross: cross,
		Settings: retrain.Settings{Resamples: 4000, OnFit: kept.Add}}); err != nil {
		t.Fatal(err)
	}
	for _, unit := range []predict.Residuals{predict.PlainResiduals, predict.ScaledResiduals} {
		theory, err := predict.ObservationIntervals(m, s, in, 0.9, unit)
		if err != nil {
			t.Fatal(err)
		}
		retrained, err := predict.ReplicateIntervals(m, &kept, 0.9, unit)
		if err != nil {
			t.Fatal(err)
		}
		for p, i := range theory {
			width := retrained[p].High - retrained[p].Low
			if d := math.Max(math.Abs(i.Low-retrained[p].Low), math.Abs(i.High-retrained[p].High)); d > 0.04*width {
				t.Errorf("unit %d, input %d: %v by the theory, %v retrained", unit, p, i, retrained[p])
			}
		}
	}
}

// TestJackknifePlusOfLeaveOneOut: with a fold for every example the interval is the
// jackknife+ of exact leave-one-out fits of a Gaussian process, which are made here one by
// one. The theory takes other examples as absent with probability 1/n too, which moves
// an end by far less than a residual's typical distance to the next.
func TestJackknifePlusOfLeaveOneOut(t *testing.T) {
	set, in := load(t, "synthetic:waves,n=60,d=2,noise=0.3"),
		&dataset.Inputs{X: load(t, "synthetic:waves,n=90,d=2,noise=0.3").X}
	spec := model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.3}, Loss: loss.Square{Noise: 0.1}}
	m := build(t, spec)
	ctx, scheme := context.Background(), resample.KFold{Folds: 60, N: 60}
	s := need.One(m.Solve(ctx, scheme, solver.Settings{}))(t)
	theory := need.One(predict.ObservationIntervals(m, s, in, 0.8, predict.PlainResiduals))(t)
	cross := need.One(m.CrossAll(in))(t)
	var kept predict.Replicates
	if _, err := refit.RetrainSingly(ctx, m, scheme, refit.RetrainSettings{Cross: cross,
		Settings: retrain.Settings{Resamples: 60, OnFit: kept.Add}}); err != nil {
		t.Fatal(err)
	}
	exact := need.One(predict.ReplicateIntervals(m, &kept, 0.8, predict.PlainResiduals))(t)
	for p, i := range theory {
		if d := math.Max(math.Abs(i.Low-exact[p].Low),
			math.Abs(i.High-exact[p].High)); d > 0.05*(exact[p].High-exact[p].Low) {
			t.Errorf("input %d: %v by the theory, %v by leaving out", p, i, exact[p])
		}
	}
}

// TestObservationRefusals: a level that the examples cannot support is bad input, with the
// number that would do.
func TestObservationRefusals(t *testing.T) {
	set := load(t, "synthetic:waves,n=12,d=2")
	m := build(t, model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.3}, Loss: loss.Square{Noise: 0.1}})
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
	in := &dataset.Inputs{X: set.X}
	for _, level := range []float64{0, 1, -0.5, math.NaN(), 0.95} {
		if _, err := predict.ObservationIntervals(m, s, in, level, predict.PlainResiduals); !errors.Is(err,
			model.ErrInput) ||
			level == 0.95 && !strings.Contains(err.Error(), "takes 19") {
			t.Errorf("level %v: %v", level, err)
		}
	}
	if _, err := predict.ReplicateIntervals(m, &predict.Replicates{}, 0.5,
		predict.PlainResiduals); !errors.Is(err,
		model.ErrInput) {
		t.Errorf("no resamples: %v", err)
	}
	if _, err := predict.ObservationIntervals(m, s, in, 0.9, predict.ScaledResiduals); err != nil {
		t.Errorf("12 examples at level 0.9: %v", err)
	}
}
