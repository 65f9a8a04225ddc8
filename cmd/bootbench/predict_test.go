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

	"bootbench/internal/dataset"
	"bootbench/internal/need"
	"bootbench/internal/report"
	"bootbench/internal/svm"
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
		"odd.csv": "kind,area,age\nvilla,9,9\n", "less.csv": "kind,area\nhut,9\n",
		"cut.json": "{\"format\":\"bootbench model\","})
	data, model := filepath.Join(dir, "houses.csv"), filepath.Join(dir, "houses.json")
	trained := decoded[report.Training](t, "train", data, "--loss logistic --C 3 --missing mean --model", model)
	if err := os.Remove(data); err != nil { // the file is enough
		t.Fatal(err)
	}
	told := decoded[report.ModelPrediction](t, "predict --model", model, "--test", filepath.Join(dir,
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
	table, err := csv.NewReader(strings.NewReader(must(t, "predict --model", model, "--test", filepath.Join(dir,
		"turned.csv"), "--csv - --quiet"))).ReadAll()
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
		refused(t, c.want, "predict --model", model, c.args)
	}
	for path, want := range map[string]string{"cut.json": "cut short", "odd.csv": "is no model file",
		"none": "no such file"} {
		refused(t, want, "predict --model", filepath.Join(dir, path), "--test boston")
	}
	must(t, "predict --model", model, "--test", filepath.Join(dir, "odd.csv"), "--unseen zero --quiet")
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
		o := drive(t, "", "train --model", model, "--json - --quiet", line)
		if o.status != exitDone && o.status != exitNotConverged {
			t.Fatal(name, o)
		}
		trained := parse[report.Training](t, o.stdout)
		told := decoded[report.ModelPrediction](t, "predict --model", model, "--test", data)
		if !(math.Abs(float64(*told.TestError-trained.Apparent)) <= 1e-9*float64(trained.Apparent)) {
			t.Errorf("%s: trained with %v, the file has %v", name, trained.Apparent, *told.TestError)
		}
	}
}

