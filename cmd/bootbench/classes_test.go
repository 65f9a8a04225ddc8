package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

// flowers is a table of three kinds.
func flowers(t *testing.T) string {
	rng := rand.New(rand.NewPCG(1, 2))
	return write(t, "flowers.csv", csvOf("length,width,kind", 60, func(i int) []any {
		return []any{float64(i%3) + 0.5*rng.NormFloat64(), 0.5 * rng.NormFloat64(),
			[]string{"ash", "elm", "oak"}[i%3]}
	}))
}

// TestSeveralClasses: a table of three kinds is estimated, cross-validated, trained and predicted without a
// flag; other commands judge the same decision.
func TestSeveralClasses(t *testing.T) {
	path, folder := flowers(t), t.TempDir()
	for _, command := range []string{"estimate", "cv"} {
		r := decoded[report.Answer](t, command, path)
		if len(r.Classes) != 3 || !(r.Error < 0.4) || !(r.ErrorSE > 0) || len(r.Points.Class) != 60 ||
			len(r.Points.Probability.Of["elm"]) != 60 || r.Task != "classification" || r.ChosenBy == "" {
			t.Errorf("%s: %+v", command, r)
		}
		if text := must(t, command, path, "--quiet"); !strings.Contains(text,
			"class, taken for  ash  elm  oak") {
			t.Error(text)
		}
	}
	rows := decoded[report.Rows](t, "rows", path, "--refine 60")
	if first := rows.Rows[0]; len(rows.Rows) != 60 || first.Label == first.Class ||
		!(first.LabelError > 0.5) {
		t.Errorf("rows: %+v", first)
	}
	file := filepath.Join(folder, "m.json")
	must(t, "train", path, "--model", file)
	byFile := decoded[report.Answer](t, "predict --model", file, "--test", path)
	live := decoded[report.Answer](t, "predict", path, "--test", path)
	if *byFile.TestError != *live.TestError || len(byFile.Points.Class) != 60 ||
		byFile.Points.Target.Classes[1] != "elm" {
		t.Errorf("by file %+v, live %+v", byFile, live)
	}
	if table := must(t, "predict --model", file, "--test", path, "--csv - --quiet"); !strings.HasPrefix(table,
		"row,P(ash),P(elm),P(oak),class,target,error\n") {
		t.Error(table)
	}
	classCommands(t, path)
	numbers := write(t, "numbers.csv", strings.NewReplacer("ash", "0", "elm", "1", "oak", "2").Replace(
		string(testutil.Must(os.ReadFile(path))(t))))
	if o := drive(t, "", "estimate", numbers); o.status != exitDone || !strings.Contains(o.stdout,
		"classes? --task") {
		t.Errorf("numbers: %+v", o)
	}
	if r := decoded[report.Answer](t, "estimate", numbers, "--task classification"); len(r.Classes) != 3 {
		t.Errorf("classes of numbers: %+v", r.Classes)
	}
}

// classCommands: the commands that compare models or ways to train judge the same joint decision.
func classCommands(t *testing.T, path string) {
	t.Helper()
	model := path + " --loss hinge --C 2 --gamma 0.8"
	answer := func(command string) report.Answer { return decoded[report.Answer](t, command, model) }
	exact, plain := answer("estimate"), answer("retrain --resamples 200")
	if off := float64(exact.Error - plain.Error); math.Abs(off) > 0.005 ||
		exact.Refined.Resamples != plain.Resamples {
		t.Errorf("the same 200 resamples: %v around the theory, %v one by one", exact.Error, plain.Error)
	}
	single, folds := answer("loo"), answer("cv --folds loo")
	if single.Error != folds.Error || !reflect.DeepEqual(single.Confusion, folds.Confusion) ||
		single.Folds != 60 {
		t.Errorf("loo %v, cv %v", single.Error, folds.Error)
	}
	grid := "grid --over gamma=0.2,0.8 --loss hinge --C 2 " + path
	byCV, byLeftOut := decoded[report.Grid](t, grid, "--by cv"), decoded[report.Grid](t, grid)
	if five := answer("cv --folds 5 --repeats 1"); byCV.Results[1].Validation.Error != five.Error ||
		byLeftOut.Results[1].Estimate.Error != exact.Error || byLeftOut.Best == nil {
		t.Errorf("grid: %v by cv, %v left out; alone %v, %v", byCV.Results[1].Value(),
			byLeftOut.Results[1].Value(), five.Error, exact.Error)
	}
	curve := decoded[report.Curve](t, "curve", model)
	if len(curve.Results) != 5 || curve.Growth == nil || !(curve.Results[0].ErrorSE > 0) {
		t.Errorf("curve: %+v", curve.Growth)
	}
	file := filepath.Join(t.TempDir(), "tuned.json")
	tuned := decoded[report.Tuning](t, "tune", path, "--model", file)
	chosen := decoded[report.Answer](t, "estimate", path)
	if tuned.Error != chosen.Error || !reflect.DeepEqual(tuned.Model, chosen.Model) {
		t.Errorf("tune: %v, estimate %v", tuned.Error, chosen.Error)
	}
	if p := decoded[report.Answer](t, "predict --model", file, "--test", path); len(p.Classes) != 3 {
		t.Errorf("model file of tune: %+v", p)
	}
	refused(t, "choose by cv or leftout", grid, "--by evidence")
}

