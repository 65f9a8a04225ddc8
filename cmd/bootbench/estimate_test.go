package main

import (
	"cmp"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// matrix reads a NumPy array.
func matrix(t *testing.T, path string) *mat.Dense {
	file := testutil.Must(os.ReadFile(path))(t)
	begin := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	var rows, columns int
	const shape = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
	testutil.Must(fmt.Sscanf(string(file[:begin]), shape, &rows, &columns))(t)
	data := make([]float64, rows*columns)
	testutil.Must(binary.Decode(file[begin:], binary.LittleEndian, data))(t)
	if begin%64 != 0 || len(file) != begin+8*len(data) {
		t.Fatalf("%s: %d bytes of header, %d in all", path, begin, len(file))
	}
	return mat.NewDense(rows, columns, data)
}

// TestReplicates: --replicates holds the predictions of every resample in the order of the file: their mean
// is the answer's, by both methods.
func TestReplicates(t *testing.T) {
	for _, method := range []string{"batch", "single"} {
		file := filepath.Join(t.TempDir(), "r.npy")
		r := decoded[report.Answer](t, "retrain boston --resamples 40 --method", method, "--replicates", file)
		m := matrix(t, file)
		if rows, n := m.Dims(); rows != 40 || n != 506 || r.Method != method {
			t.Fatalf("%s: %d x %d replicates by %s", method, rows, n, r.Method)
		}
		for i, mean := range r.Points.Mean {
			if sum := mat.Sum(m.ColView(i)) / 40; math.Abs(sum-mean) > 1e-3*(1+math.Abs(sum)) {
				t.Errorf("%s, example %d: mean of the replicates %v, of the answer %v", method, i, sum, mean)
			}
		}
	}
}

// TestExtremes: no extreme setting that is let in ends in an answer that is no number and yet counts as
// converged.
func TestExtremes(t *testing.T) {
	for _, flags := range []string{"--noise 1e-100", "--noise 1e100", "--amplitude 1e-100",
		"--amplitude 1e100",
		"--jitter 1e100", "--constant 1e100"} {
		o := drive(t, "", "estimate synthetic:friedman1,n=20 --loss square --noise 1", flags)
		for line := range strings.Lines(o.stdout) {
			if o.status == exitDone && strings.Contains(line, "error ") && strings.Contains(line, "NaN") {
				t.Errorf("%s: status 0 with %s", flags, line)
			}
		}
	}
}

// TestQuantiles: the quantiles over resamples lie within the resolution of 200 exact resamples of theirs, 0.2
// of the share for shares of 200 draws and the theory's own error.
func TestQuantiles(t *testing.T) {
	for _, line := range []string{
		"estimate crabs --loss hinge --C 1", "estimate synthetic:friedman1,n=80 --loss square --noise 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1",
	} {
		a := decoded[struct {
			Points  report.Points
			Refined report.Refined
		}](t, line, "--quantiles 0.1,0.3,0.5,0.7,0.9")
		exact, theory := a.Refined.Points.Quantiles, a.Points.Quantiles
		if len(theory) != 5 || len(exact) != 5 {
			t.Fatalf("%s: %d and %d quantiles", line, len(theory), len(exact))
		}
		for row := range a.Points.Mean {
			for k := 1; k < 4; k++ {
				if q := theory[k][row]; !(exact[k-1][row]-1e-9 <= q && q <= exact[k+1][row]+1e-9) {
					t.Errorf("%s, row %d: quantile %d is %v, neighbours by exact resamples %v and %v", line,
						row+1, k, q, exact[k-1][row], exact[k+1][row])
				}
			}
		}
	}
}

// TestCovariances: covariances have the variances on the diagonal, at the rows of DATA and at new ones; those
// of several targets, and of several classes, are those of each alone, one below the other.
func TestCovariances(t *testing.T) {
	for _, line := range []string{"predict crabs --test crabs --loss hinge --C 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1"} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[report.Answer](t, line, "--covariance", npy)
		c := matrix(t, npy)
		for i, v := range a.Points.Variance {
			if math.Abs(c.At(i, i)/v-1) > 1e-6 || math.Abs(c.At(i, 0)-c.At(0, i)) > 1e-9 {
				t.Errorf("%s: covariances (%d, %d) %v, variance %v", line, i, i, c.At(i, i), v)
			}
		}
	}
	words := goldenTables(t, nil)
	for all, each := range map[string][]string{
		"predict ROWS --target y,z --drop w,g,s,label,kind --test NEW SQUARE --no-normalize-target": {
			"predict ROWS --target y --drop w,g,s,z,label,kind --test NEW SQUARE --no-normalize-target",
			"predict ROWS --target z --drop w,g,s,y,label,kind --test NEW SQUARE --no-normalize-target"},
		"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson": {
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive ash",
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive elm",
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive oak"},
	} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[report.Answer](t, words.Replace(all), "--covariance", npy)
		together, n := matrix(t, npy), a.Count
		if rows, _ := together.Dims(); len(a.Covariance.Functions) != len(each) || rows != n*len(each) {
			t.Fatalf("%s: %d rows of %v", all, rows, a.Covariance.Functions)
		}
		for k, line := range each {
			decoded[report.Answer](t, words.Replace(line), "--covariance", npy)
			own := matrix(t, npy)
			for i := range n {
				for j := range n {
					if d := together.At(k*n+i, j) - own.At(i, j); math.Abs(d) > 1e-6*own.At(i, i) {
						t.Fatalf("%s: (%d, %d) differ by %v", line, i, j, d)
					}
				}
			}
		}
	}
}

