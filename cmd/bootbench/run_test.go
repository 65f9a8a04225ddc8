package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"bootbench/blas"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// small is a data set with its model that solves in milliseconds.
const small = "synthetic:friedman1,n=60 --loss square --noise 1 --amplitude 25 --constant 200"

// on is a command line, given in parts, on the small set.
func on(parts ...string) string {
	command, flags, _ := strings.Cut(strings.Join(parts, " "), " ")
	return command + " " + small + " " + flags
}

// words are the arguments of a command line that is given in parts.
func words(parts ...string) []string { return strings.Fields(strings.Join(parts, " ")) }

//go:embed testdata
var testdata embed.FS

// cases are the lines of a file of testdata without its comments. Indented lines go on from the line before.
func cases(name string) []string {
	text, err := testdata.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "\n\t", " ")), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "# ") })
}

// outcome is what a run left behind.
type outcome struct {
	status         int
	stdout, stderr string
}

// drive runs a command line in parts.
func drive(t testing.TB, stdin string, parts ...string) outcome {
	t.Helper()
	return driveWith(t.Context(), stdin, words(parts...)...)
}

func driveWith(ctx context.Context, stdin string, args ...string) outcome {
	defer keepProcess()()
	var out, err bytes.Buffer
	a := newApp(ctx, args, strings.NewReader(stdin), &out, &err)
	status := a.run()
	if foreign := foreignFlags(a, err.String()); len(foreign) > 0 { // no test can do without
		panic(fmt.Sprintf("%q names flags that the command has not, %q: %s", args, foreign, err.String()))
	}
	return outcome{status, out.String(), err.String()}
}

// namedFlag is a flag in a message, after the word before it.
var namedFlag = regexp.MustCompile(`(\S+ (?:NAME |FILE |DIR |\S+\.csv )?)?--([A-Za-z][-\w]*)`)

// foreignFlags are the flags that messages name and the command of a run has not: neither flags that the user
// gave, nor flags after the name of another command.
func foreignFlags(a *app, messages string) (foreign []string) {
	command, _, err := a.root.Find(a.args)
	if err != nil || command == a.root || command.Name() == "merge" { // merge speaks of a journal's line
		return nil
	}
	for _, m := range namedFlag.FindAllStringSubmatch(messages, -1) {
		of, name := command, m[2]
		if word := strings.Fields(m[1]); len(word) > 0 {
			if other, _, err := a.root.Find(word[:1]); err == nil && other != a.root {
				of = other
			}
		}
		isIt := func(arg string) bool { return strings.HasPrefix(arg, "--"+name) }
		if !slices.ContainsFunc(a.args, isIt) && of.Flags().Lookup(name) == nil &&
			of.InheritedFlags().Lookup(name) == nil {
			foreign = append(foreign, name)
		}
	}
	return foreign
}

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(ctx, args, stdin, stdout, stderr).run()
}

// keepProcess notes what a run sets of its process, and returns what sets it back.
func keepProcess() func() {
	backend, threads := blas.Bound(), blas.Bound().Threads()
	procs, limit, percent := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return func() {
		debug.SetGCPercent(percent)
		blas.Bind(backend.Name())
		backend.SetThreads(threads)
		runtime.GOMAXPROCS(procs)
		debug.SetMemoryLimit(limit)
	}
}

// tips are the lines of checks that need no action.
var tips = regexp.MustCompile(`bootbench: tip: .*\n`)

// must drives a run that has to succeed without a word on standard error.
func must(t testing.TB, parts ...string) string {
	t.Helper()
	o := drive(t, "", parts...)
	if o.status != exitDone || tips.ReplaceAllString(o.stderr, "") != "" {
		t.Fatalf("%v: status %d, standard error %q", parts, o.status, o.stderr)
	}
	return o.stdout
}

// refused drives a run that has to end with status 2, one line that says what is wrong, and no answer.
func refused(t testing.TB, says string, parts ...string) {
	t.Helper()
	o := drive(t, "x,y\n1,2\n2,3\n", parts...)
	if o.status != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 ||
		!strings.HasPrefix(o.stderr, "bootbench: ") || !strings.Contains(o.stderr, says) {
		t.Errorf("%q: status %d, standard output %.80q, %q does not say %q on one line", parts, o.status,
			o.stdout, o.stderr, says)
	}
}

