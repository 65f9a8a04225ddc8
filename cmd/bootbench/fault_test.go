package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
)

// errInjected is what an injected failure says.
var errInjected = errors.New("no space left on this device, says the test")

// writesAll are command lines that write every kind of file, with the names of those that
// hold an answer.
func writesAll(dir string) map[string][]string {
	in := func(name string) string { return filepath.Join(dir, name) }
	solve := []string{"synthetic:blobs,n=40,d=3,seed=5", "--loss", "hinge", "--C", "10", "--quiet"}
	return map[string][]string{
		"estimate": slices.Concat([]string{"estimate"}, solve, []string{"--refine", "none", "--checkpoint",
			in("checkpoint"), "--resume", "--json", in("answer"), "--out", in("out")}),
		"predict": slices.Concat([]string{"predict"}, solve, []string{"--refine", "none", "--test", solve[0],
			"--csv", in("csv"), "--json", in("answer")}),
		"retrain": slices.Concat([]string{"retrain"}, solve, []string{"--resamples", "4", "--replicates",
			in("replicates"), "--json", in("answer")}),
		"curve": slices.Concat([]string{"curve"}, solve, []string{"--refine", "none", "--ratio", "1,2",
			"--checkpoint", in("checkpoint"), "--json", in("answer")}),
		"part": slices.Concat([]string{"retrain"}, solve, []string{"--resamples", "4", "--out", in("study"),
			"--shard", "0/1", "--json", in("answer")}),
	}
}

// answerFile is the answer that a run has written, without what differs from run to run;
// nil where there is none.
func answerFile(t testing.TB, path string) any {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return withoutTimes(document[map[string]any](t, string(content)))
}

// withoutTimes leaves out what differs from run to run, and warnings of what could not be kept.
func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"time", "memory", "fit_s", "sweeps", "refreshes", "residual", "warnings",
			"command_line"} {
			delete(v, name)
		}
		for name := range v {
			v[name] = withoutTimes(v[name])
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}

func sameAnswer(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// TestFileFaults: whichever step on a file fails, creating, writing, fsync, closing, renaming,
// linking or reading, each call site in turn as in SQLite's tests: a run says so with status 1
// or 2 on one line, or, of a checkpoint or a link, goes on to the same answer. An answer that is there is
// the whole one, nothing partial is left, and the same command line then gives the answer.
func TestFileFaults(t *testing.T) {
	commands := writesAll("")
	names := slices.Sorted(maps.Keys(commands))
	if testing.Short() {
		names = []string{"predict", "retrain"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			if o := drive(t, "", writesAll(whole)[name]...); o.status != exitDone {
				t.Fatalf("%+v", o)
			}
			want := answerFile(t, filepath.Join(whole, "answer"))
			step := int64(1)
			if !soaking() && (name == "estimate" || name == "part") { // which write figures
				step = 9
			}
			for at := int64(1); ; at += step {
				dir := t.TempDir()
				args := writesAll(dir)[name]
				var steps atomic.Int64
				failed := ""
				restore := files.InjectFaults(func(step, path string) error {
					if steps.Add(1) != at {
						return nil
					}
					failed = step + " of " + filepath.Base(path)
					return errInjected
				})
				o := drive(t, "", args...)
				restore()
				if failed == "" {
					t.Logf("%d steps", at-1)
					break
				}
				answer := answerFile(t, filepath.Join(dir, "answer"))
				switch {
				case o.status == exitDone && !sameAnswer(answer, want):
					t.Errorf("%s fails: status 0 with another answer", failed)
				case o.status == exitDone && !strings.Contains(failed, "checkpoint") &&
					!strings.HasPrefix(failed, "link"):
					t.Errorf("%s fails: status 0", failed)
				case o.status != exitDone && (o.status != exitFailed && o.status != exitUsage ||
					!strings.Contains(o.stderr, errInjected.Error()) || strings.Count(o.stderr, "\n") != 1):
					t.Errorf("%s fails: %+v", failed, o)
				case answer != nil && !sameAnswer(answer, want):
					t.Errorf("%s fails: half an answer is there", failed)
				}
				filepath.Walk(dir, func(path string, _ os.FileInfo, _ error) error {
					if strings.HasSuffix(path, ".partial") {
						t.Errorf("%s fails: %s is left", failed, path)
					}
					return nil
				})
				if o := drive(t, "", args...); o.status != exitDone ||
					!sameAnswer(answerFile(t, filepath.Join(dir, "answer")), want) {
					t.Errorf("after %s failed: %+v", failed, o)
				}
			}
		})
	}
}

