package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// TestFewUnits: answers from few groups, or from few rows that have the weight, say so, and take as many
// folds and sizes as there are groups; one group is refused.
func TestFewUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := "g,h,one,w,x,y\n"
	for i := range 40 {
		rows += fmt.Sprintf("%d,%d,z,%v,%.3f,%.3f\n", i%3, max(0, i-36), max(1, 1e5*float64(2-i)),
			rng.NormFloat64(), rng.NormFloat64())
	}
	file := write(t, "units.csv", rows) + " --drop "
	const model = " --loss square --noise 0.5 --json -"
	for units, c := range map[string]struct{ flags, says string }{
		"equal":   {"h,one,w --groups g", "3 groups, which count like 3 of equal size"},
		"unequal": {"g,one,w --groups h", "4 groups, which count like 1.2 of equal size"},
		"weights": {"g,h,one --weights w", "the rows count like 1.8 of equal weight"},
	} {
		for _, command := range []string{"estimate", "cv", "curve"} {
			if o := drive(t, "", command, file+c.flags, model); o.status != exitDone ||
				!strings.Contains(o.stderr, c.says) {
				t.Errorf("%s, %s: %d, %s", units, command, o.status, o.stderr)
			}
		}
		o := drive(t, "", "predict --level 0.5 --test", strings.Fields(file)[0], file+c.flags, model)
		if o.status != exitDone || !strings.Contains(o.stderr, "are rough") {
			t.Errorf("%s: %d, %s", units, o.status, o.stderr)
		}
	}
	for _, command := range []string{"estimate", "cv", "curve", "tune", "retrain", "predict --test boston",
		"train --model none.json"} {
		refused(t, "all rows have the same", command, file+"g,h,w --groups one --loss square --noise 0.5")
	}
	refused(t, "leaves no group out", "estimate --scheme subsample --ratio 0.9", file+
		"h,one,w --groups g --loss square --noise 1")
	refused(t, "of 3 groups", "curve --scheme subsample --ratio 0.1", file+
		"h,one,w --groups g --loss square --noise 1")
}

// TestSmallClass: draws are within classes if one is small, however many they are; rows has its influences
// all the same; and where probabilities are on the other side of 1/2 than the classes, their number is said.
func TestSmallClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	two, three := "a,b,y\n", "a,b,y\n"
	for range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		class := map[bool]string{true: "yes", false: "no"}[a+0.7*rng.NormFloat64() > 0.8]
		two += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
		if class == "no" && b > 0 {
			class = "never"
		}
		three += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
	}
	file, files := write(t, "two.csv", two), write(t, "three.csv", three)
	for _, path := range []string{file, files} {
		e := decoded[struct{ Notes []string }](t, "estimate --loss hinge --C 1", path)
		if !strings.Contains(fmt.Sprint(e.Notes), "are drawn within the classes") {
			t.Errorf("%s: %v", path, e.Notes)
		}
	}
	for _, row := range decoded[report.Rows](t, "rows --loss hinge --C 1", file).Rows {
		if math.IsNaN(float64(row.Influence)) {
			t.Fatalf("row %d has no influence", row.Row+1)
		}
	}
	sides := 0
	for _, flags := range []string{"--loss hinge --C 1",
		"--loss logistic --C 1 --class-weight balanced", "--loss probit"} {
		o := drive(t, "", "predict --json - --test", file, file, flags)
		p := parse[report.Answer](t, o.stdout)
		other := 0
		for i, class := range p.Points.Class {
			if (class == "yes") != (p.Points.Mean[i] > 0) {
				t.Errorf("%s, row %d: class %s of the mean %v", flags, i+1, class, p.Points.Mean[i])
			}
			if (class == "yes") != (p.Points.Probability.Positive[i] > 0.5) {
				other++
			}
		}
		sides += other
		said := fmt.Sprintf("in %d of 80 rows the class and the probability of yes", other)
		if strings.Contains(o.stderr, said) != (other > 0) {
			t.Errorf("%s: %d rows on different sides; %s", flags, other, o.stderr)
		}
	}
	if sides == 0 {
		t.Error("no probability was on the other side")
	}
}

