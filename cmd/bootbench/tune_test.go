package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestTune: the command line that tune prints estimates the model that it chose, with what the
// user asked for and the choice; nothing of a preset is left.
func TestTune(t *testing.T) {
	for args, wants := range map[string][]string{
		"tune synthetic:friedman1,n=50 --kernel matern52 --constant 3 --over " +
			"noise=0.1:10,length-scale": {"--kernel=matern52", "--constant=3", "--length-scale ", "--noise "},
		"tune synthetic:friedman1,n=50 --ard --by loo --drop " +
			"x10": {"--drop=x10", "--length-scale "},
		"tune crabs --ratio 2": {"--loss hinge", "--ratio=2", "--C ", "--gamma "},
		"tune synthetic:friedman1,n=40 --kernel poly --over gamma,coef0 --noise 3 --engine " +
			"exact": {"--kernel=poly", "--coef0 ", "--engine=exact"},
		"tune boston --by evidence": {"--no-normalize-target=false", "--noise ", "--length-scale "},
	} {
		d := decoded[report.Tuning](t, strings.Fields(args)...)
		line := strings.Fields(d.CommandLine)
		if len(line) < 3 || line[0] != "bootbench" {
			t.Fatalf("%s: %q", args, d.CommandLine)
		}
		for _, want := range wants {
			if !strings.Contains(d.CommandLine, want) {
				t.Errorf("%s: %q lacks %s", args, d.CommandLine, want)
			}
		}
		again := document[report.Estimate](t, must(t, append(line[1:], "--json", "-", "--quiet")...))
		if math.Abs(float64(again.TestError/d.TestError)-1) > 1e-6 ||
			math.Abs(float64(again.Quality.ExampleSE/d.StandardError)-1) > 1e-6 || !(d.StandardError > 0) {
			t.Errorf("%s: error %g, standard error %g; again %g, %g", args, d.TestError, d.StandardError,
				again.TestError, again.Quality.ExampleSE)
		}
		if len(d.Path) > d.Evaluations || len(d.Best) != 2 {
			t.Errorf("%s: %d models, path of %d, best %v", args, d.Evaluations, len(d.Path), d.Best)
		}
	}
}

// TestTuneText: the choice is printed, the page written, and a bound is told.
func TestTuneText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := drive(t, "", "tune", "synthetic:friedman1,n=40", "--ard", "--over", "length-scale,noise=20:30",
		"--by", "evidence", "--out", dir, "--model", dir+".json", "--verbose")
	for _, want := range []string{"to repeat", "models on 40 examples", "left-out error",
		"length scales", "objective", "refined by"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %s", want, o.stdout)
		}
	}
	if o.status != exitDone || !strings.Contains(o.stderr, "noise is on its lower bound 20") {
		t.Errorf("%d: %s", o.status, o.stderr)
	}
	must(t, "predict", "--model", dir+".json", "--test", "synthetic:friedman1,n=5,seed=2", "--quiet")
	if page, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || !strings.Contains(string(page),
		"Hyperparameters of") {
		t.Errorf("page: %v", err)
	}
}

// TestKernelAuto: of some kernels the search takes the one that ends best, and estimate the same as tune.
func TestKernelAuto(t *testing.T) {
	const data = "synthetic:friedman1,n=60"
	path := filepath.Join(t.TempDir(), "f.csv")
	must(t, "datasets", "--export", data, path)
	d := decoded[report.Tuning](t, "tune", path, "--kernel", "auto", "--refine", "none")
	least := math.Inf(1)
	for _, kind := range []string{"rbf", "matern52", "linear"} {
		least = math.Min(least, float64(decoded[report.Tuning](t, "tune", path, "--kernel", kind, "--refine",
			"none").Objective))
	}
	e := decoded[report.Estimate](t, "estimate", path, "--kernel", "auto", "--refine", "none")
	if float64(d.Objective) != least || e.Model.Kernel != d.Model.Kernel || e.TestError != d.TestError ||
		!strings.Contains(d.CommandLine, "--kernel "+d.Model.Kernel.String()) ||
		strings.Contains(d.CommandLine, "auto") {
		t.Errorf("objective %v, least %v; estimate has %v, tune %v: %s", d.Objective, least, e.Model.Kernel,
			d.Model.Kernel, d.CommandLine)
	}
	for _, args := range [][]string{{"grid", path}, {"estimate", path, "--loss", "hinge"}} {
		if o := drive(t, "", append(args, "--kernel", "auto")...); o.status != exitUsage ||
			!strings.Contains(o.stderr, "--kernel auto") {
			t.Errorf("%v: %+v", args, o)
		}
	}
}
