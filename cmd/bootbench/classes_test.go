package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/null"
	"bootbench/internal/report"
)

// flowers is a table of three kinds.
func flowers(t *testing.T) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var table strings.Builder
	table.WriteString("length,width,kind\n")
	for i := range 60 {
		k := i % 3
		fmt.Fprintf(&table, "%.2f,%.2f,%s\n", float64(k)+0.5*rng.NormFloat64(), 0.5*rng.NormFloat64(),
			[]string{"ash", "elm", "oak"}[k])
	}
	return write(t, "flowers.csv", table.String())
}

// TestSeveralClasses: a table of three kinds is estimated, cross-validated, trained and predicted without a
// flag; other commands judge the same decision.
func TestSeveralClasses(t *testing.T) {
	path, folder := flowers(t), t.TempDir()
	for _, command := range []string{"estimate", "cv"} {
		r := decoded[report.Classes](t, command, path)
		if len(r.Classes) != 3 || !(r.Error < 0.4) || !(*r.ErrorSE > 0) || len(r.Points.Class) != 60 ||
			len(r.Points.Probability["elm"]) != 60 || r.Task != "classification" || r.ChosenBy == "" {
			t.Errorf("%s: %+v", command, r)
		}
		if text := must(t, command, path, "--quiet"); !strings.Contains(text, "class, taken for  ash  elm  oak") {
			t.Error(text)
		}
	}
	rows := decoded[report.Rows](t, "rows", path, "--refine", "60")
	if first := rows.Rows[0]; len(rows.Rows) != 60 || first.Label == first.Class || !(first.LabelError > 0.5) {
		t.Errorf("rows: %+v", first)
	}
	file := filepath.Join(folder, "m.json")
	must(t, "train", path, "--model", file)
	byFile := decoded[report.ClassPrediction](t, "predict", "--model", file, "--test", path)
	live := decoded[report.ClassPrediction](t, "predict", path, "--test", path)
	if *byFile.TestError != *live.TestError || len(byFile.Points.Class) != 60 ||
		byFile.Points.Target[1] != "elm" {
		t.Errorf("by file %+v, live %+v", byFile, live)
	}
	if table := must(t, "predict", "--model", file, "--test", path, "--csv", "-",
		"--quiet"); !strings.HasPrefix(table,
		"row,class,target,P(ash),P(elm),P(oak)\n") {
		t.Error(table)
	}
	classCommands(t, path)
	numbers := write(t, "numbers.csv", strings.NewReplacer("ash", "0", "elm", "1", "oak", "2").Replace(
		string(need.One(os.ReadFile(path))(t))))
	if o := drive(t, "", "estimate", numbers); o.status != exitDone || !strings.Contains(o.stdout,
		"classes? --task") {
		t.Errorf("numbers: %+v", o)
	}
	if r := decoded[report.Classes](t, "estimate", numbers, "--task", "classification"); len(r.Classes) != 3 {
		t.Errorf("classes of numbers: %+v", r.Classes)
	}
}

// classCommands: the commands that compare models or ways to train judge the same joint decision.
func classCommands(t *testing.T, path string) {
	t.Helper()
	model := []string{path, "--loss", "hinge", "--C", "2", "--gamma", "0.8"}
	answer := func(command string, more ...string) report.Classes {
		return decoded[report.Classes](t, append(append([]string{command}, model...), more...)...)
	}
	exact, plain := answer("estimate"), answer("retrain", "--resamples", "200")
	if off := float64(exact.Error - plain.Error); math.Abs(off) > 0.005 ||
		exact.Resampling.Seed != plain.Resampling.Seed {
		t.Errorf("the same 200 resamples: %v around the theory, %v one by one", exact.Error, plain.Error)
	}
	single, folds := answer("loo"), answer("cv", "--folds", "loo")
	if single.Error != folds.Error || !reflect.DeepEqual(single.Confusion, folds.Confusion) ||
		single.Folds != 60 {
		t.Errorf("loo %v, cv %v", single.Error, folds.Error)
	}
	grid := []string{"--over", "gamma=0.2,0.8", "--loss", "hinge", "--C", "2"}
	byCV := decoded[report.Grid](t, append([]string{"grid", path, "--by", "cv"}, grid...)...)
	byLeftOut := decoded[report.Grid](t, append([]string{"grid", path}, grid...)...)
	if five := answer("cv", "--folds", "5", "--repeats", "1"); byCV.Results[1].Validation.Error != five.Error ||
		byLeftOut.Results[1].Estimate.Error != exact.Error || byLeftOut.Best == nil {
		t.Errorf("grid: %v by cv, %v left out; alone %v, %v", byCV.Results[1].Value(), byLeftOut.Results[1].Value(),
			five.Error, exact.Error)
	}
	curve := decoded[report.Curve](t, append([]string{"curve"}, model...)...)
	if len(curve.Results) != 5 || curve.Growth == nil || !(*curve.Results[0].ErrorSE > 0) {
		t.Errorf("curve: %+v", curve.Growth)
	}
	file := filepath.Join(t.TempDir(), "tuned.json")
	tuned := decoded[report.Tuning](t, "tune", path, "--model", file)
	chosen := decoded[report.Classes](t, "estimate", path)
	if tuned.Error != chosen.Error || !reflect.DeepEqual(tuned.Model, chosen.Model) {
		t.Errorf("tune: %v, estimate %v", tuned.Error, chosen.Error)
	}
	if p := decoded[report.ClassPrediction](t, "predict", "--model", file, "--test", path); len(p.Classes) != 3 {
		t.Errorf("model file of tune: %+v", p)
	}
	if o := drive(t, "", append([]string{"grid", path, "--by", "evidence"},
		grid...)...); o.status != exitUsage ||
		!strings.Contains(o.stderr, "cv and leftout compare several") {
		t.Errorf("%+v", o)
	}
}

// TestTargetsInTables: a cell of a grid and a ratio of a curve of several targets have the error that estimate
// and cv have.
func TestTargetsInTables(t *testing.T) {
	data := []string{"../../internal/answer/testdata/targets.csv", "--target", "a,b", "--drop", "c"}
	fitted := append(slices.Clone(data), "--loss", "square", "--noise", "10%")
	same := func(what string, got, want null.Float) {
		if math.Abs(float64(got/want-1)) > 1e-9 {
			t.Errorf("%s: error %v, elsewhere %v", what, got, want)
		}
	}
	type errors struct{ Error, ErrorSE null.Float }
	estimate := decoded[errors](t, append([]string{"estimate", "--gamma", "0.1"}, fitted...)...)
	curve := decoded[report.Curve](t, append([]string{"curve", "--gamma", "0.1", "--ratio", "0.5,1"}, fitted...)...)
	same("curve", curve.Results[1].Error, estimate.Error)
	over := []string{"--over", "gamma=0.05,0.1"}
	grid := decoded[report.Grid](t, slices.Concat([]string{"grid"}, over, fitted)...)
	same("grid", grid.Results[1].Estimate.Error, estimate.Error)
	folds := decoded[errors](t, append([]string{"cv", "--folds", "5", "--repeats", "1", "--gamma", "0.1"}, fitted...)...)
	grid = decoded[report.Grid](t, slices.Concat([]string{"grid", "--by", "cv"}, over, fitted)...)
	same("grid by cv", grid.Results[1].Validation.Error, folds.Error)
	if first := float64(grid.Results[0].Validation.Error); *grid.Best != 0 || !(first < float64(folds.Error)) {
		t.Errorf("best %d, errors %v and %v", *grid.Best, first, folds.Error)
	}
}
