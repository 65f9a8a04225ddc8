package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
)

type metricsDocument struct {
	Test_error float64
	Metrics    map[string]float64
	Refined    struct {
		Metrics     map[string]float64
		Calibration struct{ Brier float64 }
		Points      struct{ Probability []float64 }
	}
	Calibration struct{ Brier float64 }
	Points      struct {
		Target, Oob_mean, Probability, Prediction []float64
	}
}

// auc counts the pairs of both labels that a score puts in order, ties half.
func auc(score, label []float64) float64 {
	right, pairs := 0.0, 0.0
	for i, y := range label {
		for j, z := range label {
			if y > 0 && z < 0 {
				pairs++
				right += (1 + math.Copysign(1, score[i]-score[j])) / 2
			}
		}
	}
	return right / pairs
}

// TestMetrics: the measures that are asked for, and no others, in every way of asking, agree
// with what else the answer says. The jackknife's standard error is above a third of that of the
// examples' errors, and below three times it.
func TestMetrics(t *testing.T) {
	get := func(line string) metricsDocument {
		return decoded[metricsDocument](t, strings.Fields(line)...)
	}
	a := get("estimate crabs --loss hinge --C 1 --metrics auc,brier,jackknife --refine 50")
	if len(a.Metrics) != 3 || len(a.Refined.Metrics) != 2 {
		t.Fatalf("%+v", a)
	}
	near := func(what string, got, want, tolerance float64) {
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s is %g, want %g", what, got, want)
		}
	}
	near("auc", a.Metrics["auc"], auc(a.Points.Oob_mean, a.Points.Target), 1e-12)
	near("Brier score", a.Metrics["brier"], a.Calibration.Brier, 1e-12)
	near("refined Brier score", a.Refined.Metrics["brier"], a.Refined.Calibration.Brier, 1e-12)
	near("refined auc", a.Refined.Metrics["auc"], a.Metrics["auc"], 0.01) // both of nearly the same order
	se := math.Sqrt(a.Test_error * (1 - a.Test_error) / 200)
	if se := a.Metrics["jackknife_se"] / se; se < 1./3 || se > 3 {
		t.Errorf("the jackknife's standard error is %g of that of 200 draws", se)
	}
	for _, line := range []string{"estimate crabs --refine none --metrics all",
		"curve crabs --ratio 1 --metrics=all"} {
		out := must(t, append(strings.Fields(line), "--json", "-", "--quiet")...)
		if !strings.Contains(out, `"balanced_error"`) || !strings.Contains(out, `"jackknife_se"`) ||
			!strings.Contains(out, `"log_loss"`) {
			t.Errorf("%s: %s", line, out)
		}
	}
	b := get("estimate synthetic:friedman1,n=60 --loss square --noise 1 --metrics rmse,mae --refine 30")
	near("RMSE", b.Metrics["rmse"], math.Sqrt(b.Test_error), 1e-9)
	if len(b.Metrics) != 2 || len(b.Refined.Metrics) != 2 || !(b.Metrics["mae"] < b.Metrics["rmse"]) {
		t.Errorf("%+v", b)
	}
	model := filepath.Join(t.TempDir(), "m.json")
	must(t, "train", "crabs", "--loss", "hinge", "--C", "1", "--model", model, "--quiet")
	c := get("predict --model " + model + " --test crabs --metrics auc,error")
	near("AUC of a model", c.Metrics["auc"], auc(c.Points.Prediction, c.Points.Target), 1e-12)
	near("error of a model", c.Metrics["error"], c.Test_error, 1e-12)
	d := document[struct{ Warnings []string }](t,
		must(t, strings.Fields(
			"estimate boston --scheme subsample --ratio 0.5 --metrics jackknife --refine none --json - --quiet")...))
	if len(d.Warnings) == 0 || !strings.HasPrefix(d.Warnings[len(d.Warnings)-1], "no jackknife: ") {
		t.Errorf("%q", d.Warnings)
	}
}

// TestGridDifferences: a cell's difference from the best one is what compare --models says of
// the two, with exact resamples up to three predictions of the 15,000 that are left out so near to 0 that
// the tolerance of the fits decides. Its standard error is without the correction of compare.
func TestGridDifferences(t *testing.T) {
	type difference struct {
		Value, Standard_error, P_value float64
		By                             string
	}
	dir := t.TempDir()
	models := []string{}
	for _, c := range []string{"0.1", "10"} {
		models = append(models, filepath.Join(dir, c+".json"))
		must(t, "estimate", "crabs", "--loss", "hinge", "--gamma", "0.2", "--C", c, "--refine", "none", "--json",
			models[len(models)-1], "--quiet")
	}
	want := document[struct{ Difference, Refined_difference difference }](t,
		must(t, append([]string{"compare", "--json", "-", "--quiet", "--models"}, models...)...))
	for _, c := range []struct {
		flags    string
		want     difference
		rounding float64
	}{{"--refine none --metrics jackknife", want.Difference, 5e-8}, {"--refine 200 --metrics jackknife",
		want.Refined_difference, refinedRounding}} {
		g := document[struct {
			Best    int
			Results []struct {
				Difference *difference
				Examples   any
			}
		}](t, must(t, append(strings.Fields("grid crabs --loss hinge --gamma 0.2 --over C=0.1,10 --json - --quiet"),
			strings.Fields(c.flags)...)...))
		if g.Best != 1 || g.Results[1].Difference != nil || g.Results[0].Examples != nil {
			t.Fatalf("%+v", g)
		}
		d := *g.Results[0].Difference
		if ratio := d.Standard_error / c.want.Standard_error; math.Abs(d.Value-c.want.Value) > 2.1e-4 ||
			!(ratio > 1 && ratio < math.Sqrt2+c.rounding) || d.By != "jackknife" {
			t.Errorf("%s: %+v, want %+v", c.flags, d, c.want)
		}
	}
}