// TestGridBy: cells are compared by the objective that tune descends along.
func TestGridBy(t *testing.T) {
	for _, by := range []string{"cv", "leftout", "632plus", "loo", "evidence"} {
		g := decoded[report.Grid](t,
			"grid synthetic:friedman1,n=40 --loss square --over noise=0.5,2,8 --over "+
				"gamma=0.01,0.1 --refine none --by", by)
		value := func(i int) float64 { return float64(g.Results[i].Value()) }
		best := 0
		for i := range g.Results {
			if value(i) < value(best) {
				best = i
			}
			if i != 3 {
				continue
			}
			d := decoded[report.Tuning](t, "tune synthetic:friedman1,n=40 --over noise,gamma --by", by,
				"--noise", g.Results[i].Values[0], "--gamma", g.Results[i].Values[1])
			near := 0.01
			if by == "cv" { // exact, by one partition: of tune by the theory, over all
				near = 0.1
			}
			if math.Abs(float64(*d.Path[0].Objective)/value(i)-1) > near {
				t.Errorf("%s, cell %d: %g, tune has %g", by, i, value(i), *d.Path[0].Objective)
			}
		}
		if *g.Best != best {
			t.Errorf("%s: best %d, want %d", by, *g.Best, best)
		}
	}
}

// TestJudge: a measure chooses the model, is stated with an interval around it, and is the same by the line
// that repeats. A model file, and predict without one, take labels from the probability A/(A+B) on, 1/2 for
// the ranks; the more a missed +1 costs, the more rows are +1.
func TestJudge(t *testing.T) {
	const data = "synthetic:blobs,n=40"
	table := folder(t, nil) + "/blobs.csv"
	must(t, "datasets --export", data, table)
	predicted := map[string]int{}
	thresholds := map[string]float64{"auc": 0.5, "cost:1,9": 0.1, "cost:9,1": 0.9}
	if !testing.Short() {
		thresholds["balanced"] = math.NaN()
	}
	for measure, threshold := range thresholds {
		file := filepath.Join(t.TempDir(), "model.json")
		d := decoded[report.Tuning](t, "tune", data, "--refine none --judge", measure, "--model", file)
		j := d.Measured
		if j == nil || j.By != measure || !(j.Lower < j.Value && j.Value < j.Upper && j.SE > 0) {
			t.Fatalf("%s: %+v", measure, j)
		}
		line := strings.TrimPrefix(d.CommandLine, "bootbench ")
		if again := decoded[report.Answer](t, line); again.Measured == nil || *again.Measured != *j {
			t.Errorf("%s: %+v, again %+v", measure, j, again.Measured)
		}
		by := decoded[report.Answer](t, "predict --model", file, "--test", table)
		other := decoded[report.Answer](t, strings.Replace(line, "estimate", "predict", 1), "--test", table)
		for _, a := range []report.Answer{by, other} {
			if math.IsNaN(threshold) {
				if a.Threshold != nil {
					t.Errorf("%s: a threshold %v", measure, *a.Threshold)
				}
				continue
			}
			if a.Threshold == nil || float64(*a.Threshold) != threshold {
				t.Fatalf("%s: threshold %v", measure, a.Threshold)
			}
			wrong := 0.0
			for i, p := range a.Points.Probability.Positive {
				if positive := a.Points.Class[i] == a.Positive; positive != (p >= threshold) {
					t.Fatalf("%s: row %d with probability %v is %s", measure, i+1, p, a.Points.Class[i])
				} else if positive {
					predicted[measure]++
				}
				wrong += float64(a.Points.Error[i]) / float64(len(a.Points.Class))
			}
			if math.Abs(wrong-float64(*a.TestError)) > 1e-12 {
				t.Errorf("%s: test error %v, of the rows %v", measure, *a.TestError, wrong)
			}
		}
	}
	if !(predicted["cost:9,1"] < predicted["auc"] && predicted["auc"] < predicted["cost:1,9"]) {
		t.Errorf("rows that are +1: %v", predicted)
	}
}

