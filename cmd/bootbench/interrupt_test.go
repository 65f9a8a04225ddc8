package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/internal/need"
	"bootbench/linalg"
)

// child starts the program in a process of its own.
func child(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	text := need.One(json.Marshal(args))(t)
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), childArgs+"="+string(text))
	return c
}

// begun starts a command and waits until it has come to some point.
func begun(t testing.TB, c *exec.Cmd, point func() bool) (ended <-chan error) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- c.Wait() }()
	for !point() {
		select {
		case <-end:
			t.Fatalf("%v, before it was where it is waited for", c.ProcessState)
		case <-time.After(time.Millisecond):
		}
	}
	return end
}

// TestInterruptedInAStep: a signal ends the program with status 130 where nothing asks for
// it: reading a pipe that nobody writes to.
func TestInterruptedInAStep(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			pipe := filepath.Join(t.TempDir(), "pipe.csv")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip(err)
			}
			c := child(t, "estimate", pipe)
			var said strings.Builder
			c.Stderr = &said
			var silent *os.File
			ended := begun(t, c, func() (reads bool) { // only then the pipe can be opened to write, so
				var err error
				silent, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
				return err == nil
			})
			defer silent.Close()
			c.Process.Signal(signal)
			<-ended
			if c.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said.String(), "interrupted") {
				t.Errorf("%v: %q", c.ProcessState, said.String())
			}
		})
	}
}

// TestInterruptedInTime: wherever a signal finds a run, it has ended two seconds later, with what was
// finished, or with status 130. The runs are those whose steps are longest: dense factorisations, quadrature
// at thousands of sites, low-rank products, fits that take seconds.
func TestInterruptedInTime(t *testing.T) {
	if !soaking() {
		t.Skip("measures times")
	}
	const bound = 2 * time.Second
	for _, line := range []string{
		"estimate synthetic:friedman1,n=1500 --loss student --dof 4 --scale 1 --gamma 0.05",
		"estimate synthetic:blobs,n=2500,d=5 --loss logit --gamma 0.1",
		"estimate synthetic:friedman1,n=20000 --loss square --noise 1 --gamma 0.02 --engine lowrank",
		"estimate synthetic:blobs,n=20000,d=5 --loss hinge --C 1 --gamma 0.05 --engine lowrank",
		"estimate synthetic:friedman1,n=9000 --loss square --noise 1 --gamma 0.1 --engine exact",
		"curve synthetic:friedman1,n=4000 --loss eps --C 1 --gamma 0.1 --engine exact --ratio 0.5,1,2",
		"estimate synthetic:blobs,n=3000,d=5 --loss hinge --C 10 --gamma 0.1 --engine exact --refine 2000",
		"retrain synthetic:blobs,n=2500,d=5 --loss logit --gamma 0.1 --method single",
		"retrain synthetic:friedman1,n=6000 --loss square --noise 1 --gamma 0.1 --method single",
		"predict synthetic:friedman1,n=2000 --test synthetic:friedman1,n=40000,seed=2 --loss square --noise 1 --gamma 0.1",
		"tune synthetic:friedman1,n=1500",
		"loo synthetic:blobs,n=3000,d=5 --loss hinge --C 10 --gamma 0.1 --method exact",
		"grid synthetic:friedman1,n=3000 --loss square --over gamma=0.01:1:4 --noise 1",
		"compare synthetic:friedman1,n=4000 --loss square --noise 1",
		"train synthetic:blobs,n=6000,d=5 --loss logistic --C 100 --gamma 0.1 --model MODEL",
	} {
		for _, after := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second,
			8 * time.Second} {
			args := strings.Fields(strings.Replace(line, "MODEL", filepath.Join(t.TempDir(), "model"), 1))
			c := child(t, append(args, "--quiet")...)
			var said strings.Builder
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			c.Process.Signal(syscall.SIGTERM)
			sent := time.Now()
			c.Wait()
			took := time.Since(sent)
			code := c.ProcessState.ExitCode()
			t.Logf("%5.2f s, status %d, %v after the start: %s", took.Seconds(), code, after, line)
			if took > bound || code != exitInterrupted && (code != exitDone && code != exitNotConverged ||
				took > 100*time.Millisecond) {
				t.Errorf("%s, interrupted after %v: status %d after %v, %s", line, after, code, took, said.String())
			}
			if code != exitInterrupted {
				break // it had ended
			}
		}
	}
}

// TestStepLeftToItself: a step that does not end after an interrupt is left, one that ends in time
// gives its answer, and a panic in one is that of the run.
func TestStepLeftToItself(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := newApp(ctx, nil, strings.NewReader(""), io.Discard, io.Discard)
	failed, stuck := errors.New("failed"), make(chan struct{})
	defer close(stuck)
	if err := a.step(func() error { return failed }); err != failed {
		t.Error(err)
	}
	func() {
		defer func() {
			if fault, ok := recover().(*linalg.Fault); !ok || fault.Value != "inside" {
				t.Errorf("%v", fault)
			}
		}()
		a.step(func() error { panic("inside") })
	}()
	ended := func() error {
		cancel()
		time.Sleep(10 * time.Millisecond) // that it is waited for
		return failed
	}
	if err := a.stepWithin(time.Hour, ended); err != failed {
		t.Errorf("a step that ends in time: %v", err)
	}
	if err := a.stepWithin(0, func() error { <-stuck; return nil }); err != context.Canceled {
		t.Error(err)
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
		return []string{"curve", "synthetic:blobs,n=150,d=4,seed=5", "--loss", "hinge", "--C", "10", "--ratio",
			"0.5,1,2,4", "--engine", "exact", "--refine", "none", "--quiet",
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
	release := need.One(files.Hold(path))(t)
	args := keeps(path)
	if o := drive(t, "", args...); o.status != exitUsage ||
		!strings.Contains(o.stderr, "is in use by another run") {
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
