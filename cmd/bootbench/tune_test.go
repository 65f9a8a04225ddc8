package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/kernel"
)

// TestTune: the command line that tune prints estimates the model that it chose, with what the
// user asked for and the choice; nothing of a preset is left.
func TestTune(t *testing.T) {
	for args, wants := range map[string][]string{
		"tune synthetic:friedman1,n=50 --kernel matern52 --constant 3 --over " +
			"noise=0.1:10,length-scale": {"--kernel=matern52", "--constant=3", "--length-scale ", "--noise "},
		"tune synthetic:friedman1,n=50 --ard --by loo --drop x10": {"--drop=x10", "--length-scale "},
		"tune crabs --ratio 2": {"--loss hinge", "--ratio=2", "--C ", "--gamma "},
		"tune synthetic:friedman1,n=40 --kernel poly --over gamma,coef0 --noise 3 --engine " +
			"exact": {"--kernel=poly", "--coef0 ", "--engine=exact"},
		"tune boston --by evidence --over gamma,noise": {"--no-normalize-target=false", "--noise ",
			"--gamma "},
	} {
		d := decoded[report.Tuning](t, args)
		line, command := strings.CutPrefix(d.CommandLine, "bootbench ")
		if !command {
			t.Fatalf("%s: %q", args, d.CommandLine)
		}
		for _, want := range wants {
			if !strings.Contains(d.CommandLine, want) {
				t.Errorf("%s: %q lacks %s", args, d.CommandLine, want)
			}
		}
		again := decoded[report.Answer](t, line)
		if math.Abs(float64(*again.TestError / *d.TestError)-1) > 1e-6 ||
			math.Abs(float64(again.Quality.ExampleSE/d.StandardError)-1) > 1e-6 || !(d.StandardError > 0) {
			t.Errorf("%s: error %g, standard error %g; again %g, %g", args, *d.TestError, d.StandardError,
				*again.TestError, again.Quality.ExampleSE)
		}
		if len(d.Path) > d.Evaluations || len(d.Best) != 2 {
			t.Errorf("%s: %d models, path of %d, best %v", args, d.Evaluations, len(d.Path), d.Best)
		}
	}
}

// TestTuneText: the choice is printed, the page written, and a bound is told.
func TestTuneText(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	o := drive(t, "",
		"tune synthetic:friedman1,n=40 --ard --over length-scale,noise=20:30 --by evidence --out",
		dir, "--model", dir+".json", "--verbose")
	for _, want := range []string{"to repeat", "models on 40 examples", "left-out error",
		"length scales", "objective", "refined by"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %s", want, o.stdout)
		}
	}
	if o.status != exitDone || !strings.Contains(o.stderr, "noise is on its lower bound 20") {
		t.Errorf("%d: %s", o.status, o.stderr)
	}
	must(t, "predict --model", dir+".json", "--test synthetic:friedman1,n=5,seed=2 --quiet")
	if page, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil ||
		!strings.Contains(string(page), "Hyperparameters of") {
		t.Errorf("page: %v", err)
	}
}

// TestKernelAuto: of some kernels the search takes the one that ends best, and estimate the same as tune.
func TestKernelAuto(t *testing.T) {
	const data = "synthetic:friedman1,n=60"
	path := filepath.Join(t.TempDir(), "f.csv")
	must(t, "datasets --export", data, path)
	d := decoded[report.Tuning](t, "tune", path, "--kernel auto --refine none")
	least := math.Inf(1)
	for _, kind := range []string{"rbf", "matern52", "linear"} {
		least = math.Min(least, float64(decoded[report.Tuning](t, "tune", path, "--kernel", kind,
			"--refine none").Objective))
	}
	e := decoded[report.Answer](t, "estimate", path, "--kernel auto --refine none")
	if float64(d.Objective) != least || e.Model.Kind != d.Model.Kind || *e.TestError != *d.TestError ||
		!strings.Contains(d.CommandLine, "--kernel "+d.Model.Kind.String()) ||
		strings.Contains(d.CommandLine, "auto") {
		t.Errorf("objective %v, least %v; estimate has %v, tune %v: %s", d.Objective, least, e.Model.Kind,
			d.Model.Kind, d.CommandLine)
	}
	refused(t, "--kernel auto", "grid --kernel auto", path)
	refused(t, "--kernel auto", "estimate --loss square --noise 1 --kernel auto", path)
}

