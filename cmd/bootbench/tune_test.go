package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

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

// TestRepeat: the line that repeats an answer runs, chooses nothing, and has the same model and errors, for
// all commands that print one and for flags that the search replaces or that are for the search alone
// (testdata/repeats.txt).
func TestRepeat(t *testing.T) {
	dir := t.TempDir()
	files := strings.NewReplacer("HOUSES", houses(t, "houses.csv", rand.New(rand.NewPCG(1, 1)).Perm(30)),
		"LABELS", write(t, "labels.csv", csvOf("a,b,kind", 40, func(i int) []any {
			return []any{i % 10, (3 * i) % 7, []string{"oak", "ash"}[min(1, i%10/6)]}
		})), "DIR", dir)
	commands := map[string]string{"estimate": "--refine none", "curve": "--ratio 1 --refine none",
		"predict": "--refine none --test DATA", "retrain": "--resamples 2", "cv": "--folds 3", "loo": "",
		"rows": "--refine none", "train": "--model " + dir + "/m.json", "tune": "--refine none"}
	type answer struct {
		report.Subject
		Error     float64
		TestError *report.Number `json:"test_error"`
	}
	ask := func(line string) (a answer, done bool) {
		o := drive(t, "", line, "--json", dir+"/answer.json")
		if o.status != exitDone && o.status != exitNotConverged {
			t.Errorf("%s: %s", line, o.stderr)
			return a, false
		}
		a = parse[answer](t, string(testutil.Must(os.ReadFile(dir+"/answer.json"))(t)))
		if a.Model != nil { // of several targets it is in each
			a.Model.Chosen = nil // not every command has --chosen
		}
		return a, true
	}
	var none report.Number
	for i, line := range cases("repeats") {
		if testing.Short() && i%4 > 0 {
			continue // the run without -short has it
		}
		c := strings.Split(files.Replace(line)+" ", " | ")
		for command, own := range commands {
			if c[2] != "" && !slices.Contains(strings.Fields(c[2]), command) {
				continue
			}
			own = strings.Replace(own, "DATA", c[0], 1)
			said, _ := ask(strings.Join([]string{command, c[0], c[1], own}, " "))
			again, found := strings.CutPrefix(said.CommandLine, "bootbench ")
			for _, word := range strings.Fields(c[3]) {
				found = found && strings.Contains(again, word)
			}
			if !found {
				t.Errorf("%s, %s: repeated by %q", line, command, said.CommandLine)
				continue
			}
			if at := strings.Index(again, " --json"); at >= 0 { // a line with the choice inside is as it was
				again = again[:at]
			}
			repeated, done := ask(again)
			if !done {
				continue
			}
			one, other := cmp.Or(said.TestError, &none), cmp.Or(repeated.TestError, &none)
			same := math.Abs(repeated.Error-said.Error) <= 1e-6*said.Error &&
				math.Abs(float64(*one-*other)) <= 1e-6*float64(*one)
			if !same || command != "cv" && repeated.ChosenBy != "" ||
				!reflect.DeepEqual(repeated.Model, said.Model) {
				t.Errorf("%s: error %g of %+v, was %g of %+v; %s", again, repeated.Error, repeated.Model,
					said.Error, said.Model, repeated.ChosenBy)
			}
		}
	}
}
