package main

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestFitsAlone: exact resamples around one refresh of G have the left-out error of plain retraining, one
// resample after the other, within four standard errors, and no number of the theory.
func TestFitsAlone(t *testing.T) {
	for _, line := range []string{
		"synthetic:blobs,n=250,d=3,noise=0.7 --loss hinge --C 1 --gamma 0.3",
		"synthetic:friedman1,n=250 --loss square --noise 1 --gamma 0.1",
	} {
		args := strings.Fields("estimate " + line + " --method fits --engine exact --quiet --json -")
		e := document[report.Estimate](t, must(t, args...))
		r := document[report.Retraining](t, must(t, strings.Fields("retrain "+line+
			" --method single --resamples 400 --seed 5 --no-points --quiet --json -")...))
		se := math.Hypot(float64(*e.ErrorSE), float64(r.SE))
		if d := math.Abs(float64(e.Error - r.TestError)); !(d <= 4*se && se < 0.1*float64(r.TestError)) {
			t.Errorf("%s: %g +- %g, by plain retraining %g +- %g", line, e.Error, *e.ErrorSE, r.TestError, r.SE)
		}
		if !math.IsNaN(float64(e.TestError)) || e.Status != "complete" || !(e.Time.Theory > 0) {
			t.Errorf("%s: theory %g, status %s, %g s", line, e.TestError, e.Status, e.Time.Theory)
		}
	}
	for _, bad := range []string{"--refine none", "--quantiles 0.5", "--covariance c.npy", "--refine 4",
		"--loss probit"} {
		args := strings.Fields("estimate synthetic:blobs,n=40 --loss hinge --method fits " + bad)
		if o := drive(t, "", args...); o.status != exitUsage {
			t.Errorf("%s: status %d", bad, o.status)
		}
	}
}