// TestOneModel: the model that is judged is the model that is trained. With the same flags, or none, all
// commands have the same model, and the fit to all data that estimate judges is the one in the file of train:
// the mean square of y - f over the training rows is the same.
func TestOneModel(t *testing.T) {
	dir := t.TempDir()
	labels, numbers := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "numbers.csv")
	must(t, "datasets --export synthetic:blobs,n=40,d=3,noise=0.7", labels)
	must(t, "datasets --export synthetic:friedman1,n=30", numbers)
	for number, c := range []struct {
		data, flags string
		bias, loo   bool
	}{
		{labels, "", true, true},
		{labels, "--no-bias", false, true},
		{labels, "--loss hard --gamma 2", true, true},
		{labels, "--loss hinge --C 3", true, true},
		{labels, "--loss hinge2 --C 3", true, false},
		{labels, "--loss logistic --C 3", true, false},
		{labels, "--loss square --noise 0.5", true, true},
		{labels, "--loss probit", false, false},
		{numbers, "", false, true},
		{numbers, "--loss square --noise 1 --bias", true, true},
		{"crabs", "", false, true},
		{"crabs", "--loss hinge --C 1", true, true},
	} {
		if testing.Short() && number%2 == 1 {
			continue // the run without -short has it
		}
		model, file := c.data+" "+c.flags, filepath.Join(dir, "m.json")
		judged := decoded[report.Answer](t, "estimate --refine none --no-points --test-loss square", model)
		noted := strings.Contains(strings.Join(judged.Notes, " "), "no bias")
		if judged.Model.Bias != c.bias || noted != (c.flags == "--loss probit") {
			t.Errorf("%s: bias %v, notes %q", model, judged.Model.Bias, judged.Notes)
		}
		commands := []string{"curve --ratio 1", "retrain --resamples 2", "predict --test " + c.data, "loo"}
		if !c.loo {
			commands = commands[:3]
		}
		for _, command := range commands {
			other := decoded[report.Answer](t, command, model)
			if !reflect.DeepEqual(other.Model, judged.Model) {
				t.Errorf("%s %s: %+v, estimate %+v", command, model, other.Model, judged.Model)
			}
		}
		trained := decoded[report.Training](t, "train", model, "--model", file)
		if k := trained.Kernel; trained.Bias != c.bias || trained.C != judged.Model.C ||
			k.Kind != judged.Model.Kind || k.Gamma != judged.Model.Gamma {
			t.Errorf("train %s: %+v, estimate %+v", model, trained, judged)
		}
		at, sum := decoded[report.Answer](t, "predict --model", file, "--test", c.data).Points, 0.0
		for i, f := range at.Prediction {
			sum += math.Pow(f-at.Target.Numbers[i], 2) / float64(len(at.Prediction))
		}
		if apparent := float64(judged.Apparent); !(math.Abs(sum-apparent) < 2e-3*apparent) || sum == 0 {
			t.Errorf("%s: the trained model has mean square %v, the judged one %v", model, sum, apparent)
		}
	}
}

// TestFlagless: without --loss the task is found from the target and a model is chosen;
// the command line that it names gives the same answer to the last digit.
func TestFlagless(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	dir := t.TempDir()
	numbers := filepath.Join(dir, "numbers.csv")
	must(t, "datasets --export synthetic:friedman1,n=80", numbers)
	labels := write(t, "labels.csv", csvOf("a,b,c,sick", 60, func(i int) []any {
		a, b := i%10, (i*7)%11
		return []any{a, b % 10, 1, min(1, (a+b)/9)}
	}))
	for _, c := range []struct{ path, loss, task string }{{numbers, "square", "regression"},
		{labels, "hinge", "classification"}} {
		a := decoded[report.Answer](t, "estimate", c.path)
		if a.Loss != c.loss || a.Task != c.task || a.ChosenBy == "" || a.Model.Loss != c.loss ||
			a.Model.Gamma != a.Kernel.Gamma || !a.Model.Standardize ||
			a.Model.Parameters.Noise+a.Model.Parameters.C == 0 {
			t.Errorf("%+v", a)
		}
		again := document[report.Answer](t, strings.TrimPrefix(a.CommandLine, "bootbench "))
		if *again.TestError != *a.TestError || again.ChosenBy != "" || again.CommandLine != "" ||
			!reflect.DeepEqual(again.Model, a.Model) {
			t.Errorf("%s: %+v, was %+v", a.CommandLine, again, a)
		}
		if text := must(t, "estimate", c.path, "--quiet"); !strings.Contains(text,
			"to repeat       bootbench estimate "+c.path+" --loss "+c.loss) {
			t.Error(text)
		}
	}
	given := decoded[report.Answer](t, "estimate", numbers, "--noise 3 --gamma 0.05")
	if given.Model.Noise != 3 || given.Model.Gamma != 0.05 {
		t.Errorf("given: %+v", given)
	}
	given = decoded[report.Answer](t, "estimate", labels, "--kernel linear --C 2")
	if given.Model.C != 2 || given.Model.Kind != kernel.Linear {
		t.Errorf("linear: %+v", given)
	}
	refused(t, "--loss square takes only --noise", "estimate", numbers, "--C 2")
}

