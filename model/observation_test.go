package model_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// noise draws the noise of a target at x, in the place of a generator's own.
type noise func(rng *rand.Rand, x []float64) float64

// student is Student-t noise.
func student(rng *rand.Rand, dof int) float64 {
	chi := 0.0
	for range dof {
		z := rng.NormFloat64()
		chi += z * z
	}
	return rng.NormFloat64() / math.Sqrt(chi/float64(dof))
}

// coverageSet is a set of which some examples train and the others are new.
type coverageSet struct {
	name string
	set  *dataset.Set
}

// coverageSets have normal noise, and heavy tails, skewed or uneven noise; those of the
// folder too, where there is one.
func coverageSets(t *testing.T, folder string) []coverageSet {
	sets := []coverageSet{{"boston", load(t, "boston")}}
	for _, name := range []string{"california", "pumadyn8nm"} {
		if folder != "" {
			sets = append(sets, coverageSet{name, load(t, filepath.Join(folder, name+".csv"))})
		}
	}
	add := func(name, generator string, n noise) {
		own := ""
		if n != nil {
			own = ",noise=0"
		}
		set := load(t, "synthetic:"+generator+",n=2000,seed=7"+own)
		rng := rand.New(rand.NewPCG(3, 1))
		for i := range set.Y {
			if n != nil {
				set.Y[i] += n(rng, set.X.Row(i))
			}
		}
		sets = append(sets, coverageSet{name, set})
	}
	add("friedman1", "friedman1", nil)
	add("waves", "waves", nil)
	add("grid (repeated inputs)", "grid", nil)
	add("friedman1, Student-t of 2 degrees", "friedman1",
		func(rng *rand.Rand, _ []float64) float64 { return student(rng, 2) })
	add("friedman1, noise grows with x4", "friedman1",
		func(rng *rand.Rand, x []float64) float64 { return 4 * x[3] * x[3] * rng.NormFloat64() })
	add("waves, exponential noise", "waves,d=3",
		func(rng *rand.Rand, _ []float64) float64 { return 0.4 * (rng.ExpFloat64() - 1) })
	add("waves, 5% of errors ten times", "waves,d=3", func(rng *rand.Rand, _ []float64) float64 {
		scale := 0.2
		if rng.Float64() < 0.05 {
			scale = 2
		}
		return scale * rng.NormFloat64()
	})
	add("waves, uneven Student-t of 3", "waves,d=2",
		func(rng *rand.Rand, x []float64) float64 { return 0.3 * math.Abs(x[0]) * student(rng, 3) })
	return sets
}

// coverage sums what intervals of one kind do, over levels.
type coverage struct {
	// shares of the targets, and of those in the third where predictions vary most
	held, heldWide, width [3]float64
}

var coverageLevels = [3]float64{0.8, 0.9, 0.95}

// add takes in intervals at new inputs; wide marks those where predictions vary most.
func (c *coverage) add(level int, intervals []solver.Interval, y []float64, wide []bool, splits int) {
	n, some := float64(len(y)*splits), 0.0
	for _, w := range wide {
		if w {
			some += float64(splits)
		}
	}
	for p, i := range intervals {
		if i.Low <= y[p] && y[p] <= i.High {
			c.held[level] += 1 / n
			if wide[p] {
				c.heldWide[level] += 1 / some
			}
		}
		c.width[level] += (i.High - i.Low) / n
	}
}

// The kinds of interval that are compared.
const (
	byTheory = iota
	byTheoryScaled
	by200
	by200Scaled
	by1000
	kinds
)

// measureCoverage trains on 250 examples, and looks at new ones: with the hyperparameters that
// the program takes where it is told nothing, or some.
func measureCoverage(t *testing.T, set *dataset.Set, quick bool, splits, fresh,
	resamples int) (all [kinds]coverage) {
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for split := range splits {
		train, test, err := set.Split(250, rand.New(rand.NewPCG(uint64(split), 5)))
		check(err)
		test = test.Head(fresh)
		spec := model.Spec{Set: train, Standardize: true, NormalizeTarget: true}
		if quick {
			found, err := model.FitQuickly(ctx, spec, nil)
			check(err)
			spec = found.Spec
		} else {
			spec.Kernel.Gamma, spec.Loss = 0.3/float64(train.D()),
				loss.Square{Noise: 0.1 * stat.Variance(train.Y, nil)}
		}
		m := build(t, spec)
		s, err := m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{})
		check(err)
		in := &dataset.Inputs{X: test.X}
		cross, err := m.CrossAllInputs(in)
		check(err)
		var many, few model.Replicates
		result, _, err := m.RetrainBatch(ctx, s, resample.Poisson{Ratio: 1}, model.RetrainSettings{Cross: cross,
			Settings: retrain.Settings{Resamples: resamples, Seed: uint64(split), OnResample: func(b int, counts []int,
				f []float64) {
				many.Add(b, counts, f)
				if b < 200 {
					few.Add(b, counts, f)
				}
			}}})
		check(err)
		floats.AddConst(-m.TargetMean, test.Y)
		variances := result.Var[m.Sites():]
		order, wide := make([]int, test.N()), make([]bool, test.N())
		floats.Argsort(append([]float64(nil), variances...), order)
		for _, p := range order[2*len(order)/3:] {
			wide[p] = true
		}
		for l, level := range coverageLevels {
			for kind := range kinds {
				unit := model.PlainResiduals
				if kind == byTheoryScaled || kind == by200Scaled {
					unit = model.ScaledResiduals
				}
				var intervals []solver.Interval
				switch kind {
				case byTheory, byTheoryScaled:
					intervals, err = m.ObservationIntervals(s, in, level, unit)
				case by1000:
					intervals, err = m.ReplicateIntervals(&many, level, unit)
				default:
					intervals, err = m.ReplicateIntervals(&few, level, unit)
				}
				check(err)
				all[kind].add(l, intervals, test.Y, wide, splits)
			}
		}
	}
	return all
}