// TestFactorisationFaults: whichever factorisation fails, each in turn: the run ends with a
// status that says so, or finds another way to the same answer, within the tolerance of the
// solve.
func TestFactorisationFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	losses := map[string][]string{
		"square":   {"synthetic:friedman1,n=30", "--loss", "square", "--noise", "1"},
		"hinge":    {"synthetic:blobs,n=30,d=3,seed=5", "--loss", "hinge", "--C", "10"},
		"hard":     {"synthetic:blobs,n=30,d=3,seed=5", "--loss", "hard"},
		"logistic": {"synthetic:blobs,n=30,d=3,seed=5", "--loss", "logistic"},
		"eps":      {"synthetic:friedman1,n=30", "--loss", "eps"},
		"probit":   {"synthetic:blobs,n=20,d=3,seed=5", "--loss", "probit"},
		"lowrank":  {"synthetic:friedman1,n=30", "--loss", "square", "--noise", "1", "--engine", "lowrank"},
	}
	names := slices.Sorted(maps.Keys(losses))
	if testing.Short() {
		names = []string{"lowrank", "square"}
	}
	for _, name := range names {
		for _, command := range []string{"estimate", "retrain"} {
			args := slices.Concat([]string{command}, losses[name], []string{"--quiet", "--json", "-", "--threads",
				"1"})
			if command == "retrain" {
				if name == "lowrank" {
					continue
				}
				args = append(args, "--resamples", "3")
			}
			t.Run(command+"/"+name, func(t *testing.T) {
				whole := drive(t, "", args...)
				want := document[estimateDocument](t, whole.stdout).TestError
				most, step := int64(math.MaxInt64), int64(1)
				if !soaking() {
					most, step = 120, 7
				}
				for at := int64(1); at <= most; at += step {
					fails, made := blas.FailAt(at)
					restore := blas.BindFailing(fails)
					o := drive(t, "", args...)
					restore()
					if made() < at {
						break
					}
					if wrong := wrongWith(o); wrong != "" {
						t.Errorf("factorisation %d of %s fails: status %d, %s", at, name, o.status, wrong)
					}
					if o.status != exitDone {
						continue
					}
					if got := document[estimateDocument](t, o.stdout).TestError; got == nil ||
						math.Abs(*got-*want) > 1e-3*math.Abs(*want) {
						t.Errorf("factorisation %d of %s fails: status 0 with %v, not %v", at, name, deref(got), *want)
					}
				}
			})
		}
	}
}

func deref(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// TestDiskFull: where files cannot grow beyond some size, by RLIMIT_FSIZE, a run fails with
// one line, or its checkpoint does and the answer is the same; nothing partial is left.
func TestDiskFull(t *testing.T) {
	if testing.Short() && !soaking() {
		t.Skip("starts processes")
	}
	var before syscall.Rlimit
	const limitFileSize = 1 // RLIMIT_FSIZE
	if err := syscall.Getrlimit(limitFileSize, &before); err != nil {
		t.Skip(err)
	}
	for _, size := range []uint64{0, 100, 5000, 20000} {
		dir := t.TempDir()
		for _, name := range []string{"estimate", "retrain", "part"} {
			c := child(t, writesAll(dir)[name]...)
			c.Env = append(c.Env, fmt.Sprintf("%s=%d", childFileSize, size))
			var said strings.Builder
			c.Stderr = &said
			c.Run()
			status := c.ProcessState.ExitCode()
			if status != exitFailed && status != exitUsage && !(status == exitDone && size > 0) ||
				status != exitDone && strings.Count(said.String(), "\n") != 1 {
				t.Errorf("%s with files of %d bytes: %v, %q", name, size, c.ProcessState, said.String())
			}
			for _, file := range filesIn(dir) {
				if strings.HasSuffix(file, ".partial") {
					t.Errorf("%s with files of %d bytes: %s is left", name, size, file)
				}
			}
		}
	}
}

// filesIn lists the files of a folder and those below.
func filesIn(dir string) (files []string) {
	filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	return files
}
