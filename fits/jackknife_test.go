package fits

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/loss"
	"bootbench/resample"
)

// TestDataSE draws 800 tables of 20 normal targets and predicts 3 times the mean of subsamples of 4: the
// left-out errors of two examples share their training rows. The jackknife's variance is on average the
// variance of the error over the tables, which 800 tell to 8%, and the spread over examples a fifth of it. It
// is unknown for many examples, for dependent fits, and for tests after the first.
func TestDataSE(t *testing.T) {
	const n, size, tables, fits = 20, 4, 800, 400
	rng := rand.New(rand.NewPCG(8, 4))
	y, weight, f := make([]float64, n), make([]float64, n), make([]float64, n)
	plan := resample.Resamples{Scheme: resample.Subsample{Size: size, N: n}, Y: y}
	var errors, jackknifed, spread []float64
	for range tables {
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		a := newPlain(&Problem{Y: y, Plan: plan, Sites: n}, []loss.Test{loss.SquareTest{}, loss.Absolute{}})
		for b := range fits {
			plan.Fit(b, weight)
			mean := 3 * floats.Dot(weight, y) / size
			for i := range f {
				f[i] = mean
			}
			a.Add(b, weight, f)
		}
		r := a.Averages()
		e := r.Tests[0]
		errors, jackknifed = append(errors, e.Error), append(jackknifed, e.DataSE*e.DataSE)
		spread = append(spread, stat.Variance(e.Examples, nil)/n)
		if v := r.Tests[1].DataSE; v != 0 {
			t.Fatalf("the second test has %v", v)
		}
	}
	truth := stat.Variance(errors, nil)
	t.Logf("variance %.3f, by the jackknife %.3f, by the spread %.3f", truth, stat.Mean(jackknifed, nil),
		stat.Mean(spread, nil))
	if v := stat.Mean(jackknifed, nil) / truth; v < 0.8 || v > 1.2 {
		t.Errorf("the jackknife has %.2f of the variance", v)
	}
	if v := stat.Mean(spread, nil) / truth; v > 0.3 {
		t.Errorf("the spread over examples has %.2f of the variance", v)
	}
	for _, unknown := range []*jackknife{newJackknife(MostJackknifed+1, nil, 1), newJackknife(n, nil, 5)} {
		unknown.add(weight, nil)
		if v := unknown.se(); v != 0 {
			t.Errorf("unknown: %v", v)
		}
	}
}
