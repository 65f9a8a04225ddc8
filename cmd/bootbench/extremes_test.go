package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtremes: a setting outside the range that the help states is refused with the name
// of its flag, and no extreme one that is let in ends in an answer that is no number and
// yet counts as converged.
func TestExtremes(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.csv")
	if err := os.WriteFile(large, []byte("x,y\n1,1e155\n2,-1e155\n3,0\n4,1e155\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	far, huge := write(t, "far.csv", "x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n"+strings.Repeat("1e200,", 9)+"1\n"),
		write(t, "huge.csv", "x,y\n1,1e60\n")
	line := write(t, "line.csv", "x,y\n1,1\n2,2\n3,4\n4,4\n")
	regression := []string{"estimate", "synthetic:friedman1,n=20", "--loss", "square", "--noise", "1"}
	labels := []string{"estimate", "synthetic:rings,n=20,d=2", "--loss", "hinge"}
	for _, c := range []struct {
		base  []string
		flags string
		says  string
	}{
		{regression, "--noise 1e-155", "--noise"}, {regression, "--noise 1e155", "--noise"},
		{regression, "--amplitude 1e-320", "--amplitude"}, {regression, "--jitter 1e308", "--jitter"},
		{regression, "--constant 1e300", "--constant"},
		{labels, "--C 1e30", "--C"}, {labels, "--C 1e-300", "--C"},
		{append([]string{"retrain"}, regression[1:]...), "--resamples 9223372036854775807", "--resamples"},
		{[]string{"estimate", large, "--loss", "square"}, "--noise 1", "target of row 1"},
		{[]string{"predict", line, "--test", huge}, "--loss square --noise 1", "target of row 1"},
		{[]string{"predict", "synthetic:friedman1,n=20", "--test", far}, "--loss square --noise 1 --kernel linear",
			"new row 1"},
	} {
		o := drive(t, "", append(append([]string{}, c.base...), strings.Fields(c.flags)...)...)
		if o.status != exitUsage || !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: status %d, %q", c.flags, o.status, o.stderr)
		}
	}
	for _, flags := range []string{"--noise 1e-100", "--noise 1e100", "--amplitude 1e-100", "--amplitude 1e100",
		"--jitter 1e100", "--constant 1e100"} {
		o := drive(t, "", append(append([]string{}, regression...), strings.Fields(flags)...)...)
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
