package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestCV: leave-one-out is that of loo; with more repeats the same examples are left out again; an answer
// does not depend on the number of workers; --csv holds the points.
func TestCV(t *testing.T) {
	model := []string{"synthetic:friedman1,n=60", "--loss", "square", "--noise", "1"}
	run := func(more ...string) report.CrossValidation {
		return decoded[report.CrossValidation](t, append(append([]string{"cv"}, model...), more...)...)
	}
	loo := decoded[report.LeaveOneOut](t, append([]string{"loo"}, model...)...)
	if got := run("--folds", "loo"); math.Abs(float64(got.Error/loo.Error)-1) > 1e-8 || got.Folds != 60 {
		t.Errorf("leave-one-out by fits %v in %d folds, in closed form %v", got.Error, got.Folds, loo.Error)
	}
	one, several := run("--seed", "3", "--workers", "1"), run("--seed", "3", "--workers", "3")
	if one.Error != several.Error || one.RepeatsSE != several.RepeatsSE ||
		one.Points.Mean[7] != several.Points.Mean[7] {
		t.Error("workers change the answer")
	}
	if one.Resamples != 50 || one.Repeats != 5 {
		t.Errorf("%d fits in %d repeats", one.Resamples, one.Repeats)
	}
	csv := must(t, append([]string{"cv", "--csv", "-"}, model...)...)
	if lines := strings.Count(csv, "\n"); lines != 61 || !strings.HasPrefix(csv, "row,mean,error,target\n") {
		t.Errorf("--csv has %d lines: %.60s", lines, csv)
	}
	chosen := must(t, "cv", "synthetic:friedman1,n=40", "--nested", "--folds", "3", "--repeats", "1")
	if !strings.Contains(chosen,
		"to repeat       bootbench cv synthetic:friedman1,n=40 --nested --folds 3 --repeats 1\n") {
		t.Errorf("a model for every fold: %s", chosen)
	}
}

// TestCVRefusals: what has no meaning is refused with its cure.
func TestCVRefusals(t *testing.T) {
	for line, want := range map[string]string{
		"--folds 61":              "take 2 to 60, or loo",
		"--folds one":             "must be loo or a whole number",
		"--folds loo --blocks 5":  "take --folds K",
		"--folds 6 --blocks 10":   "take --folds K",
		"--folds loo --repeats 3": "these are always the same",
		"--metrics jackknife":     "estimate has it",
		"--nested":                "this one is given",
		"--csv - --json -":        "cannot both take standard output",
		"--blocks 0":              "must be auto or a whole number from 1 on",
	} {
		args := append([]string{"cv", "synthetic:friedman1,n=60", "--loss", "square", "--noise", "1"},
			strings.Fields(line)...)
		if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
		}
	}
}

// TestGroupsChoose: train, tune and estimate with --groups choose the same model.
func TestGroupsChoose(t *testing.T) {
	var text strings.Builder
	text.WriteString("patient,a,y\n")
	for i := range 80 {
		fmt.Fprintf(&text, "p%d,%d,%g\n", i/4, (i/4)*(i/4)%23, math.Sin(float64(i/4))+0.1*float64(i*i%7))
	}
	path := write(t, "patients.csv", text.String())
	estimate := decoded[report.Estimate](t, "estimate", path, "--groups", "patient")
	train := decoded[report.Training](t, "train", path, "--groups", "patient", "--model", t.TempDir()+"/m.json")
	tune := decoded[report.Tuning](t, "tune", path, "--groups", "patient")
	for _, s := range []report.Subject{train.Subject, tune.Estimate.Subject} {
		if s.Kernel.Gamma != estimate.Kernel.Gamma || s.Noise != estimate.Noise {
			t.Errorf("gamma %v, noise %v, estimate has %v, %v", s.Kernel.Gamma, s.Noise, estimate.Kernel.Gamma,
				estimate.Noise)
		}
	}
	if !strings.Contains(estimate.ChosenBy, "whole groups") || tune.Error != estimate.Error {
		t.Errorf("%s: %v, tune %v", estimate.ChosenBy, estimate.Error, tune.Error)
	}
}

