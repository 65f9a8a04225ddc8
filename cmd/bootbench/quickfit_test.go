package main

import (
	"path/filepath"
	"strings"
	"testing"
)

type flagless struct {
	Loss        string
	Task        string
	TestError   float64 `json:"test_error"`
	ChosenBy    string  `json:"chosen_by"`
	CommandLine string  `json:"command_line"`
	Kernel      struct{ Gamma float64 }
	Model       struct {
		Loss, Kernel                 string
		Noise, C, Gamma, Amplitude   float64
		Standardize, NormalizeTarget bool
	}
	Labels *struct{ Negative, Positive string }
}

// TestFlagless: without --loss the task is found from the target and a model is chosen;
// the command line that it names gives the same answer to the last digit.
func TestFlagless(t *testing.T) {
	dir := t.TempDir()
	numbers := filepath.Join(dir, "numbers.csv")
	must(t, "datasets", "--export", "synthetic:friedman1,n=80", numbers)
	var rows strings.Builder
	rows.WriteString("a,b,c,sick\n")
	for i := range 60 {
		a, b := i%10, (i*7)%11
		rows.WriteString(strings.Join([]string{string(rune('0' + a)), string(rune('0' + b%10)), "1", []string{"0", "1"}[min(1, (a+b)/9)]}, ",") + "\n")
	}
	labels := write(t, "labels.csv", rows.String())
	for _, c := range []struct{ path, loss, task string }{{numbers, "square", "regression"}, {labels, "hinge", "classification"}} {
		a := document[flagless](t, must(t, "estimate", c.path, "--json", "-", "--quiet"))
		if a.Loss != c.loss || a.Task != c.task || a.ChosenBy == "" || a.Model.Loss != c.loss || a.Model.Gamma != a.Kernel.Gamma || !a.Model.Standardize || a.Model.Noise+a.Model.C == 0 {
			t.Errorf("%+v", a)
		}
		line := strings.Fields(a.CommandLine)
		if line[0] != "bootbench" {
			t.Fatal(a.CommandLine)
		}
		again := document[flagless](t, must(t, line[1:]...))
		if again.TestError != a.TestError || again.ChosenBy != "" || again.CommandLine != "" || again.Model != a.Model {
			t.Errorf("%s: %+v, was %+v", a.CommandLine, again, a)
		}
		for _, more := range [][]string{{"predict", c.path, "--test", c.path}, {"retrain", c.path, "--resamples", "5"}, {"loo", c.path}, {"curve", c.path, "--ratio", "1"}} {
			if o := document[flagless](t, must(t, append(more, "--json", "-", "--quiet")...)); o.Model != a.Model {
				t.Errorf("%s: %+v, estimate %+v", more[0], o.Model, a.Model)
			}
		}
		if text := must(t, "estimate", c.path, "--quiet"); !strings.Contains(text, "the same again  bootbench estimate "+c.path+" --quiet --loss "+c.loss) {
			t.Error(text)
		}
	}
	given := document[flagless](t, must(t, "estimate", numbers, "--noise", "3", "--gamma", "0.05", "--json", "-", "--quiet"))
	if given.Model.Noise != 3 || given.Model.Gamma != 0.05 {
		t.Errorf("given: %+v", given)
	}
	given = document[flagless](t, must(t, "estimate", labels, "--kernel", "linear", "--C", "2", "--json", "-", "--quiet"))
	if given.Model.C != 2 || given.Model.Kernel != "linear" {
		t.Errorf("linear: %+v", given)
	}
	if o := drive(t, "", "estimate", numbers, "--C", "2"); o.status != exitUsage || !strings.Contains(o.stderr, "--loss square takes only --noise") {
		t.Errorf("foreign parameter: %+v", o)
	}
}
