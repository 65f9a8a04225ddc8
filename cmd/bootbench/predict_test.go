package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
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

// TestModelFile: a model file predicts for the table that it was trained on, its columns in another order,
// what training says of it, in the table's own labels and row names, from the file alone.
func TestModelFile(t *testing.T) {
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
	dir := folder(t, map[string]string{"houses.csv": soldHouses, "turned.csv": turned,
		"odd.csv": "kind,area,age\nvilla,9,9\n", "less.csv": "kind,area\nhut,9\n"})
	data, model := filepath.Join(dir, "houses.csv"), filepath.Join(dir, "houses.json")
	trained := decoded[report.Training](t, "train", data, "--loss logistic --C 3 --missing mean --model",
		model)
	if err := os.Remove(data); err != nil { // the file is enough
		t.Fatal(err)
	}
	told := decoded[report.Answer](t, "predict --model", model, "--test", filepath.Join(dir, "turned.csv"))
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
	text := must(t, "predict --model", model, "--test", filepath.Join(dir, "turned.csv"), "--csv - --quiet")
	table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(table) != 11 ||
		strings.Join(table[0], " ") != "row prediction support P(yes) class target error" {
		t.Errorf("%v, %v", table, err)
	}
	for name, want := range map[string]string{"odd.csv": "is none of the texts", "less.csv": `column "age"`} {
		refused(t, want, "predict --model", model, "--test", filepath.Join(dir, name))
	}
	must(t, "predict --model", model, "--test", filepath.Join(dir, "odd.csv"), "--unseen zero --quiet")
}

// TestLibsvmFiles: the file of LIBSVM of a support vector machine gives, by the kernel worked out here, the
// predictions of the model file in JSON, which err as training says; LIBSVM, where it is installed, reads it.
func TestLibsvmFiles(t *testing.T) {
	const n = 80
	rng := rand.New(rand.NewPCG(5, 5))
	x, dir := make([][]float64, n), t.TempDir()
	var files [2]struct{ table, lines string } // labels 2 and 4, and numbers
	for i := range x {
		// zeros, which are left out of the file
		x[i] = []float64{rng.NormFloat64(), 3 * rng.NormFloat64(), float64(rng.IntN(2))}
		number := 20 + x[i][0]*x[i][1] + x[i][2] + rng.NormFloat64()
		for k, y := range []any{2 + 2*min(1, max(0, int(number-19.5))), number} {
			f := &files[k]
			f.table += fmt.Sprintf("%v,%v,%v,%v\n", x[i][0], x[i][1], x[i][2], y)
			f.lines += fmt.Sprintf("%v 1:%v 2:%v 3:%v\n", y, x[i][0], x[i][1], x[i][2])
		}
	}
	square := func(u, v []float64) float64 { return math.Pow(floats.Distance(u, v, 2), 2) }
	for _, c := range []struct {
		name, flags string
		dense       bool
		k           func(u, v []float64) float64
	}{
		{"rbf", "--loss hinge --C 2 --gamma 0.3 --amplitude 1.5 --constant 0.4", true,
			func(u, v []float64) float64 { return math.Exp(-0.3 * square(u, v)) }},
		{"length-scale", "--loss hinge --C 2 --length-scale 2", false,
			func(u, v []float64) float64 { return math.Exp(-square(u, v) / 8) }},
		{"linear", "--loss hinge --C 2 --kernel linear --no-bias --constant 0.4", true, floats.Dot},
		{"poly", "--loss hinge --C 2 --kernel poly --degree 2 --gamma 0.5 --coef0 1 --amplitude 2", true,
			func(u, v []float64) float64 { return math.Pow(0.5*floats.Dot(u, v)+1, 2) }},
		{"svr", "--loss eps --C 5 --epsilon 0.05 --gamma 0.4 --amplitude 2 --constant 0.3", true,
			func(u, v []float64) float64 { return math.Exp(-0.4 * square(u, v)) }},
	} {
		of := files[0]
		if c.name == "svr" {
			of = files[1]
		}
		sparse := write(t, "d.svm", of.lines)
		data := sparse
		if c.dense {
			data = write(t, "d.csv", "a,b,c,y\n"+of.table)
		}
		file, inJSON := filepath.Join(dir, c.name+".libsvm"), filepath.Join(dir, c.name+".json")
		trained := decoded[report.Training](t, "train --no-standardize --model", file, data, c.flags)
		must(t, "train --no-standardize --quiet --model", inJSON, data, c.flags)
		told := decoded[report.Answer](t, "predict --model", inJSON, "--test", data)
		m := readLibsvm(t, file)
		if c.name == "svr" && m.kind != "svm_type epsilon_svr\nkernel_type rbf\ngamma 0.4\nnr_class 2\n" ||
			c.name != "svr" && (m.label != [2]int{4, 2} || trained.Labels[0] != 4 ||
				trained.Labels[1] != 2) ||
			len(m.weight) != trained.SupportVectors || len(m.weight) == 0 ||
			math.Abs(float64(trained.Apparent-*told.TestError)) > 1e-9*(1+float64(trained.Apparent)) {
			t.Errorf("%s: %q, labels %v, %d support vectors; told %+v", c.name, m.kind, m.label,
				len(m.weight), trained)
		}
		for i, v := range x {
			f := m.bias
			for k, coef := range m.weight {
				f += coef * c.k(v, m.vectors[k])
			}
			if math.Abs(f-told.Points.Prediction[i]) > 1e-9*(1+math.Abs(f)) {
				t.Errorf("%s, example %d: %v, in JSON %v", c.name, i+1, f, told.Points.Prediction[i])
			}
		}
		predict, err := exec.LookPath("svm-predict")
		if err != nil {
			continue
		}
		testutil.Must(exec.Command(predict, sparse, file, filepath.Join(dir, "out")).CombinedOutput())(t)
		text := testutil.Must(os.ReadFile(filepath.Join(dir, "out")))(t)
		for i, line := range strings.Fields(string(text)) {
			want := told.Points.Prediction[i]
			if c.name != "svr" {
				want = 3 + math.Copysign(1, want)
			}
			// it prints 6 digits
			if v, err := strconv.ParseFloat(line, 64); err != nil || math.Abs(v-want) > 1e-4 {
				t.Errorf("%s: svm-predict says %s of example %d, the model %v", c.name, line, i+1, want)
			}
		}
	}
}

