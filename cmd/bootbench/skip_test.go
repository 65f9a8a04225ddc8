package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestSkippedResamples: where expectation propagation does not converge on a few
// resamples the answer says so, the same from one process and from parts; unless
// none may be skipped.
func TestSkippedResamples(t *testing.T) {
	type retraining struct {
		Resamples, Skipped int
		Warnings           []string
	}
	args := []string{"retrain", "synthetic:friedman1,n=60", "--loss", "student", "--scale", "0.1", "--dof", "2",
		"--amplitude", "25", "--constant", "200", "--resamples", "102", "--seed", "14", "--no-normalize-target",
		"--quiet"}
	text := must(t, append(args, "--json", "-")...)
	r := document[retraining](t, text)
	if r.Skipped == 0 || r.Skipped+r.Resamples != 102 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0],
		"did not converge") {
		t.Errorf("%+v", r)
	}
	if !testing.Short() {
		dir := filepath.Join(t.TempDir(), "study")
		for _, part := range []string{"0/2", "1/2"} {
			must(t, append(args, "--shard", part, "--out", dir)...)
		}
		if merged := must(t, "merge", dir, "--quiet", "--json", "-"); !reflect.DeepEqual(timeless(t, merged),
			timeless(t, text)) {
			t.Errorf("merged %.300s\nalone %.300s", merged, text)
		}
	}
	if o := drive(t, "", "retrain", "boston", "--scheme", "kfold", "--max-skipped",
		"0.2"); o.status != exitUsage || !strings.Contains(o.stderr, "kfold") {
		t.Errorf("with kfold: %+v", o)
	}
	if o := drive(t, "", append(args, "--max-skipped", "0")...); o.status != exitFailed ||
		!strings.Contains(o.stderr, "expectation propagation") {
		t.Errorf("none may be skipped: %+v", o)
	}
	for _, share := range []string{"-0.1", "1", "NaN"} {
		if o := drive(t, "", append(args, "--max-skipped", share)...); o.status != exitUsage {
			t.Errorf("--max-skipped %s: %+v", share, o)
		}
	}
}
