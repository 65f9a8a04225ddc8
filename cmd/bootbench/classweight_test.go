package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/null"
	"bootbench/loss"
)

// weightedDocument is what every command says of class weights.
type weightedDocument struct {
	TestError   null.Float         `json:"test_error"`
	ClassWeight *loss.ClassWeights `json:"class_weight"`
	Best        map[string]any
	CommandLine string `json:"command_line"`
}

// TestClassWeights: every command that trains takes class weights, in each of their forms, and
// says what they were. 27 of the 40 labels are -1, or "no" in a table.
func TestClassWeights(t *testing.T) {
	dir := t.TempDir()
	numbers, texts := filepath.Join(dir, "numbers.csv"), filepath.Join(dir, "texts.csv")
	var n, s strings.Builder
	n.WriteString("a,b,y\n")
	s.WriteString("a,b,sold\n")
	for i := range 40 {
		y, word := -1, "no"
		if i%3 == 1 {
			y, word = 1, "yes"
		}
		a, b := math.Sin(float64(i))+0.5*float64(y), math.Cos(3*float64(i))
		fmt.Fprintf(&n, "%.4f,%.4f,%d\n", a, b, y)
		fmt.Fprintf(&s, "%.4f,%.4f,%s\n", a, b, word)
	}
	for path, text := range map[string]string{numbers: n.String(), texts: s.String()} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(line string) weightedDocument {
		t.Helper()
		return decoded[weightedDocument](t, strings.Fields(line)...)
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
		ask("estimate "+numbers+" --loss logistic --C 1 --gamma 0.4 --refine none --class-weight 2,3"); math.Abs(
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
	if file, err := os.ReadFile(model); err != nil || !strings.Contains(string(file), `"negative_weight":0.74`) {
		t.Errorf("model file %s, %v", file, err)
	}
	tuned := ask("tune " + texts +
		" --loss hinge --C 1 --over class-weight=0.2:20,gamma --test-loss square")
	if w, ok := tuned.Best["class-weight"].(float64); !ok || !(w > 0.2 && w < 20) ||
		!strings.Contains(tuned.CommandLine, "--class-weight ") {
		t.Errorf("tuned: %v, %s", tuned.Best, tuned.CommandLine)
	}
}
