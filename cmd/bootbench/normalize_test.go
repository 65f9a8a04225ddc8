package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/need"
	"bootbench/internal/report"
)

// TestNormalizedAnswers: a file far from zero is answered in its own units by every
// command that predicts. --no-normalize-target takes it as it is.
func TestNormalizedAnswers(t *testing.T) {
	set := need.One(dataset.Load("synthetic:friedman1,n=60", dataset.Options{}))(t)
	var text strings.Builder
	text.WriteString("a,b,c,y\n")
	for i, y := range set.Y {
		fmt.Fprintf(&text, "%v,%v,%v,%v\n", set.X.At(i, 0), set.X.At(i, 1), set.X.At(i, 3), 1000+10*y)
	}
	path := write(t, "far.csv", text.String())
	flags := []string{"--loss", "square", "--noise", "20%", "--json", "-", "--quiet"}
	variance := 100 * stat.PopVariance(set.Y, nil)
	for _, command := range [][]string{{"estimate", path}, {"predict", path, "--test", path},
		{"retrain", path, "--resamples", "20"}} {
		a := document[report.Estimate](t, must(t, append(command, flags...)...))
		if a.TargetMean == nil || math.Abs(*a.TargetMean-1000) > 500 || math.Abs(a.Noise/variance-0.2) > 1e-9 ||
			math.Abs(a.Kernel.Amplitude/variance-1) > 1e-9 {
			t.Errorf("%s: %+v", command[0], a)
		}
		for i, y := range set.Y { // a prediction of a fifth noise lies within three standard deviations
			if off := a.Points.Mean[i] - (1000 + 10*y); off*off > 9*variance {
				t.Fatalf("%s: example %d is off by %v", command[0], i, off)
			}
		}
		if !(a.TestError > 0 && float64(a.TestError) < variance) {
			t.Errorf("%s: test error %v, variance %v", command[0], a.TestError, variance)
		}
	}
	raw := document[report.Estimate](t, must(t, append([]string{"estimate", path, "--no-normalize-target"},
		flags...)...))
	if raw.TargetMean != nil || raw.Kernel.Amplitude != 1 || raw.TestError < 1e5 {
		t.Errorf("as it is: %+v", raw)
	}
	if preset := document[report.Estimate](t, must(t, "estimate", "boston", "--refine", "none", "--json",
		"-")); preset.TargetMean != nil || preset.Kernel.Amplitude != 1 {
		t.Errorf("preset: %+v", preset)
	}
	must(t, "grid", path, "--loss", "square", "--over", "noise=5%,20%", "--quiet")
}
