package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/report"
)

// soldHouses is a table as people have them: texts, a gap, classes by name.
const soldHouses = `name,kind,area,age,sold
a1,flat,50,30,no
a2,house,120,8,yes
a3,flat,65,12,no
a4,house,140,?,yes
a5,hut,20,60,no
a6,house,95,5,yes
a7,flat,80,40,no
a8,house,110,22,yes
a9,flat,70,15,yes
b1,hut,25,50,no
`

// TestModelFile: a model file predicts for the table that it was trained on, its columns in
// another order, what training says of it, in the table's own labels and row names, from
// the file alone.
func TestModelFile(t *testing.T) {
	dir := t.TempDir()
	data, model := filepath.Join(dir, "houses.csv"), filepath.Join(dir, "houses.json")
	turned, lines := "", strings.Split(strings.TrimSpace(soldHouses), "\n")
	for i, line := range lines {
		c := strings.Split(line, ",")
		if i == 0 {
			turned += "price,"
		} else {
			turned += "7,"
		}
		turned += strings.Join([]string{c[0], c[4], c[3], c[1], c[2]}, ",") + "\n"
	}
	for path, text := range map[string]string{data: soldHouses, filepath.Join(dir, "turned.csv"): turned,
		filepath.Join(dir, "odd.csv"):  "kind,area,age\nvilla,9,9\n",
		filepath.Join(dir, "less.csv"): "kind,area\nhut,9\n",
		filepath.Join(dir, "cut.json"): "{\"format\":\"bootbench model\","} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	trained := decoded[report.Training](t, "train", data, "--loss", "logistic", "--C", "3", "--missing", "mean",
		"--model", model)
	if err := os.Remove(data); err != nil { // the file is enough
		t.Fatal(err)
	}
	told := decoded[report.ModelPrediction](t, "predict", "--model", model, "--test", filepath.Join(dir,
		"turned.csv"))
	if trained.Format != "json" || math.Abs(float64(*told.TestError-trained.Apparent)) > 1e-12 ||
		told.Count != 10 {
		t.Errorf("trained %+v, told %+v", trained, told)
	}
	for i, class := range told.Points.Class {
		c := strings.Split(lines[i+1], ",")
		right := class == c[4]
		if (class == "yes") != (told.Points.Prediction[i] > 0) || right == (told.Points.Error[i] == 1) ||
			told.Points.Names[i] != c[0] {
			t.Errorf("row %d: %s, %v, error %v, name %s, is %s", i+1, class, told.Points.Prediction[i],
				told.Points.Error[i], told.Points.Names[i], lines[i+1])
		}
	}
	table, err := csv.NewReader(strings.NewReader(must(t, "predict", "--model", model, "--test",
		filepath.Join(dir, "turned.csv"), "--csv", "-", "--quiet"))).ReadAll()
	if err != nil || len(table) != 11 ||
		strings.Join(table[0], " ") != "row prediction error probability target class" {
		t.Errorf("%v, %v", table, err)
	}
	for _, c := range []struct{ args, want string }{
		{"--test " + filepath.Join(dir, "odd.csv"), "is none of the texts"},
		{"--test " + filepath.Join(dir, "less.csv"), `column "age"`},
		{"--test " + filepath.Join(dir, "turned.csv") + " --C 3", "--C has no meaning with --model"},
		{"--test " + filepath.Join(dir, "turned.csv") + " --ratio 2", "--ratio has no meaning with --model"},
		{"boston --test boston", "not both"},
		{"--test boston --shard 0/2", "--shard has no meaning with --model"},
		{"", "--test is required"},
		{"--test boston", "its features are not those"},
		{"--test " + filepath.Join(dir, "turned.csv") + " --csv " + model, "would be lost"},
	} {
		if o := drive(t, "", append([]string{"predict", "--model", model},
			strings.Fields(c.args)...)...); o.status != exitUsage || !strings.Contains(o.stderr, c.want) {
			t.Errorf("%s: %+v", c.args, o)
		}
	}
	for path, want := range map[string]string{"cut.json": "cut short", "odd.csv": "is no model file",
		"none": "no such file"} {
		if o := drive(t, "", "predict", "--model", filepath.Join(dir, path), "--test",
			"boston"); o.status != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", path, o)
		}
	}
	must(t, "predict", "--model", model, "--test", filepath.Join(dir, "odd.csv"), "--unseen", "zero", "--quiet")
}

