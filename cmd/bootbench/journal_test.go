package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// timed are the keys of a document that the clock decides, and of the command line that it was asked for by.
var timed = strings.Fields(`time memory command_line fit_s theory_s resample_fit_s naive_fit_s retrain_s
	fits_equivalent speedup_equal_accuracy peak_bytes refresh_gflops dgemm_gflops refined_s theory_over_fit
	theory_over_merged_fit naive_fits_equivalent theory_over_libsvm libsvm_fit_s fits50_s fits200_s
	baseline baseline_engine baseline_s`)

// timeless is a document without what the clock decides.
func timeless(t testing.TB, text string) any {
	t.Helper()
	v := parse[any](t, text)
	strip(v, timed)
	return v
}

// strip removes keys from all objects of a document.
func strip(v any, keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for _, inner := range v {
			strip(inner, keys)
		}
	case []any:
		for _, inner := range v {
			strip(inner, keys)
		}
	}
}

// answers is the document of a run that has to succeed, without what the clock decides.
func answers(t testing.TB, parts ...string) any {
	t.Helper()
	return timeless(t, must(t, append(parts, "--quiet --json -")...))
}

// records are the lines of a journal.
func records(t testing.TB, dir string) [][]byte {
	t.Helper()
	return bytes.SplitAfter(testutil.Must(os.ReadFile(filepath.Join(dir, "journal")))(t), []byte("\n"))
}

// TestJournals: a run that was killed after any of its tasks goes on to the answer of one that was not, and
// so do shards in any order, one of them twice: the same in every digit, for every kind of target.
func TestJournals(t *testing.T) {
	const blobs = "synthetic:blobs,d=3,seed=5,n=30"
	words := goldenTables(t, nil)
	for i, c := range []struct {
		line  string
		tasks int
	}{
		{on("retrain --resamples 300 --seed 4 --method batch"), 3},
		{on("retrain --resamples 300 --method single"), 3},
		{on("retrain --resamples 150 --scheme kfold --folds 4"), 2},
		{"retrain CLASSES HINGE --resamples 130", 6},
		{"estimate CLASSES HINGE --refine 130 --multiclass ovo", 6},
		{"estimate TARGETS SQUARE --refine 130", 4},
		{"estimate --loss hinge --C 1 --refine 270 " + blobs, 3},
		{"estimate --kernel auto --refine 130 " + blobs, 2},
		{"predict --loss logistic --C 1 --refine 150 --test synthetic:blobs,n=20,d=3 " + blobs, 2},
		{"tune synthetic:blobs,n=30 --refine 130", 4},
		{on("cv --folds 5 --repeats 8"), 3},
		{"cv CLASSES HINGE --folds 3 --repeats 6", 6},
		{"cv synthetic:blobs,n=30 --nested --folds 3 --repeats 6", 2},
		{on("curve --ratio 0.3:3:7 --refine 20"), 7},
		{"grid --loss hinge --over gamma=0.1,0.2 --over C=0.1,1 " + blobs, 4},
		{"compare --loss square --noise 1 --sizes 20,10 --resamples 5 synthetic:friedman1,n=20", 2},
	} {
		if testing.Short() && i%3 > 0 {
			continue // the run without -short has it
		}
		line, tasks := goldenLine(words, c.line), c.tasks
		t.Run(line, func(t *testing.T) {
			want := answers(t, line)
			same := func(what string, parts ...string) {
				t.Helper()
				if !reflect.DeepEqual(answers(t, parts...), want) {
					t.Errorf("%s: another answer", what)
				}
			}
			dir := t.TempDir()
			same("with a journal", line, "--journal", dir)
			lines := records(t, dir)
			if kept := len(lines) - 3; kept != tasks { // first line, head, nothing after the last line end
				t.Fatalf("%d tasks are kept, not %d", kept, tasks)
			}
			for kept := range tasks + 1 {
				if testing.Short() && kept != tasks/2 {
					continue // the run without -short has it
				}
				text := slices.Concat(lines[:2+kept]...)
				if kept < tasks {
					text = append(text, lines[2+kept][:len(lines[2+kept])/2]...)
				}
				if err := os.WriteFile(filepath.Join(dir, "journal"), text, 0o644); err != nil {
					t.Fatal(err)
				}
				same(fmt.Sprintf("killed after %d tasks", kept), line, "--journal", dir)
			}
			same("merged", "merge", dir)
			one, other := t.TempDir(), t.TempDir()
			must(t, line, "--quiet --shard 2/3 --journal", one)
			if o := drive(t, "", "merge", one); o.status != exitFailed || !strings.Contains(o.stderr,
				" tasks are missing: ") || !strings.Contains(o.stderr, "run again: shards 0") ||
				o.stdout != "" {
				t.Errorf("shards missing: %+v", o)
			}
			for range 2 {
				if text := must(t, line, "--quiet --shard 0/3 --journal", one); !strings.Contains(text,
					"shard 0 of 3") {
					t.Errorf("a shard says %q", text)
				}
			}
			must(t, line, "--quiet --shard 1/3 --journal", other)
			same("merged from shards", "merge", other, one)
		})
	}
}

