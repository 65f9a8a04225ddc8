package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootbench/cmd/bootbench/internal/files"
)

// child starts the program in a process of its own.
func child(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childArgs+"="+string(text))
	return c
}

// TestInterruptedInAStep: a signal ends the program with status 130 where nothing asks for
// it: opening a pipe that nobody writes to.
func TestInterruptedInAStep(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := child(t, "estimate", pipe)
			var said strings.Builder
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond) // it opens the pipe
			c.Process.Signal(signal)
			hung := time.AfterFunc(time.Minute, func() { c.Process.Kill() })
			c.Wait()
			hung.Stop()
			if c.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said.String(), "interrupted") {
				t.Errorf("%v: %q", c.ProcessState, said.String())
			}
		})
	}
}

// TestKilledAtRandom: killed at any moment, once or several times, the same command line goes
// on to the same answer, bit for bit, and leaves nothing beside its files.
func TestKilledAtRandom(t *testing.T) {
	kills := 2
	if soaking() {
		kills = 100
	} else if testing.Short() {
		t.Skip("starts processes")
	}
	args := func(dir string) []string {
		return []string{"curve", "synthetic:blobs,n=150,d=4,seed=5", "--loss", "hinge", "--C", "10", "--ratio", "0.5,1,2,4", "--engine", "exact", "--refine", "none", "--quiet",
			"--json", filepath.Join(dir, "answer"), "--checkpoint", filepath.Join(dir, "checkpoint"), "--resume"}
	}
	whole := t.TempDir()
	began := time.Now()
	if err := child(t, args(whole)...).Run(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	want := answerFile(t, filepath.Join(whole, "answer"))
	rng := rand.New(rand.NewPCG(9, 9))
	dir := t.TempDir()
	for range kills {
		c := child(t, args(dir)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(took))))
		c.Process.Kill()
		c.Wait()
		if answer := answerFile(t, filepath.Join(dir, "answer")); answer != nil && !sameAnswer(answer, want) {
			t.Fatalf("killed, it leaves another answer")
		}
		if rng.IntN(3) > 0 {
			continue // killed again on its way
		}
		if err := child(t, args(dir)...).Run(); err != nil {
			t.Fatal(err)
		}
		if !sameAnswer(answerFile(t, filepath.Join(dir, "answer")), want) {
			t.Fatal("taken up again, it ends at another answer")
		}
		dir = t.TempDir()
	}
}

// TestCheckpointInUse: a run on the checkpoint of another is refused before it touches it,
// and takes it up once the other is gone, by whatever end.
func TestCheckpointInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	release, err := files.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	args := keeps(path)
	if o := drive(t, "", args...); o.status != exitUsage || !strings.Contains(o.stderr, "is in use by another run") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
	release()
	for range 2 {
		if o := drive(t, "", args...); o.status != exitDone {
			t.Errorf("status %d, %q", o.status, o.stderr)
		}
	}
	alone(t, path)
}
