package main

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestCV: leave-one-out is that of loo; with more repeats the same examples are left out again; an answer
// does not depend on the number of workers; --csv holds the points.
func TestCV(t *testing.T) {
	model := []string{"synthetic:friedman1,n=60", "--loss", "square", "--noise", "1"}
	run := func(more ...string) report.CrossValidation {
		return decoded[report.CrossValidation](t, append(append([]string{"cv"}, model...), more...)...)
	}
	loo := decoded[report.LeaveOneOut](t, append([]string{"loo"}, model...)...)
	if got := run("--folds", "loo"); math.Abs(float64(got.Error/loo.Error)-1) > 1e-8 || got.Folds != 60 {
		t.Errorf("leave-one-out by fits %v in %d folds, in closed form %v", got.Error, got.Folds, loo.Error)
	}
	one, several := run("--seed", "3", "--workers", "1"), run("--seed", "3", "--workers", "3")
	if one.Error != several.Error || one.RepeatsSE != several.RepeatsSE ||
		one.Points.Mean[7] != several.Points.Mean[7] {
		t.Error("workers change the answer")
	}
	if one.Resamples != 50 || one.Repeats != 5 {
		t.Errorf("%d fits in %d repeats", one.Resamples, one.Repeats)
	}
	csv := must(t, append([]string{"cv", "--csv", "-"}, model...)...)
	if lines := strings.Count(csv, "\n"); lines != 61 || !strings.HasPrefix(csv, "row,mean,error,target\n") {
		t.Errorf("--csv has %d lines: %.60s", lines, csv)
	}
}

// TestCVRefusals: what has no meaning is refused with its cure.
func TestCVRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"--folds 61":              "take 2 to 60, or loo",
		"--folds one":             "must be loo or a whole number",
		"--folds loo --blocks 5":  "takes a number of --folds",
		"--folds 6 --blocks 10":   "take fewer --folds or shorter --blocks",
		"--folds loo --repeats 3": "these are always the same",
		"--metrics jackknife":     "estimate has it",
		"--csv - --json -":        "cannot both take standard output",
		"--blocks 0":              "must be auto or a whole number",
	} {
		args := append([]string{"cv", "synthetic:friedman1,n=60", "--loss", "square", "--noise", "1"},
			strings.Fields(line)...)
		if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
		}
	}
}
