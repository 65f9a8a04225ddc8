package calibration_test

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/loss"
)

// TestQuality: figures worked out by hand.
func TestQuality(t *testing.T) {
	near := func(what string, got report.Number, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) <= 1e-12) { // sums of a few small numbers
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	said := func(q *report.Quality, testError report.Number) string {
		return strings.Join(q.Check(testError).Issues(), "; ")
	}
	// Targets 1, 2, 6: mean 3, variance (4+1+9)/3. Errors 1, 2, 3: mean 2, standard deviation 1.
	q := calibration.NewQuality(loss.SquareTest{}, 2, []float64{1, 2, 6}, []float64{1, 2, 3}, nil, nil, nil)
	near("variance", q.Baseline, 14.0/3)
	near("R^2", *q.RSquared, 1-2/(14.0/3))
	near("RMSE", *q.RMSE, math.Sqrt2)
	near("standard error", q.ExampleSE, 1/math.Sqrt(3))
	if q.Constant != "3" || q.Balanced != nil || said(q, 2) != "" || !strings.Contains(said(q, 5),
		"learned nothing") {
		t.Errorf("%+v", q)
	}
	// The median 2 is off by 1, 0, 4.
	q = calibration.NewQuality(loss.Absolute{}, 1, []float64{1, 2, 6}, []float64{1, 1, 1}, nil, nil, nil)
	near("absolute deviation", q.Baseline, 5.0/3)
	if q.Constant != "2" || q.RSquared != nil || q.RMSE != nil {
		t.Errorf("%+v", q)
	}
	// Three of four are "yes", which errs on the fourth; the error of "yes" is (0.5+0.1)/2 over
	// two that are known, the one of "no" 0.4.
	q = calibration.NewQuality(loss.ZeroOne{}, 0.25, []float64{1, 1, 1, -1}, []float64{0.5, 0.1, math.NaN(),
		0.4}, nil, nil, &dataset.Column{Levels: []string{"no", "yes"}})
	near("share", q.Baseline, 0.25)
	near("balanced", *q.Balanced, (0.3+0.4)/2)
	// the fourth row is ranked below two of three, by an AUC of 2/3 which is chance; of 40 rows it is not
	calibration.Rank(q, []float64{1, 2, 3, 1.5}, []float64{1, 1, 1, -1}, nil)
	if !strings.Contains(said(q, 0.25), "nothing") {
		t.Error(said(q, 0.25))
	}
	near("AUC", *q.AUC, 2.0/3)
	score, label := make([]float64, 40), make([]float64, 40)
	for i := range label {
		score[i], label[i] = float64(i*7%40), 1
		if i%4 == 0 && score[i] < 20 {
			label[i] = -1
		}
	}
	if calibration.Rank(q, score, label, nil); strings.Contains(said(q, 0.25), "nothing") ||
		!strings.Contains(said(q, 0.25), "yet the model ranks") {
		t.Errorf("AUC %v: %s", *q.AUC, said(q, 0.25))
	}
	if q.Constant != "yes" || said(q, 0.25) == "" {
		t.Errorf("%+v", q)
	}
	q = calibration.NewQuality(loss.SquareTest{}, 1, nil, nil, nil, nil, nil)
	if q != nil || said(q, 1) != "" {
		t.Errorf("of nothing: %+v", q)
	}
}
