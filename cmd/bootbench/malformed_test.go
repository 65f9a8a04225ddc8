package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// malformed makes command lines that are wrong in most ways that one can think of: flags of
// the commands as they are, with values in and out of range, on data sets whole and broken.
type malformed struct {
	*rand.Rand
	commands []*cobra.Command
	data     []string
	careful  bool // the line under way is mostly right
}

// wholeData are data sets that nothing is wrong with.
var wholeData = []string{"good.csv", "labels.csv", "K.csv", "Knumbers.csv", "names.csv", "near.csv",
	"contra.csv", "good.svm", "constant.csv", "flat.csv", "oneclass.csv", "large.csv", "two.csv", "-",
	"synthetic:friedman1,n=30,seed=3", "synthetic:rings,n=20,d=2"}

// oddValues are what a flag is given, by its type.
var oddValues = map[string][]string{
	"int": {"0", "-1", "1", "2", "3", "10", "1000000", "9223372036854775807", "9223372036854775808", "1.5",
		"x", ""},
	"uint64": {"0", "1", "18446744073709551615", "-1", "x"},
	"float64": {"0", "1", "0.5", "2", "-1", "1e-320", "1e-155", "1e155", "1e308", "1e-10", "1e-3", "1e30",
		"1e400", "NaN", "Inf", "-Inf", "x", ""},
	"list": {"1", "0.1,1", "0.1:2:3", "1,,2", "1:2", "0", "-1,1", "NaN", "1e-320,1e308", "x", "", ","},
	"text": {"", "x", "0", "-", "1,2", "a=b", "\x00", "..", "é", "--", "%s%n", strings.Repeat("x", 300)},
}

// wholeValues are values that flags take, mostly.
var wholeValues = map[string][]string{
	"loss": {"square", "hard", "hinge", "hinge2", "logistic", "eps", "huber", "absolute", "probit", "logit",
		"perceptron"}, "noise": {"1", "0.01", "10%", "0%", "1e-100", "1e100"},
	"kernel": {"rbf", "linear", "poly", "matern32", "precomputed"}, "scheme": {"poisson", "multinomial",
		"subsample", "bernoulli", "kfold"},
	"method": {"adatap", "start", "meanfield", "variational", "exact", "fast", "xialpha", "approx", "all",
		"batch", "single", "auto"},
	"engine": {"exact", "lowrank", "auto"}, "refine": {"auto", "none", "2", "5"},
	"test-loss": {"square", "absolute", "zero-one", "smooth-eps"},
	"ratio":     {"0.01", "0.5", "1", "3", "50"}, "resamples": {"2", "5", "20"}, "max-memory": {"1MB", "1GiB"},
	"folds": {"2", "5"}, "rank-error": {"1%", "50%"}, "accuracy": {"50%"},
	"over": {"noise=0.1:10:3", "gamma=1,2", "C=1", "C=", "nosuch=1", "ratio=1"}, "figure": {"m03-2", "nosuch"},
	"sizes": {"5,10", "0", "20"}, "missing": {"drop", "mean", "indicator", "error"},
	"shard": {"0/2", "1/2", "2/2", "auto", "0/0"}, "backend": {"gonum", "openblas", "nosuch"},
	"threads": {"1", "2"}, "target": {"y", "1", "nosuch"}, "max-sweeps": {"1", "3"},
}

