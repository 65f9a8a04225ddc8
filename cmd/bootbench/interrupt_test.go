package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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
