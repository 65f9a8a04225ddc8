package main

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestJudge: a measure chooses the model, is stated with an interval around it, and is the same by the line
// that repeats. A model file, and predict without one, take labels from the probability A/(A+B) on, 1/2 for
// the ranks; the more a missed +1 costs, the more rows are +1.
func TestJudge(t *testing.T) {
	const data = "synthetic:blobs,n=40"
	table := folder(t, nil) + "/blobs.csv"
	must(t, "datasets --export", data, table)
	predicted := map[string]int{}
	thresholds := map[string]float64{"auc": 0.5, "cost:1,9": 0.1, "cost:9,1": 0.9}
	if !testing.Short() {
		thresholds["balanced"] = math.NaN()
	}
	for measure, threshold := range thresholds {
		file := filepath.Join(t.TempDir(), "model.json")
		d := decoded[report.Tuning](t, "tune", data, "--refine none --judge", measure, "--model", file)
		j := d.Measured
		if j == nil || j.By != measure || !(j.Lower < j.Value && j.Value < j.Upper && j.SE > 0) {
			t.Fatalf("%s: %+v", measure, j)
		}
		line := strings.TrimPrefix(d.CommandLine, "bootbench ")
		if again := decoded[report.Answer](t, line); again.Measured == nil || *again.Measured != *j {
			t.Errorf("%s: %+v, again %+v", measure, j, again.Measured)
		}
		by := decoded[report.Answer](t, "predict --model", file, "--test", table)
		other := decoded[report.Answer](t, strings.Replace(line, "estimate", "predict", 1), "--test", table)
		for _, a := range []report.Answer{by, other} {
			if math.IsNaN(threshold) {
				if a.Threshold != nil {
					t.Errorf("%s: a threshold %v", measure, *a.Threshold)
				}
				continue
			}
			if a.Threshold == nil || float64(*a.Threshold) != threshold {
				t.Fatalf("%s: threshold %v", measure, a.Threshold)
			}
			wrong := 0.0
			for i, p := range a.Points.Probability.Positive {
				if positive := a.Points.Class[i] == a.Positive; positive != (p >= threshold) {
					t.Fatalf("%s: row %d with probability %v is %s", measure, i+1, p, a.Points.Class[i])
				} else if positive {
					predicted[measure]++
				}
				wrong += float64(a.Points.Error[i]) / float64(len(a.Points.Class))
			}
			if math.Abs(wrong-float64(*a.TestError)) > 1e-12 {
				t.Errorf("%s: test error %v, of the rows %v", measure, *a.TestError, wrong)
			}
		}
	}
	if !(predicted["cost:9,1"] < predicted["auc"] && predicted["auc"] < predicted["cost:1,9"]) {
		t.Errorf("rows that are +1: %v", predicted)
	}
}