// decoded is the document of a run that has to succeed, without warnings.
func decoded[T any](t testing.TB, parts ...string) T {
	t.Helper()
	return parse[T](t, must(t, append(parts, "--quiet --json -")...))
}

// parse reads standard output as exactly one JSON document.
func parse[T any](t testing.TB, text string) T {
	t.Helper()
	var doc T
	decoder := json.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&doc); err != nil {
		t.Fatalf("%v in %.200q", err, text)
	}
	if rest, _ := io.ReadAll(decoder.Buffered()); strings.TrimSpace(string(rest)) != "" || decoder.More() {
		t.Fatalf("more than one document: %.200q", text)
	}
	return doc
}

// houses writes a file of examples whose inputs are given, and returns its path.
func houses(t testing.TB, name string, order []int) string { return write(t, name, houseTable(order)) }

func houseTable(order []int) string {
	return csvOf("rooms,age,price", len(order), func(k int) []any {
		i := order[k]
		x, z := float64(i%9), math.Mod(float64(i)*7.3, 5)
		return []any{x, z, x*x/10 - z + math.Sin(float64(i))}
	})
}

// csvOf is a table of n rows below a head.
func csvOf(head string, n int, row func(i int) []any) string {
	text := head + "\n"
	for i := range n {
		text += strings.ReplaceAll(fmt.Sprintln(row(i)...), " ", ",")
	}
	return text
}

// folder writes files into a new folder, and returns its path.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	return filepath.Join(folder(t, map[string]string{name: text}), name)
}

// TestInterrupt: what was finished is kept, and the status is 130.
func TestInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept.json")
	kept := func(tasks int, line string) string { // once the first of them is finished
		interrupted(t, 1, tasks, line, "--json", path)
		return string(testutil.Must(os.ReadFile(path))(t))
	}
	c := parse[report.Curve](t, kept(50, on("curve --ratio 0.5:2:50")))
	if len(c.Results) != 1 || c.Status != "cancelled" {
		t.Errorf("%d ratios kept, status %s", len(c.Results), c.Status)
	}
	for line, tasks := range map[string]int{on("compare --sizes 20,30,40,50,55,60 --resamples 3"): 6,
		"compare --sizes 20 --resamples 3": 12} {
		if rows := parse[[]report.CompareRow](t, kept(tasks, line)); len(rows) != 1 || rows[0].N != 20 {
			t.Errorf("%s: rows kept: %+v", line, rows)
		}
	}
}

// interrupted runs a command line that is interrupted when so many of its steps are done.
func interrupted(t testing.TB, steps, all int, parts ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, err bytes.Buffer
	a := newApp(ctx, words(parts...), strings.NewReader(""), &out, &err)
	a.console.Watch = func(done, total int) {
		if done == steps && total == all {
			cancel()
		}
	}
	status := a.run()
	if status != exitInterrupted {
		t.Errorf("%v: status %d, %q", parts, status, err.String())
	}
	return outcome{status, out.String(), err.String()}
}

// broken is a standard output that fails in some way.
type broken struct{ fail func() error }

func (b broken) Write([]byte) (int, error) { return 0, b.fail() }

func TestFailures(t *testing.T) {
	for name, fail := range map[string]func() error{
		"no space left": func() error { return errors.New("no space left") },
		"out of luck":   func() error { panic("out of luck\nand lines") },
	} {
		var stderr bytes.Buffer
		status := run(t.Context(), words(on("estimate")), strings.NewReader(""), broken{fail}, &stderr)
		if status != exitFailed || strings.Count(stderr.String(), "\n") != 1 ||
			!strings.Contains(stderr.String(), name) {
			t.Errorf("%s: status %d, %q", name, status, stderr.String())
		}
	}
}