// TestLibsvmRegression: the file of LIBSVM of a support vector regression gives, by the kernel worked out
// here, the predictions of the model file in JSON; svm-predict, where it is installed, reads it.
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
	data, sparse := write(t, "d.csv", csvText), write(t, "d.svm", lines)
	const train = "train --loss eps --C 5 --epsilon 0.05 --gamma 0.4 --amplitude 2 --constant 0.3 " +
		"--no-standardize --quiet --model"
	file, inJSON := filepath.Join(dir, "svr.libsvm"), filepath.Join(dir, "svr.json")
	must(t, train, file, data)
	must(t, train, inJSON, data)
	told := decoded[report.ModelPrediction](t, "predict --model", inJSON, "--test", data)
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text),
		"svm_type epsilon_svr\nkernel_type rbf\ngamma 0.4\nnr_class 2\ntotal_sv ") ||
		strings.Contains(string(text),
			"label") {
		t.Fatalf("%.200s, %v", text, err)
	}
	m := readModel(t, file)
	for i, v := range x {
		f := m.Bias
		for k, coef := range m.Weight {
			var s [2]float64
			index, value := m.X.Row(k)
			for e, j := range index {
				s[j] = value[e]
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

// TestIntervalOfObservations: the answer's coverage and width are those of its intervals,
// which are wider than the estimator's; refined intervals stand beside them.
func TestIntervalOfObservations(t *testing.T) {
	ask := func(interval, more string) report.Prediction {
		return decoded[report.Prediction](t, "predict synthetic:friedman1,n=60 --loss square --noise 1 "+
			"--test synthetic:friedman1,n=40,seed=2 --level 0.8 --interval", interval, more)
	}
	width := func(p *report.Points) (sum float64) {
		for i, low := range p.Lower {
			sum += (p.Upper[i] - low) / float64(len(p.Lower))
		}
		return sum
	}
	for _, more := range []string{"", "--residuals scaled", "--scheme kfold --folds 10"} {
		a := ask("observation", more)
		held := 0.0
		for i, y := range a.Points.Target {
			if a.Points.Lower[i] <= y && y <= a.Points.Upper[i] {
				held++
			}
		}
		if math.Abs(*a.Coverage-held/40) > 1e-12 || math.Abs(*a.Width-width(a.Points)) > 1e-9 ||
			a.Interval.Interval != "observation" || a.Level != 0.8 {
			t.Errorf("%s: %+v", more, a)
		}
		if ratio := width(a.Refined.Points) / width(a.Points); !(ratio > 0.9 && ratio < 1.1) { // 200 resamples
			t.Errorf("%s: refined intervals have %v times the width", more, ratio)
		}
		estimator := ask("estimator", strings.ReplaceAll(more, "--residuals scaled", ""))
		if !(width(estimator.Points) < *a.Width) || estimator.Interval.Interval != "estimator" {
			t.Errorf("%s: intervals of the estimator are as wide", more)
		}
	}
}

// TestProbabilityOfLabels: the probability is of the label +1, differs from the share of
// votes, and comes with its scores; rough ones are warned of.
func TestProbabilityOfLabels(t *testing.T) {
	a := decoded[report.Prediction](t, "predict crabs --test crabs --refine none")
	examples := 0
	for _, n := range a.Calibration.Count {
		examples += n
	}
	if a.Calibration.Method != "logistic" || !(*a.Calibration.LogLoss > 0 && *a.Calibration.LogLoss < 0.69) ||
		examples != 200 {
		t.Errorf("%+v", a.Calibration)
	}
	for i, p := range a.Points.Probability {
		vote := a.Points.Vote[i]
		if !(p > 0 && p < 1) || math.Abs(vote+a.Points.Negative[i]-1) > 1e-12 || (p > 0.7) && vote < 0.5 ||
			math.Abs(vote-0.5) > 0.49 && math.Abs(p-vote) < 1e-6 {
			t.Errorf("input %d: probability %v, share of votes %v", i+1, p, vote)
		}
	}
	for says, rows := range map[string]string{
		"one example of class yes":  strings.Repeat("1,2,no\n2,1,no\n3,1,no\n5,2,no\n", 6) + "9,9,yes\n",
		"from 4 examples are rough": "1,2,no\n2,1,no\n3,1,yes\n5,2,yes\n",
	} {
		path := write(t, "few.csv", "a,b,y\n"+rows)
		if o := drive(t, "", "predict", path, "--test", path,
			"--loss hinge --refine none"); o.status != exitDone || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: %+v", says, o)
		}
	}
}

// TestTrain: what the model file says of the training data, with a kernel that is
// worked out here, meets the Kuhn-Tucker conditions of the soft margin; so no
// classifier is better. LIBSVM, where it is installed, predicts the same from it.
func TestTrain(t *testing.T) {
	const n, cost, tolerance = 80, 2.0, 2e-3 // that of the training is 1e-3
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := make([][]float64, n), make([]float64, n)
	table, lines := "a,b,c,y\n", ""
	for i := range x {
		// zeros, which are left out of the file
		x[i] = []float64{rng.NormFloat64(), 3 * rng.NormFloat64(), float64(rng.IntN(2))}
		y[i] = -1
		if x[i][0]*x[i][1]+x[i][2]+rng.NormFloat64() > 0.5 {
			y[i] = 1
		}
		table += fmt.Sprintf("%v,%v,%v,%v\n", x[i][0], x[i][1], x[i][2], 3+y[i]) // labels 2 and 4
		lines += fmt.Sprintf("%v 1:%v 2:%v 3:%v\n", 3+y[i], x[i][0], x[i][1], x[i][2])
	}
	dir := t.TempDir()
	data, sparse := write(t, "d.csv", table), write(t, "d.svm", lines)
	square := func(u, v []float64) (d float64) {
		for j := range u {
			d += (u[j] - v[j]) * (u[j] - v[j])
		}
		return d
	}
	dot := func(u, v []float64) (d float64) {
		for j := range u {
			d += u[j] * v[j]
		}
		return d
	}
	for _, c := range []struct {
		name, data string
		amplitude  float64
		flags      string
		k          func(u, v []float64) float64
	}{
		{"rbf", data, 1.5, "--gamma 0.3 --amplitude 1.5 --constant 0.4",
			func(u, v []float64) float64 { return math.Exp(-0.3 * square(u, v)) }},
		{"length-scale", sparse, 1, "--length-scale 2",
			func(u, v []float64) float64 { return math.Exp(-square(u, v) / 8) }},
		{"linear", data, 1, "--kernel linear --no-bias --constant 0.4", dot},
		{"poly", data, 2, "--kernel poly --degree 2 --gamma 0.5 --coef0 1 --amplitude 2",
			func(u, v []float64) float64 { return math.Pow(0.5*dot(u, v)+1, 2) }},
	} {
		path := filepath.Join(dir, c.name+".model")
		told := document[struct {
			SupportVectors int     `json:"support_vectors"`
			ApparentError  float64 `json:"apparent_error"`
			Labels         [2]int
		}](t, "train", c.data, "--loss hinge --no-standardize --C", fmt.Sprint(cost), "--model", path, c.flags)
		m := readModel(t, path)
		if m.Label != [2]int{4, 2} || told.Labels != m.Label || len(m.Weight) != told.SupportVectors ||
			len(m.Weight) == 0 {
			t.Errorf("%s: labels %v, %d support vectors; told %+v", c.name, m.Label, len(m.Weight), told)
		}
		// The weights y_i a_i of the examples that are support vectors, by input.
		weight := make([]float64, n)
		sum := 0.0
		for k, coef := range m.Weight {
			v := make([]float64, 3)
			index, value := m.X.Row(k)
			for e, j := range index {
				v[j] = value[e]
			}
			for i := range x {
				if square(x[i], v) == 0 {
					weight[i] = coef / c.amplitude
				}
			}
			sum += coef
		}
		if biased := c.name != "linear"; biased && math.Abs(sum) > 1e-9 {
			t.Errorf("%s: weights sum to %g", c.name, sum)
		}
		wrong := 0.0
		for i := range x {
			f := m.Bias
			for j, w := range weight {
				f += c.amplitude * w * c.k(x[i], x[j])
			}
			a := y[i] * weight[i]
			lack := 1 - y[i]*f
			if a < -1e-12 || a > cost+1e-9 || a < cost-1e-9 && lack > tolerance || a > 1e-9 && lack < -tolerance {
				t.Errorf("%s: example %d has weight %g and margin %g", c.name, i+1, a, y[i]*f)
			}
			if y[i]*f <= 0 {
				wrong++
			}
		}
		if c.name == "linear" && (m.Bias == 0 || math.Abs(m.Bias-0.4*sum) > 1e-9) {
			t.Errorf("bias %g, the constant adds %g", m.Bias, 0.4*sum)
		}
		if math.Abs(told.ApparentError-wrong/n) > 1e-12 {
			t.Errorf("%s: apparent error %v, counted %v", c.name, told.ApparentError, wrong/n)
		}
		predict, err := exec.LookPath("svm-predict")
		if err != nil {
			continue
		}
		out, err := exec.Command(predict, sparse, path, filepath.Join(dir, "out")).CombinedOutput()
		if want := fmt.Sprintf("(%d/%d)", n-int(wrong), n); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: LIBSVM says %q, %v, want %s right", c.name, out, err, want)
		}
	}
}

// readModel reads labels, bias and support vectors of a model file of LIBSVM.
func readModel(t *testing.T, path string) (m svm.ModelFile) {
	t.Helper()
	text := need.One(os.ReadFile(path))(t)
	header, vectors, _ := strings.Cut(string(text), "SV\n")
	for line := range strings.Lines(header) {
		fmt.Sscanf(line, "rho %g", &m.Bias)
		fmt.Sscanf(line, "label %d %d", &m.Label[0], &m.Label[1])
	}
	m.Bias = -m.Bias
	m.X = &dataset.CSR{Start: []int{0}}
	for line := range strings.Lines(vectors) {
		coef, features, _ := strings.Cut(line, " ")
		number := need.One(strconv.ParseFloat(coef, 64))(t)
		m.Weight = append(m.Weight, number)
		for field := range strings.FieldsSeq(features) {
			var index int32
			var value float64
			if _, err := fmt.Sscanf(field, "%d:%g", &index, &value); err != nil {
				t.Fatal(err)
			}
			m.X.Index, m.X.Value = append(m.X.Index, index-1), append(m.X.Value, value)
		}
		m.X.Start = append(m.X.Start, len(m.X.Index))
	}
	return m
}
