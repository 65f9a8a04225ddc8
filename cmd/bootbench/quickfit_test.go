package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/kernel"
)

// TestFlagless: without --loss the task is found from the target and a model is chosen;
// the command line that it names gives the same answer to the last digit.
func TestFlagless(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	dir := t.TempDir()
	numbers := filepath.Join(dir, "numbers.csv")
	must(t, "datasets", "--export", "synthetic:friedman1,n=80", numbers)
	var rows strings.Builder
	rows.WriteString("a,b,c,sick\n")
	for i := range 60 {
		a, b := i%10, (i*7)%11
		rows.WriteString(strings.Join([]string{string(rune('0' + a)), string(rune('0' + b%10)), "1",
			[]string{"0", "1"}[min(1, (a+b)/9)]}, ",") + "\n")
	}
	labels := write(t, "labels.csv", rows.String())
	for _, c := range []struct{ path, loss, task string }{{numbers, "square", "regression"},
		{labels, "hinge", "classification"}} {
		a := document[report.Estimate](t, must(t, "estimate", c.path, "--json", "-", "--quiet"))
		if a.Loss != c.loss || a.Task != c.task || a.ChosenBy == "" || a.Model.Loss != c.loss ||
			a.Model.Gamma != a.Kernel.Gamma || !a.Model.Standardize ||
			a.Model.Parameters.Noise+a.Model.Parameters.C == 0 {
			t.Errorf("%+v", a)
		}
		line := strings.Fields(a.CommandLine)
		if line[0] != "bootbench" {
			t.Fatal(a.CommandLine)
		}
		again := document[report.Estimate](t, must(t, line[1:]...))
		if again.TestError != a.TestError || again.ChosenBy != "" || again.CommandLine != "" ||
			!reflect.DeepEqual(again.Model, a.Model) {
			t.Errorf("%s: %+v, was %+v", a.CommandLine, again, a)
		}
		if text := must(t, "estimate", c.path, "--quiet"); !strings.Contains(text,
			"to repeat       bootbench estimate "+c.path+" --quiet --loss "+c.loss) {
			t.Error(text)
		}
	}
	given := document[report.Estimate](t, must(t, "estimate", numbers, "--noise", "3", "--gamma", "0.05",
		"--json", "-",
		"--quiet"))
	if given.Model.Noise != 3 || given.Model.Gamma != 0.05 {
		t.Errorf("given: %+v", given)
	}
	given = document[report.Estimate](t, must(t, "estimate", labels, "--kernel", "linear", "--C", "2", "--json",
		"-",
		"--quiet"))
	if given.Model.C != 2 || given.Model.Kernel != kernel.Linear {
		t.Errorf("linear: %+v", given)
	}
	if o := drive(t, "", "estimate", numbers, "--C", "2"); o.status != exitUsage ||
		!strings.Contains(o.stderr, "--loss square takes only --noise") {
		t.Errorf("foreign parameter: %+v", o)
	}
}

// TestInProportion: every answer about one data set says what a constant prediction would
// err by, and new inputs get the class that the file writes.
func TestInProportion(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a\tb\tkind\n")
	for i := range 40 {
		rows.WriteString(strings.Join([]string{string(rune('0' + i%10)), string(rune('0' + (3*i)%7)),
			[]string{"oak", "ash"}[min(1, i%10/6)]}, "\t") + "\n")
	}
	path := write(t, "trees.tsv", rows.String())
	for _, command := range [][]string{{"estimate"}, {"retrain", "--resamples", "20"},
		{"predict", "--test", path}} {
		a := decoded[report.Prediction](t, append(command, path, "--loss", "hinge")...)
		if q := a.Quality; q == nil || q.Baseline != 0.4 || q.Constant != "oak" || !(q.ExampleSE > 0) {
			t.Errorf("%s: %+v", command[0], a.Quality)
		}
		if command[0] == "predict" && (len(a.Points.Class) != 40 || a.Points.Class[0] != "oak" ||
			a.Points.Class[9] != "ash") {
			t.Errorf("classes %v", a.Points.Class)
		}
	}
	if text := must(t, "predict", path, "--test", path, "--loss", "hinge", "--csv", "-",
		"--quiet"); !strings.Contains(text, ",class\n") || !strings.Contains(text, ",ash\n") {
		t.Error(text)
	}
	noise := drive(t, "", "estimate", "synthetic:friedman1,n=40", "--loss", "square", "--noise", "0.0001%",
		"--gamma", "50", "--verbose")
	if noise.status != exitDone || !strings.Contains(noise.stderr, "learned nothing") ||
		!strings.Contains(noise.stdout, "R^2 ") {
		t.Errorf("a useless model: %+v", noise)
	}
}
