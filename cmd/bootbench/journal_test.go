package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/internal/need"
)

// timeless is a document without what the clock decides, and the command line that it was asked for by.
func timeless(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range []string{"time", "memory", "command_line", "fit_s", "theory_s", "resample_fit_s",
				"naive_fit_s", "retrain_s", "fits_equivalent", "speedup_equal_accuracy", "peak_bytes", "refresh_gflops",
				"dgemm_gflops", "refined_s", "refined_speedup"} {
				delete(v, name)
			}
			for _, inner := range v {
				strip(inner)
			}
		case []any:
			for _, inner := range v {
				strip(inner)
			}
		}
	}
	strip(v)
	return v
}

// journaled are command lines whose tasks a journal keeps, and how many they have.
func journaled(t testing.TB) map[string]struct {
	args  []string
	tasks int
} {
	t.Helper()
	line := func(text string, more ...string) []string { return append(strings.Fields(text), more...) }
	return map[string]struct {
		args  []string
		tasks int
	}{
		"retrain":  {on("retrain", "--resamples", "300", "--seed", "4", "--method", "batch"), 3},
		"single":   {on("retrain", "--resamples", "300", "--method", "single"), 3},
		"kfold":    {on("retrain", "--resamples", "150", "--scheme", "kfold", "--folds", "4"), 2},
		"estimate": {line("estimate synthetic:blobs,n=50,d=3,seed=5 --loss hinge --C 1 --refine 270"), 3},
		"flagless": {line("estimate synthetic:blobs,n=50,d=3,seed=5 --refine 130"), 2},
		"predict": {line("predict synthetic:blobs,n=50,d=3,seed=5 --loss logistic --refine 150 --test",
			"synthetic:blobs,n=20,d=3,seed=6"), 2},
		"curve": {on("curve", "--ratio", "0.3:3:7", "--refine", "20"), 7},
		"grid":  {line("grid synthetic:blobs,n=50,d=3,seed=5 --loss hinge --over C=0.1,1 --over gamma=0.1,0.2"), 4},
		"compare": {line("compare synthetic:blobs,n=40,d=3,seed=5 --loss hinge --C 1 --sizes 20,40 --resamples 20"),
			2},
	}
}

// records are the lines of a journal.
func records(t testing.TB, dir string) [][]byte {
	t.Helper()
	return bytes.SplitAfter(need.One(os.ReadFile(filepath.Join(dir, "journal")))(t), []byte("\n"))
}

// TestJournals: a run that was killed after any of its tasks goes on to the answer of one
// that was not, and so do shards in any order, one of them twice: the same in every digit.
func TestJournals(t *testing.T) {
	for name, c := range journaled(t) {
		t.Run(name, func(t *testing.T) {
			run := func(more ...string) string {
				return must(t, slices.Concat(c.args, more, []string{"--quiet"})...)
			}
			want := timeless(t, run("--json", "-"))
			same := func(what, text string) {
				t.Helper()
				if !reflect.DeepEqual(timeless(t, text), want) {
					t.Errorf("%s: another answer", what)
				}
			}
			dir := t.TempDir()
			same("with a journal", run("--journal", dir, "--json", "-"))
			lines := records(t, dir)
			if tasks := len(lines) - 3; tasks != c.tasks { // first line, head, nothing after the last line end
				t.Fatalf("%d tasks are kept, not %d", tasks, c.tasks)
			}
			for kept := range c.tasks + 1 {
				text := slices.Concat(lines[:2+kept]...)
				if kept < c.tasks {
					text = append(text, lines[2+kept][:len(lines[2+kept])/2]...)
				}
				if err := os.WriteFile(filepath.Join(dir, "journal"), text, 0o644); err != nil {
					t.Fatal(err)
				}
				same(fmt.Sprintf("killed after %d tasks", kept), run("--journal", dir, "--json", "-"))
			}
			same("merged", must(t, "merge", dir, "--quiet", "--json", "-"))
			one, other := t.TempDir(), t.TempDir()
			run("--shard", "2/3", "--journal", one)
			if o := drive(t, "", "merge", one); o.status != exitFailed || !strings.Contains(o.stderr,
				" tasks are missing: ") || !strings.Contains(o.stderr, "run again: shards 0") || o.stdout != "" {
				t.Errorf("shards missing: %+v", o)
			}
			run("--shard", "0/3", "--journal", one)
			if text := run("--shard", "0/3", "--journal", one); !strings.Contains(text, "shard 0 of 3") {
				t.Errorf("a shard says %q", text)
			}
			run("--shard", "1/3", "--journal", other)
			same("merged from shards", must(t, "merge", other, one, "--quiet", "--json", "-"))
		})
	}
}

