package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// TestGrid: the cells are in order, with the models of their values, and the best is the least of them.
func TestGrid(t *testing.T) {
	g := document[report.Grid](t, "grid synthetic:friedman1,n=60 --loss square --amplitude 25",
		"--over noise=0.5,2 --over length-scale=1:4:3 --over ratio=0.5,1")
	if g.Data != "synthetic:friedman1,n=60,seed=1,d=10,noise=1" || len(g.Over) != 3 ||
		g.Status != "complete" || len(g.Results) != 12 || g.Best == nil || g.Warnings == nil {
		t.Fatalf("%+v", g)
	}
	for i, c := range g.Results {
		values := []string{[2]string{"0.5", "2"}[i/6], [3]string{"1", "2", "4"}[i/2%3],
			[2]string{"0.5", "1"}[i%2]}
		e := c.Estimate
		if !reflect.DeepEqual(c.Values, values) || fmt.Sprint(e.Noise, e.Kernel.LengthScale[0], e.Ratio) !=
			strings.Join(values, " ") || e.Points != nil {
			t.Errorf("cell %d is at %v, not %v: %+v", i, c.Values, values, e)
		}
		if c.Value() < g.Results[*g.Best].Value() {
			t.Errorf("cell %d has %v, the best %v", i, c.Value(), g.Results[*g.Best].Value())
		}
	}
}

// TestGridBy: cells are compared by the objective that tune descends along.
func TestGridBy(t *testing.T) {
	for _, by := range []string{"cv", "leftout", "632plus", "loo", "evidence"} {
		g := decoded[report.Grid](t,
			"grid synthetic:friedman1,n=60 --loss square --over noise=0.5,2,8 --over "+
				"gamma=0.01,0.1 --refine none --by", by)
		value := func(i int) float64 { return float64(g.Results[i].Value()) }
		best := 0
		for i := range g.Results {
			if value(i) < value(best) {
				best = i
			}
			if i != 3 {
				continue
			}
			d := decoded[report.Tuning](t, "tune synthetic:friedman1,n=60 --over noise,gamma --by", by,
				"--noise", g.Results[i].Values[0], "--gamma", g.Results[i].Values[1])
			near := 0.01
			if by == "cv" { // exact, by one partition: of tune by the theory, over all
				near = 0.1
			}
			if math.Abs(float64(*d.Path[0].Objective)/value(i)-1) > near {
				t.Errorf("%s, cell %d: %g, tune has %g", by, i, value(i), *d.Path[0].Objective)
			}
		}
		if *g.Best != best {
			t.Errorf("%s: best %d, want %d", by, *g.Best, best)
		}
	}
}

// TestGridFailure: a cell without a solution is told and leaves the others; it is not the best.
func TestGridFailure(t *testing.T) {
	dir := t.TempDir()
	o := drive(t, "", "grid pima --loss hard --over kernel=linear,rbf --out", dir, "--json -")
	g := parse[report.Grid](t, o.stdout)
	if o.status != exitFailed || len(g.Results) != 2 || g.Results[0].Estimate != nil ||
		!strings.Contains(g.Results[0].Failure, "hard margins contradict") ||
		g.Results[1].Failure != "" || g.Results[1].Estimate == nil || g.Best == nil || *g.Best != 1 ||
		!strings.Contains(o.stderr, "kernel linear: failed") {
		t.Errorf("%+v", o)
	}
	f := testutil.Must(os.Open(filepath.Join(dir, "grid.csv")))(t)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // refuses lines of different lengths
	if err != nil || len(rows) != 3 || rows[0][0] != "kernel" || rows[1][0] != "linear" ||
		rows[2][0] != "rbf" {
		t.Errorf("%v, %v", rows, err)
	}
	// No memory for one: the others are kept.
	o = drive(t, "",
		"grid synthetic:friedman1,n=2000 --loss square --noise 0.1 --engine lowrank --rank-tol 1e-4",
		"--over gamma=0.0005,0.5 --max-memory 12MB --json - --quiet")
	if g := parse[report.Grid](t, o.stdout); o.status != exitFailed || len(g.Results) != 2 ||
		g.Results[0].Estimate == nil || !strings.Contains(g.Results[1].Failure, "memory") {
		t.Errorf("no memory: %+v", o)
	}
	// Not converged: told by the exit status, and never the best.
	o = drive(t, "", "grid crabs --loss hinge --over C=1,2 --max-sweeps 1 --json - --quiet")
	if g := parse[report.Grid](t, o.stdout); o.status != exitNotConverged || g.Best != nil ||
		len(g.Results) != 2 {
		t.Errorf("not converged: %+v", o)
	}
}

// TestGridFolds: the cells of a grid by cv are what cv finds, along paths of C in whatever order.
func TestGridFolds(t *testing.T) {
	const data = "synthetic:blobs,n=90,d=3 --loss hinge --folds 4"
	g := decoded[report.Grid](t, "grid --by cv --over C=10,0.1,1 --over gamma=0.1,1", data)
	for _, c := range g.Results {
		alone := decoded[report.Answer](t, "cv --repeats 1 --C", c.Values[0], "--gamma", c.Values[1], data)
		if v := c.Validation; v == nil || v.Folds != 4 || v.Resamples != 4 ||
			v.Parameters != alone.Parameters ||
			math.Abs(float64(v.Error-alone.Error)) > 0.012 {
			t.Errorf("%v: %+v, alone %v", c.Values, v, alone.Error) // one example on the margin may differ
		}
	}
	if !(g.Results[*g.Best].Value() <= g.Results[0].Value()) || g.Status != "complete" {
		t.Errorf("best %d, %s", *g.Best, g.Status)
	}
}

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
	get := func(line string) metricsDocument { return decoded[metricsDocument](t, line) }
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
		out := must(t, line, "--json - --quiet")
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
	must(t, "train crabs --loss hinge --C 1 --model", model, "--quiet")
	c := get("predict --model " + model + " --test crabs --metrics auc,error")
	near("AUC of a model", c.Metrics["auc"], auc(c.Points.Prediction, c.Points.Target), 1e-12)
	near("error of a model", c.Metrics["error"], c.Test_error, 1e-12)
	d := decoded[struct{ Warnings []string }](t,
		"estimate boston --scheme subsample --ratio 0.5 --metrics jackknife --refine none")
	if !strings.Contains(strings.Join(d.Warnings, "\n"), "no jackknife: ") {
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
		must(t, "estimate crabs --loss hinge --gamma 0.2 --C", c, "--refine none --json",
			models[len(models)-1], "--quiet")
	}
	want := decoded[struct{ Difference, Refined_difference difference }](t, "compare --models",
		strings.Join(models, " "))
	for _, c := range []struct {
		flags    string
		want     difference
		rounding float64
	}{{"--refine none --metrics jackknife", want.Difference, 5e-8}, {"--refine 200 --metrics jackknife",
		want.Refined_difference, refinedRounding}} {
		g := decoded[struct {
			Best    int
			Results []struct {
				Difference *difference
				Examples   any
			}
		}](t, "grid crabs --loss hinge --gamma 0.2 --over C=0.1,10", c.flags)
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