// TestDataFlags: each flag reaches the reader, and the answer says target, labels and what was found.
func TestDataFlags(t *testing.T) {
	path := write(t, "d.csv", "id;y;a;sex\nr1;no;1,5;m\nr2;yes;2,5;f\nr3;no;;m\nr4;yes;0,5;f\nr5;no;1;m\n")
	flags := path + " --loss hinge --target y --drop id --positive no"
	a := decoded[report.Answer](t, "estimate --missing drop", flags)
	if a.N != 4 || a.D != 2 || a.Target != "y" || a.Labels.Positive != "no" || a.Labels.Negative != "yes" ||
		len(a.Notes) == 0 {
		t.Errorf("%+v", a)
	}
	a = decoded[report.Answer](t, "estimate --missing indicator", flags)
	if a.N != 5 || a.D != 3 {
		t.Errorf("%+v", a)
	}
	fresh := write(t, "new.txt", "\tsex\ta\twhen\nBerlin\tf\t2\tnow\nRome\tx\t2\tnow\n")
	predict := "predict --missing mean --test " + fresh + " " + flags
	if o := drive(t, "", predict); o.status != exitUsage ||
		!strings.Contains(o.stderr, `"x" is none of the texts`) ||
		!strings.Contains(o.stderr, "--unseen zero") {
		t.Errorf("an unseen text: %d, %s", o.status, o.stderr)
	}
	a = decoded[report.Answer](t, predict, "--unseen zero")
	if !slices.Equal(a.Points.Names, []string{"Berlin", "Rome"}) || !a.Points.Target.IsZero() {
		t.Errorf("%+v", a)
	}
	refused(t, "error, zero", predict, "--unseen one")
	for flags, says := range map[string]string{
		"--target y --missing guess":                 "there is error, drop, mean, indicator",
		"--target y --missing error":                 "--missing drop, mean or indicator",
		"--missing mean --target z":                  `no column "z"`,
		"--missing mean --target y --positive maybe": `"maybe" is none of the 2 values`,
	} {
		refused(t, says, "estimate --loss hinge --C 1", path, flags)
	}
	codes := write(t, "codes.csv", "month,size,kind\n1,1,red\n2,2,blue\n1,4,green\n3,5,red\n2,3,red\n")
	refused(t, "--positive", "compare", codes)
	a = decoded[report.Answer](t, "estimate", codes, "--positive red --categorical month --loss hinge")
	if a.D != 4 || a.Labels.Positive != "red" || a.Labels.Negative != "not red" ||
		!slices.Equal([]float64(a.Points.Target.Numbers), []float64{1, -1, -1, 1, 1}) {
		t.Errorf("%+v", a)
	}
	zero := write(t, "d.svm", "1 0:1\n-1 1:1\n1 0:2 1:1\n")
	must(t, "estimate", zero, "--loss hinge --quiet")
	must(t, "estimate", write(t, "bare.data", "1 2 3\n4 5 7\n3 1 2\n"),
		"--loss square --noise 1 --no-header --quiet")
}

// TestExport: what is exported reads back as the set.
func TestExport(t *testing.T) {
	for _, name := range []string{"boston.csv", "boston.svm"} {
		path := filepath.Join(t.TempDir(), name)
		must(t, "datasets --export boston", path)
		if info, err := os.Stat(path); err != nil || info.Size() < 10000 {
			t.Fatalf("%s: %v", name, err)
		}
		const model = "estimate --loss square --noise 0.01 --gamma 0.1 --no-normalize-target"
		a, b := decoded[report.Answer](t, model, path), decoded[report.Answer](t, model, "boston")
		if *a.TestError != *b.TestError {
			t.Errorf("%s: left-out error %v, of the embedded set %v", name, a.TestError, b.TestError)
		}
	}
}

