package solver_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestBayesian: the theory of the Bayesian bootstrap has the means and variances of models that are trained
// one by one on its weights, within the theory's own error for weights that sum to N; hard margins refuse it.
func TestBayesian(t *testing.T) {
	for k, c := range []struct {
		data string
		loss loss.Loss
	}{
		{"synthetic:friedman1,n=80", loss.Square{Noise: 2}}, {"synthetic:friedman1,n=80",
			loss.Huber{C: 0.5, Epsilon: 1}},
		{"synthetic:blobs,n=80,d=3", loss.Hinge{C: 1}}, {"synthetic:blobs,n=80,d=3", loss.Logistic{C: 1}},
	} {
		m := testutil.Must(model.Build(t.Context(), model.NewSpec(testutil.Must(dataset.Load(c.data,
			dataset.Options{}))(t), c.loss)))(t)
		for at, shape := range []float64{1, 0.4} {
			if testing.Short() && at != k%2 {
				continue // the run without -short has it
			}
			scheme := resample.Bayesian{N: m.Set.N(), Shape: shape}
			s := testutil.Must(m.Solve(t.Context(), scheme, solver.Settings{}))(t)
			r := testutil.Must(model.Retrain(t.Context(), m, model.Single, scheme,
				model.RetrainSettings{Seed: 1, Settings: fits.Settings{Resamples: 600}}))(t)
			var offMean, offVar []float64
			for i := range s.Mean {
				offMean = append(offMean, math.Pow((s.Mean[i]-r.Mean[i]), 2)/r.Variance[i])
				offVar = append(offVar, s.Var[i]/r.Variance[i])
			}
			mean, ratio := math.Sqrt(stat.Mean(offMean, nil)), stat.Mean(offVar, nil)
			if s.Status != solver.Converged || mean > 0.1 || math.Abs(ratio-1) > 0.13 {
				t.Errorf("%s, shape %g: %v, means off by %.3f sd, variances %.3f of retraining's",
					c.loss.Name(), shape, s.Status, mean, ratio)
			}
			t.Logf("%s, shape %g: means off by %.3f sd, variances %.3f", c.loss.Name(), shape, mean, ratio)
		}
	}
	hard := testutil.Must(model.Build(t.Context(), model.NewSpec(testutil.Must(dataset.Open("sonar"))(t),
		loss.HardMargin{})))(t)
	if _, err := hard.Solve(t.Context(), resample.Bayesian{N: 208, Shape: 1},
		solver.Settings{}); !errors.Is(err, model.ErrInput) {
		t.Error(err)
	}
}