// line is a command line, the files it names, and whether it reads standard input.
func (m *malformed) line(number int) (args, named []string) {
	c := m.commands[m.IntN(len(m.commands))]
	m.careful = m.IntN(3) > 0
	args = append(args, strings.Fields(c.CommandPath())[1:]...)
	if c.Name() == "compare" && m.IntN(10) > 0 {
		args = []string{"estimate"} // those run for minutes where nothing is wrong
		c, _, _ = c.Root().Find(args)
	}
	if strings.Contains(c.Use, "DATA") || m.IntN(8) == 0 {
		args = append(args, m.set())
	}
	var flags []*pflag.Flag
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	if c.Flags().Lookup("test") != nil {
		args = append(args, "--test", m.set())
	}
	if c.Flags().Lookup("loss") != nil && m.IntN(4) > 0 && !(m.careful && m.IntN(2) == 0) {
		args = append(args, "--loss", m.pick(wholeValues["loss"]))
	}
	for range m.IntN(6) {
		if len(flags) == 0 {
			break
		}
		f := flags[m.IntN(len(flags))]
		if slices.Contains(outputFlags, f.Name) || f.Name == "export" || f.Name == "journal" {
			name := fmt.Sprintf("named-%d-%s", number, f.Name)
			switch m.IntN(6) {
			case 0:
				name = m.pick([]string{"-", "", "nowhere/x", strings.Repeat("n", 300), "/dev/full", "study"})
			}
			named = append(named, name)
			args = append(args, "--"+f.Name, name)
			continue
		}
		args = append(args, m.flag(f)...)
	}
	if m.IntN(3) == 0 && c.InheritedFlags().Lookup("json") != nil {
		args = append(args, "--json", "-")
	}
	if m.IntN(30) == 0 {
		args = append(args, m.pick([]string{"--nosuch", "extra", "--", "--help", "-x", "\xff"}))
	}
	return args, named
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
func (m *malformed) flag(f *pflag.Flag) []string {
	values := oddValues["text"]
	switch kind := f.Value.Type(); {
	case kind == "bool":
		return []string{"--" + f.Name}
	case m.careful && m.IntN(2) == 0 && f.DefValue != "" && f.DefValue != "0":
		return []string{"--" + f.Name + "=" + f.DefValue}
	case strings.HasPrefix(kind, "int"):
		values = oddValues["int"]
	case strings.HasSuffix(kind, "Slice"):
		values = oddValues["list"]
	case oddValues[kind] != nil:
		values = oddValues[kind]
	}
	if whole := wholeValues[f.Name]; whole != nil && (m.careful && m.IntN(8) > 0 || m.IntN(2) == 0) {
		values = whole
	}
	return []string{"--" + f.Name + "=" + m.pick(values)}
}

// brokenData writes data sets, whole and broken, and returns their names and those of sets
// that need no file.
func brokenData(t testing.TB) []string {
	rng := rand.New(rand.NewPCG(7, 7))
	table := func(n, d int, target func(i int) string, cell func(i, j int) string) string {
		var b strings.Builder
		for j := range d {
			fmt.Fprintf(&b, "x%d,", j)
		}
		b.WriteString("y\n")
		for i := range n {
			for j := range d {
				b.WriteString(cell(i, j) + ",")
			}
			b.WriteString(target(i) + "\n")
		}
		return b.String()
	}
	normal := func(int, int) string { return fmt.Sprintf("%.4f", rng.NormFloat64()) }
	value := func(i int) string { return fmt.Sprintf("%.4f", float64(i%7)+rng.NormFloat64()) }
	label := func(i int) string { return []string{"-1", "1"}[i%2] }
	always := func(text string) func(int, int) string { return func(int, int) string { return text } }
	gram := func(diagonal, other string) func(i, j int) string {
		return func(i, j int) string {
			if i == j {
				return diagonal
			}
			return other
		}
	}
	packed := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	good := table(24, 3, value, normal)
	files := map[string]string{
		"good.csv": good, "labels.csv": table(24, 3, label, normal),
		"names.csv": table(12, 2, func(i int) string { return []string{"=cmd", "+b"}[i%2] }, normal),
		"empty.csv": "", "header.csv": "a,b,y\n", "one.csv": "a,y\n1,2\n", "two.csv": "a,y\n1,2\n2,1\n",
		"column.csv":   "y\n1\n2\n3\n",
		"constant.csv": table(10, 2, value, always("1")), "flat.csv": table(10, 2, func(int) string { return "3" },
			normal), "oneclass.csv": table(10, 2, func(int) string { return "1" }, normal),
		"three.csv": table(12, 2, func(i int) string { return "abc"[i%3 : i%3+1] }, normal),
		"nan.csv":   table(8, 2, value, always("NaN")), "inf.csv": table(8, 2, func(int) string { return "inf" },
			normal),
		"hugey.csv": table(8, 2, func(i int) string { return fmt.Sprintf("%de155", i) }, normal),
		"hugex.csv": table(8, 2, value, always("1e308")), "range.csv": table(9, 2, value,
			func(i, j int) string { return fmt.Sprintf("1e%d", 300*(i%3-1)) }),
		"tiny.csv": table(8, 2, func(i int) string { return fmt.Sprintf("%de-320", i) },
			func(i, j int) string { return fmt.Sprintf("%de-320", i+j) }),
		"large.csv":  table(10, 2, func(i int) string { return fmt.Sprintf("%de49", i-4) }, normal),
		"ragged.csv": "a,b,y\n1,2,3\n1,2\n1,2,3,4\n", "quotes.csv": "a,y\n\"1,2\n3,4\n",
		"bytes.csv": "a,y\n\x00\xff\xfe,1\n", "bom.csv": "\ufeff" + good, "missing.csv": table(12, 2, value,
			func(i, j int) string { return []string{"", "NA", "1", "2"}[(i+j)%4] }),
		"longline.csv": strings.Repeat("1,", 200000) + "\n1\n", "crlf.csv": strings.ReplaceAll(good, "\n", "\r\n"),
		"contra.csv": "a,b,y\n1,2,1\n1,2,-1\n3,4,1\n4,4,-1\n", "near.csv": table(20, 2, label,
			func(i, j int) string { return fmt.Sprintf("%.17g", float64(i/2)+1e-13*float64(i)) }),
		"K.csv": table(8, 8, label, gram("2", "0.5")), "Kbad.csv": table(8, 8, label, gram("0.5", "2")),
		"Ktiny.csv": table(8, 8, label, gram("1e-320", "0")), "Kasym.csv": table(8, 8, label,
			func(i, j int) string { return fmt.Sprint(i) }), "Knumbers.csv": table(8, 8, value, gram("2", "0.5")),
		"Kzero.csv": table(8, 8, label, always("0")), "Khuge.csv": table(8, 8, label, gram("1e300", "0")),
		"good.csv.gz": packed(good), "cut.csv.gz": packed(good)[:40],
		"good.svm": "1 1:0.5 3:2\n-1 2:1\n1 1:1\n-1 3:0.1\n", "bad.svm": "1 3:1 2:1\n-1 0:1\n",
		"wide.svm": "1 999999999:1\n-1 1:1\n",
		"cut.npy": "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, " +
			"1000000000), }", "junk.npz": "PK\x03\x04junk", "junk.npy": "junk", "a " +
			"b.csv": good, "x.xlsx": "PK", "study/study.json": `{"schema":2,"command":"estimate","parts":1e9}`,
	}
	names := []string{"", "-", "nosuch", "nosuch.csv", ".", "study", "/dev/null",
		strings.Repeat("d", 300) + ".csv", "crabs", "synthetic:friedman1,n=12", "synthetic:rings,n=20,d=2",
		"synthetic:friedman1,n=30,seed=3",
		"synthetic:", "synthetic:nosuch", "synthetic:friedman1,n=0", "synthetic:friedman1,n=-1",
		"synthetic:friedman1,n=1e9", "synthetic:friedman1,n=9223372036854775807", "synthetic:blobs,n=10,d=0",
		"synthetic:grid,n=9,d=1000000000", "synthetic:rings,n=10,seed=x", "synthetic:rings,,",
		"synthetic:rings,n=10,noise=1e308"}
	for name, content := range files {
		os.MkdirAll(filepath.Dir(name), 0o755)
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

// TestMalformed: thousands of command lines, most of them wrong, end with one of the
// program's statuses, without a fault, say on one line why they are refused, write no file
// that they do not name, and give no answer that is not
// finite with status 0.
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
			own := slices.ContainsFunc(named, func(name string) bool {
				return file == name || file == name+".fits" || strings.HasPrefix(file, name+"/")
			})
			own = own || args[0] == "man" && slices.Contains(args[1:], filepath.Dir(file))
			own = own || args[0] == "merge" && strings.HasPrefix(file, "study/")
			if !own {
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