// TestObservationCoverage: intervals hold new targets with their level, whatever the noise.
// Between training sets of 250 the coverage has a standard deviation of at most
// (0.8 x 0.2/250)^1/2 = 2.5 points at level 0.8, and 250 new targets add as much, so that over
// three splits it lies within 6 points (3 standard errors), on average over sets within 3.5.
// Widths are those of 200 retrainings within 4%: both average predictors of the same law.
// With BOOTBENCH_SURVEY, a folder that has california.csv and pumadyn8nm.csv, it prints the
// table of doc/predictions.md.
func TestObservationCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	folder := os.Getenv("BOOTBENCH_SURVEY")
	sets, splits, fresh, resamples, within := coverageSets(t, folder), 10, 1000, 1000, 0.03
	if folder == "" {
		sets, splits, fresh, resamples, within = []coverageSet{sets[0], sets[4], sets[len(sets)-1]}, 3, 250, 200,
			0.06
	}
	table, total := &strings.Builder{}, [3]float64{}
	for _, c := range sets {
		all := measureCoverage(t, c.set, folder != "", splits, fresh, resamples)
		fmt.Fprintf(table, "%-34s", c.name)
		for l, level := range coverageLevels {
			theory := all[byTheory]
			if math.Abs(theory.held[l]-level) > within {
				t.Errorf("%s: %.3f of the new targets at level %v", c.name, theory.held[l], level)
			}
			total[l] += (theory.held[l] - level) / float64(len(sets))
			if ratio := theory.width[l] / all[by1000].width[l]; math.Abs(ratio-1) > 0.04 {
				t.Errorf("%s, level %v: %v times the width of retraining's intervals", c.name, level, ratio)
			}
			fmt.Fprintf(table, "  %.3f %.3f %.3f %5.3f", theory.held[l], all[by200].held[l], all[by1000].held[l],
				theory.width[l]/all[by1000].width[l])
		}
		fmt.Fprintf(table, "\n%-34s", "  scaled")
		for l := range coverageLevels {
			scaled := all[byTheoryScaled]
			fmt.Fprintf(table, "  %.3f %.3f %.3f %5.3f", scaled.held[l], all[by200Scaled].held[l], all[by1000].held[l],
				scaled.width[l]/all[by1000].width[l])
		}
		const at = 1 // level 0.9
		fmt.Fprintf(table, "  where predictions vary most: plain %.3f, scaled %.3f\n", all[byTheory].heldWide[at],
			all[byTheoryScaled].heldWide[at])
		if all[byTheoryScaled].heldWide[at] < all[byTheory].heldWide[at] {
			t.Errorf("%s: scaled residuals hold less where predictions vary most", c.name)
		}
	}
	t.Log("\n" + table.String())
	for l, off := range total {
		if math.Abs(off) > 0.035 {
			t.Errorf("level %v: off by %.3f on average", coverageLevels[l], off)
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
	cross, err := m.CrossAllInputs(in)
	if err != nil {
		t.Fatal(err)
	}
	var kept model.Replicates
	if _, _, err = m.RetrainBatch(ctx, s, resample.Poisson{Ratio: 1}, model.RetrainSettings{Cross: cross,
		Settings: retrain.Settings{Resamples: 4000, OnResample: kept.Add}}); err != nil {
		t.Fatal(err)
	}
	for _, unit := range []model.Residuals{model.PlainResiduals, model.ScaledResiduals} {
		theory, err := m.ObservationIntervals(s, in, 0.9, unit)
		if err != nil {
			t.Fatal(err)
		}
		retrained, err := m.ReplicateIntervals(&kept, 0.9, unit)
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
	theory := need.One(m.ObservationIntervals(s, in, 0.8, model.PlainResiduals))(t)
	cross := need.One(m.CrossAllInputs(in))(t)
	var kept model.Replicates
	if _, err := m.Retrain(ctx, scheme, model.RetrainSettings{Cross: cross,
		Settings: retrain.Settings{Resamples: 60, OnResample: kept.Add}}); err != nil {
		t.Fatal(err)
	}
	exact := need.One(m.ReplicateIntervals(&kept, 0.8, model.PlainResiduals))(t)
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
		if _, err := m.ObservationIntervals(s, in, level, model.PlainResiduals); !errors.Is(err, model.ErrInput) ||
			level == 0.95 && !strings.Contains(err.Error(), "takes 19") {
			t.Errorf("level %v: %v", level, err)
		}
	}
	if _, err := m.ReplicateIntervals(&model.Replicates{}, 0.5, model.PlainResiduals); !errors.Is(err,
		model.ErrInput) {
		t.Errorf("no resamples: %v", err)
	}
	if _, err := m.ObservationIntervals(s, in, 0.9, model.ScaledResiduals); err != nil {
		t.Errorf("12 examples at level 0.9: %v", err)
	}
}
