package answer_test

import (
	"bytes"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// TestTargets compares the answer for each of several targets with that for the target alone, whose loss is
// the same in units of its deviation: left-out errors and predictions of the theory, and of the same
// resamples.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		fitted loss.Loss
		alone  func(unit float64) loss.Loss // of targets that are larger by unit
	}{
		{loss.Square{Noise: 0.8}, func(u float64) loss.Loss { return loss.Square{Noise: 0.8 * u * u} }},
		{loss.EpsInsensitive{C: 1, Epsilon: 0.2}, func(u float64) loss.Loss {
			return loss.EpsInsensitive{C: 1 / u, Epsilon: 0.2 * u}
		}},
		{loss.Huber{C: 2, Epsilon: 0.5}, func(u float64) loss.Loss {
			return loss.Huber{C: 2 / (u * u), Epsilon: 0.5 * u}
		}},
	} {
		compareTargets(t, c.fitted, c.alone)
	}
}

func compareTargets(t *testing.T, fitted loss.Loss, ofUnit func(unit float64) loss.Loss) {
	t.Helper()
	load := func(target string, drop ...string) *dataset.Set {
		return testutil.Must(dataset.Load("testdata/targets.csv",
			dataset.Options{Target: target, Drop: drop}))(t)
	}
	settings := answer.Question{Theory: answer.Yes, Exact: answer.Yes, Scheme: resample.Poisson{Ratio: 1},
		Resamples: 40,
		Level:     0.9}
	spec := model.NewSpec(load("a,b", "c"), fitted)
	j := testutil.Must(answer.New(t.Context(), spec, nil))(t)
	all := testutil.Must(j.Estimate(t.Context(), settings))(t)

	variance := func(set *dataset.Set) (v float64) {
		mean := 0.0
		for _, y := range set.Targets(0) {
			mean += y / float64(set.N())
		}
		for _, y := range set.Targets(0) {
			v += (y - mean) * (y - mean)
		}
		return v
	}
	for name, other := range map[string]string{"a": "b", "b": "a"} {
		single := load(name, other, "c")
		share := variance(single) / variance(spec.Set)
		alone := model.NewSpec(single, ofUnit(math.Sqrt(share)))
		want := testutil.Must(testutil.Must(answer.New(t.Context(), alone, nil))(t).Estimate(t.Context(),
			settings))(t)
		compareEstimates(t, fitted.Name()+" "+name, all.Targets[name], want)
	}
	if len(all.Names) != 2 || all.Names[1] != "b" || math.Abs(float64(all.Correlation[0][0])-1) > 1e-12 {
		t.Errorf("targets %v with correlations %v", all.Names, all.Correlation)
	}
	overall := 0.0
	for _, a := range all.Targets {
		e := a
		overall += float64(e.Error/e.Quality.Baseline) / 2
	}
	if math.Abs(overall-float64(all.Error)) > 1e-12 {
		t.Errorf("the error of all is %v, the mean of the shares %v", all.Error, overall)
	}
}

// compareEstimates compares two answers in relation to the error of a constant, which both must know.
func compareEstimates(t *testing.T, name string, got, want *report.Answer) {
	t.Helper()
	const solved, trained = 1e-5, 2e-2 // of the error of a constant; fits are exact to a share of its root
	total := float64(want.Quality.Baseline)
	for _, c := range []struct {
		what      string
		got, want float64
		allowed   float64
	}{
		{"baseline", float64(got.Quality.Baseline), total, solved},
		{"theory", float64(*got.TestError), float64(*want.TestError), solved},
		{"apparent", float64(got.Apparent), float64(want.Apparent), solved},
		{".632+", float64(got.Err632Plus), float64(want.Err632Plus), solved},
		{"refined", float64(got.Error), float64(want.Error), trained},
		{"standard error", float64(got.ErrorSE), float64(want.ErrorSE), trained},
		{"noise", got.Noise, want.Noise, solved},
		{"amplitude", got.Kernel.Amplitude, want.Kernel.Amplitude, solved},
		{"variance of row 4", got.Points.Variance[3], want.Points.Variance[3], solved},
		{"error of row 4", got.Points.Error[3], want.Points.Error[3], solved},
		{"refined variance of row 4", got.Refined.Points.Variance[3], want.Refined.Points.Variance[3],
			trained},
	} {
		if !(math.Abs(c.got-c.want) <= c.allowed*total) {
			t.Errorf("%s, %s: %v, alone %v", name, c.what, c.got, c.want)
		}
	}
	for i, m := range want.Points.Mean {
		if !(math.Abs(got.Points.Mean[i]-m) <= solved*math.Sqrt(total)) ||
			got.Points.Target.Numbers[i] != want.Points.Target.Numbers[i] &&
				math.Abs(got.Points.Target.Numbers[i]-want.Points.Target.Numbers[i]) > 1e-12*math.Abs(m) {
			t.Fatalf("%s, row %d: mean %v of %v, alone %v of %v", name, i+1, got.Points.Mean[i],
				got.Points.Target.Numbers[i], m, want.Points.Target.Numbers[i])
		}
	}
	if got.Quality.Constant != want.Quality.Constant ||
		math.Abs(*got.TargetMean-*want.TargetMean) > 1e-9*math.Sqrt(total) {
		t.Errorf("%s: constant %s, alone %s", name, got.Quality.Constant, want.Quality.Constant)
	}
}

