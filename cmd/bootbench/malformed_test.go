package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

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
