//go:build mpi && openblas

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootbench/internal/testutil"
)

// The program under mpirun: scripts/mpi-test.sh builds it and says where it is. Ranks that hang are killed
// after minutes, which no load of a machine explains.
func onTwoRanks(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := os.Getenv("BOOTBENCH_MPI")
	if program == "" {
		t.Skip("BOOTBENCH_MPI names no program")
	}
	for i, arg := range args {
		if arg == "bootbench" {
			args[i] = program
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, "mpirun", append([]string{"--allow-run-as-root", "--oversubscribe",
		"--quiet"}, args...)...)
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	var exit *exec.ExitError
	if failed := cmd.Run(); failed != nil && !errors.As(failed, &exit) {
		t.Fatal(failed)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

// Two ranks print one document, and its numbers are the exact engine's.
func TestScaLAPACKAnswersAsExact(t *testing.T) {
	for _, data := range []string{"boston", "sonar"} {
		var documents []map[string]any
		for _, cmd := range []*exec.Cmd{
			onTwoRanks(t, "-np", "2", "bootbench", "estimate", data, "--engine", "scalapack", "--tol",
				"1e-10",
				"--json", "-"),
			exec.Command(os.Getenv("BOOTBENCH_MPI"), "estimate", data, "--engine=scalapack", "--tol", "1e-10",
				"--json", "-"),
			exec.Command(os.Getenv("BOOTBENCH_MPI"), "estimate", data, "--engine", "exact", "--tol", "1e-10",
				"--json",
				"-"),
		} {
			stdout, stderr, status := finish(t, cmd)
			var document map[string]any
			if err := json.Unmarshal([]byte(stdout), &document); err != nil || status != 0 {
				t.Fatalf("%s: %v, status %d\n%s", data, err, status, stderr)
			}
			documents = append(documents, document)
		}
		for _, document := range documents[:2] {
			if document["engine"] != "scalapack" {
				t.Errorf("%s: engine %v", data, document["engine"])
			}
			for _, field := range []string{"test_error", "apparent_error", "err632plus"} {
				got, want := document[field].(float64), documents[2][field].(float64)
				if math.Abs(got-want) > 1e-8*want {
					t.Errorf("%s: %s is %v, want %v", data, field, got, want)
				}
			}
		}
	}
}

// What rank 0 finds wrong is said once, and ends all.
func TestScaLAPACKFaults(t *testing.T) {
	for says, c := range map[string]struct {
		args   []string
		status int
	}{
		"--tol is 7":      {[]string{"boston", "--tol", "7"}, exitUsage},
		"nosuch: neither": {[]string{"nosuch"}, exitUsage},
		"not converged":   {[]string{"boston", "--max-sweeps", "1"}, exitNotConverged},
	} {
		args := append([]string{"-np", "2", "bootbench", "estimate", "--engine", "scalapack", "--no-points"},
			c.args...)
		_, stderr, status := finish(t, onTwoRanks(t, args...))
		if status != c.status || strings.Count(stderr, says) != 1 {
			t.Errorf("status %d, want %d, and %q once in:\n%s", status, c.status, says, stderr)
		}
	}
}

// slow is thousands of solves, each of which leaves a line in a journal.
func slow(t *testing.T) (cmd *exec.Cmd, file string) {
	dir := t.TempDir()
	return onTwoRanks(t, "-np", "2", "bootbench", "curve", "synthetic:friedman1,n=300,seed=1", "--loss",
		"square", "--noise", "1", "--amplitude", "25", "--constant", "200",
		"--ratio", "0.1:10:4000", "--refine", "none", "--engine", "scalapack", "--no-points", "--json", "-",
		"--journal", dir), filepath.Join(dir, "journal")
}

// someSolves is the bytes of a journal of some of them.
const someSolves = 10000

// begin starts a command and waits until a file has more than so many bytes; it returns the
// processes of the ranks.
func begin(t *testing.T, cmd *exec.Cmd, file string, bytes int64) (ranks []int) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for info, err := os.Stat(file); err != nil || info.Size() <= bytes; info, err = os.Stat(file) {
		if !runs(cmd.Process.Pid) {
			t.Fatalf("it has ended: %v", cmd.Wait())
		}
		time.Sleep(10 * time.Millisecond)
	}
	children := testutil.Must(os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid,
		cmd.Process.Pid)))(t)
	for _, field := range strings.Fields(string(children)) {
		pid := testutil.Must(strconv.Atoi(field))(t)
		ranks = append(ranks, pid)
	}
	if len(ranks) != 2 {
		t.Fatalf("%d ranks", len(ranks))
	}
	return ranks
}

// runs reports whether a process is more than an entry that nobody has read yet.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A signal to rank 0 ends the solve, with what there is.
func TestScaLAPACKIsInterrupted(t *testing.T) {
	cmd, trace := slow(t)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	ranks := begin(t, cmd, trace, someSolves)
	if err := syscall.Kill(ranks[0], syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != exitInterrupted || !strings.Contains(stdout.String(),
		"cancelled") {
		t.Errorf("status %d\n%s", status, stdout.String())
	}
}
