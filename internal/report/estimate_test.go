package report

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// TestBrief: a mean square is told as its root with the standard error of that, in which examples and
// resamples both count; labels as a share; the worst rows by name.
func TestBrief(t *testing.T) {
	se := null.Float(3)
	e := &Estimate{Subject: Subject{Data: "a/b.csv", N: 3, D: 2, Task: "regression", Target: "price"},
		Quote: Quote{Error: 100, ErrorSE: &se}, Errors: Errors{TestLoss: "square"},
		Quality: &calibration.Quality{Baseline: 400, Constant: "7", ExampleSE: 4, RSquared: null.Of(0.75)},
		Points: &Points{Names: []string{"x", "y", "z"}, Error: null.Floats{1, 9, math.NaN()},
			Target: null.Floats{5, 6, 7}, OOBMean: null.Floats{4, 3, 2}, Variance: null.Floats{1, 4, 9}}}
	text := func() string {
		var b strings.Builder
		if err := WriteText(&b, e, false); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has := func(wants ...string) {
		for _, want := range wants {
			if got := text(); !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	has("10 +- 0.25 (root mean square) on new rows; 20 if all are predicted 7", "75.0% of the variance",
		"regression of price", "y (6, predicted 3), x (5, predicted 4)\n", "changes by 2 (")
	e.TestLoss, e.Error, e.Quality.Baseline, e.Positive = "zero-one", 0.25, 0.5, "1"
	e.ErrorSE, e.Quality.ExampleSE, e.Quality.RSquared = nil, 0.02, nil
	e.Points.OOBVote, e.Points.Vote = null.Floats{1, 1, 1}, null.Floats{0.9, 0.2, 0.5}
	e.Points.Target = null.Floats{1, -1, 1}
	e.FullModel = &FullModel{Error: 0.2, ErrorSE: 0.03, Folds: 10, Repeats: 3}
	has("25.0% +- 2.0% of new rows get the wrong label; 50.0% if all are taken for 7",
		"y (-1, predicted 1 in 900%)",
		"26.7% of the labels change", "20.0% +- 3.0% expected of the model trained on all rows (10 folds, 3 times)")
}

// TestDigits: numbers that people have are written out.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{56724.4: "56720", -1.148e5: "-114800", 9999.7: "10000",
		22.5328: "22.53",
		1.5e9:   "1.5e+09", 0.00012: "0.00012", 0: "0"} {
		if got := digits(v, 4); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := digits(1133.0, 2); got != "1100" {
		t.Error(got)
	}
}
