package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/dataset"
	"bootbench/internal/need"
)

type normalized struct {
	TargetMean *float64 `json:"target_mean"`
	Noise      float64
	Kernel     struct{ Amplitude float64 }
	TestError  float64  `json:"test_error"`
	Bagged     *float64 `json:"bagged_error"`
	Refined    *struct{ Points struct{ Mean []float64 } }
	Points     struct{ Mean, Variance, Lower, Upper, OOBMean []float64 }
}

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
		a := document[normalized](t, must(t, append(command, flags...)...))
		if a.TargetMean == nil || math.Abs(*a.TargetMean-1000) > 500 || math.Abs(a.Noise/variance-0.2) > 1e-9 ||
			math.Abs(a.Kernel.Amplitude/variance-1) > 1e-9 {
			t.Errorf("%s: %+v", command[0], a)
		}
		for i, y := range set.Y {
			// A prediction of a fifth noise lies within three standard deviations of its target.
			if off := a.Points.Mean[i] - (1000 + 10*y); off*off > 9*variance {
				t.Fatalf("%s: example %d is off by %v", command[0], i, off)
			}
			if r := a.Refined; r != nil && math.Abs(r.Points.Mean[i]-a.Points.Mean[i]) > math.Sqrt(variance) {
				t.Fatalf("%s: refined mean of example %d is %v, of the theory %v", command[0], i, r.Points.Mean[i],
					a.Points.Mean[i])
			}
			if command[0] != "retrain" && !(a.Points.Lower[i] <= a.Points.Mean[i] &&
				a.Points.Mean[i] <= a.Points.Upper[i]) {
				t.Fatalf("%s: interval of example %d", command[0], i)
			}
		}
		if !(a.TestError > 0 && a.TestError < variance) {
			t.Errorf("%s: test error %v, variance %v", command[0], a.TestError, variance)
		}
	}
	raw := document[normalized](t, must(t, append([]string{"estimate", path, "--no-normalize-target"},
		flags...)...))
	if raw.TargetMean != nil || raw.Kernel.Amplitude != 1 || raw.TestError < 1e5 {
		t.Errorf("as it is: %+v", raw)
	}
	if preset := document[normalized](t, must(t, "estimate", "boston", "--refine", "none", "--json",
		"-")); preset.TargetMean != nil || preset.Kernel.Amplitude != 1 {
		t.Errorf("preset: %+v", preset)
	}
	for _, bad := range []string{"x%", "%", "-5%", "0%", "0"} {
		if o := drive(t, "", "estimate", path, "--loss", "square", "--noise="+bad); o.status != exitUsage ||
			!strings.Contains(o.stderr, "--noise") {
			t.Errorf("--noise %s: %d, %s", bad, o.status, o.stderr)
		}
	}
	must(t, "grid", path, "--loss", "square", "--over", "noise=5%,20%", "--quiet")
}
