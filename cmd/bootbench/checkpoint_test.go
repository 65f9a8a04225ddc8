package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootbench/cmd/bootbench/internal/checkpoint"
	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/need"
)

// keeps is a command line on a set whose solve takes a dozen sweeps.
func keeps(path string, more ...string) []string {
	return slices.Concat([]string{"estimate", "synthetic:blobs,n=120,d=4,seed=5", "--loss", "hinge", "--C", "10",
		"--refine", "none", "--checkpoint", path, "--json", "-"}, more)
}

// answerOf is a document without what differs from run to run: times, memory, and
// what getting there took.
func answerOf(t testing.TB, text string) map[string]any {
	t.Helper()
	d := document[map[string]any](t, text)
	strip := func(d map[string]any) {
		for _, name := range []string{"time", "memory", "sweeps", "refreshes", "residual"} {
			delete(d, name)
		}
	}
	strip(d)
	if results, ok := d["results"].([]any); ok {
		for _, r := range results {
			strip(r.(map[string]any))
		}
	}
	return d
}

// sameText fails unless two documents hold the same answer to the last bit.
func sameText(t testing.TB, a, b string) {
	t.Helper()
	x, err1 := json.Marshal(answerOf(t, a))
	y, err2 := json.Marshal(answerOf(t, b))
	if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
		t.Errorf("the answers differ:\n%.600s\n%.600s", x, y)
	}
}

// alone fails if there is anything in a file's folder but the file.
func alone(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("%v, %v are left beside %s", entries, err, path)
	}
}

// wholeCheckpoint reads a checkpoint that must be whole.
func wholeCheckpoint(t testing.TB, path string) (d checkpoint.Document) {
	t.Helper()
	content := need.One(os.ReadFile(path))(t)
	body := need.One(files.Seal{Kind: "checkpoint", Schema: 2}.Open(content))(t)
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// driveUntil runs a command line and interrupts it when the checkpoint is written
// for the n-th time. With n = 0 it fails every writing with err.
func driveUntil(t testing.TB, n int, err error, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout, stderr bytes.Buffer
	a := newApp(ctx, args, strings.NewReader(""), &stdout, &stderr)
	writes := 0
	a.checkpoint.options.Eager = true
	a.checkpoint.options.Replace = func(path string, content []byte) error {
		if writes++; writes == n {
			cancel()
		}
		if err != nil || writes < n { // what was written before does not matter
			return err
		}
		return files.ReplaceDurably(path, content)
	}
	return outcome{a.run(), stdout.String(), stderr.String()}
}

// TestResumeEstimate: interrupted and taken up again, estimate and predict answer as
// if nothing had been; a finished one answers at once; a command that starts afresh
// says so.
func TestResumeEstimate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solve.checkpoint")
	whole := drive(t, "", keeps(path)...)
	if whole.status != exitDone || whole.stderr != "" {
		t.Fatalf("%+v", whole)
	}
	alone(t, path)
	total := wholeCheckpoint(t, path).State.Stats.Sweeps
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	o := driveUntil(t, 1, nil, keeps(path, "--resume")...)
	if o.status != exitInterrupted || !strings.Contains(o.stderr, "there is no "+path+" yet: starting afresh") {
		t.Fatalf("status %d, %q", o.status, o.stderr)
	}
	alone(t, path)
	half := wholeCheckpoint(t, path).State
	if half.Stats.Sweeps < 1 || half.Stats.Sweeps >= total {
		t.Fatalf("interrupted at sweep %d of %d", half.Stats.Sweeps, total)
	}
	for range 2 { // in mid-solve, then finished
		o = drive(t, "", keeps(path, "--resume")...)
		if o.status != exitDone || !strings.Contains(o.stderr, "going on from "+path+": sweep ") {
			t.Fatalf("status %d, %q", o.status, o.stderr)
		}
		sameText(t, o.stdout, whole.stdout)
	}
	if sweeps := wholeCheckpoint(t, path).State.Stats.Sweeps; sweeps > total+2 {
		t.Errorf("%d sweeps, resumed twice, undisturbed %d", sweeps, total)
	}
	if o = drive(t, "", keeps(path, "--quiet", "--resume", "--tol", "1e-8")...); o.status != exitDone ||
		o.stderr != "" {
		t.Errorf("another tolerance: %d, %q", o.status, o.stderr)
	}
	// predict takes up what estimate has solved.
	predict := append([]string{"predict"}, keeps(path, "--test", "synthetic:blobs,n=20,d=4,seed=6",
		"--quiet")[1:]...)
	o = drive(t, "", append(predict, "--resume")...)
	afresh := drive(t, "", append([]string{"predict"}, keeps(filepath.Join(t.TempDir(), "other"), "--test",
		"synthetic:blobs,n=20,d=4,seed=6", "--tol", "1e-8")[1:]...)...)
	if o.status != exitDone || afresh.status != exitDone {
		t.Fatalf("%+v, %+v", o, afresh)
	}
	sameText(t, o.stdout, afresh.stdout)
	alone(t, path)
}

