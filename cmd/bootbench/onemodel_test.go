package main

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/report"
)

// TestOneModel: the model that is judged is the model that is trained. With the same flags, or none, all
// commands have the same bias, C and kernel, and the fit to all data that estimate judges is the one in the
// file of train: the mean square of y - f over the training rows is the same.
func TestOneModel(t *testing.T) {
	dir := t.TempDir()
	labels, numbers := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "numbers.csv")
	must(t, "datasets", "--export", "synthetic:blobs,n=60,d=3,noise=0.7", labels)
	must(t, "datasets", "--export", "synthetic:friedman1,n=40", numbers)
	for _, c := range []struct {
		data, flags string
		bias        bool
	}{
		{labels, "", true},
		{labels, "--no-bias", false},
		{labels, "--loss hard --gamma 2", true},
		{labels, "--loss hinge --C 3", true},
		{labels, "--loss hinge --C 3 --no-bias", false},
		{labels, "--loss hinge2 --C 3", true},
		{labels, "--loss logistic --C 3", true},
		{labels, "--loss square --noise 0.5", true},
		{labels, "--loss probit", false},
		{numbers, "", false},
		{numbers, "--loss square --noise 1 --bias", true},
		{"crabs", "", false},
		{"crabs", "--loss hinge --C 1", true},
	} {
		flags := append(strings.Fields(c.flags), "--quiet", "--json", "-")
		answer := func(command ...string) string {
			o := drive(t, "", slices.Concat(command, flags)...)
			if o.status != exitDone {
				t.Fatalf("%v %s: status %d, %s", command, c.flags, o.status, o.stderr)
			}
			return o.stdout
		}
		said := func(command ...string) report.Estimate { return document[report.Estimate](t, answer(command...)) }
		judged := said("estimate", c.data, "--refine", "none", "--no-points", "--test-loss", "square")
		if judged.Model.Bias != c.bias {
			t.Errorf("%s: bias %v", c.flags, judged.Model.Bias)
		}
		if noted := strings.Contains(strings.Join(judged.Notes, " "),
			"no bias"); noted != (c.flags == "--loss probit") {
			t.Errorf("%s: notes %q", c.flags, judged.Notes)
		}
		commands := [][]string{{"curve", c.data, "--ratio", "1"}, {"retrain", c.data, "--resamples", "2"},
			{"predict", c.data, "--test", c.data}}
		if m := judged.Model.Loss; m == "hinge" || m == "hard" || m == "square" {
			commands = append(commands, []string{"loo", c.data, "--method", "approx"})
		}
		for _, command := range commands {
			if other := said(command...); !reflect.DeepEqual(other.Model, judged.Model) {
				t.Errorf("%v %s: %+v, estimate %+v", command, c.flags, other.Model, judged.Model)
			}
		}
		file := filepath.Join(dir, "m.json")
		trained := document[report.Training](t, answer("train", c.data, "--model", file))
		if trained.Bias != c.bias || trained.C != judged.Model.C || trained.Kernel.Kind != judged.Model.Kernel ||
			trained.Kernel.Gamma != judged.Model.Gamma {
			t.Errorf("train %s: %+v, estimate %+v", c.flags, trained, judged)
		}
		at := decoded[report.ModelPrediction](t, "predict", "--model", file, "--test", c.data)
		sum := 0.0
		for i, f := range at.Points.Prediction {
			sum += math.Pow(f-at.Points.Target[i], 2) / float64(len(at.Points.Prediction))
		}
		if len(at.Points.Prediction) == 0 ||
			math.Abs(sum-float64(judged.Apparent)) > 2e-3*float64(judged.Apparent) {
			t.Errorf("%s: the trained model has mean square %v, the judged one "+
				"%v", c.flags, sum, float64(judged.Apparent))
		}
	}
}

// TestSearchesHaveTheBias: tune and grid judge models with the bias that estimate has, and the model that
// tune writes is the one that it judged.
func TestSearchesHaveTheBias(t *testing.T) {
	dir := t.TempDir()
	labels, file := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "m.json")
	must(t, "datasets", "--export", "synthetic:blobs,n=60,d=3,noise=0.7", labels)
	for _, flags := range [][]string{nil, {"--no-bias"}} {
		said := func(args ...string) string {
			o := drive(t, "", slices.Concat(args, flags, []string{"--quiet", "--json", "-"})...)
			if o.status != exitDone {
				t.Fatalf("%v: %+v", args, o)
			}
			return o.stdout
		}
		tuned := document[report.Tuning](t, said("tune", labels, "--model",
			file,
			"--test-loss", "square"))
		if tuned.Model.Bias != (flags == nil) {
			t.Errorf("%v: tune has bias %v", flags, tuned.Model.Bias)
		}
		written := need.One(openModel(file))(t)
		if (written.Bias != 0) != (flags == nil) || math.Abs(written.Training.Apparent) > 0.5 {
			t.Errorf("%v: the file of tune has bias %v", flags, written.Bias)
		}
		one := document[report.Estimate](t, said("estimate", labels, "--loss", "hinge", "--C", "3", "--refine",
			"none"))
		cells := document[report.Grid](t, said("grid", labels, "--loss", "hinge", "--over", "C=3"))
		if len(cells.Results) != 1 || math.Abs(float64(cells.Results[0].Estimate.TestError-one.TestError)) > 1e-9 {
			t.Errorf("%v: grid says %+v, estimate %v", flags, cells.Results, one.TestError)
		}
	}
}
