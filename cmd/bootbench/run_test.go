package main

import (
	"bytes"
	"context"
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
	"github.com/spf13/pflag"

	"bootbench/blas"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/kernel"
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
	procs, limit := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
	return func() {
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

// decoded is the document of a run that has to succeed, without warnings; document that of one without any.
func decoded[T any](t testing.TB, parts ...string) T {
	t.Helper()
	return document[T](t, append(parts, "--quiet")...)
}

func document[T any](t testing.TB, parts ...string) T {
	t.Helper()
	return parse[T](t, must(t, append(parts, "--json -")...))
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

func TestEstimateDocument(t *testing.T) {
	d := document[report.Answer](t, "estimate boston")
	if d.Command != "estimate" || d.Data != "boston" || d.N != 506 || d.D != 13 || d.Loss != "square" ||
		d.Ratio != 1 || d.Status != "converged" || d.TargetMean != nil || d.Kernel.Amplitude != 1 {
		t.Errorf("wrong head: %+v", d)
	}
	if parts := d.Time.Read + d.Time.Gram + d.Time.Solve; !(parts > 0 && parts <= d.Time.Total) {
		t.Errorf("parts of %v s in a total of %v s", parts, d.Time.Total)
	}
	// The kernel matrix alone is 506^2 numbers; a process of 4 GiB would be a bug.
	if d.Memory.PeakBytes < 8*506*506 || d.Memory.PeakBytes > 4<<30 {
		t.Errorf("peak of %d bytes", d.Memory.PeakBytes)
	}
	if d.Backend.Name != blas.Bound().Name() || d.Backend.Core == "" || d.Backend.Threads < 1 {
		t.Errorf("backend %+v", d.Backend)
	}
	if len(d.Points.Mean) != 506 || len(d.Points.Variance) != 506 || len(d.Points.Error) != 506 {
		t.Fatalf("%d means, %d variances, %d errors", len(d.Points.Mean), len(d.Points.Variance),
			len(d.Points.Error))
	}
	mean := 0.0
	for _, e := range d.Points.Error {
		mean += e / 506
	}
	if math.Abs(mean-float64(*d.TestError)) > 1e-9*mean { // 506 roundings
		t.Errorf("the errors per point average to %v, test_error is %v", mean, *d.TestError)
	}
	if want := 0.368*d.Apparent + 0.632**d.TestError; math.Abs(float64(want-d.Err632)) > 1e-9*float64(want) {
		t.Errorf("err632 is %v, want %v", d.Err632, want)
	}
	if !(d.Err632Plus >= d.Err632 && d.Err632Plus <= *d.TestError) {
		t.Errorf("err632plus %v outside of %v to %v", d.Err632Plus, d.Err632, d.TestError)
	}
	if d.Residual > 1e-6 {
		t.Errorf("residual %v", d.Residual)
	}
	if brief := document[report.Answer](t, "estimate boston --no-points"); brief.Points != nil {
		t.Error("--no-points leaves points")
	}
}

// TestPreset: an explicit flag takes the place of its part of a preset only.
func TestPreset(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	read := func(flags string) report.Answer {
		return decoded[report.Answer](t, "estimate boston --no-points", flags)
	}
	if d := read(""); d.Noise != 0.01 || len(d.Kernel.LengthScale) != 13 || d.Standardized ||
		d.Preset != "M03 section 5" {
		t.Errorf("preset: %+v", d)
	}
	if d := read("--noise 0.1"); d.Noise != 0.1 || len(d.Kernel.LengthScale) != 13 || d.Standardized ||
		d.Preset != "M03 section 5, changed" {
		t.Errorf("noise changed: %+v", d)
	}
	if d := read("--kernel matern52"); d.Noise != 0.01 || d.Kernel.Kind != kernel.Matern52 ||
		len(d.Kernel.LengthScale) != 0 || d.Kernel.Gamma != 1.0/26 || !d.Standardized {
		t.Errorf("kernel changed: %+v", d)
	}
	if d := read("--gamma 0.2 --no-standardize --noise 2"); d.Kernel.Gamma != 0.2 ||
		d.Standardized || d.Preset != "" {
		t.Errorf("all changed: %+v", d)
	}
}

// houses writes a file of examples whose inputs are given, and returns its path.
func houses(t testing.TB, name string, order []int) string {
	t.Helper()
	return write(t, name, csvOf("rooms,age,price", len(order), func(k int) []any {
		i := order[k]
		x, z := float64(i%9), math.Mod(float64(i)*7.3, 5)
		return []any{x, z, x*x/10 - z + math.Sin(float64(i))}
	}))
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

func TestCurve(t *testing.T) {
	c := document[report.Curve](t, on("curve --ratio 0.25:4:5 --no-points --refine none"))
	if c.Command != "curve" || c.Status != "complete" || len(c.Results) != 5 {
		t.Fatalf("document %+v", c)
	}
	for i, want := range []float64{0.25, 0.5, 1, 2, 4} {
		if math.Abs(c.Results[i].Ratio-want) > 1e-12 {
			t.Errorf("ratio %d is %v, want %v", i, c.Results[i].Ratio, want)
		}
	}
	if text := must(t, on("curve --ratio 0.5,1")); !strings.Contains(text, "left-out") ||
		strings.Count(text, "converged") != 2 {
		t.Errorf("table: %s", text)
	}
}

// TestGrowth: what half of the rows say of all is what all say of themselves.
func TestGrowth(t *testing.T) {
	of := func(n string) *report.Growth {
		c := document[report.Curve](t, "curve --loss square --noise 1 --gamma 0.05 --no-points "+
			"synthetic:friedman1,seed=1,n="+n)
		if c.Growth == nil || c.Results[0].Refined.Points != nil || c.Results[4].Scheme != "subsample" {
			t.Fatalf("%+v", c)
		}
		return c.Growth
	}
	half, all := of("300"), of("600")
	if off := math.Abs(float64(half.Then - all.Now)); half.Rows != 600 || off > 2*float64(half.FallSE) ||
		half.Fall < 3*half.FallSE {
		t.Errorf("half of the rows expect %v +- %v with all, which have %v", half.Then, half.FallSE, all.Now)
	}
	sample := of("600 --sample 300")
	if off := math.Abs(float64(sample.Then - all.Now)); sample.Rows != 600 || off > 3*float64(half.FallSE) {
		t.Errorf("a sample expects %v with all rows, which have %v", sample.Then, all.Now)
	}
	if text := must(t, "curve sonar --no-points"); !strings.Contains(text, "\ntwice the rows ") {
		t.Errorf("no answer: %s", text)
	}
	if c := document[report.Curve](t, "curve sonar --ratio 0.5,0.7,0.9 --refine 20"); c.Growth != nil ||
		c.Results[0].Scheme != "poisson" {
		t.Errorf("--ratio gives another curve: %+v", c.Growth)
	}
}

func TestPredict(t *testing.T) {
	line := on("predict --test synthetic:friedman1,n=7,seed=2")
	d := document[report.Answer](t, line, "--level 0.5 --interval estimator")
	p := d.Points
	if d.Command != "predict" || len(p.Mean) != 7 || len(p.Target.Numbers) != 7 {
		t.Fatalf("document %+v", d)
	}
	mean := 0.0
	for i := range p.Mean {
		// Half of a normal law lies within 0.67448975 standard deviations.
		if reach := (p.Upper[i] - p.Lower[i]) / 2; math.Abs(reach-0.67448975*p.SD[i]) > 1e-7*p.SD[i] {
			t.Errorf("half width %v at standard deviation %v", reach, p.SD[i])
		}
		off := p.Mean[i] - p.Target.Numbers[i]
		mean += (off*off + p.Variance[i]) / 7
	}
	if math.Abs(mean-float64(*d.TestError)) > 1e-12*mean || float64(*d.BaggedError) >= mean {
		t.Errorf("test error %v, want %v; bagged %v", *d.TestError, mean, *d.BaggedError)
	}
	csv := must(t, line, "--csv -")
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 8 ||
		lines[0] != "row,prediction,lower,upper,sd,support,target,error" {
		t.Errorf("CSV: %q", csv)
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	line := on("compare --sizes 30,60 --resamples 20 --out", dir)
	rows := document[[]report.CompareRow](t, line)
	if len(rows) != 2 || rows[0].N != 30 || rows[1].N != 60 || rows[0].Loss != "square" {
		t.Fatalf("rows %+v", rows)
	}
	for _, r := range rows {
		if want := r.TheoryS / r.ResampleFitS; math.Abs(r.FitsEquivalent-want) > 1e-9*want {
			t.Errorf("%v fits, want %v", r.FitsEquivalent, want)
		}
	}
	for _, name := range []string{"result.json", "report.html", "compare.csv", "compare-friedman1-time.csv",
		"compare-friedman1-time.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("temporary files stay: %v", left)
	}
	text := must(t, line)
	if strings.Count(text, "\nfriedman1 ") != 4 || strings.Count(text, "converged") != 2 {
		t.Errorf("rows are missing in %s", text)
	}
}

func TestDatasetsAndInfo(t *testing.T) {
	d := document[report.Datasets](t, "datasets")
	if len(d.Sets) < 5 || d.Sets[0].Name != "boston" || d.Sets[0].N != 506 || d.Sets[0].Preset == "" ||
		len(d.Synthetic) < 3 {
		t.Errorf("listing %+v", d)
	}
	m := document[report.System](t, "info --backend gonum --threads 1")
	if m.Backend != "gonum" || m.Threads != 1 || m.Go == "" || m.Warnings == nil || len(m.Backends) == 0 {
		t.Errorf("machine %+v", m)
	}
	if text := must(t, "--version"); text != "bootbench "+report.Version()+"\n" {
		t.Errorf("version %q", text)
	}
	if o := drive(t, ""); o.status != exitDone || !strings.Contains(o.stdout, "Usage:") {
		t.Errorf("without arguments: %+v", o)
	}
}

func TestNotConverged(t *testing.T) {
	o := drive(t, "", on("estimate --max-sweeps 1 --json -"))
	d := parse[report.Answer](t, o.stdout)
	if o.status != exitNotConverged || d.Status != "sweep limit" || !(d.Residual > 1e-6) {
		t.Errorf("status %d, document %+v", o.status, d)
	}
	if len(d.Warnings) != 1 || !strings.Contains(o.stderr, "not converged") {
		t.Errorf("warnings %v, standard error %q", d.Warnings, o.stderr)
	}
	if o := drive(t, "", on("estimate --max-sweeps 1 --quiet")); o.stderr != "" ||
		!strings.Contains(o.stdout, "sweep limit") {
		t.Errorf("quiet: %+v", o)
	}
	if o := drive(t, "", on("compare --max-sweeps 1 --resamples 3 --quiet")); o.status != exitNotConverged {
		t.Errorf("compare: status %d", o.status)
	}
}

// stopper is standard output that ends a context once it has seen a text.
type stopper struct {
	bytes.Buffer
	text string
	stop func()
}

func (s *stopper) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	if strings.Contains(s.String(), s.text) {
		s.stop()
	}
	return n, err
}

// TestInterrupt: what was finished is kept, and the status is 130.
func TestInterrupt(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"estimate", "curve", "retrain", "compare",
		"predict --test synthetic:friedman1,n=3"} {
		if o := driveWith(ended, "", words(on(command))...); o.status != exitInterrupted {
			t.Errorf("%s: status %d, %q", command, o.status, o.stderr)
		}
	}
	path := filepath.Join(t.TempDir(), "kept.json")
	interrupt := func(text, line string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stderr bytes.Buffer
		if status := run(ctx, words(line, "--json", path), strings.NewReader(""),
			&stopper{text: text, stop: cancel}, &stderr); status != exitInterrupted {
			t.Errorf("%v: status %d, %q", line, status, stderr.String())
		}
	}
	read := func() string {
		text := testutil.Must(os.ReadFile(path))(t)
		return string(text)
	}
	interrupt("converged", on("curve --ratio 0.5:2:50"))
	if c := parse[report.Curve](t, read()); len(c.Results) != 1 || c.Status != "cancelled" {
		t.Errorf("%d ratios kept, status %s", len(c.Results), c.Status)
	}
	// The row's line begins with the name; the head of the table does not hold it.
	interrupt("\nfriedman1 ", on("compare --sizes 20,30,40 --resamples 3"))
	if rows := parse[[]report.CompareRow](t, read()); len(rows) != 1 || rows[0].N != 20 {
		t.Errorf("rows kept: %+v", rows)
	}
	interrupt("\nfriedman1 ", "compare --sizes 20 --resamples 3") // the comparison without DATA
	if rows := parse[[]report.CompareRow](t, read()); len(rows) != 1 || rows[0].N != 20 {
		t.Errorf("rows kept: %+v", rows)
	}
	ctx, stop := context.WithCancel(t.Context())
	var stdout bytes.Buffer
	a := newApp(ctx, words(on("retrain --resamples 100000000 --json -")), strings.NewReader(""), &stdout,
		io.Discard)
	a.console.Watch = func(done, total int) {
		if total == 100000000 && done == 3 {
			stop()
		}
	}
	status := a.run()
	if d := parse[report.Answer](t, stdout.String()); status != exitInterrupted ||
		d.Status != "cancelled" || d.Resamples < 3 {
		t.Errorf("status %d, document %+v", status, d)
	}
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

// TestHelp: every flag says what it means if it is not given.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		check := func(f *pflag.Flag) {
			told := strings.Contains(f.Usage, "default") || strings.Contains(f.Usage, "required")
			shown := f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false"
			if !told && !shown && f.Name != "help" && f.Name != "version" {
				t.Errorf("%s --%s does not tell its default: %s", c.Name(), f.Name, f.Usage)
			}
		}
		c.LocalFlags().VisitAll(check)
		if o := drive(t, "", c.Name(), "--help"); c.Runnable() && c.HasParent() &&
			(o.status != exitDone || !strings.Contains(o.stdout, "Examples:")) {
			t.Errorf("%s --help: %+v", c.Name(), o)
		}
	}
}
