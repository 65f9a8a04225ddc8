package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