// TestDesignFlags: where whole groups are drawn no number is the theory's; blocks draw within groups; a small
// class is drawn by itself unless a scheme is asked for; what has no meaning is refused.
func TestDesignFlags(t *testing.T) {
	var text strings.Builder
	text.WriteString("patient,site,a,b,kind\n")
	for i := range 60 {
		kind := map[bool]string{true: "rare", false: "often"}[i%10 == 3]
		fmt.Fprintf(&text, "p%d,s%d,%d,%d,%s\n", i/5, i%3, i*i%17, i*i*i%23, kind)
	}
	path := write(t, "patients.csv", text.String())
	run := func(more ...string) report.Estimate {
		return decoded[report.Estimate](t, append([]string{"estimate", path, "--loss", "hinge"}, more...)...)
	}
	groups := run("--groups", "patient", "--drop", "site")
	if groups.TestError == groups.TestError || groups.Error != groups.Refined.TestError || groups.D != 2 ||
		groups.Design != "of whole groups" || groups.Status != "complete" ||
		groups.Points.Mean[3] != groups.Refined.Points.Mean[3] {
		t.Errorf("groups: %v, %+v, %s", groups.TestError, groups.Quote, groups.Status)
	}
	if f := groups.FullModel; f == nil || f.Folds != 10 || f.ErrorSE == groups.Quality.ExampleSE {
		t.Errorf("the model of all rows: %+v", f)
	}
	retrained := decoded[report.Retraining](t, "retrain", path, "--loss", "hinge", "--groups", "patient",
		"--drop",
		"site", "--resamples", "200", "--method", "single")
	if off := float64(retrained.TestError - groups.Error); math.Abs(off) >
		4*math.Hypot(float64(retrained.SE), float64(*groups.ErrorSE)) {
		t.Errorf("groups: refined %v, retrained %v", groups.Quote, retrained.TestError)
	}
	rare := run()
	if rare.Design != "within strata" || rare.Scheme != "multinomial" || rare.Refined.OneClass != 0 ||
		!strings.Contains(strings.Join(rare.Notes, "\n"), "6 rows of class rare") {
		t.Errorf("a small class: %s %s, %q", rare.Scheme, rare.Design, rare.Notes)
	}
	if blocks := run("--groups", "patient", "--blocks",
		"2"); blocks.Design != "of blocks of 2 rows within groups" {
		t.Errorf("blocks: %q", blocks.Design)
	}
	if plain := run("--scheme", "poisson"); plain.Design != "" {
		t.Errorf("poisson: %q", plain.Design)
	}
	if cv := decoded[report.CrossValidation](t, "cv", path, "--loss", "hinge", "--groups", "patient", "--folds",
		"loo"); cv.Folds != 12 || cv.ErrorSEOver != "groups" {
		t.Errorf("%d folds, error over %s", cv.Folds, cv.ErrorSEOver)
	}
	if cv := decoded[report.CrossValidation](t, "cv", path, "--loss", "hinge", "--fold-column",
		"site"); cv.Folds != 3 ||
		cv.Repeats != 1 {
		t.Errorf("%d folds of a column, %d times", cv.Folds, cv.Repeats)
	}
	for line, want := range map[string]string{
		"estimate --groups patient --refine none":               "take --refine auto",
		"estimate --groups patient --covariance c.npy":          "retrain --replicates",
		"estimate --strata site --scheme poisson":               "strata take multinomial",
		"estimate --blocks 3 --scheme subsample":                "by multinomial",
		"estimate --groups nobody":                              "no column",
		"cv --groups patient --folds 13":                        "12 groups to leave out",
		"cv --groups patient --blocks 3":                        "no --groups",
		"cv --fold-column site --folds 5":                       "do not go with it",
		"cv --groups patient --permutations 3 --positive often": "",
	} {
		words := strings.Fields(line)
		o := drive(t, "", append([]string{words[0], path, "--loss", "hinge"}, words[1:]...)...)
		if want != "" && (o.status != exitUsage || !strings.Contains(o.stderr, want)) {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
		}
	}
}

// TestBayesianWeights: an estimate has means and variances, and no error; cv is named.
func TestBayesianWeights(t *testing.T) {
	o := drive(t, "", "estimate", "synthetic:friedman1,n=60", "--loss", "square", "--noise", "1", "--scheme",
		"bayesian",
		"--json", "-")
	e := document[report.Estimate](t, o.stdout)
	if e.Error == e.Error || e.TestError == e.TestError || e.Quality != nil || e.Points.Error != nil ||
		!(e.Points.Variance[0] > 0) || e.Status != "converged" || !strings.Contains(o.stdout, "cv has it") {
		t.Errorf("%+v", e)
	}
	for args, says := range map[string]string{
		"estimate sonar --loss hard --scheme bayesian": "--loss hinge",
		"curve sonar --scheme bayesian":                `"bayesian" is not available`,
	} {
		if o := drive(t, "", strings.Fields(args)...); o.status != exitUsage || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}
