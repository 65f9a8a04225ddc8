package main

import (
	"strings"
	"testing"
)

// TestExtremes: no extreme setting that is let in ends in an answer that is no number and yet counts as
// converged.
func TestExtremes(t *testing.T) {
	for _, flags := range []string{"--noise 1e-100", "--noise 1e100", "--amplitude 1e-100", "--amplitude 1e100",
		"--jitter 1e100", "--constant 1e100"} {
		args := "estimate synthetic:friedman1,n=20 --loss square --noise 1 " + flags
		o := drive(t, "", strings.Fields(args)...)
		for line := range strings.Lines(o.stdout) {
			if o.status == exitDone && strings.Contains(line, "error ") && strings.Contains(line, "NaN") {
				t.Errorf("%s: status 0 with %s", flags, line)
			}
		}
	}
}

// TestPredictRefuses: what estimate refuses, for a fit to all data that does not exist, predict refuses too.
func TestPredictRefuses(t *testing.T) {
	flags := []string{"--loss", "hard", "--gamma", "0.05", "--quiet"}
	a := drive(t, "", append([]string{"estimate", "synthetic:blobs,n=200"}, flags...)...)
	b := drive(t, "", append([]string{"predict", "synthetic:blobs,n=200", "--test", "synthetic:blobs,n=2"},
		flags...)...)
	if a.status == exitDone || !strings.Contains(a.stderr, "take a soft margin") || a != b {
		t.Errorf("estimate: %+v, predict: %+v", a, b)
	}
}