// weightedDocument is what every command says of class weights.
type weightedDocument struct {
	TestError   report.Number      `json:"test_error"`
	ClassWeight *loss.ClassWeights `json:"class_weight"`
	Best        map[string]any
	CommandLine string `json:"command_line"`
}

// TestClassWeights: every command that trains takes class weights, in each of their forms, and
// says what they were. 27 of the 40 labels are -1, or "no" in a table.
func TestClassWeights(t *testing.T) {
	dir := t.TempDir()
	sold := func(labels ...string) string {
		return write(t, "sold.csv", csvOf("a,b,sold", 40, func(i int) []any {
			y := [3]int{0, 1, 0}[i%3]
			return []any{math.Sin(float64(i)) + float64(y) - 0.5, math.Cos(3 * float64(i)), labels[y]}
		}))
	}
	numbers, texts := sold("-1", "1"), sold("no", "yes")
	ask := func(line string) weightedDocument {
		return decoded[weightedDocument](t, line)
	}
	estimate := " --loss logistic --C 2 --gamma 0.4 --refine none --no-points"
	want := ask("estimate " + numbers + estimate + " --class-weight 2,3")
	if want.ClassWeight == nil || want.ClassWeight.Negative != 2 || want.ClassWeight.Positive != 3 {
		t.Errorf("2,3 became %+v", want.ClassWeight)
	}
	for _, same := range []string{numbers + estimate + " --class-weight 1=3,-1=2",
		texts + estimate + " --class-weight yes=3,no=2", texts + estimate + " --class-weight no=2,yes=3"} {
		if got := ask("estimate " + same); got.TestError != want.TestError {
			t.Errorf("%s: %v, want %v", same, got.TestError, want.TestError)
		}
	}
	// 2 x 1.5 is 1 x 3
	if one, pair := ask("estimate "+numbers+estimate+" --class-weight 1.5"),
		ask("estimate "+numbers+" --loss logistic --C 1 --gamma 0.4 --refine none --class-weight "+
			"2,3"); math.Abs(
		float64(one.TestError-pair.TestError)) > 1e-6 {
		t.Errorf("C 2 times 1 and 1.5: %v, C 1 times 2 and 3: %v", one.TestError, pair.TestError)
	}
	balanced := ask("estimate " + texts + estimate + " --class-weight balanced").ClassWeight
	if balanced == nil || math.Abs(balanced.Negative-40./54) > 1e-15 ||
		math.Abs(balanced.Positive-40./26) > 1e-15 {
		t.Errorf("balanced: %+v", balanced)
	}
	plain := ask("estimate crabs --loss hinge --C 1 --refine none")
	if even := ask("estimate crabs --loss hinge --C 1 --refine none --class-weight " +
		"balanced"); even.TestError != plain.TestError || plain.ClassWeight != nil {
		t.Errorf("balanced on 100 of each: %v, without %v", even.TestError, plain.TestError)
	}

	model := filepath.Join(dir, "m.json")
	svm := " --loss hinge --C 1 --gamma 0.4 --class-weight balanced"
	for _, line := range []string{
		"curve " + texts + svm + " --ratio 1,2 --refine none", "retrain " + texts + svm + " --resamples 20",
		"loo " + texts + svm + " --method all",
		"train " + texts + svm + " --model " + model, "predict " + texts + svm + " --test " + texts +
			" --refine none", "estimate " + texts + " --class-weight balanced --refine none",
	} {
		if d := ask(line); d.ClassWeight == nil || d.ClassWeight.Negative != balanced.Negative ||
			d.ClassWeight.Positive != balanced.Positive {
			t.Errorf("%s: %+v", line, d.ClassWeight)
		}
	}
	if file, err := os.ReadFile(model); err != nil || !strings.Contains(string(file),
		`"negative_weight":0.74`) {
		t.Errorf("model file %s, %v", file, err)
	}
	tuned := ask("tune " + texts + " --loss hinge --C 1 --over class-weight=0.2:20,gamma --test-loss square")
	if w, ok := tuned.Best["class-weight"].(float64); !ok || !(w > 0.2 && w < 20) ||
		!strings.Contains(tuned.CommandLine, "--class-weight ") {
		t.Errorf("tuned: %v, %s", tuned.Best, tuned.CommandLine)
	}
}

// TestJointShards: shards of several classes, and of several targets, merge to the answer of one process.
func TestJointShards(t *testing.T) {
	for _, line := range []string{"estimate iris --refine 80", "retrain iris --resamples 80",
		"estimate ../../internal/answer/testdata/targets.csv --target a,b --drop c --refine 80 --loss " +
			"square --noise 10%",
	} {
		folder := filepath.Join(t.TempDir(), "kept")
		for _, shard := range []string{"0/2", "1/2"} {
			must(t, line, "--journal", folder, "--shard", shard, "--quiet")
		}
		type answer struct{ Error, ErrorSE report.Number }
		if merged, whole := decoded[answer](t, "merge", folder), decoded[answer](t, line); merged != whole {
			t.Errorf("%v: merged %v, by one process %v", line, merged, whole)
		}
	}
}
