package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// refusedFiles are the files in the folder DIR of testdata/refusals.txt.
var refusedFiles = map[string]string{
	"empty.csv": "", "ragged.csv": "a,y\n1,2\n3\n",
	"word.csv": "a,y\n1,2\n3,four\n", "nan.csv": "a,y\n1,2\nNaN,4\n",
	"one.csv": "a,y\n1,2\n", "flat.csv": "a,y\n1,2\n3,2\n", "line.csv": "x,y\n1,1\n2,2\n3,4\n4,4\n",
	"two.csv":   "x,a,b\n1,2,3\n2,4,1\n3,3,5\n4,1,1\n",
	"signs.csv": "w,x,y\n1,2,3\n-1,3,2\n2,2,1\n1,4,4\n",
	"large.csv": "x,y\n1,1e155\n2,-1e155\n3,0\n4,1e155\n", "huge.csv": "x,y\n1,1e60\n",
	"far.csv": "x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n" + strings.Repeat("1e200,", 9) + "1\n",
}

// TestRefusals: bad usage and bad input end with status 2, one line that says what is wrong, and nothing on
// standard output; no file is written.
func TestRefusals(t *testing.T) {
	dir := folder(t, refusedFiles)
	for _, line := range cases("refusals") {
		command, says, _ := strings.Cut(line, " | ")
		refused(t, says, strings.ReplaceAll(command, "DIR", dir))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(refusedFiles) {
		t.Errorf("%v, %v: files were written", files, err)
	}
}

// TestNamedNeed: the memory that a refusal names is enough for all that a command does.
func TestNamedNeed(t *testing.T) {
	need := regexp.MustCompile(`needs ([0-9.]+) ([KM]iB)`)
	for _, line := range []string{
		"estimate synthetic:rings,n=400 --loss hinge --C 1 --engine exact",
		"retrain synthetic:rings,n=400 --loss logistic --C 1 --resamples 60",
		"predict synthetic:friedman1,n=400 --test synthetic:friedman1,n=50 --loss square --noise 1 " +
			"--engine exact",
	} {
		o := drive(t, "", line, "--quiet --max-memory 1MB")
		named := need.FindStringSubmatch(o.stderr)
		if o.status != exitUsage || named == nil {
			t.Fatalf("%s: status %d, %s", line, o.status, o.stderr)
		}
		if o := drive(t, "", line, "--quiet --max-memory", named[1]+named[2]); o.status != exitDone {
			t.Errorf("%s with what was named: status %d, %s", line, o.status, o.stderr)
		}
	}
}

// TestOwnFlags: what a command says of too little memory, a rank or a sample names flags that it has
// (driveWith), in every command that trains.
func TestOwnFlags(t *testing.T) {
	for _, command := range []string{"estimate", "curve", "predict --test synthetic:blobs,n=5,d=3",
		"retrain", "cv",
		"rows", "loo", "grid --over C=1,2", "tune --over C", "train --model " + t.TempDir() + "/m.json"} {
		for _, flags := range []string{"--max-memory 2MiB --engine exact", "--max-memory 200KiB",
			"--sample 5",
			"--engine lowrank --rank-tol 1e-12 --max-memory 300KiB"} {
			name, rest, _ := strings.Cut(command, " ")
			o := drive(t, "", name, "synthetic:blobs,n=600,d=3 --loss hinge --C 1", rest, flags)
			table := name == "grid" || name == "tune" // of models, some of which may fail
			if o.status != exitUsage && !(table && o.status == exitFailed) || o.stderr == "" {
				t.Errorf("%s %s: status %d, %s", command, flags, o.status, o.stderr)
			}
		}
	}
}

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

// changing is a value of each flag that changes an answer about the tables of TestFlagsHaveEffects, with
// variants COMMAND/FLAG.
var changing = map[string]string{
	"weights": "w", "counts": "k", "drop": "x2,s,w,k,g,f", "groups": "g", "strata": "s", "fold-column": "f",
	"noise": "0.3", "C": "0.3", "epsilon": "0.4", "class-weight": "3", "kernel": "matern52",
	"gamma": "0.7", "length-scale": "0.9", "degree": "2", "coef0": "2", "amplitude": "7", "constant": "3",
	"jitter": "0.5", "engine": "lowrank --rank-tol=0.5", "tol": "0.01", "max-sweeps": "1", "folds": "3",
	"refine":    "7",
	"seed":      "5",
	"test-loss": "absolute", "metrics": "all", "ratio": "0.6", "scheme": "multinomial", "level": "0.6",
	"quantiles": "0.2", "sample": "20", "multiclass": "ovo", "interval": "estimator", "residuals": "plain",
	"repeats": "2", "blocks": "2", "permutations": "3", "resamples": "11", "accuracy": "1%", "by": "leftout",
	"chosen": "gamma", "tune-rows": "50", "judge": "cost:1,5", "roc": "true", "loo/method": "exact",
	"train/tol": "0.3", "no-points": "true", "no-standardize": "true",
	"no-normalize-target": "true", "nested": "true",
	"refit-preprocessing": "true", "ard": "true", "no-header": "true", "bias": "true",
	"no-bias": "true",
}

// holding are flags whose value, of those, states what holds anyway for a kind of target.
var holding = map[string][]string{
	"num":     {"no-bias"},
	"two":     {"bias", "no-normalize-target"},
	"three":   {"bias", "no-normalize-target"},
	"targets": {"no-bias", "max-sweeps"}, // one sweep is enough for the square loss
}

// conditional are flags that matter where something happens that need not: where the engine is of low rank,
// where resamples do not reach an accuracy, where a search has more rows, where the choice of a model makes
// its errors too small and would not be made again anyway. One value of by is the line's.
var conditional = []string{"rank-tol", "rank-error", "accuracy", "tune-rows", "grid/by", "predict/chosen",
	"train/chosen", "tune/nested"}

// TestFlagsHaveEffects: each flag of each command about DATA, with another value than the default, changes
// the answer, or is refused with status 2, for numbers, two classes, three classes and several targets.
func TestFlagsHaveEffects(t *testing.T) {
	t.Chdir(t.TempDir())
	tables := map[string]func(i int) any{
		"num":   func(i int) any { return float64(i*7%13)/3 + float64(i*i%5)/7 },
		"two":   func(i int) any { return []string{"no", "yes"}[(i*7%13+i%3)/7%2] },
		"three": func(i int) any { return []string{"p", "q", "r"}[(i*7%13/3+i%2)%3] },
	}
	for name, target := range tables {
		text := csvOf("x1,x2,s,w,k,g,f,y", 40, func(i int) []any {
			return []any{float64(i*7%13) / 3, float64(i*i%11) / 5, string(rune('a' + i%3)), 1 + i%4, 1 + i%2,
				i / 4, i % 5, target(i)}
		})
		if err := os.WriteFile(name+".csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds := map[string]string{
		"num": "num.csv --loss square --noise 1", "two": "two.csv --loss hinge --C 1",
		"three": "three.csv --loss hinge --C 1", "targets": "num.csv --target x2,y --loss square --noise 1",
	}
	commands := map[string]string{"estimate": "", "curve": "", "retrain": "",
		"predict": "--refine 40 --test DATA",
		"cv":      "", "rows": "", "loo": "", "grid": "--over amplitude=1,2",
		"grid by cv": "--by cv --over amplitude=1,2",
		"tune":       "--over amplitude", "train": "--model out.json"}
	if testing.Short() {
		commands = map[string]string{"predict": "--refine 40 --test DATA",
			"grid by cv": "--by cv --over amplitude=1,2"}
	}
	answer := func(words string, more ...string) (outcome, string) {
		line := strings.Fields(words)
		for _, flag := range more { // in place of the line's
			name, _, _ := strings.Cut(flag, "=")
			if at := slices.Index(line, name); at >= 0 {
				line = slices.Delete(line, at, at+2)
			}
		}
		o := driveWith(t.Context(), "", slices.Concat(line, more, []string{"--quiet", "--json=-"})...)
		return o, withoutCosts(o.stdout)
	}
	for title, own := range commands {
		name, _, _ := strings.Cut(title, " ")
		at := slices.IndexFunc(allCommands, func(c *command) bool { return c.name == name })
		for kind, data := range kinds {
			if every := []string{"estimate", "predict", "cv"}; !slices.Contains(every, title) &&
				(kind == "two" || kind == "targets") { // to save time
				continue
			}
			table, _, _ := strings.Cut(data, " ")
			line := fmt.Sprintf("%s %s --drop s,w,k,g,f --gamma 0.3 %s", name, data,
				strings.ReplaceAll(own, "DATA", table))
			o, base := answer(line)
			if o.status == exitUsage {
				continue // it is not for them
			}
			if o.status != exitDone && o.status != exitNotConverged {
				t.Errorf("%s: %+v", line, o)
			}
			optionsOf(allCommands[at], pflag.NewFlagSet("", 0)).VisitAll(func(f *pflag.Flag) {
				value, known := changing[name+"/"+f.Name]
				if !known {
					value, known = changing[f.Name]
				}
				if !known || slices.Contains(holding[kind], f.Name) ||
					slices.Contains(conditional, f.Name) || slices.Contains(conditional, name+"/"+f.Name) {
					return
				}
				o, got := answer(line, strings.Fields("--"+f.Name+"="+value)...)
				if o.status != exitUsage && got == base {
					t.Errorf("%s --%s=%s is ignored", line, f.Name, value)
				}
			})
		}
	}
}

// TestFieldsHaveFlags: what stands for a field in a message is a flag of a command, also where the message
// begins with the field, and a name of DATA is no field.
func TestFieldsHaveFlags(t *testing.T) {
	known := map[string]bool{}
	for _, c := range allCommands {
		optionsOf(c, pflag.NewFlagSet("", 0)).VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	}
	for line := range strings.Lines(strings.TrimSpace(fieldPage)) {
		field, of, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if flag, _, _ := strings.Cut(of, " "); !known[flag] {
			t.Errorf("%s: there is no flag %s", field, of)
		}
		text := fmt.Sprintf(`%s: take (%[1]s or %[1]s, not "%[1]s"`, field)
		want := fmt.Sprintf(`%s: take (%[1]s or %[1]s, not "%s"`, of, field)
		if got := inFlags(text); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// withoutCosts is a document without times, memory, names of files and the command line.
func withoutCosts(text string) string {
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return text
	}
	strip(doc, []string{"time", "memory", "backend", "command_line", "reading", "model_file"})
	left, _ := json.Marshal(doc)
	return string(left)
}

// malformed makes command lines that are wrong in many ways: flags of the commands as they are, with values
// in and out of range, on data sets whole and broken.
type malformed struct {
	*rand.Rand
	commands []*cobra.Command
	data     []string
	careful  bool // the line under way is mostly right
}

// wholeData are data sets that nothing is wrong with.
var wholeData = []string{"good.csv", "labels.csv", "near.csv", "good.svm", "-", "crabs",
	"synthetic:friedman1,n=30,seed=3", "synthetic:rings,n=20,d=2"}

// oddValues are what a flag is given.
var oddValues = []string{"", "0", "-1", "2", "1", "0.5", "1000000", "9223372036854775808", "1.5", "1e-320",
	"1e155", "1e308", "1e-10", "1e30", "1e400", "NaN", "Inf", "x", "-", "1,2", "0.1:2:3", "a=b", "\x00", "..",
	"é", "%s%n", strings.Repeat("x", 300)}

// wholeValues are values that flags take, mostly.
var wholeValues = map[string][]string{
	"loss":   {"square", "hard", "hinge", "logistic", "eps", "probit"},
	"noise":  {"1", "10%", "1e-100", "1e100"},
	"kernel": {"rbf", "linear", "poly", "precomputed"}, "scheme": {"multinomial", "subsample", "kfold"},
	"method": {"exact", "fast", "xialpha", "all", "batch", "single"}, "engine": {"exact", "lowrank"},
	"refine": {"none", "5"}, "ratio": {"0.01", "0.5", "3", "50"}, "resamples": {"2", "20"},
	"max-memory": {"1MB", "1GiB"}, "over": {"noise=0.1:10:3", "gamma=1,2", "C=", "nosuch=1"},
	"sizes": {"5,10", "0"}, "missing": {"drop", "mean"}, "shard": {"0/2", "2/2", "auto"},
	"target": {"y", "1"},
}

// line is a command line and the files it names.
func (m *malformed) line(number int) (args, named []string) {
	c := m.commands[m.IntN(len(m.commands))]
	m.careful = m.IntN(3) > 0
	if c.Name() == "compare" { // those run for minutes where nothing is wrong
		c, _, _ = c.Root().Find([]string{"estimate"})
	}
	args = strings.Fields(c.CommandPath())[1:]
	if strings.Contains(c.Use, "DATA") || m.IntN(8) == 0 {
		args = append(args, m.set())
	}
	if c.Flags().Lookup("test") != nil {
		args = append(args, "--test", m.set())
	}
	if c.Flags().Lookup("loss") != nil && m.IntN(2) > 0 {
		args = append(args, "--loss", m.pick(wholeValues["loss"]))
	}
	var flags []*pflag.Flag
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	for range m.IntN(6) {
		f := flags[m.IntN(len(flags))]
		if slices.Contains(flagLists["outputs"], f.Name) || f.Name == "export" || f.Name == "journal" {
			name := m.pick([]string{fmt.Sprintf("named-%d-%s", number, f.Name), "-", "nowhere/x",
				"/dev/full"})
			named, args = append(named, name), append(args, "--"+f.Name, name)
			continue
		}
		args = append(args, m.flag(f))
	}
	return append(args, m.pick([]string{"--quiet", "--json=-", "--json=-", "--nosuch"})), named
}

// set is a data set.
func (m *malformed) set() string {
	if m.careful {
		return m.pick(wholeData)
	}
	return m.pick(m.data)
}

func (m *malformed) pick(from []string) string { return from[m.IntN(len(from))] }

// flag is a flag with a value that it may take or not.
func (m *malformed) flag(f *pflag.Flag) string {
	whole := wholeValues[f.Name]
	switch {
	case f.Value.Type() == "bool":
		return "--" + f.Name
	case m.careful && f.DefValue != "" && f.DefValue != "0":
		return "--" + f.Name + "=" + f.DefValue
	case whole != nil && (m.careful || m.IntN(2) == 0):
		return "--" + f.Name + "=" + m.pick(whole)
	}
	return "--" + f.Name + "=" + m.pick(oddValues)
}

// brokenData writes data sets, whole and broken, and returns their names, and the names of sets that need no
// file.
func brokenData(t testing.TB) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	table := func(n int, target, cell func(i int) string) string {
		return csvOf("x1,x2,y", n, func(i int) []any { return []any{cell(i), cell(i), target(i)} })
	}
	normal := func(int) string { return fmt.Sprintf("%.4f", rng.NormFloat64()) }
	label := func(i int) string { return []string{"-1", "1"}[i%2] }
	scaled := func(format string) func(int) string {
		return func(i int) string { return fmt.Sprintf(format, 1+i%5) }
	}
	files := map[string]string{
		"good.csv": table(24, normal, normal), "labels.csv": table(24, label, normal),
		"near.csv": table(20, label,
			func(i int) string { return fmt.Sprintf("%.17g", float64(i/2)+1e-13*float64(i)) }),
		"good.svm": "1 1:0.5 3:2\n-1 2:1\n1 1:1\n-1 3:0.1\n", "bad.svm": "1 3:1 2:1\n-1 0:1\n",
		"header.csv": "a,b,y\n", "one.csv": "a,y\n1,2\n", "nan.csv": table(8, normal, scaled("%dNaN")),
		"hugey.csv": table(8, scaled("%de155"), normal), "hugex.csv": table(8, normal, scaled("%de307")),
		"tiny.csv":     table(8, scaled("%de-320"), scaled("%de-320")),
		"ragged.csv":   "a,b,y\n1,2,3\n1,2\n1,2,3,4\n",
		"oneclass.csv": table(10, func(int) string { return "1" }, normal), "junk.npy": "junk",
	}
	names := append([]string{"", "nosuch.csv", ".", "/dev/null", "synthetic:nosuch",
		"synthetic:friedman1,n=-1",
		"synthetic:grid,n=9,d=1000000000"}, wholeData...)
	for name, content := range files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Bounds of one run of the battery: what is still at work is interrupted, and must then end.
const (
	mostWork  = 2 * time.Second
	mostGrace = time.Minute
)

// TestMalformed: thousands of command lines, most of them wrong, end with one of the program's statuses,
// without a fault, say on one line why they are refused, write no file that they do not name, and give no
// answer that is not finite with status 0.
func TestMalformed(t *testing.T) {
	lines := 200
	if soaking() {
		lines = 2500
	} else if testing.Short() {
		lines = 60
	}
	t.Chdir(t.TempDir())
	m := &malformed{Rand: rand.New(rand.NewPCG(2026, 11)), data: brokenData(t)}
	for _, c := range commands() {
		if c.Runnable() && c.Name() != "completion" {
			m.commands = append(m.commands, c)
		}
	}
	inputs := filesBelow(t)
	statuses := map[int]int{}
	for number := range lines {
		args, named := m.line(number)
		for _, data := range args { // train names its file after DATA
			named = append(named, modelName(data))
		}
		o := m.run(t, args)
		statuses[o.status]++
		if o.status == exitFailed && testing.Verbose() {
			t.Logf("%d %q: %s", number, args, o.stderr)
		}
		if wrong := wrongWith(o); wrong != "" {
			t.Errorf("%d %q: status %d, %s", number, args, o.status, wrong)
		}
		for _, file := range filesBelow(t) {
			if slices.Contains(inputs, file) {
				continue
			}
			if !slices.ContainsFunc(named, func(name string) bool {
				return name != "" && (file == name || strings.HasPrefix(file, name+"/"))
			}) {
				t.Errorf("%d %q: %s is written", number, args, file)
			}
			os.RemoveAll(file)
		}
	}
	t.Logf("%d command lines: statuses %v", lines, statuses)
}

// soaking reports whether the tests are to run at length, as make soak does.
func soaking() bool { return os.Getenv("BOOTBENCH_SOAK") != "" }

// run drives one command line and fails where it does not end.
func (m *malformed) run(t testing.TB, args []string) outcome {
	ctx, cancel := context.WithTimeout(t.Context(), mostWork)
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- driveWith(ctx, "a,y\n1,2\n2,3\n3,5\n4,1\n", args...) }()
	select {
	case o := <-done:
		return o
	case <-time.After(mostWork + mostGrace):
		t.Fatalf("%q does not end", args)
		return outcome{}
	}
}

// filesBelow lists the files below the working directory.
func filesBelow(t testing.TB) (files []string) {
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wrongWith says what no run may leave behind.
func wrongWith(o outcome) string {
	for _, word := range []string{"internal error", "goroutine ", "panic", "runtime error"} {
		if strings.Contains(o.stderr, word) || strings.Contains(o.stdout, word) {
			return o.stderr
		}
	}
	switch o.status {
	case exitDone:
		return notFinite(o)
	case exitUsage:
		if strings.Count(o.stderr, "\n") != 1 || !strings.HasPrefix(o.stderr, "bootbench: ") {
			return fmt.Sprintf("%q", o.stderr)
		}
	case exitFailed, exitNotConverged, exitInterrupted:
	default:
		return "which is none: " + o.stderr
	}
	return ""
}

// notFinite says which number of an answer is none. An error that no resample tells, as
// where no example is left out, is null, with a warning.
func notFinite(o outcome) string {
	if !strings.HasPrefix(o.stdout, "{") {
		for _, word := range strings.Fields(o.stdout) {
			if word == "NaN" || strings.HasSuffix(word, "Inf") {
				return "it prints " + word
			}
		}
		return ""
	}
	var doc struct {
		TestError any `json:"test_error"`
		Warnings  []string
		Points    struct{ Mean, Variance []*float64 }
	}
	doc.TestError = 0
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		return err.Error()
	}
	if doc.TestError == nil && !strings.Contains(strings.Join(doc.Warnings, " "), "left out") {
		return "test_error is null"
	}
	if slices.Contains(doc.Points.Mean, nil) || slices.Contains(doc.Points.Variance, nil) {
		return "a mean or variance is null"
	}
	return ""
}

// TestSides: where probabilities are on the other side of 1/2 than the classes, their number is said.
func TestSides(t *testing.T) {
	rng, sides := rand.New(rand.NewPCG(5, 6)), 0
	file := write(t, "two.csv", csvOf("a,b,y", 80, func(int) []any {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		return []any{a, b, map[bool]string{true: "yes", false: "no"}[a+0.7*rng.NormFloat64() > 0.8]}
	}))
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
	for _, line := range cases("kept") {
		o := drive(t, "", line)
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
	must(t, "retrain --resamples 20 --no-points --json", filepath.Join(t.TempDir(), "answer"), "-- crabs")
}
