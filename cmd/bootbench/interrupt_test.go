package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"bootbench/internal/need"
)

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