// TestInputsAreKept: no output takes the place of a file that is read, whatever flag names either, under
// another spelling, through a link or as standard input; nor of one in --out that the program did not write.
// All files are as they were.
func TestInputsAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	table := testutil.Must(os.ReadFile(houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})))(t)
	const fixed = " --loss square --noise 1 --quiet --json "
	if err := errors.Join(os.Mkdir("fo", 0o700), os.WriteFile("houses.csv", table, 0o600),
		os.WriteFile("fo/points.csv", table, 0o600), os.WriteFile("fo/predict.svg", nil, 0o600),
		os.Symlink("houses.csv", "link.csv"), os.Symlink("results", "way")); err != nil {
		t.Skip(err)
	}
	must(t, "estimate houses.csv --refine none --out results"+fixed+"a.json")
	must(t, "train houses.csv --model m"+fixed+"t.json")
	must(t, "train houses.csv --model ./boston"+fixed+"t.json") // a file of the name of a set
	must(t, "retrain houses.csv --resamples 4 --journal j"+fixed+"r.json")
	must(t, "estimate houses.csv --refine none --out results"+fixed+"a.json") // its own files are replaced
	below := func() map[string]string {
		texts := map[string]string{}
		for _, name := range filesBelow(t) {
			if text, err := os.ReadFile(name); err == nil { // not of a link to a folder
				texts[name] = string(text)
			}
		}
		return texts
	}
	before := below()
	for line := range strings.Lines(`estimate houses.csv --json ./houses.csv
estimate houses.csv --json link.csv
estimate link.csv --memprofile houses.csv
estimate hou*.csv --json houses.csv
retrain houses.csv --replicates houses.csv
predict boston --test houses.csv --csv houses.csv
predict boston --test houses.csv --json houses.csv
predict --model m --test houses.csv --json m
predict --model boston --test houses.csv --csv boston
predict --model m --test results/points.csv --out way
compare --models a.json,results/result.json --out results
compare a.json results/result.json --csv x --json houses.csv
compare a.json results/result.json --json houses.csv
estimate fo/points.csv --out fo
estimate houses.csv --out fo
predict houses.csv --test houses.csv --out fo
estimate results/points.csv --out results
estimate houses.csv --out results --json way/result.json
estimate houses.csv --out new --json new/report.html
merge j --json j/journal
retrain houses.csv --journal j --json j/journal
estimate results/result.json --out results
datasets --export boston houses.csv --json houses.csv`) {
		o := drive(t, "", strings.TrimSpace(line))
		if o.status != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", line, o)
		}
	}
	in := testutil.Must(os.Open("houses.csv"))(t)
	defer in.Close()
	var stderr strings.Builder
	status := run(t.Context(), words("estimate - --json houses.csv"), in, io.Discard, &stderr)
	if status != exitUsage {
		t.Errorf("standard input: %d, %s", status, &stderr)
	}
	out := testutil.Must(os.OpenFile("houses.csv", os.O_APPEND|os.O_WRONLY, 0))(t)
	defer out.Close()
	if status := run(t.Context(), words("estimate houses.csv"), in, out, &stderr); status != exitUsage {
		t.Errorf("standard output: %d, %s", status, &stderr)
	}
	if after := below(); !maps.Equal(after, before) {
		t.Errorf("the files %v became %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// TestPipe: DATA from standard input and the answer to standard output are two streams.
func TestPipe(t *testing.T) {
	table := string(testutil.Must(os.ReadFile(houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})))(t))
	for _, command := range []string{"estimate", "loo", "retrain --resamples 5"} {
		o := drive(t, table, command, "- --loss square --noise 1 --json - --quiet")
		if o.status != exitDone || parse[report.Answer](t, o.stdout).N == 0 {
			t.Errorf("%s: %+v", command, o)
		}
	}
}