// TestInterrupted: a run that is interrupted answers with what was finished, and goes on to
// the answer of one that was not; a shard keeps what it has.
func TestInterrupted(t *testing.T) {
	line := on("retrain --method single --resamples 400 --quiet --json -")
	want := answers(t, line)
	for _, shard := range []string{"", "--shard 0/2"} {
		dir := t.TempDir()
		o := interrupted(t, 200, 400, line, shard, "--journal", dir)
		if shard == "" {
			r := timeless(t, o.stdout).(map[string]any)
			if n := r["resamples"].(float64); n < 200 || n >= 400 || r["status"] != "cancelled" {
				t.Errorf("%v resamples, %v", n, r["status"])
			}
		} else {
			if o.stdout != "" || !strings.Contains(o.stderr, "1 tasks were finished and are kept in "+dir) {
				t.Errorf("%+v", o)
			}
			must(t, line, "--shard 1/2 --journal", dir)
			must(t, line, shard, "--journal", dir)
		}
		if !reflect.DeepEqual(answers(t, line, "--journal", dir), want) {
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
	line := on("retrain --resamples 20000 --quiet --json - --no-points")
	c := child(t, line, "--journal", dir)
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
	if !reflect.DeepEqual(answers(t, line, "--journal", dir), answers(t, line)) {
		t.Error("killed and taken up again, it ends at another answer")
	}
}

// TestFullDisk: a journal that cannot be written costs no answer, and one warning; a shard,
// whose answer the journal is, fails.
func TestFullDisk(t *testing.T) {
	line := on("retrain --resamples 300")
	want := answers(t, line)
	for _, shard := range []string{"", "--shard 0/1", "--shard 0/2"} {
		c := child(t, line, shard, "--json - --journal", t.TempDir())
		c.Env = append(c.Env, childFileSize+"=2000")
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		c.Run()
		sharded := shard == "--shard 0/2"
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
	const line = "retrain d.csv --loss square --noise 1 --resamples 150 --quiet"
	alone := answers(t, line)
	must(t, line, "--shard 0/2 --journal kept")
	must(t, line, "--shard 1/2 --journal kept")
	t.Chdir(away)
	kept := filepath.Join(home, "kept")
	if merged := answers(t, "merge", kept); !reflect.DeepEqual(merged, alone) {
		t.Errorf("merged %v\nalone %v", merged, alone)
	}
	must(t, "merge", kept, "--quiet --out answer")
	if _, err := os.Stat(filepath.Join(away, "answer", "report.html")); err != nil {
		t.Error(err)
	}
	lines("8")
	refused(t, "d.csv is not what it was", "merge", kept)
	t.Chdir(home)
	refused(t, "d.csv is not what it was", line, "--journal", kept)
}

// TestCraftedJournals: whatever a journal says, merge writes nothing that it was not asked
// to, runs nothing but what can be split, and says what is wrong, with status 2.
func TestCraftedJournals(t *testing.T) {
	victim := write(t, "victim", "mine")
	crafted := func(command string, settings ...string) journal.Head {
		return journal.Head{Version: report.Version(), Command: command, Data: []string{"crabs"},
			Settings: settings,
			Folder:   "/", Shards: 1}
	}
	older := crafted("curve")
	older.Version = "older"
	nothing, input := crafted("curve"), crafted("curve")
	nothing.Data, input.Data = nil, []string{"-"}
	for says, head := range map[string]journal.Head{
		`"merge", which is no command that can be split`: crafted("merge"),
		`"train", which is no command`:                   crafted("train", "model="+victim),
		`setting "csv", which no journal can have`:       crafted("predict", "csv="+victim),
		`setting "cpuprofile"`:                           crafted("curve", "cpuprofile="+victim),
		`setting "json"`:                                 crafted("retrain", "json="+victim),
		`setting "trace"`:                                crafted("curve", "trace="+victim),
		`setting "journal"`:                              crafted("curve", "journal="+victim),
		`setting "out"`:                                  crafted("grid", "out="+filepath.Dir(victim)),
		`setting "nosuch"`:                               crafted("grid", "nosuch=1"),
		"takes a whole number":                           crafted("retrain", "resamples=many"),
		"takes one DATA":                                 nothing,
		"standard input cannot be read again":            input,
		"of version older of the program":                older,
	} {
		dir := t.TempDir()
		testutil.Must(journal.Open(dir, head, 0, func(...string) {}))(t).Close()
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

// child starts the program in a separate process.
func child(t testing.TB, parts ...string) *exec.Cmd {
	t.Helper()
	text := testutil.Must(json.Marshal(words(parts...)))(t)
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childArgs+"="+string(text))
	return c
}

// childArgs is the environment variable that makes this test binary the program.
const childArgs = "BOOTBENCH_TEST_ARGS"

// childFileSize is the environment variable that bounds the files of TestChild.
const childFileSize = "BOOTBENCH_TEST_FILE_SIZE"

// TestChild is the program in a separate process, for tests that end it.
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
	// only then the pipe can be opened to write, so
	for reads := false; !reads; time.Sleep(time.Millisecond) {
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

// TestMergedTime: the time of fits of a merge has the time that each shard has recorded for its tasks.
func TestMergedTime(t *testing.T) {
	dir, recorded := t.TempDir(), 0.0
	line := on("retrain --resamples 300 --method single")
	for shard := range 2 {
		must(t, line, "--quiet --journal", dir, "--shard", fmt.Sprintf("%d/2", shard))
		text := testutil.Must(os.ReadFile(filepath.Join(dir, fmt.Sprintf("journal-%d-of-2", shard))))(t)
		for _, found := range regexp.MustCompile(`"Seconds":([\d.e-]+)`).FindAllSubmatch(text, -1) {
			recorded += testutil.Must(strconv.ParseFloat(string(found[1]), 64))(t)
		}
	}
	merged := decoded[report.Answer](t, "merge "+dir)
	if recorded == 0 || merged.Time.Fits < recorded {
		t.Errorf("the shards took %v s for their fits, the merge says %v", recorded, merged.Time.Fits)
	}
}

// TestLog: with --log json each line on standard error is an object, also warnings and errors; progress tells
// how far it is, and the last one what the run took.
func TestLog(t *testing.T) {
	type record struct {
		Level, Msg, Phase string
		Done, Total, Rows int
		Status            *int
		Memory            int64   `json:"memory_bytes"`
		Wall              float64 `json:"wall_seconds"`
		Peak              int64   `json:"peak_bytes"`
	}
	for line, levels := range map[string]string{
		on("retrain --resamples 20"): "INFO",
		"estimate " + write(t, "few.csv", "a,b\n"+strings.Repeat("1,2\n3,4\n5,5\n", 2)): "WARN",
		"estimate nothing.csv": "ERROR",
	} {
		o := drive(t, "", line, "--log json")
		var all []record
		for text := range strings.Lines(o.stderr) {
			all = append(all, parse[record](t, text))
		}
		if len(all) < 2 || !slices.ContainsFunc(all, func(r record) bool { return r.Level == levels }) {
			t.Fatalf("%s: %s", line, o.stderr)
		}
		first, last := all[0], all[len(all)-1]
		if first.Msg != "progress" || first.Phase == "" || first.Total == 0 || first.Memory == 0 ||
			last.Msg != "end" || last.Status == nil || *last.Status != o.status || last.Wall <= 0 ||
			last.Peak == 0 || (last.Rows == 0) != (levels == "ERROR") {
			t.Errorf("%s: %s", line, o.stderr)
		}
	}
}

// TestInterruptAnywhere: wherever a run's context ends, the run says that it was interrupted, and never names
// the context.
func TestInterruptAnywhere(t *testing.T) {
	const labels = "synthetic:blobs,n=60,d=3 --loss hinge --C 1 --length-scale 2"
	tables := goldenTables(t, nil)
	for i, line := range []string{
		on("estimate"), on("rows --engine lowrank --rank-tol 1e-3"), on("estimate --refine 20"),
		on("curve --ratio 0.5:2:3"), on("retrain --resamples 20"),
		on("cv --permutations 3"), on("rows"), on("columns"), on("grid --over gamma=0.01,0.1"),
		on("predict --test synthetic:friedman1,n=3"), on("compare --sizes 20 --resamples 3"),
		"estimate synthetic:blobs,n=60,d=3", "tune synthetic:friedman1,n=60",
		"loo " + labels + " --method all",
		"estimate " + labels, "cv " + labels, "train " + labels + " --model " + t.TempDir() + "/model.json",
		"estimate CLASSES HINGE --refine 20", "retrain CLASSES HINGE --resamples 20", "loo CLASSES HINGE",
		"cv CLASSES HINGE --multiclass ovo --permutations 3", "estimate TARGETS SQUARE --refine 20",
		"retrain TARGETS SQUARE --resamples 20", "predict TARGETS SQUARE --test NEW", "rows TARGETS SQUARE",
	} {
		if testing.Short() && i%4 > 0 {
			continue // the run without -short has it
		}
		line = goldenLine(tables, line)
		const endless = 1 << 40
		whole := testutil.EndAfter(endless)
		if o := driveWith(whole, "", words(line)...); o.status != exitDone {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
			continue
		}
		all := endless - whole.Left()
		places := []int{1, all / 2, all - 3}
		if !testing.Short() {
			places = append(places, 0, all/4, all*3/4)
		}
		for _, looks := range places {
			o := driveWith(testutil.EndAfter(looks), "", words(line)...)
			if said := o.stdout + o.stderr; o.status != exitInterrupted ||
				strings.Contains(said, "context canceled") || !strings.Contains(o.stderr, "interrupted") {
				t.Errorf("%s, after %d of %d looks: status %d, %s", line, looks, all, o.status, said)
			}
		}
	}
}

// TestInterruptedLeavingOut: the answer says that it is partial, and how many examples it is of, without
// warnings, too.
func TestInterruptedLeavingOut(t *testing.T) {
	for _, method := range []string{"exact", "all"} {
		for _, quiet := range []string{"", "--quiet"} {
			line := "loo synthetic:blobs,n=400,d=3 --loss hinge --C 1 --length-scale 2 --method " + method
			if text := interrupted(t, 3, 400, line, quiet).stdout; !strings.Contains(text,
				"status          cancelled\n") || !strings.Contains(text, " of 400 rows") {
				t.Errorf("%s", text)
			}
			d := parse[report.Answer](t, interrupted(t, 3, 400, line, quiet, "--json -").stdout)
			if d.Status != "cancelled" || d.Retrained < 3 || d.Retrained > 100 {
				t.Errorf("%s, %d retrained", d.Status, d.Retrained)
			}
		}
	}
}

// TestGiveUp: an interrupted run ends at the limit of its step, unless some of its answer is finished.
func TestGiveUp(t *testing.T) {
	limit := make(chan time.Time)
	close(limit)
	for _, c := range []struct {
		line        string
		done, total int // progress at the limit; total 0: the end
		ends        bool
	}{
		{on("estimate"), 0, 1, true},
		{on("retrain --resamples 7"), 0, 1, true},
		{on("retrain --resamples 7"), 1, 7, false},
		{on("tune --over noise"), 0, 1, true},
		{"datasets", 0, 0, false},
	} {
		var said bytes.Buffer
		reached, status := false, 0
		a := newApp(t.Context(), words(c.line), strings.NewReader(""), io.Discard, &said)
		limited := func(done, total int) {
			if !reached && done == c.done && total == c.total {
				reached = true
				giveUp(a, limit, func(s int) { status = s })
			}
		}
		a.console.Watch = limited
		a.run()
		limited(0, 0)
		if !reached || (status == exitInterrupted) != c.ends || c.ends != strings.Contains(said.String(),
			"bootbench: interrupted before anything was finished\n") {
			t.Errorf("%s at %d of %d: reached %v, status %d, %s", c.line, c.done, c.total, reached, status,
				said.String())
		}
	}
}
