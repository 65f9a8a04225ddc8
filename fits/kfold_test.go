package fits_test

import (
	"math"
	"math/bits"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
	"bootbench/train/machine"
)

// TestLeaveOneOut: K-fold with as many folds as examples, one partition, is leave-one-out, whose square loss
// has a closed form: with K = v I + w 1 1' and noise s2 the predictor without i at i is w sum_{j != i} y_j/(v
// + s2 + w (N-1)), by the Woodbury identity. The predictions' variance over the N resamples is the variance
// of the N predictors, exactly.
func TestLeaveOneOut(t *testing.T) {
	const v, w, noise = 1.5, 0.7, 0.2
	y := []float64{1, -2, 0.5, 3, -1, 0, 2}
	n := len(y)
	k := linalg.ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, w)
		}
	}
	k.AddDiag(v)
	p := problem(resample.KFold{Folds: n, N: n}, 0, y...)
	r := run(t, p, process{kernel: k, noise: noise}.trainers(p), fits.Settings{Resamples: n,
		Tests: bothTests, Workers: 3})
	total, want := 0.0, 0.0
	for _, v := range y {
		total += v
	}
	for i, target := range y {
		f := w * (total - target) / (v + noise + w*float64(n-1))
		want += (f - target) * (f - target) / float64(n)
		if r.Absent[i] != 1 || !near(r.Tests[0].Examples[i], (f-target)*(f-target), 1e-12) ||
			!near(r.OutOfBag[i], f, 1e-12) {
			t.Errorf("example %d, left out %d times, has loss %v, mean %v; want %v, %v", i, r.Absent[i],
				r.Tests[0].Examples[i], r.OutOfBag[i], (f-target)*(f-target), f)
		}
	}
	if !near(r.Tests[0].Error, want, 1e-12) || !math.IsNaN(r.Tests[0].SE) || !math.IsNaN(r.VarianceSE[0]) ||
		len(r.Warnings) != 0 {
		t.Errorf("error %v +- %v, want %v and no standard error from one partition; warnings %q",
			r.Tests[0].Error, r.Tests[0].SE, want, r.Warnings)
	}
	part := run(t, p, constant(shrunkMean{}), fits.Settings{Resamples: n + 1})
	if len(part.Warnings) != 1 || !strings.Contains(part.Warnings[0], "partitions into 7 folds") {
		t.Errorf("a partition in part: warnings %q", part.Warnings)
	}
}

// eight are the targets of tests whose exact averages are over all subsets.
var eight = []float64{1, -2, 0.5, 3, -1, 0, 2, -0.5}

// overSubsets are the mean and the variance of what shrunkMean predicts from all subsets of so many of eight.
func overSubsets(t *testing.T, size int) (mean, variance float64) {
	var all []float64
	weight, f := make([]float64, len(eight)), make([]float64, 1)
	for set := range 1 << len(eight) {
		for i := range weight {
			weight[i] = float64(set >> i & 1)
		}
		if bits.OnesCount(uint(set)) == size {
			if err := (shrunkMean{}).fit(weight, eight, f); err != nil {
				t.Fatal(err)
			}
			all = append(all, f[0])
		}
	}
	return stat.PopMeanVariance(all, nil)
}

// TestFewPartitions: from three partitions in four folds, the variance is
// unbiased; with the divisor n-1 of independent resamples it would be off by
// 12/11. The exact value is over all 28 pairs that a fold may leave out.
func TestFewPartitions(t *testing.T) {
	_, exact := overSubsets(t, 6)
	var variances []float64
	for seed := range uint64(2000) {
		p := problem(resample.KFold{Folds: 4, N: 8}, seed, eight...)
		r := run(t, p, constant(shrunkMean{}), fits.Settings{Resamples: 12, Workers: 1})
		variances = append(variances, r.Variance[0])
	}
	got, se, _, _ := bruteMoments(variances)
	if math.Abs(got-exact) > 4*se || se > 0.02*exact {
		t.Errorf("variances are %.5f +- %.5f on average, exactly %.5f", got, se, exact)
	}
}