// TestResumeCurve: wherever a curve is interrupted, taken up again it ends in the
// same document, and solves no ratio twice.
func TestResumeCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	for name, model := range map[string][]string{
		"square": small, "hinge": {"synthetic:blobs,n=60,d=4,seed=5", "--loss", "hinge", "--C", "10"},
	} {
		path := filepath.Join(t.TempDir(), "curve.checkpoint")
		args := slices.Concat([]string{"curve"}, model, []string{"--refine", "none", "--ratio", "0.5,1,2,4",
			"--json", "-", "--checkpoint", path})
		whole := drive(t, "", args...)
		if whole.status != exitDone {
			t.Fatalf("%+v", whole)
		}
		for writes := 1; ; writes += 5 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			o := driveUntil(t, writes, nil, args...)
			if o.status == exitDone {
				if writes < 4*4 {
					t.Errorf("%s: the checkpoint is written less than %d times in four solves", name, writes)
				}
				break
			}
			if o.status != exitInterrupted {
				t.Fatalf("status %d, %q", o.status, o.stderr)
			}
			finished := len(wholeCheckpoint(t, path).Results)
			trace := filepath.Join(t.TempDir(), "trace")
			o = drive(t, "", append(args, "--resume", "--trace", trace)...)
			if o.status != exitDone {
				t.Fatalf("status %d, %q", o.status, o.stderr)
			}
			sameText(t, o.stdout, whole.stdout)
			text, err := os.ReadFile(trace)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			for i, ratio := range []string{"0.5", "1", "2", "4"} {
				if solved := strings.Contains(string(text), fmt.Sprintf("ratio %s, %d of 4", ratio,
					i+1)); solved != (i >= finished) {
					t.Errorf("%s: %d ratios were finished; ratio %s is solved: %v", name, finished, ratio, solved)
				}
			}
			alone(t, path)
		}
	}
}

