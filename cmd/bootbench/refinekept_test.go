package main

import (
	"math"
	"strings"
	"testing"

	"bootbench/report"
)

// sameRefined fails unless two refinements of 150 resamples agree to refinedRounding.
func sameRefined(t *testing.T, a, b *report.Refined) {
	t.Helper()
	if a == nil || b == nil || a.Resamples != 150 || b.Resamples != 150 {
		t.Fatalf("%+v, %+v", a, b)
	}
	near := func(x, y float64) bool { return math.Abs(x-y) <= refinedRounding*math.Abs(y) }
	if !near(a.TestError, b.TestError) || !near(a.SE, b.SE) || !near(a.BaggedError, b.BaggedError) {
		t.Errorf("%v +- %v, %v +- %v", a.TestError, a.SE, b.TestError, b.SE)
	}
	// three fits that end an iteration sooner move an average by 3*1e-3/150 standard deviations
	for i, v := range b.Points.Variance {
		mean, se := a.Points.Mean[i]-b.Points.Mean[i], a.Points.VarianceSE[i]-b.Points.VarianceSE[i]
		if !(math.Abs(mean) <= 2e-5*math.Sqrt(v)) || !(math.Abs(se) <= 2e-5*v) {
			t.Fatalf("input %d: mean off by %g, standard error by %g, of variance %g", i+1, mean, se, v)
		}
	}
}

// TestRefinementInParts: the exact resamples of estimate and predict, split into parts and
// merged, are those of one process; a part that is missing is named, and what cannot be
// split is refused.
func TestRefinementInParts(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	line := map[string][]string{
		"estimate": {"estimate", "sonar", "--loss", "hinge", "--C", "1", "--refine", "150"},
		"predict":  {"predict", "crabs", "--loss", "logistic", "--C", "1", "--test", "crabs", "--refine", "150"},
	}
	for command, args := range line {
		dir := t.TempDir()
		part := func(which string) outcome { return drive(t, "", append(args, "--shard", which, "--out", dir)...) }
		if o := part("1/2"); o.status != exitDone || !strings.Contains(o.stdout, "part 1 of 2: 1 tasks are done") {
			t.Fatalf("%+v", o)
		}
		if o := drive(t, "", "merge", dir); o.status != exitFailed ||
			!strings.Contains(o.stderr, "1 tasks are missing: resamples 1 to 100") {
			t.Errorf("merged too soon: %+v", o)
		}
		if o := part("0/2"); o.status != exitDone {
			t.Fatalf("%+v", o)
		}
		if command == "estimate" {
			sameRefined(t, decoded[report.Estimate](t, "merge", dir).Refined,
				decoded[report.Estimate](t, args...).Refined)
		} else {
			sameRefined(t, decoded[report.Prediction](t, "merge", dir).Refined, decoded[report.Prediction](t,
				args...).Refined)
		}
	}
	for says, more := range map[string][]string{
		"give --refine R":         {"--refine", "none"},
		"--accuracy decides":      {"--accuracy", "1%"},
		"which loss probit":       {"--loss", "probit"},
		"standard input cannot":   {"--test", "-"},
		"there are none: give --": {"--refine", "none", "--test", "crabs"},
	} {
		args := append([]string{"estimate", "crabs", "--shard", "0/2", "--out", t.TempDir()}, more...)
		for _, word := range more {
			if word == "--test" {
				args[0] = "predict"
			}
		}
		if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, says) {
			t.Errorf("%v: status %d, %s", more, o.status, o.stderr)
		}
	}
}
