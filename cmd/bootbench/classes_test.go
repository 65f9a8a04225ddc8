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

const flowerRows = 42

// flowers is a table of three kinds.
func flowers(t *testing.T) string {
	rng := rand.New(rand.NewPCG(1, 2))
	return write(t, "flowers.csv", csvOf("length,width,kind", flowerRows, func(i int) []any {
		return []any{float64(i%3) + 0.5*rng.NormFloat64(), 0.5 * rng.NormFloat64(),
			[]string{"ash", "elm", "oak"}[i%3]}
	}))
}

// TestSeveralClasses: a table of three kinds is estimated, cross-validated, tuned, trained and predicted
// without a flag, by the same model; numbers that may be classes are asked about.
func TestSeveralClasses(t *testing.T) {
	path, file := flowers(t), filepath.Join(t.TempDir(), "m.json")
	read := func(command string) report.Answer { return decoded[report.Answer](t, command, path) }
	estimate := read("estimate")
	for command, r := range map[string]report.Answer{"estimate": estimate, "cv": read("cv")} {
		if len(r.Classes) != 3 || !(r.Error < 0.4) || !(r.ErrorSE > 0) || len(r.Points.Class) != flowerRows ||
			len(r.Points.Probability.Of["elm"]) != flowerRows || r.Task != "classification" ||
			r.ChosenBy == "" {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if text := must(t, "cv", path, "--quiet"); !strings.Contains(text, "class, taken for  ash  elm  oak") {
		t.Error(text)
	}
	rows := decoded[report.Rows](t, "rows", path, "--refine 40")
	if first := rows.Rows[0]; len(rows.Rows) != flowerRows || first.Label == first.Class ||
		!(first.LabelError > 0.5) {
		t.Errorf("rows: %+v", first)
	}
	tuned := decoded[report.Tuning](t, "tune", path, "--model", file)
	byFile, live := read("predict --model "+file+" --test"), read("predict "+path+" --test")
	if tuned.Error != estimate.Error || !reflect.DeepEqual(tuned.Model, estimate.Model) ||
		*byFile.TestError != *live.TestError || byFile.Points.Target.Classes[1] != "elm" {
		t.Errorf("tune %v, estimate %v; by file %v, live %v", tuned.Error, estimate.Error, *byFile.TestError,
			*live.TestError)
	}
	if table := must(t, "predict --model", file, "--test", path, "--csv - --quiet"); !strings.HasPrefix(table,
		"row,P(ash),P(elm),P(oak),class,target,error\n") {
		t.Error(table)
	}
	refused(t, "choose by cv or leftout", "grid --over gamma=1,2 --loss hinge --by evidence", path)
	numbers := write(t, "numbers.csv", strings.NewReplacer("ash", "0", "elm", "1", "oak", "2").Replace(
		string(testutil.Must(os.ReadFile(path))(t))))
	if text := must(t, "estimate", numbers, "--quiet --refine none"); !strings.Contains(text,
		"classes? --task") {
		t.Errorf("numbers: %s", text)
	}
	must(t, "cv --loss hinge --C 1 --task classification --quiet", numbers)
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