// TestRows: rows whose labels were turned, and a number that was moved far away, come first; copies of a row
// with another label name each other.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var labels, numbers strings.Builder
	labels.WriteString("a,b,kind\n")
	numbers.WriteString("a,b,size\n")
	turned := map[int]bool{3: true, 11: true, 24: true}
	for i := range 60 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		kind, size := "low", a+0.5*b+0.1*rng.NormFloat64()
		if (a > 0) != turned[i] {
			kind = "up"
		}
		if i == 17 {
			size += 3
		}
		fmt.Fprintf(&labels, "%v,%v,%s\n", a, b, kind)
		fmt.Fprintf(&numbers, "%v,%v,%v\n", a, b, size)
	}
	labels.WriteString("2,2,up\n2,2,low\n")
	r := decoded[report.Rows](t, "rows", write(t, "labels.csv", labels.String()), "--refine 60")
	turned[61] = true
	for _, row := range r.Rows[:3] {
		if !turned[row.Row] || !(row.LabelError > 0.5) || !(row.Influence > 0) || !(row.Value < 0.5) {
			t.Errorf("%+v is among the first", row)
		}
	}
	for _, row := range r.Rows {
		if row.Row == 60 && row.Twin != 61 || row.Row == 61 && row.Twin != 60 || row.Row < 60 &&
			row.Twin == row.Twin {
			t.Errorf("twins: %+v", row)
		}
	}
	path := write(t, "numbers.csv", numbers.String())
	n := decoded[report.Rows](t, "rows", path)
	if first := n.Rows[0]; first.Row != 17 || !(first.Target > first.Predicted+1) || len(n.Rows) != 60 {
		t.Errorf("first %+v", first)
	}
	if text := must(t, "rows", path, "--quiet"); !strings.Contains(text, "The first 15 of 60 rows") {
		t.Error(text)
	}
	if table := must(t, "rows", path, "--csv - --quiet"); !strings.HasPrefix(table,
		"row,name,target,predicted,") {
		t.Error(table)
	}
}

// TestRanges: on small and unbalanced tables, with strata that the program chooses, errors of every command
// are in the range of their loss, standard errors are numbers, and variances are not negative.
func TestRanges(t *testing.T) {
	type judged struct {
		report.Quote
		TestError *report.Number `json:"test_error"`
		Points    report.Points
		Refined   *struct {
			TestError   *report.Number `json:"test_error"`
			BaggedError *report.Number `json:"bagged_error"`
			SE          *report.Number `json:"standard_error"`
			Points      report.Points
		}
	}
	rng := rand.New(rand.NewPCG(44, 3))
	tables := 60
	if testing.Short() {
		tables = 15
	}
	for number := range tables {
		n, labels := 5+rng.IntN(36), number%3 < 2
		rare, head, table := 1+rng.IntN(3), "a,b,y\n", make([]string, n)
		for i := range table {
			y := fmt.Sprintf("%.3g", rng.NormFloat64())
			if labels {
				y = map[bool]string{true: "yes", false: "no"}[i < rare]
			}
			table[i] = fmt.Sprintf("%.3g,%.3g,%s\n", rng.NormFloat64(), rng.NormFloat64(), y)
		}
		file := write(t, "table.csv", head+strings.Join(table, ""))
		model := " --loss square --noise 0.2 --gamma 0.3"
		if labels {
			model = fmt.Sprintf(" --loss %s --C %g --gamma %g", []string{"hinge", "logistic"}[number%2],
				[]float64{0.1, 1, 30}[number%7%3], []float64{0.01, 0.5}[number%5%2])
		}
		largest := math.Inf(1)
		if labels {
			largest = 1
		}
		for _, command := range []string{"estimate FILE --refine 20", "retrain FILE --resamples 20",
			"cv FILE --folds 3", "predict FILE --refine 20 --test FILE"} {
			line := strings.ReplaceAll(command, "FILE", file) + model + fmt.Sprintf(" --seed %d", number)
			d := decoded[judged](t, line)
			points, errors := []report.Points{d.Points}, []*report.Number{&d.Error, d.TestError}
			ses := []*report.Number{&d.ErrorSE, d.RMSESE, d.MonteCarloSE}
			if r := d.Refined; r != nil {
				points, errors, ses = append(points, r.Points), append(errors, r.TestError), append(ses, r.SE)
				if !strings.HasPrefix(command, "predict") {
					errors = append(errors, r.BaggedError)
				}
			}
			for _, p := range points {
				for _, e := range p.Error {
					errors = append(errors, (*report.Number)(&e))
				}
				if slices.ContainsFunc(p.Variance, func(v float64) bool { return !(v >= 0) }) {
					t.Errorf("%s: variances %v", line, p.Variance)
				}
			}
			for _, e := range errors { // NaN: a row that was never left out
				if e != nil && (float64(*e) < 0 || float64(*e) > largest) {
					t.Errorf("%s: error %v", line, *e)
				}
			}
			for _, se := range ses {
				if se != nil && !(*se >= 0) {
					t.Errorf("%s: standard error %v", line, *se)
				}
			}
			if !(d.Error >= 0) || d.TestError != nil && !(*d.TestError >= 0) {
				t.Errorf("%s: error %v, %v", line, d.Error, *d.TestError)
			}
		}
	}
}

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