// TestInProportion: every answer about one data set says what a constant prediction would
// err by, and new inputs get the class that the file writes.
func TestInProportion(t *testing.T) {
	path := write(t, "trees.tsv", strings.ReplaceAll(csvOf("a,b,kind", 40, func(i int) []any {
		return []any{i % 10, (3 * i) % 7, []string{"oak", "ash"}[min(1, i%10/6)]}
	}), ",", "\t"))
	for _, command := range []string{"estimate", "retrain --resamples 20", "predict --test " + path} {
		a := decoded[report.Answer](t, command, path, "--loss hinge")
		if q := a.Quality; q == nil || q.Baseline != 0.4 || q.Constant != "oak" || !(q.ExampleSE > 0) {
			t.Errorf("%s: %+v", command, a.Quality)
		}
		if strings.HasPrefix(command, "predict") &&
			(len(a.Points.Class) != 40 || a.Points.Class[0] != "oak" || a.Points.Class[9] != "ash") {
			t.Errorf("classes %v", a.Points.Class)
		}
	}
	if text := must(t, "predict", path, "--test", path,
		"--loss hinge --csv - --quiet"); !strings.Contains(text,
		",class,target,") || !strings.Contains(text, ",ash,") {
		t.Error(text)
	}
	noise := drive(t, "",
		"estimate synthetic:friedman1,n=40 --loss square --noise 0.0001% --gamma 50 --verbose")
	if noise.status != exitDone || !strings.Contains(noise.stderr, "learned nothing") ||
		!strings.Contains(noise.stdout, "R^2 ") {
		t.Errorf("a useless model: %+v", noise)
	}
}

// TestRepeat: the line that repeats an answer runs, chooses nothing, and has the same model and error, for
// all commands that print one and for flags that the search replaces or that are for the search alone.
func TestRepeat(t *testing.T) {
	path := houses(t, "houses.csv", rand.New(rand.NewPCG(1, 1)).Perm(30))
	labels := write(t, "labels.csv", csvOf("a,b,kind", 40, func(i int) []any {
		return []any{i % 10, (3 * i) % 7, []string{"oak", "ash"}[min(1, i%10/6)]}
	}))
	file := filepath.Join(t.TempDir(), "m.json")
	commands := map[string]string{"estimate": "--refine none", "curve": "--ratio 1 --refine none",
		"predict": "--refine none --test", "retrain": "--resamples 2", "cv": "--folds 3", "loo": "",
		"rows": "--refine none", "train": "--model " + file, "tune": "--refine none"}
	for i, c := range []struct{ data, flags, only string }{
		{path, "--loss square --gamma 0.1", ""}, {labels, "--loss hinge --gamma 0.3", ""},
		{path, "", "estimate tune"}, {path, "--noise 10%", "train tune"}, {labels, "", "rows train tune"},
		{labels, "--C 2 --no-bias", "cv tune"}, {labels, "--loss logistic", "curve tune"},
		{path, "--loss eps", "predict tune"}, {path, "--loss square", "loo"},
		{path, "--kernel auto", "cv tune"}, {path, "--kernel=auto --loss huber", "estimate"},
		{path, "--kernel linear", "estimate tune"}, {path, "--kernel poly", "estimate tune"},
		{path, "--drop age", "estimate tune"}, {path, "--seed 3", "cv tune"}, {labels, "--nested", "cv"},
		{path, "--journal " + t.TempDir(), "retrain"}, {path, "--journal " + t.TempDir(), "tune"},
		{path, "--scheme kfold --folds 4", "estimate tune"},
		{path, "--ard", "tune"}, {path, "--ard --gamma 0.2", "tune"}, {path, "--folds 3", "tune"},
		{path, "--over gamma --noise 1", "tune"}, {labels, "--over gamma", "tune"},
		{labels, "--over C", "tune"},
		{path, "--over noise --length-scale 1,2", "tune"}, {path, "--by loo", "tune"},
		{path, "--over amplitude,noise", "tune"}, {labels, "--over class-weight,C", "tune"},
		{labels, "--test-loss square", "tune"}, {"boston", "--folds 3 --over noise", "tune"},
		{path, "--target price,age", "tune"},
	} {
		if testing.Short() && i%4 > 0 {
			continue // the run without -short has it
		}
		for command, own := range commands {
			if c.only != "" && !slices.Contains(strings.Fields(c.only), command) {
				continue
			}
			if command == "predict" {
				own += " " + c.data
			}
			type answer struct {
				CommandLine string `json:"command_line"`
				ChosenBy    string `json:"chosen_by"`
				Error       float64
			}
			first := drive(t, "", command, c.data, c.flags, own, "--quiet --json -")
			if first.status != exitDone && first.status != exitNotConverged {
				t.Errorf("%s %s: %s", command, c.flags, first.stderr)
				continue
			}
			said := parse[answer](t, first.stdout)
			line, found := strings.CutPrefix(said.CommandLine, "bootbench ")
			if !found {
				t.Errorf("%s %s: no line to repeat", command, c.flags)
				continue
			}
			repeated := drive(t, "", strings.Replace(line, "--json -", "", 1), "--json -")
			if repeated.status != exitDone && repeated.status != exitNotConverged {
				t.Errorf("%s: %s", line, repeated.stderr)
				continue
			}
			again := parse[answer](t, repeated.stdout)
			if command != "cv" && again.ChosenBy != "" || math.Abs(again.Error-said.Error) > 1e-6*said.Error {
				t.Errorf("%s: error %g, was %g; %s", line, again.Error, said.Error, again.ChosenBy)
			}
		}
	}
}