// TestTuneJournal: a search that was killed after any of its parts goes on to the choice of one
// that was not, in every digit.
func TestTuneJournal(t *testing.T) {
	args := strings.Fields("tune synthetic:friedman1,n=280 --quiet --json -")
	dir := t.TempDir()
	want := timeless(t, must(t, args...))
	args = append(args, "--journal", dir)
	must(t, args...)
	lines := records(t, dir)
	if len(lines) != 3+4 { // of two grids and descents: one length scale, one for each feature
		t.Fatalf("%d lines", len(lines))
	}
	for kept := range 5 {
		if err := os.WriteFile(filepath.Join(dir, "journal"), slices.Concat(lines[:2+kept]...), 0o644); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(timeless(t, must(t, args...)), want) {
			t.Errorf("killed after %d parts, it ends at another choice", kept)
		}
	}
	refused(t, "no command that can be split", "merge", dir)
}

// TestInterrupted: a run that is interrupted answers with what was finished, and goes on to
// the answer of one that was not; a shard keeps what it has.
func TestInterrupted(t *testing.T) {
	args := on("retrain", "--method", "single", "--resamples", "400", "--quiet", "--json", "-")
	want := timeless(t, must(t, args...))
	for _, shard := range [][]string{nil, {"--shard", "0/2"}} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var out, said bytes.Buffer
		a := newApp(ctx, slices.Concat(args, shard, []string{"--journal", dir}), strings.NewReader(""), &out, &said)
		a.console.Watch = func(done, total int) {
			if done == 200 && total == 400 {
				cancel()
			}
		}
		if status := a.run(); status != exitInterrupted {
			t.Fatalf("status %d, %s", status, said.String())
		}
		if shard == nil {
			r := timeless(t, out.String()).(map[string]any)
			if n := r["resamples"].(float64); n < 200 || n >= 400 || r["status"] != "cancelled" {
				t.Errorf("%v resamples, %v", n, r["status"])
			}
		} else if !strings.Contains(said.String(), "1 tasks were finished and are kept in "+dir) || out.Len() > 0 {
			t.Errorf("%q, %q", said.String(), out.String())
		}
		if shard != nil {
			must(t, slices.Concat(args, []string{"--shard", "1/2", "--journal", dir})...)
			must(t, slices.Concat(args, shard, []string{"--journal", dir})...)
		}
		if !reflect.DeepEqual(timeless(t, must(t, append(args, "--journal", dir)...)), want) {
			t.Errorf("%v: taken up again, it ends at another answer", shard)
		}
	}
}