// TestCopiedRows: copies of rows are left out together: the error of labels by chance is one half in every
// command that judges rows, and the check of a command without groups says that its errors are too small.
func TestCopiedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	rows := make([]string, 60)
	for i := range rows {
		rows[i] = fmt.Sprintf("%.3f,%.3f,%c\n", rng.NormFloat64(), rng.NormFloat64(), "np"[rng.IntN(2)])
	}
	path := write(t, "d.csv", "a,b,y\n"+strings.Repeat(strings.Join(rows, ""), 3))
	for command, wrong := range map[string]bool{"estimate": true, "cv": true, "estimate --groups none": false,
		"cv --groups none": false, "estimate --refine none": false} {
		a := decoded[report.Answer](t, command, path, "--loss hinge --C 100 --gamma 5")
		noted := strings.Contains(fmt.Sprint(a.Checks), "rows are copies of others")
		if float64(a.Error) > 0.35 != wrong || noted == strings.Contains(command, "groups none") {
			t.Errorf("%s: error %v, %q", command, a.Error, a.Checks)
		}
	}
	must(t, "estimate", path, "--loss hinge --C 1 --groups none --sample 20 --refine none --quiet")
	must(t, "grid", path, "--loss hinge --over C=1,2 --groups none --refine none --quiet")
	refused(t, "--groups none", "cv", path, "--loss hinge --C 1 --folds 100")
	refused(t, "2 rows are too few", "estimate", write(t, "two.csv", "a,y\n1,2\n2,3\n"))
	codes := write(t, "codes.csv", "a,b,y\nn.a.,1,2\n2,5,3\n3,2,5\n4,4,1\n5,3,7\n")
	refused(t, "--na n.a.", "estimate", codes)
	model := filepath.Join(t.TempDir(), "m.json")
	must(t, "train", codes, "--na n.a. --missing mean --loss square --noise 1 --quiet --model", model)
	must(t, "predict --test", codes, "--quiet --model", model)
}

// TestTabs: decimals in thousandths beside whole numbers are numbers where tabs separate columns, and a
// target of numbers and texts is one of classes if that is said.
func TestTabs(t *testing.T) {
	table := write(t, "d.tsv", "a\ty\n1\t1.5\n2.125\t2\n3.375\t0\n4\t3\n5\t2.5\n6.625\t1\n")
	must(t, "estimate", table, "--loss square --noise 1 --refine none --quiet")
	grades := write(t, "g.csv", "a,y\n1,1\n2,2\n3,1\n4,2\n5,1\n6,other\n7,2\n8,1\n9,other\n")
	must(t, "estimate", grades, "--loss hinge --C 1 --task classification --quiet")
}

// TestWeights: refined errors of weighted rows are those of retraining, and metrics those of the theory.
func TestWeights(t *testing.T) {
	words := goldenTables(t, otherRows["counted"])
	for _, flags := range []string{"NUMBERS --loss square --noise 0.3 --bias", "LABELS HINGE",
		"LABELS --loss logistic --C 2"} {
		with := goldenLine(words, flags+" --weights w")
		e := decoded[report.Answer](t, "estimate --refine 400 --metrics all", with)
		// small classes are strata, which have no jackknife
		if m := e.Metrics; m.Error == nil && m.Jackknife == nil || m.Error != nil &&
			math.Abs(float64(*m.Error-*e.TestError)) > 1e-12 {
			t.Errorf("%s: metrics %+v of the error %v", flags, m, e.TestError)
		}
		r := decoded[report.Answer](t, "retrain --resamples 1000 --method single", with)
		se := math.Hypot(float64(*e.MonteCarloSE), float64(r.SE))
		if z := float64(e.LeftOutError-*r.TestError) / se; math.Abs(z) > 4 {
			t.Errorf("%s: refined %v, retrained %v, %.1f standard errors", flags, e.LeftOutError,
				*r.TestError, z)
		}
	}
}
