package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"

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
	if room, err := strconv.ParseUint(os.Getenv(childAddressSpace), 10, 64); err == nil {
		limit := addressSpace(t) + room
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			t.Fatal(err)
		}
	}
	os.Args = append([]string{"bootbench"}, args...)
	main()
}