// TestIntervalOfObservations: the answer's coverage and width are its intervals', which are wider
// than the estimator's. Refined intervals stand beside them, except for the square loss, whose intervals are
// of the model that train writes: prediction, ends, support and error are the same by its file.
func TestIntervalOfObservations(t *testing.T) {
	ask := func(interval, more string) report.Answer {
		return decoded[report.Answer](t, "predict synthetic:friedman1,n=60 "+
			"--test synthetic:friedman1,n=40,seed=2 --level 0.8 --interval", interval, more)
	}
	width := func(p *report.Points) (sum float64) {
		for i, low := range p.Lower {
			sum += (p.Upper[i] - low) / float64(len(p.Lower))
		}
		return sum
	}
	const square, eps = "--loss square --noise 1 ", "--loss eps --C 2 --epsilon 0.5 "
	file := filepath.Join(t.TempDir(), "m.json")
	must(t, "train synthetic:friedman1,n=60 --quiet --model", file, square)
	trained := decoded[report.Answer](t, "predict --test synthetic:friedman1,n=40,seed=2 --level 0.8",
		"--model", file)
	for _, more := range []string{square, square + "--residuals plain", eps, eps + "--residuals scaled",
		eps + "--scheme kfold --folds 10"} {
		a := ask("observation", more)
		held := 0.0
		for i, y := range a.Points.Target.Numbers {
			if a.Points.Lower[i] <= y && y <= a.Points.Upper[i] {
				held++
			}
		}
		if math.Abs(*a.Coverage-held/40) > 1e-12 || math.Abs(*a.Width-width(a.Points)) > 1e-9 ||
			a.Interval.Interval != "observation" || a.Level != 0.8 {
			t.Errorf("%s: %+v", more, a)
		}
		// 200 resamples
		ratio := width(a.Refined.Points) / width(a.Points)
		if isSquare := strings.HasPrefix(more, square); isSquare != (ratio == 0) ||
			!isSquare && !(ratio > 0.9 && ratio < 1.1) {
			t.Errorf("%s: refined intervals have %v times the width", more, ratio)
		}
		p, of := a.Points, trained.Points
		near := func(a, b []float64) bool { return floats.EqualApprox(a, b, 1e-9) }
		if more == square && !(near(p.Prediction, of.Prediction) && near(p.Lower, of.Lower) &&
			near(p.Upper, of.Upper) && near(p.Support, of.Support) && near(p.Error, of.Error) &&
			*a.Outside == *trained.Outside) {
			t.Errorf("%+v, by the model file %+v", p, of)
		}
		plain := strings.NewReplacer("--residuals scaled", "", "--residuals plain", "").Replace(more)
		estimator := ask("estimator", plain)
		if !(width(estimator.Points) < *a.Width) || estimator.Interval.Interval != "estimator" {
			t.Errorf("%s: intervals of the estimator are as wide", more)
		}
	}
}

// libsvmFile is what a model file of LIBSVM on three features holds.
type libsvmFile struct {
	kind    string // the first lines
	label   [2]int
	bias    float64
	weight  []float64
	vectors [][]float64
}

func readLibsvm(t *testing.T, path string) (m libsvmFile) {
	t.Helper()
	header, vectors, _ := strings.Cut(string(testutil.Must(os.ReadFile(path))(t)), "SV\n")
	m.kind, _, _ = strings.Cut(header, "total_sv ")
	for line := range strings.Lines(header) {
		fmt.Sscanf(line, "rho %g", &m.bias)
		fmt.Sscanf(line, "label %d %d", &m.label[0], &m.label[1])
	}
	m.bias = -m.bias
	for line := range strings.Lines(vectors) {
		coef, features, _ := strings.Cut(line, " ")
		m.weight = append(m.weight, testutil.Must(strconv.ParseFloat(coef, 64))(t))
		v := make([]float64, 3)
		for field := range strings.FieldsSeq(features) {
			index, value, _ := strings.Cut(field, ":")
			v[testutil.Must(strconv.Atoi(index))(t)-1] = testutil.Must(strconv.ParseFloat(value, 64))(t)
		}
		m.vectors = append(m.vectors, v)
	}
	return m
}
