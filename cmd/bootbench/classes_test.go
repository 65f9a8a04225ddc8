package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/need"
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
// flag; other commands name the flag that makes two classes of it.
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
	for _, command := range []string{"retrain", "loo", "curve", "tune", "grid"} {
		if o := drive(t, "", command, path); o.status != exitUsage ||
			!strings.Contains(o.stderr, "--positive LABEL") {
			t.Errorf("%s: %+v", command, o)
		}
	}
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