// TestCheckpointRefusals: what does not fit is refused before any work, with the
// reason, and the file is left as it is.
func TestCheckpointRefusals(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "solve.checkpoint")
	estimate := on("estimate", "--checkpoint", path)
	if o := drive(t, "", estimate...); o.status != exitDone {
		t.Fatal(o.stderr)
	}
	before := need.One(os.ReadFile(path))(t)
	file := func(name string, content []byte) string {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(folder, name)
	}
	damaged := slices.Clone(before)
	damaged[len(damaged)/2] ^= 1
	set := func(flags ...string) []string { return slices.Concat(estimate, []string{"--resume"}, flags) }
	for _, c := range []struct {
		args []string
		says string
	}{
		{on("estimate", "--resume"), "--resume needs --checkpoint FILE"},
		{on("estimate", "--checkpoint", filepath.Join(folder, "no", "file")), "no such file"},
		{on("estimate", "--checkpoint", folder), "is a directory"},
		{on("estimate", "--checkpoint", "/dev/null"), "is no regular file"},
		{on("estimate", "--checkpoint", file("mine.csv", []byte("a,y\n1,2\n"))),
			"is no checkpoint of bootbench, and is not replaced"},
		{on("estimate", "--resume", "--checkpoint", file("text", []byte("a,y\n1,2\n"))),
			"text is no checkpoint of bootbench"},
		{on("estimate", "--resume", "--checkpoint", file("short", before[:len(before)-7])), "short is cut short"},
		{on("estimate", "--resume", "--checkpoint", file("damaged", damaged)),
			"damaged is damaged: its checksum does not fit"},
		{on("estimate", "--resume", "--checkpoint", file("later", bytes.Replace(before, []byte("checkpoint 2"),
			[]byte("checkpoint 7"), 1))), "later is of version 7"},
		{slices.Concat([]string{"estimate", "synthetic:friedman1,n=61"}, small[1:], []string{"--checkpoint", path,
			"--resume"}), "is of other data: synthetic:friedman1,n=60"},
		{slices.Concat([]string{"estimate", "synthetic:friedman1,n=60,seed=2"}, small[1:],
			[]string{"--checkpoint", path, "--resume"}), "is of other data: synthetic:friedman1,n=60"},
		{set("--noise", "2"), "--noise is 2, was 1"},
		{set("--ratio", "2"), "--ratio is 2, was 1"},
		{set("--scheme", "multinomial"), "--scheme is multinomial, was poisson"},
		{set("--scheme", "kfold"),
			"--scheme is kfold, was poisson; --folds is 10, was not set; --ratio is not set, was 1"},
		{set("--gamma", "0.3"), "--gamma is 0.3, was 0.05"},
		{set("--length-scale", "2"), "--gamma is 0, was 0.05; --length-scale is 2, was empty"},
		{set("--kernel", "matern32"), "--kernel is matern32, was rbf"},
		{set("--kernel", "poly", "--coef0", "1"), "--degree is 3, was 0; --coef0 is 1, was 0"},
		{set("--amplitude", "2"), "--amplitude is 2, was 25"},
		{set("--constant", "2"), "--constant is 2, was 200"},
		{set("--jitter", "0.1"), "--jitter is 0.1, was 0"},
		{set("--no-standardize"), "--no-standardize is true, was false"},
		{set("--engine", "lowrank"), "--engine is lowrank, was auto"},
		{set("--rank-tol", "0.01"), "--rank-tol is 0.01, was 0"},
		{set("--max-rank", "7"), "--max-rank is 7, was 0"},
		{set("--method", "start"), "--method is start, was adatap"},
		{slices.Concat([]string{"estimate", small[0], "--loss", "eps", "--C", "3", "--amplitude", "25",
			"--constant", "200", "--checkpoint", path, "--resume"}),
			"--loss is eps, was square; --C is 3, was not set; --epsilon is 0.1, was not set; --noise is not set, was 1"},
		{on("curve", "--checkpoint", path, "--resume"), "command is curve, was estimate or predict"},
		{on("curve", "--checkpoint", path, "--shard", "0/2", "--out", t.TempDir()),
			"--checkpoint: parts of a study"},
	} {
		o := drive(t, "", c.args...)
		if o.status != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, c.says) ||
			strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", c.args, o.status, o.stderr, c.says)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%v changes the file: %v", c.args, err)
		}
	}
	curve := on("curve", "--ratio", "1,2", "--checkpoint", filepath.Join(folder, "curve"))
	if o := drive(t, "", curve...); o.status != exitDone {
		t.Fatal(o.stderr)
	}
	for says, flags := range map[string][]string{
		"--ratio is 1 3, was 1 2":       {"--ratio", "1,3"},
		"--tol is 1e-07, was 1e-06":     {"--tol", "1e-7"},
		"--max-sweeps is 9, was 1000":   {"--max-sweeps", "9"},
		"--test-loss is absolute, was":  {"--test-loss", "absolute"},
		"--level is 0.9, was 0.95":      {"--level", "0.9"},
		"--no-points is true, was fals": {"--no-points"},
	} {
		if o := drive(t, "", slices.Concat(curve, []string{"--resume"}, flags)...); o.status != exitUsage ||
			!strings.Contains(o.stderr, says) {
			t.Errorf("%v: status %d, %q, want %q", flags, o.status, o.stderr, says)
		}
	}
}