func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	cpu, heap := filepath.Join(dir, "cpu"), filepath.Join(dir, "heap")
	must(t, on("estimate --cpuprofile", cpu, "--memprofile", heap))
	for _, path := range []string{cpu, heap} {
		// Profiles are gzip streams, which begin with 1f 8b.
		if text, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			t.Errorf("%s: %v, %d bytes", path, err, len(text))
		}
	}
}

// TestVersion: the program, CITATION.cff and CHANGELOG.md have the same version, also without a repository.
func TestVersion(t *testing.T) {
	release, _, _ := strings.Cut(report.Version(), "+")
	if text := must(t, "--version"); text != "bootbench "+report.Version()+"\n" {
		t.Errorf("version %q", text)
	}
	citation := testutil.Must(os.ReadFile("../../CITATION.cff"))(t)
	if !strings.Contains(string(citation), "\nversion: "+release+"\n") {
		t.Errorf("CITATION.cff has not version %s", release)
	}
	first := "\n## " + release
	if number, dev := strings.CutSuffix(release, "-dev"); dev {
		first = "\n## Unreleased\n\nThis will be version " + number + ".\n"
	}
	changes := string(testutil.Must(os.ReadFile("../../CHANGELOG.md"))(t))
	if at := strings.Index(changes, "\n## "); at < 0 || !strings.HasPrefix(changes[at:], first) {
		t.Errorf("CHANGELOG.md does not begin with %q", first)
	}
}

// TestShellWord: a shell reads the words of a command line back as they were.
func TestShellWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, word := range []string{"", "a b", "it's", "$HOME", "--ratio=1:2", "*", "ä", `a\b"c`, "\n"} {
		out, err := exec.Command(sh, "-c", "printf %s "+shellWords(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q came back as %q, %v", word, out, err)
		}
	}
}

// trueWarnings are what examples may say: that
// starts of a search did not end alike; and what a part of a study has finished.
var trueWarnings = regexp.MustCompile(
	`bootbench: (warning: .*starts ended at a worse place.*|` +
		`\w+ has \d+ finished tasks)\n`)

// TestExamples runs every example of every command's help.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	t.Chdir(t.TempDir())
	order := make([]int, 60)
	for i := range order {
		order[i] = i
	}
	for name, rows := range map[string][]int{"houses.csv": order, "new.csv": order[:5]} {
		if err := os.Rename(houses(t, name, rows), name); err != nil {
			t.Fatal(err)
		}
	}
	patients := write(t, "patients.csv", csvOf("patient,age,dose,outcome", 60, func(i int) []any {
		return []any{i / 4, i * 7 % 13, i * 5 % 11, i*7%13 + i%3}
	}))
	if err := os.Rename(patients, "patients.csv"); err != nil {
		t.Fatal(err)
	}
	all := commands()
	train := slices.IndexFunc(all, func(c *cobra.Command) bool { return c.Name() == "train" })
	all[0], all[train] = all[train], all[0] // it makes the file that predict reads
	for _, c := range all {
		if !c.Runnable() && c.HasParent() {
			continue // a page of help
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example", c.Name())
		}
		for line := range strings.Lines(strings.ReplaceAll(c.Example, " \\\n", " ")) {
			line, input, _ := strings.Cut(strings.TrimSpace(line), " < ")
			if !strings.HasPrefix(line, "bootbench ") {
				t.Fatalf("example %q", line)
			}
			if line == "bootbench compare" {
				continue // takes a minute; TestCompare runs the same on less
			}
			stdin := ""
			if input != "" {
				text := testutil.Must(os.ReadFile(input))(t)
				stdin = string(text)
			}
			o := drive(t, stdin, strings.TrimPrefix(line, "bootbench "))
			said := trueWarnings.ReplaceAllString(tips.ReplaceAllString(o.stderr, ""), "")
			if o.status != exitDone || said != "" {
				t.Errorf("%s: status %d, %q", line, o.status, said)
			}
		}
	}
}

// commands are the root and all commands that users see.
func commands() []*cobra.Command {
	root := newRoot(newApp(context.Background(), nil, nil, io.Discard, io.Discard))
	return append([]*cobra.Command{root}, root.Commands()...)
}
