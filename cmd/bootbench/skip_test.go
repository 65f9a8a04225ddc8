package main

import (
	"strings"
	"testing"
)

// TestSkippedShare: a share of resamples that may be skipped is one, and goes with draws at random.
func TestSkippedShare(t *testing.T) {
	if o := drive(t, "", "retrain", "boston", "--scheme", "kfold", "--max-skipped",
		"0.2"); o.status != exitUsage || !strings.Contains(o.stderr, "kfold") {
		t.Errorf("with kfold: %+v", o)
	}
	for _, share := range []string{"-0.1", "1", "NaN"} {
		if o := drive(t, "", "retrain", "boston", "--max-skipped", share); o.status != exitUsage {
			t.Errorf("--max-skipped %s: %+v", share, o)
		}
	}
}