// TestStandardErrorsAreCalibrated: over 400 seeds the standard errors must match the spread of what they
// belong to. An empirical standard deviation of 400 values is good to 3.5%, the mean square of their reported
// errors to 2-3%, and the jackknife of a ratio is biased by some percent at 200 resamples: 15% is beyond the
// reach of chance and far below a forgotten factor.
//
// Under repeated K-fold the resamples depend on each other: with two folds, each partition has complementary
// halves, whose predictors add up to a constant. With shrunkMean all sites have one predictor, so the exact
// mean and variance follow from all 70 choices of 4 of 8 examples.
func TestStandardErrorsAreCalibrated(t *testing.T) {
	const seeds = 400
	for _, c := range []struct {
		scheme    resample.Scheme
		resamples int
	}{{resample.Poisson{Ratio: 1}, 200}, {resample.KFold{Folds: 2, N: 8}, 80}} {
		_, folds := c.scheme.(resample.KFold)
		exactMean, exactVar := overSubsets(t, 4)
		var value, squaredSE [3][]float64
		for seed := range uint64(seeds) {
			p := problem(c.scheme, seed, eight...)
			r := run(t, p, constant(shrunkMean{}), fits.Settings{Resamples: c.resamples, Workers: 1,
				Tests: bothTests[:1]})
			for q, pair := range [3][2]float64{{r.Tests[0].Error, r.Tests[0].SE}, {r.Mean[0], r.MeanSE[0]},
				{r.Variance[0], r.VarianceSE[0]}} {
				value[q] = append(value[q], pair[0])
				squaredSE[q] = append(squaredSE[q], pair[1]*pair[1])
			}
		}
		for q, name := range []string{"left-out error", "mean", "variance"} {
			mean, meanSE, spread, _ := bruteMoments(value[q])
			reported := stat.Mean(squaredSE[q], nil)
			ratio := math.Sqrt(reported / spread)
			t.Logf("%s, %s: %.5f +- %.5f, reported standard error / spread = %.3f", c.scheme.Name(), name,
				mean, meanSE, ratio)
			if constant := folds && name == "mean"; !constant && math.Abs(ratio-1) > 0.15 ||
				constant && (reported > 1e-20 || math.Abs(mean-exactMean) > 1e-12) {
				t.Errorf("%s, %s: %v, reported standard error %v, spread over seeds %v", c.scheme.Name(),
					name, mean, math.Sqrt(reported), math.Sqrt(spread))
			}
			if folds && name == "variance" && math.Abs(mean-exactVar) > 4.5*meanSE {
				t.Errorf("variance %v +- %v, exactly %v", mean, meanSE, exactVar)
			}
		}
	}
}

// TestRunPath: every place of a path is a run of its own with multiplied weights, whoever trains which fold.
func TestRunPath(t *testing.T) {
	y := []float64{1, -1, 1, 1, -1, -1, 1, -1, 1, -1, -1, 1}
	n, factors := len(y), []float64{1, 3, 0.2}
	k := linalg.ZeroSym(n)
	for i := range n {
		for j := i; j < n; j++ {
			k.Set(i, j, math.Exp(-0.3*float64((i-j)*(i-j))))
		}
	}
	p := problem(resample.KFold{Folds: 4, N: n}, 5, y...)
	margin := fits.Predicting(testutil.Must(machine.For(loss.Hinge{C: 0.8}, k, true,
		train.Settings{Tolerance: 1e-8}))(t), train.Set{}, n, blas64.General{})
	settings := fits.Settings{Resamples: 8, Tests: bothTests, Workers: 2}
	path := testutil.Must(fits.RunPath(t.Context(), p, fits.Along(margin, factors), factors, settings))(t)
	for place, factor := range factors {
		alone := p
		alone.Plan = resample.Path{Plan: p.Plan, Factors: []float64{factor}}
		want := run(t, alone, fits.Single(margin), settings)
		for i := range y {
			if got := path[place]; !near(got.OutOfBag[i], want.OutOfBag[i], 1e-6) || got.Resamples != 8 {
				t.Errorf("factor %g, example %d: %v, alone %v", factor, i, got.OutOfBag[i], want.OutOfBag[i])
			}
		}
	}
}
