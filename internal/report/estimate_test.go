package report

import (
	"cmp"
	"math"
	"strings"
	"testing"
)

// TestBrief: a mean square is shown as its root with the standard error of the root; labels as a share; the
// worst rows by name.
func TestBrief(t *testing.T) {
	e := &Answer{Subject: Subject{Data: "a/b.csv", N: 3, D: 2, Task: "regression", Target: "price"},
		Command: "estimate", Quote: &Quote{Error: 100, ErrorSE: 5}, TestLoss: "square",
		Quality: &Quality{Baseline: 400, Constant: "7", RSquared: NumberOf(0.75)},
		Points: &Points{Names: []string{"x", "y", "z"}, Error: Numbers{1, 9, math.NaN()},
			Target: Target{Numbers: Numbers{5, 6, 7}}, OOBMean: Numbers{4, 3, 2}}, Stability: NumberOf(2)}
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
	has("error           10 on new rows (root mean square, standard error 0.25)",
		"baseline        20 by predicting 7 for every row", "75.0% of the variance",
		"regression of price", "y (6, predicted 3), x (5, predicted 4)\n", "a prediction changes by 2 (")
	e.TestLoss, e.Error, e.Quality.Baseline, e.Positive = "zero-one", 0.25, 0.5, "1"
	e.ErrorSE, e.Quality.RSquared = 0.02, nil
	e.Stability = NumberOf(0.267)
	e.Points.Target.Numbers = Numbers{1, -1, 1}
	e.Trained = &Trained{ErrorLevel: 0.95, OfResamples: &OfResamples{0.28, 0.03}, ErrorFolds: 10,
		Partitions: 3, CorrectedFor: []string{"choice"}, Uncorrected: NumberOf(0.2)}
	e.Lower, e.Upper = NumberOf(0.21), NumberOf(0.3)
	has("25.0% of new rows get the wrong label (95% interval 21.0% to 30.0%)", "50.0% by predicting 7",
		"y (-1, 900% predict 1)", "26.7% of new rows get another label",
		"by 3 rounds of 10 folds, each with its own choice of the model (20.0% without that)",
		"28.0% (standard error 3.0%) by models of resamples")
}

// TestDigits: numbers that people have are written out.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{56724.4: "56720", -1.148e5: "-114800", 9999.7: "10000",
		22.5328: "22.53", 1.5e9: "1.5e+09", 0.00012: "0.00012", 0: "0"} {
		if got := digits(v, 4); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := digits(1133.0, 2); got != "1100" {
		t.Error(got)
	}
}

// TestQuote: the standard error is over examples and over resamples; a root's is se/(2 root), or of the
// order of se^1/2 at 0; an error rate of 0 or 1 has a one-sided bound.
func TestQuote(t *testing.T) {
	quality := func(se Number) *Quality {
		return &Quality{ExampleSE: se, Effective: 20}
	}
	for _, c := range []struct {
		test          string
		mean, over    Number
		monteCarlo    *Number
		se, rmse      float64
		rmseSE, bound float64
		text          string
	}{
		{"square", 100, 4, NumberOf(3), 5, 10, 0.25, 0, "10 on ROWS (standard error 0.25)"},
		{"square", 0, 0, nil, 0, 0, 0, 0, "0 on ROWS (standard error 0)"},
		{"square", 0, 0.04, nil, 0.04, 0, 0.2, 0, "0 on ROWS (standard error 0.2)"},
		{"square", 9, Number(math.NaN()), nil, math.NaN(), 3, math.NaN(), 0, "3 on ROWS"},
		{"zero-one", 0.25, 0.02, NumberOf(math.NaN()), 0.02, 0, 0, 0, "25.0% of LABEL (standard error 2.0%)"},
		{"zero-one", 0, 0, NumberOf(0), 0, 0, 0, 1 - math.Pow(0.05, 1/20.0), "0.0% of LABEL (at most 14%)"},
		{"zero-one", 1, 0, nil, 0, 0, 0, math.Pow(0.05, 1/20.0), "100.0% of LABEL (at least 86.1%)"},
		{"zero-one", 0, 0.003, nil, 0.003, 0, 0, 1 - math.Pow(0.05, 1/20.0), "0.0% of LABEL (at most 14%)"},
		{"zero-one", 0.03, 0.02, nil, 0.02, 0, 0, 0, "3.0% of LABEL (standard error 2.0%)"},
		{"square", Number(math.NaN()), 0, nil, 0, math.NaN(), math.NaN(), 0, "unknown"},
	} {
		q := NewQuote(c.test, c.mean, quality(c.over), c.monteCarlo)
		value := func(v *Number) float64 { return float64(*cmp.Or(v, new(Number))) }
		for _, v := range [][2]float64{{float64(q.ErrorSE), c.se}, {value(q.RMSE), c.rmse},
			{value(q.RMSESE), c.rmseSE}, {value(q.Upper) + value(q.Lower), c.bound}} {
			if !(math.Abs(v[0]-v[1]) < 1e-9 || v[0] != v[0] && v[1] != v[1]) {
				t.Errorf("%v: %v, want %v", c, v[0], v[1])
			}
		}
		got := strings.NewReplacer("new rows get the wrong label", "LABEL", " with 95% confidence", "",
			"new rows (root mean square)", "ROWS", "new rows (root mean square, ", "ROWS (").Replace(
			q.on("new rows", nil, units(c.test)))
		if got != c.text || (q.MonteCarloSE == nil) != (c.monteCarlo == nil) {
			t.Errorf("%v: %s", c, got)
		}
	}
}
