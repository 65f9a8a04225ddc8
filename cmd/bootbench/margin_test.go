package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
)

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
		{[]string{"sonar", "--loss", "hinge", "--C", "1", "--no-bias"}, 0.1904},
	} {
		a := decoded[report.Estimate](t, append([]string{"estimate"}, c.args...)...)
		digits := 1e-5
		if a.Loss == "hinge" {
			digits = 1e-4
		}
		if math.Abs(float64(a.TestError)-c.want) > digits || a.Status != "converged" || a.Residual > 1e-6 {
			t.Errorf("%v: %+v, want %v", c.args, a.TestError, c.want)
		}
	}
}

// The methods agree as they must: fast is exact, xialpha is not below, and the
// table holds them all.
func TestLOO(t *testing.T) {
	for _, flags := range [][]string{{"--loss", "hard"}, {"--loss", "hinge", "--C", "10"},
		{"--loss", "hinge", "--no-bias"}} {
		loo := func(more ...string) report.LeaveOneOut {
			return decoded[report.LeaveOneOut](t, slices.Concat([]string{"loo", "crabs"}, flags, more)...)
		}
		exact, fast := loo("--method", "exact"), loo()
		if exact.Errors != fast.Errors || exact.Retrained != 200 || fast.Retrained+fast.Skipped != 200 ||
			float64(fast.Error) != float64(fast.Errors)/200 {
			t.Errorf("%v: exact %+v, fast %+v", flags, exact.LeaveOneOutMethod, fast.LeaveOneOutMethod)
		}
		if bound := loo("--method", "xialpha"); bound.Errors < exact.Errors || bound.Rho != 2 ||
			bound.Skipped != 200 ||
			!(bound.Recall > 0 && bound.Precision > 0) {
			t.Errorf("%v: xialpha %+v", flags, bound.LeaveOneOutMethod)
		}
		if all := loo("--method", "all"); len(all.Methods) != 5 || all.Methods[0].Errors != exact.Errors ||
			all.Errors != fast.Errors {
			t.Errorf("%v: all %+v", flags, all.Methods)
		}
	}
	if a := decoded[report.LeaveOneOut](t, "loo", "boston"); !(a.Error > 5 && a.Error < 20) || a.Skipped != 506 {
		t.Errorf("square loss: %+v", a.LeaveOneOutMethod)
	}
	if o := drive(t, "", "loo", "crabs", "--loss", "hinge", "--method", "all"); !strings.Contains(o.stdout,
		"xialpha") {
		t.Errorf("table: %s", o.stdout)
	}
}

// A ratio at which resamples often hold one class only is warned of.
func TestMissingClassWarning(t *testing.T) {
	a := decoded[report.Retraining](t, "retrain", "crabs", "--ratio", "0.01", "--resamples", "20")
	if len(a.Warnings) == 0 || !strings.Contains(strings.Join(a.Warnings, " "), "lack one of the two classes") {
		t.Errorf("warnings %q", a.Warnings)
	}
}

// Any two numbers are labels where the loss is one for labels; new inputs are
// mapped alike, and three numbers are refused.
func TestMapLabels(t *testing.T) {
	path := write(t, "labels.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,1\n0,0.5,0\n")
	a := decoded[report.Prediction](t, "predict", path, "--test", path, "--loss", "hinge")
	if want := []float64{-1, 1, 1, -1}; !slices.Equal([]float64(a.Points.Target), want) {
		t.Errorf("targets %v, want %v", a.Points.Target, want)
	}
	three := write(t, "three.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,2.5\n0,0.5,0\n")
	if o := drive(t, "", "estimate", three, "--loss", "hinge"); o.status != exitUsage ||
		!strings.Contains(o.stderr, `two classes are needed, the target holds 3 values ("0", "1", "2.5")`) {
		t.Errorf("three labels: %d, %s", o.status, o.stderr)
	}
	third := write(t, "third.csv", "a,b,y\n1,2,2\n")
	if o := drive(t, "", "predict", path, "--test", third, "--loss", "hinge"); o.status != exitUsage {
		t.Errorf("a third value: status %d, %s", o.status, o.stderr)
	}
}