// TestKilled: a process that is killed while it works leaves a journal from which another
// ends at the same answer.
func TestKilled(t *testing.T) {
	if testing.Short() && !soaking() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	alone := on("retrain", "--resamples", "20000", "--quiet", "--json", "-", "--no-points")
	args := append(slices.Clone(alone), "--journal", dir)
	c := child(t, args...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for grown := false; !grown; time.Sleep(time.Millisecond) {
		info, err := os.Stat(filepath.Join(dir, "journal"))
		grown = err == nil && info.Size() > 200000
	}
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if !reflect.DeepEqual(timeless(t, must(t, args...)), timeless(t, must(t, alone...))) {
		t.Error("killed and taken up again, it ends at another answer")
	}
}

// TestFullDisk: a journal that cannot be written costs no answer, and one warning; a shard,
// whose answer the journal is, fails.
func TestFullDisk(t *testing.T) {
	args := on("retrain", "--resamples", "300")
	want := timeless(t, must(t, append(args, "--quiet", "--json", "-")...))
	for _, shard := range [][]string{nil, {"--shard", "0/1"}, {"--shard", "0/2"}} {
		dir := t.TempDir()
		c := child(t, slices.Concat(args, shard, []string{"--journal", dir, "--json", "-"})...)
		c.Env = append(c.Env, childFileSize+"=2000")
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		c.Run()
		sharded := len(shard) > 0 && shard[1] == "0/2"
		switch status := c.ProcessState.ExitCode(); {
		case strings.Count(said.String(), "warning: --journal: ") != 1:
			t.Errorf("%v: %q", shard, said.String())
		case sharded && (status != exitFailed || !strings.Contains(said.String(), "could not be kept")):
			t.Errorf("%v: status %d, %q", shard, status, said.String())
		case !sharded && (status != exitDone || !reflect.DeepEqual(timeless(t, out.String()), want)):
			t.Errorf("%v: status %d, %q", shard, status, said.String())
		}
	}
}

// TestJournalFolders: merge runs from another folder than the command, whose DATA has a
// relative path; data that have changed since are refused.
func TestJournalFolders(t *testing.T) {
	home, away := t.TempDir(), t.TempDir()
	lines := func(last string) {
		t.Helper()
		text := "x,y\n1,2\n2,3\n3,5\n4,4\n5," + last + "\n"
		if err := os.WriteFile(filepath.Join(home, "d.csv"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines("7")
	t.Chdir(home)
	args := strings.Fields("retrain d.csv --loss square --noise 1 --resamples 150 --quiet")
	alone := timeless(t, must(t, append(args, "--json", "-")...))
	must(t, append(args, "--shard", "0/2", "--journal", "kept")...)
	must(t, append(args, "--shard", "1/2", "--journal", "kept")...)
	t.Chdir(away)
	kept := filepath.Join(home, "kept")
	if merged := timeless(t, must(t, "merge", kept, "--quiet", "--json", "-")); !reflect.DeepEqual(merged,
		alone) {
		t.Errorf("merged %v\nalone %v", merged, alone)
	}
	must(t, "merge", kept, "--quiet", "--out", "answer")
	if _, err := os.Stat(filepath.Join(away, "answer", "report.html")); err != nil {
		t.Error(err)
	}
	lines("8")
	for _, args := range [][]string{{"merge", kept}, append(args, "--journal", kept)} {
		if args[0] != "merge" {
			t.Chdir(home)
		}
		refused(t, "d.csv is not what it was", args...)
	}
}

// TestJournalRefusals: what cannot be kept or split is refused in words that help.
func TestJournalRefusals(t *testing.T) {
	dir := t.TempDir()
	must(t, on("retrain", "--resamples", "5", "--quiet", "--journal", dir)...)
	if o := drive(t, "", on("retrain", "--resamples", "6", "--journal", dir)...); o.status != exitUsage ||
		!strings.Contains(o.stderr, "of another command line: bootbench retrain") || o.stdout != "" {
		t.Errorf("%+v", o)
	}
	if text := must(t, "retrain", "--resamples", "20", "--no-points", "--journal", t.TempDir(), "--",
		"crabs"); text == "" {
		t.Error("no answer")
	}
}

// TestCraftedJournals: whatever a journal says, merge writes nothing that it was not told
// to, runs nothing but what can be split, and says what is wrong, with status 2.
func TestCraftedJournals(t *testing.T) {
	victim := write(t, "victim", "mine")
	crafted := func(command string, settings ...string) journal.Head {
		return journal.Head{Version: version(), Command: command, Data: []string{"crabs"}, Settings: settings,
			Folder: "/", Shards: 1}
	}
	set := func(name, value string) string { return name + "=" + value }
	older := crafted("curve")
	older.Version = "older"
	nothing, input := crafted("curve"), crafted("curve")
	nothing.Data, input.Data = nil, []string{"-"}
	for says, head := range map[string]journal.Head{
		`"merge", which is no command that can be split`: crafted("merge"),
		`"train", which is no command`:                   crafted("train", set("model", victim)),
		`setting "csv", which no journal can have`:       crafted("predict", set("csv", victim)),
		`setting "cpuprofile"`:                           crafted("curve", set("cpuprofile", victim)),
		`setting "json"`:                                 crafted("retrain", set("json", victim)),
		`setting "trace"`:                                crafted("curve", set("trace", victim)),
		`setting "journal"`:                              crafted("curve", set("journal", victim)),
		`setting "out"`:                                  crafted("grid", set("out", filepath.Dir(victim))),
		`setting "nosuch"`:                               crafted("grid", set("nosuch", "1")),
		"takes a whole number":                           crafted("retrain", set("resamples", "many")),
		"takes one DATA":                                 nothing,
		"standard input cannot be read again":            input,
		"of version older of the program":                older,
	} {
		dir := t.TempDir()
		need.One(journal.Open(dir, head, 0, func(...string) {}))(t).Close()
		o := drive(t, "", "merge", dir)
		if o.status != exitUsage || o.stdout != "" || !strings.Contains(o.stderr, says) ||
			strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", says, o)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file outside holds %q, %v", text, err)
	}
}

// TestRecordedSettings: no flag that a journal records names a file to write.
func TestRecordedSettings(t *testing.T) {
	for _, cmd := range commands() {
		if cmd.Flags().Lookup("shard") == nil {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			recorded := isRecorded(f.Name)
			if writes := strings.HasPrefix(f.Usage, "write "); recorded && writes {
				t.Errorf("%s --%s writes a file, and is recorded", cmd.Name(), f.Name)
			}
		})
	}
}

// child starts the program in a process of its own.
func child(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	text := need.One(json.Marshal(args))(t)
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childArgs+"="+string(text))
	return c
}

// childArgs is the environment variable that makes this test binary the program.
const childArgs = "BOOTBENCH_TEST_ARGS"

// childFileSize is the environment variable that bounds the files of TestChild.
const childFileSize = "BOOTBENCH_TEST_FILE_SIZE"

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
	os.Args = append([]string{"bootbench"}, args...)
	main()
}

// TestSecondInterrupt: where a run is in a step that cannot be stopped, here reading a pipe that
// nobody writes to, the first interrupt waits for the step and the second ends the program.
func TestSecondInterrupt(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	c := child(t, "estimate", pipe)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var silent *os.File
	for reads := false; !reads; time.Sleep(time.Millisecond) { // only then the pipe can be opened to write, so
		var err error
		silent, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		reads = err == nil
	}
	defer silent.Close()
	for signals := 0; ; signals++ {
		select {
		case <-ended:
			if signals < 2 {
				t.Errorf("%v after %d signals", c.ProcessState, signals)
			}
			return
		case <-time.After(100 * time.Millisecond):
			if signals == 50 {
				t.Fatal("it goes on for ever")
			}
			c.Process.Signal(syscall.SIGTERM)
		}
	}
}