// TestModelFileUnits: a regression without flags, and of sparse data, answers in units of
// its target, whose mean was taken off: what training calls its error is that of the file.
func TestModelFileUnits(t *testing.T) {
	for name, line := range map[string]string{
		"chosen":     "synthetic:friedman1,n=60",
		"sparse":     "synthetic:text,n=60,d=2000 --loss hinge --C 1 --kernel linear",
		"perceptron": "crabs --loss perceptron --kernel linear",
	} {
		model := filepath.Join(t.TempDir(), "m.json")
		data := strings.Fields(line)[0]
		o := drive(t, "", append([]string{"train", "--model", model, "--json", "-", "--quiet"},
			strings.Fields(line)...)...)
		if o.status != exitDone && o.status != exitNotConverged {
			t.Fatal(name, o)
		}
		trained := document[report.Training](t, o.stdout)
		told := decoded[report.ModelPrediction](t, "predict", "--model", model, "--test", data)
		if !(math.Abs(float64(*told.TestError-trained.Apparent)) <= 1e-9*float64(trained.Apparent)) {
			t.Errorf("%s: trained with %v, the file has %v", name, trained.Apparent, *told.TestError)
		}
	}
}

// TestLibsvmRegression: the file of LIBSVM of a support vector regression gives, by the
// kernel worked out here, the predictions of the model file in JSON; svm-predict, where it
// is installed, reads it.
func TestLibsvmRegression(t *testing.T) {
	dir := t.TempDir()
	lines, csvText, x := "", "a,b,y\n", [][2]float64{}
	for i := range 30 {
		v := [2]float64{math.Sin(float64(i)), float64(i%7) / 3}
		x = append(x, v)
		y := 20 + v[0]*v[1] + 0.1*float64(i%3)
		lines += fmt.Sprintf("%v 1:%v 2:%v\n", y, v[0], v[1])
		csvText += fmt.Sprintf("%v,%v,%v\n", v[0], v[1], y)
	}
	data, sparse := write(t, "d.csv", csvText), filepath.Join(dir, "d.svm")
	if err := os.WriteFile(sparse, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(
		"--loss eps --C 5 --epsilon 0.05 --gamma 0.4 --amplitude 2 --constant 0.3 --no-standardize --quiet --model")
	file := filepath.Join(dir, "svr.libsvm")
	must(t, append(append([]string{"train", data}, args...), file)...)
	must(t, append(append([]string{"train", data}, args...), filepath.Join(dir, "svr.json"))...)
	told := decoded[report.ModelPrediction](t, "predict", "--model", filepath.Join(dir, "svr.json"), "--test",
		data)
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text),
		"svm_type epsilon_svr\nkernel_type rbf\ngamma 0.4\nnr_class 2\ntotal_sv ") || strings.Contains(string(text),
		"label") {
		t.Fatalf("%.200s, %v", text, err)
	}
	m := readModel(t, file)
	for i, v := range x {
		f := m.Bias
		for k, coef := range m.Weight {
			var s [2]float64
			for e := m.Start[k]; e < m.Start[k+1]; e++ {
				s[m.Index[e]] = m.Value[e]
			}
			f += coef * math.Exp(-0.4*((v[0]-s[0])*(v[0]-s[0])+(v[1]-s[1])*(v[1]-s[1])))
		}
		if math.Abs(f-told.Points.Prediction[i]) > 1e-10 {
			t.Errorf("example %d: %v, in JSON %v", i+1, f, told.Points.Prediction[i])
		}
	}
	predict, err := exec.LookPath("svm-predict")
	if err != nil {
		return
	}
	if out, err := exec.Command(predict, sparse, file, filepath.Join(dir, "out")).CombinedOutput(); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	out := need.One(os.ReadFile(filepath.Join(dir, "out")))(t)
	for i, line := range strings.Fields(string(out)) {
		// it prints 6 digits
		if v, err := strconv.ParseFloat(line, 64); err != nil || math.Abs(v-told.Points.Prediction[i]) > 1e-4 {
			t.Errorf("svm-predict says %s of example %d, the model %v", line, i+1, told.Points.Prediction[i])
		}
	}
}