// TestCheckpointNotWritten: a full disk, or a folder that has gone, costs the
// checkpoint and not the answer, and both the user and the document are told.
func TestCheckpointNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solve.checkpoint")
	plain := drive(t, "", keeps(path)...)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	full := driveUntil(t, 0, syscall.ENOSPC, keeps(path)...)
	curve := driveUntil(t, 0, syscall.ENOSPC, on("curve", "--ratio", "1,2", "--checkpoint", path, "--json",
		"-")...)
	for _, o := range []outcome{full, curve} {
		if o.status != exitDone || !strings.HasPrefix(o.stderr,
			"bootbench: warning: --checkpoint: no space left on device; the solve goes on\n") {
			t.Errorf("status %d, %q", o.status, o.stderr)
		}
		if !strings.Contains(o.stdout, "could not be kept: no space left on device") {
			t.Errorf("no warning in %.300q", o.stdout)
		}
	}
	a, b := document[estimateDocument](t, full.stdout), document[estimateDocument](t, plain.stdout)
	if *a.TestError != *b.TestError || !slices.Equal(a.Points.Variance, b.Points.Variance) {
		t.Error("another answer")
	}
	gone := filepath.Join(t.TempDir(), "gone", "file")
	if err := files.ReplaceDurably(gone, []byte("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	// Where the last step fails, nothing is left of the others.
	folder := t.TempDir()
	target := filepath.Join(folder, "solve.checkpoint")
	if err := os.MkdirAll(filepath.Join(target, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := files.ReplaceDurably(target, []byte("x")); err == nil {
		t.Error("a folder is replaced by a file")
	}
	alone(t, target)
}

// TestCheckpointLeftovers: what a run that was killed while writing has left is gone
// after the next.
func TestCheckpointLeftovers(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "solve.checkpoint")
	left := filepath.Join(folder, ".solve.checkpoint-123.partial")
	other := filepath.Join(folder, ".another.checkpoint-123.partial")
	for _, name := range []string{left, other} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o := drive(t, "", on("estimate", "--checkpoint", path)...); o.status != exitDone {
		t.Fatal(o.stderr)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", left, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// childFileSize is the environment variable that bounds the files of TestChild.
const childFileSize = "BOOTBENCH_TEST_FILE_SIZE"

// childArgs is the environment variable that makes this test binary the program.
const childArgs = "BOOTBENCH_TEST_ARGS"

// TestChild is the program in a process of its own, for tests that end it.
func TestChild(t *testing.T) {
	var args []string
	if json.Unmarshal([]byte(os.Getenv(childArgs)), &args) != nil {
		t.Skip("for other tests")
	}
	if size, err := strconv.ParseUint(os.Getenv(childFileSize), 10, 64); err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(1, &syscall.Rlimit{Cur: size, Max: size}); err != nil { // RLIMIT_FSIZE
			t.Fatal(err)
		}
	}
	if room, err := strconv.ParseUint(os.Getenv(childAddressSpace), 10, 64); err == nil {
		limit := addressSpace(t) + room
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv(childHalts) != "" {
		haltAtSecond()
	}
	os.Args = append([]string{"bootbench"}, args...)
	main()
}

// childHalts is the environment variable that has TestChild wait for a SIGTERM before it writes its
// checkpoint a second time.
const childHalts = "BOOTBENCH_TEST_HALTS"

// haltAtSecond makes the second file that is created wait for a SIGTERM.
func haltAtSecond() {
	stopped, created := make(chan os.Signal, 1), 0
	signal.Notify(stopped, syscall.SIGTERM)
	files.InjectFaults(func(step, _ string) error {
		if step == "create" {
			if created++; created == 2 {
				<-stopped
				time.Sleep(50 * time.Millisecond) // the program hears of it, too
			}
		}
		return nil
	})
}

// TestKilled: a process that is killed in mid-solve leaves a whole checkpoint, from
// which another ends at the same answer, bit for bit; so does one that a scheduler
// stops, with status 130.
func TestKilled(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		path := filepath.Join(t.TempDir(), "solve.checkpoint")
		args := []string{"estimate", "synthetic:blobs,n=200,d=4,seed=5", "--loss", "hinge", "--C", "10", "--engine",
			"exact", "--refine", "none", "--json", "-", "--quiet", "--checkpoint", path}
		child := child(t, args...)
		child.Env = append(child.Env, childHalts+"=1")
		ended := begun(t, child, func() bool {
			_, err := os.Stat(path)
			return err == nil
		})
		if err := child.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		<-ended
		if end == syscall.SIGTERM && child.ProcessState.ExitCode() != exitInterrupted {
			t.Errorf("stopped: %v", child.ProcessState)
		}
		state := wholeCheckpoint(t, path).State
		resumed := drive(t, "", append(args, "--resume")...)
		alone(t, path)
		whole := drive(t, "", args...)
		if resumed.status != exitDone || whole.status != exitDone {
			t.Fatalf("%+v, %+v", resumed, whole)
		}
		a, b := document[estimateDocument](t, resumed.stdout), document[estimateDocument](t, whole.stdout)
		if state.Stats.Sweeps >= b.Sweeps {
			t.Errorf("signal %v came after the end, at sweep %d of %d", end, state.Stats.Sweeps, b.Sweeps)
		}
		if a.Sweeps > b.Sweeps+1 {
			t.Errorf("%d sweeps in two parts, %d undisturbed", a.Sweeps, b.Sweeps)
		}
		sameText(t, resumed.stdout, whole.stdout)
	}
}
