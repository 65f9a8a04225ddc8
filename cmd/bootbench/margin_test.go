package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// marginAnswer is what these tests read of a document.
type marginAnswer struct {
	Loss      string
	C         float64
	TestError float64 `json:"test_error"`
	Status    string
	Residual  float64
	Error     float64
	Errors    int
	Retrained int
	Skipped   int
	Points    struct {
		Negative []float64 `json:"p_negative"`
		Mean     []float64
		Target   []float64
	}
	Warnings []string
}

func ask(t *testing.T, args ...string) marginAnswer {
	t.Helper()
	o := drive(t, "", append(args, "--json", "-")...)
	if o.status != exitDone {
		t.Fatalf("%v: status %d, %s", args, o.status, o.stderr)
	}
	var a marginAnswer
	if err := json.Unmarshal([]byte(o.stdout), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// The left-out errors of hard margins with the presets of two small sets, and of
// a soft margin: fixed points that independent code computed, to their digits.
func TestEstimateMargin(t *testing.T) {
	for _, c := range []struct {
		args []string
		want float64
	}{
		{[]string{"crabs"}, 0.03887},
		{[]string{"sonar"}, 0.14894},
		{[]string{"sonar", "--ratio", "3"}, 0.11940},
		{[]string{"sonar", "--loss", "hinge", "--C", "1"}, 0.1904},
	} {
		a := ask(t, append([]string{"estimate"}, c.args...)...)
		digits := 1e-5
		if a.Loss == "hinge" {
			digits = 1e-4
		}
		if math.Abs(a.TestError-c.want) > digits || a.Status != "converged" || a.Residual > 1e-6 {
			t.Errorf("%v: %+v, want %v", c.args, a.TestError, c.want)
		}
	}
}

// Votes of new inputs that are the training inputs: a classifier trained on
// resamples mostly gives them the sign of its mean.
func TestPredictMargin(t *testing.T) {
	a := ask(t, "predict", "crabs", "--test", "crabs")
	if len(a.Points.Negative) != 200 {
		t.Fatalf("%d votes", len(a.Points.Negative))
	}
	for i, p := range a.Points.Negative {
		if !(p >= 0 && p <= 1) || (p > 0.5) != (a.Points.Mean[i] < 0) {
			t.Errorf("input %d: vote %v, mean %v", i, p, a.Points.Mean[i])
		}
	}
}

func TestLOOApprox(t *testing.T) {
	a := ask(t, "loo", "crabs")
	if a.Error != float64(a.Errors)/200 || a.Errors == 0 || a.Errors > 20 || a.Retrained != 0 || a.Skipped != 200 {
		t.Errorf("%+v", a)
	}
	if o := drive(t, "", "loo", "crabs", "--loss", "hinge"); o.status != exitUsage || !strings.Contains(o.stderr, "hard") {
		t.Errorf("soft margin: %d, %s", o.status, o.stderr)
	}
}

// A ratio at which resamples often hold one class only is warned of.
func TestMissingClassWarning(t *testing.T) {
	a := ask(t, "retrain", "crabs", "--ratio", "0.01", "--resamples", "20")
	if len(a.Warnings) == 0 || !strings.Contains(strings.Join(a.Warnings, " "), "lack one of the two classes") {
		t.Errorf("warnings %q", a.Warnings)
	}
}

// Labels 0 and 1 are refused with what was found, and taken only when told; new
// inputs are mapped alike.
func TestMapLabels(t *testing.T) {
	path := write(t, "labels.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,1\n0,0.5,0\n")
	o := drive(t, "", "estimate", path, "--loss", "hinge")
	if o.status != exitUsage || !strings.Contains(o.stderr, "not 0 and 1") || !strings.Contains(o.stderr, "--map-labels") {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
	a := ask(t, "predict", path, "--test", path, "--loss", "hinge", "--map-labels")
	if want := []float64{-1, 1, 1, -1}; !slices.Equal(a.Points.Target, want) {
		t.Errorf("targets %v, want %v", a.Points.Target, want)
	}
	third := write(t, "third.csv", "a,b,y\n1,2,2\n")
	if o := drive(t, "", "predict", path, "--test", third, "--loss", "hinge", "--map-labels"); o.status != exitUsage {
		t.Errorf("a third value: status %d, %s", o.status, o.stderr)
	}
}
