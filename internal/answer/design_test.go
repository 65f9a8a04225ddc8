package answer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// patients are rows of so many patients, each of so many rows: inputs are near the patient's, targets are a
// function of the input plus an effect of the patient and noise.
func patients(t *testing.T, count, rows int, effect float64, seed uint64) (model.Spec, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 77))
	n := count * rows
	x, y, group := mat.NewDense(n, 2, nil), make([]float64, n), make([]int, n)
	for p := range count {
		at, own := [2]float64{rng.NormFloat64(), rng.NormFloat64()}, effect*rng.NormFloat64()
		for k := range rows {
			i := p*rows + k
			a, b := at[0]+0.05*rng.NormFloat64(), at[1]+0.05*rng.NormFloat64()
			x.SetRow(i, []float64{a, b})
			y[i], group[i] = math.Sin(2*a)+b+own+0.3*rng.NormFloat64(), p
		}
	}
	spec := specOf(testutil.Must(dataset.New(x, y))(t), loss.Square{Noise: 0.1})
	spec.Kernel.Gamma, spec.Kernel.Amplitude = 0.3, 1
	return spec, group
}

func schemeOf(t *testing.T, d resample.Design, name string, n int) resample.Scheme {
	t.Helper()
	d.N = n
	return testutil.Must(d.Of(name, resample.Options{Ratio: 1}))(t)
}

// TestRefinedDesigns: over 40 seeds the refined left-out error of whole groups, of strata and of blocks is
// the one of 20000 resamples trained one by one, in units of its standard error: the mean of the 40 deviates
// is 0 to 3.3/40^1/2 and their standard deviation 1 to 3 times its own error, 0.11; and so is a prediction's
// variance.
func TestRefinedDesigns(t *testing.T) {
	seeds, retrained := 40, 20000
	if testing.Short() {
		seeds, retrained = 10, 4000
	}
	spec, group := patients(t, 16, 3, 0.5, 1)
	stratum := make([]int, len(group))
	for i := range stratum {
		stratum[i] = min(i%5, 1)
	}
	for name, scheme := range map[string]resample.Scheme{
		"groups":                 schemeOf(t, resample.Design{Group: group}, "poisson", 48),
		"groups of fixed number": schemeOf(t, resample.Design{Group: group}, "multinomial", 48),
		"strata":                 schemeOf(t, resample.Design{Stratum: stratum}, "multinomial", 48),
		"blocks":                 schemeOf(t, resample.Design{Block: 5}, "multinomial", 48),
	} {
		t.Run(name, func(t *testing.T) {
			j := testutil.Must(answer.New(t.Context(), spec, nil))(t)
			settings := fits.Settings{Resamples: retrained, Tests: []loss.Test{loss.SquareTest{}}}
			truth := testutil.Must(model.Retrain(t.Context(), j.Model, model.Single, scheme,
				model.RetrainSettings{Seed: 999, Settings: settings}))(t)
			var z, zVar []float64
			for seed := range seeds {
				e := testutil.Must(j.Estimate(t.Context(), answer.Question{Theory: answer.Yes,
					Exact: answer.Yes, Scheme: scheme, Level: 0.9, Resamples: 100, Seed: uint64(seed)}))(t)
				se := math.Hypot(float64(*e.MonteCarloSE), truth.Tests[0].SE)
				z = append(z, (float64(e.Error)-truth.Tests[0].Error)/se)
				at := e.Refined.Points
				zVar = append(zVar, (at.Variance[7]-truth.Variance[7])/math.Hypot(at.VarianceSE[7],
					truth.VarianceSE[7]))
			}
			for what, z := range map[string][]float64{"error": z, "variance": zVar} {
				mean, sd := stat.MeanStdDev(z, nil)
				own := 1 / math.Sqrt(float64(2*seeds))
				if math.Abs(mean) > 3.3/math.Sqrt(float64(seeds)) || math.Abs(sd-1) > 3*own {
					t.Errorf("%s: deviates have mean %.2f and standard deviation %.2f", what, mean, sd)
				}
			}
		})
	}
}

// TestPatients: every patient is there ten times. Over 12 sets the error that resamples of whole patients
// give is the error of the same models for 300 new patients, to three standard errors of the difference;
// resamples of rows give at most 0.6 of it. Of the 90% intervals for new targets 0.84 to 0.96 hold, those by
// rows less than 0.7.
func TestPatients(t *testing.T) {
	var ratio, rows []float64
	var held [2]float64
	for seed := range uint64(12) {
		spec, group := patients(t, 20, 10, 0.7, seed)
		fresh, _ := patients(t, 300, 1, 0.7, 1000+seed)
		j := testutil.Must(answer.New(t.Context(), spec, nil))(t)
		truth, whole := 0.0, schemeOf(t, resample.Design{Group: group}, "poisson", 200)
		testutil.Must(model.Retrain(t.Context(), j.Model, model.Single, whole, model.RetrainSettings{
			Cross: testutil.Must(j.Model.CrossAll(fresh.Set))(t), Settings: fits.Settings{Resamples: 100,
				OnFit: func(_ int, _, f []float64) {
					for i, y := range fresh.Set.Targets(0) {
						truth += (loss.SquareTest{}).Value(f[200+i], y) / 30000
					}
				}}}))(t)
		var errors [2]float64
		for k, scheme := range []resample.Scheme{whole, bootstrap} {
			q := answer.Question{Theory: answer.Yes, Exact: answer.Yes, Scheme: scheme, Level: 0.9,
				Resamples: 100, Intervals: answer.Intervals{Of: answer.Observation}}
			errors[k] = float64(testutil.Must(j.Estimate(t.Context(), q))(t).Error) / truth
			held[k] += *testutil.Must(j.Predict(t.Context(), fresh.Set, q))(t).Coverage / 12
		}
		ratio, rows = append(ratio, math.Log(errors[0])), append(rows, errors[1])
	}
	mean, sd := stat.MeanStdDev(ratio, nil)
	if math.Abs(held[0]-0.9) > 0.06 || held[1] > 0.7 {
		t.Errorf("90%% intervals hold %.3f of new patients by whole patients, %.3f by rows", held[0], held[1])
	}
	t.Logf("%v groups: log ratio %.3f +- %.3f; rows: ratio %.2f", held, mean, sd/math.Sqrt(12),
		stat.Mean(rows, nil))
	if math.Abs(mean) > 3*sd/math.Sqrt(12) || sd > 0.5 {
		t.Errorf("log of the error of whole patients over that of new ones: %.3f +- %.3f", mean,
			sd/math.Sqrt(12))
	}
	if got := stat.Mean(rows, nil); got > 0.6 {
		t.Errorf("the error of rows is %.2f of that of new patients", got)
	}
}
