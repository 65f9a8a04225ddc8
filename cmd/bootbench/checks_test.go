package main

import (
	"fmt"
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

// checkTables are small tables, each with one thing wrong, as files in the working folder.
func checkTables(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 60
	var rows [n]struct{ ab, y, label string }
	for i := range rows {
		r, a, b := &rows[i], rng.NormFloat64(), rng.NormFloat64()
		y := a + b*b/2 + 0.3*rng.NormFloat64()
		r.ab, r.y, r.label = fmt.Sprintf("%.4f,%.4f", a, b), fmt.Sprintf("%.4f", y), "no"
		if y > 0.5 {
			r.label = "yes"
		}
	}
	table := func(name, head string, count int, row func(i int) string) {
		text := head + "\n"
		for i := range count {
			text += row(i) + "\n"
		}
		if err := os.WriteFile(name+".csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	number := func(i int) string { return rows[i%n].ab + "," + rows[i%n].y }
	label := func(i int) string { return rows[i].ab + "," + rows[i].label }
	table("numbers", "a,b,y", n, number)
	table("labels", "a,b,y", n, label)
	table("copies", "a,b,y", n+20, number)
	other := map[string]string{"yes": "no", "no": "yes"}
	table("twins", "a,b,y", n+1, func(i int) string {
		if i == n {
			return rows[0].ab + "," + other[rows[0].label]
		}
		return label(i)
	})
	table("patients", "patient,a,b,y", n,
		func(i int) string { return fmt.Sprintf("%d,%s", 100+i/3, number(i)) })
	table("weeks", "week,a,b,y", n, func(i int) string { return fmt.Sprintf("%d,%s", 1+i, number(i)) })
	table("units", "unit,a,b,y", n, func(i int) string { return "cm," + number(i) })
	table("codes", "c,a,b,y", n, func(i int) string {
		return fmt.Sprintf("%v,%s", map[bool]float64{true: -999, false: float64(i % 7)}[i%20 == 0], number(i))
	})
	table("spelt", "c,a,b,y", n,
		func(i int) string { return []string{"Yes,", "yes,", "no,"}[i%3] + number(i) })
	table("zips", "c,a,b,y", n, func(i int) string { return fmt.Sprintf("%05d,%s", i%7*1009, number(i)) })
	table("walk", "day,a,y", n,
		func(i int) string { return fmt.Sprintf("2021-%d-%d,%d,%d", 1+i/28, 1+i%28, i%7, i*i) })
	table("jitter", "a,b,y", 2*n, func(i int) string {
		return strings.ReplaceAll(number(i%n), ",", []string{",", "1,"}[i/n])
	})
	table("leak", "total,a,b,y", n, func(i int) string { return rows[i].y + "1," + number(i) })
	table("recoded", "outcome,a,b,y", n, func(i int) string { return rows[i].label + "!," + label(i) })
	table("few", "a,b,y", 15, number)
	table("sites", "site,a,b,y", n, func(i int) string { return fmt.Sprintf("s%d,%s", i%3, number(i)) })
	table("weights", "w,a,b,y", n, func(i int) string {
		return fmt.Sprintf("%v,%s", map[bool]float64{true: 100, false: 0.01}[i < 3], number(i))
	})
	yes := map[bool]string{true: "yes", false: "no"}
	table("rare", "a,b,y", n, func(i int) string { return rows[i].ab + "," + yes[i%20 == 0] })
	table("zeros", "a,b,y", n, func(i int) string { return rows[i].ab + "," + fmt.Sprint(i%20/19) })
	table("tenth", "a,y", n, func(i int) string { return fmt.Sprintf("%d,%s", i*7%n, yes[i*7%n >= 54]) })
	table("quarter", "a,y", n, func(i int) string { return fmt.Sprintf("%d,%s", i*7%n, yes[i*7%n >= 45]) })
	table("chance", "a,b,y", n, func(i int) string { return rows[i].ab + "," + rows[(i+1)%n].y })
	table("colours", "c,a,b,y", n, func(i int) string { return []string{"red,", "blue,"}[i/7%2] + number(i) })
	table("new", "c,a,b", 3, func(i int) string { return "green," + rows[i].ab })
	table("far", "a,b", 3, func(i int) string { return fmt.Sprintf("%d,%d", 100*i, i) })
	table("three", "a,b,y", n, func(i int) string { return rows[i].ab + "," + []string{"p", "q", "r"}[i%3] })
}

// TestEveryCheck: each kind of check is triggered by a small input, and clean data trigger none.
func TestEveryCheck(t *testing.T) {
	checkTables(t)
	models := strings.NewReplacer("SQUARE", "--loss square --noise 0.1", "HINGE", "--loss hinge --C 1")
	untried := []string{report.NotNumbers.Code} // see TestNotNumbers of package answer
	for _, line := range cases("checks") {
		code, command, _ := strings.Cut(line, " | ")
		command = models.Replace(command)
		path := filepath.Join(t.TempDir(), "answer.json")
		said := drive(t, "", command, "--json", path).stderr
		doc := parse[report.Findings](t, string(testutil.Must(os.ReadFile(path))(t)))
		at := slices.IndexFunc(doc.Checks, func(c report.Check) bool { return c.Code == code })
		if at < 0 {
			t.Errorf("%s: %s is not among %v", command, code, doc.Checks)
			continue
		}
		c := doc.Checks[at]
		if !strings.Contains(said, code) || c.Cure == "" || c.Value != c.Value ||
			(c.Level == "issue") != slices.Contains(doc.Warnings, c.Text) {
			t.Errorf("%s: %+v, warnings %q, standard error %q", command, c, doc.Warnings, said)
		}
		for _, text := range []string{"ReadOptions.", "Spec."} {
			if strings.Contains(said, text) {
				t.Errorf("%s says %q", command, said)
			}
		}
		said = drive(t, "", command, "--ignore", code, "--json", path).stderr
		doc = parse[report.Findings](t, string(testutil.Must(os.ReadFile(path))(t)))
		if strings.Contains(said, code) || strings.Contains(fmt.Sprint(doc.Checks, doc.Warnings), c.Text) {
			t.Errorf("%s --ignore %s: %q, %+v", command, code, said, doc)
		}
		untried = append(untried, code)
	}
	for _, k := range report.Kinds {
		if !slices.Contains(untried, k.Code) {
			t.Errorf("no input triggers %s", k.Code)
		}
	}
	refused(t, `--ignore: "BB999" is no code of a check: there are BB001, `,
		"estimate crabs --ignore BB001,BB999")
	for _, clean := range []string{"estimate boston --loss square --noise 10%", "estimate crabs", "cv crabs",
		"cv numbers.csv --loss square --noise 0.1", "cv labels.csv --loss hinge --C 1",
		"cv numbers.csv --loss square --noise 0.1 --blocks 10 --folds 3",
		"cv walk.csv --loss square --noise 0.1 --blocks 10 --folds 3 --ignore BB008,BB021"} {
		if doc := decoded[report.Findings](t, clean); len(doc.Checks) > 0 {
			t.Errorf("%s: %v", clean, doc.Checks)
		}
	}
}

// TestBaselineOfQuotedError: the error that is said to be no better than a constant is the one that is
// quoted, which is corrected for the choice of the model, and not the left-out error of models of fewer rows,
// in every command that quotes it. A curve over blocks, for which there is none, does not.
func TestBaselineOfQuotedError(t *testing.T) {
	checkTables(t)
	a := decoded[struct{ Error *float64 }](t, "curve numbers.csv --blocks 10 --ratio 0.5,1")
	if a.Error != nil {
		t.Errorf("curve over blocks: error %v", *a.Error)
	}
	for _, name := range []string{"estimate", "cv", "tune", "loo", "train --model m.json", "columns", "grid",
		"curve --refine 20"} {
		command := name + " chance.csv"
		path := filepath.Join(t.TempDir(), "answer.json")
		drive(t, "", command, "--json", path)
		doc := parse[struct {
			Error   float64
			Quality struct{ Baseline float64 }
			Checks  []report.Check
		}](t, string(testutil.Must(os.ReadFile(path))(t)))
		of := math.Sqrt(doc.Error / doc.Quality.Baseline)
		at := slices.IndexFunc(doc.Checks,
			func(c report.Check) bool { return c.Code == report.NoBetter.Code })
		if (at >= 0) != (of >= 1) || at >= 0 && math.Abs(float64(doc.Checks[at].Value)-of) > 1e-12 {
			t.Errorf("%s: root mean square error %g of a constant's, checks %v", command, of, doc.Checks)
		}
	}
}

// TestTwoNumbers: two different numbers are labels, as texts are, to flags and checks that no loss precedes,
// unless --task says that they are quantities.
func TestTwoNumbers(t *testing.T) {
	checkTables(t)
	type answer struct {
		Task   string
		Judged *struct{ By string }
		Checks []report.Check
	}
	a := decoded[answer](t, "tune zeros.csv --judge auc")
	rare := func(c report.Check) bool { return c.Code == report.RareClass.Code }
	if a.Task != "classification" || a.Judged == nil || !slices.ContainsFunc(a.Checks, rare) {
		t.Errorf("labels: %+v", a)
	}
	if a := decoded[answer](t, "cv zeros.csv --task regression"); a.Task != "regression" {
		t.Errorf("quantities: %+v", a)
	}
	refused(t, "--sets has no meaning", "predict zeros.csv --test zeros.csv --sets --task regression")
}