// TestTargetsElsewhere compares cross-validation, retraining and predictions of a trained model, through its
// file, for each of several targets with those for the target alone.
func TestTargetsElsewhere(t *testing.T) {
	load := func(target string, drop ...string) *dataset.Set {
		return testutil.Must(dataset.Load("testdata/targets.csv",
			dataset.Options{Target: target, Drop: drop}))(t)
	}
	spec := model.NewSpec(load("b,a", "c"), loss.Square{Noise: 500})
	j := testutil.Must(answer.New(t.Context(), spec, nil))(t)
	v := answer.Validation{Folds: 5, Repeats: 2, Seed: 1, Design: resample.Design{N: spec.Set.N()}}
	how := answer.Retraining{Scheme: resample.Poisson{Ratio: 1}}
	how.Resamples = 30
	validated := testutil.Must(j.CrossValidate(t.Context(), v))(t)
	retrained := testutil.Must(j.Retrain(t.Context(), how, nil))(t)
	file := &bytes.Buffer{}
	if err := testutil.Must(j.Train(t.Context()))(t).Write(file); err != nil {
		t.Fatal(err)
	}
	p := testutil.Must(model.ReadPredictor(file))(t)
	in := testutil.Must(p.Encoding.LoadInputs("testdata/targets.csv", dataset.Options{}))(t)
	predicted := testutil.Must(answer.PredictBy(p, in, loss.SquareTest{}, &answer.Question{Level: 0.8}))(t)

	single := load("a", "b", "c")
	unit := deviation(single.Targets(0)) / deviation(spec.Set.Targets(0))
	alone := testutil.Must(answer.New(t.Context(), model.NewSpec(single,
		loss.Square{Noise: 500 * unit * unit}), nil))(t)
	byFolds := testutil.Must(alone.CrossValidate(t.Context(), v))(t)
	byFits := testutil.Must(alone.Retrain(t.Context(), how, nil))(t)
	trained := testutil.Must(alone.Train(t.Context()))(t)
	byModel := testutil.Must(answer.PredictBy(trained, single, loss.SquareTest{},
		&answer.Question{Level: 0.8}))(t)
	cv, fits, new := validated.Targets["a"],
		retrained.Targets["a"],
		predicted.Targets["a"]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"cv", float64(cv.Error), float64(byFolds.Error)}, {"its error", float64(cv.ErrorSE),
			float64(byFolds.ErrorSE)},
		{"over partitions", float64(cv.RepeatsSE), float64(byFolds.RepeatsSE)},
		{"its noise", cv.Noise, byFolds.Noise}, {"row 7", cv.Points.Mean[6], byFolds.Points.Mean[6]},
		{"retrain", float64(*fits.TestError), float64(*byFits.TestError)}, {"its error", float64(fits.SE),
			float64(byFits.SE)},
		{".632+", float64(fits.Err632Plus), float64(byFits.Err632Plus)},
		{"bagged", float64(*fits.BaggedError), float64(*byFits.BaggedError)},
		{"variance of row 7", fits.Points.Variance[6], byFits.Points.Variance[6]},
		{"prediction", new.Points.Prediction[6], byModel.Points.Prediction[6]},
		{"interval", new.Points.Upper[6], byModel.Points.Upper[6]},
		{"test error", float64(*new.TestError), float64(*byModel.TestError)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-6*(math.Abs(c.want)+1e-3)) {
			t.Errorf("%s: %v, alone %v", c.what, c.got, c.want)
		}
	}
	if p.Others[0].Training.Apparent/trained.Training.Apparent-1 > 1e-6 {
		t.Errorf("apparent error %v, alone %v", p.Others[0].Training.Apparent, trained.Training.Apparent)
	}
}

func deviation(y []float64) float64 { return math.Sqrt(stat.PopVariance(y, nil)) }
