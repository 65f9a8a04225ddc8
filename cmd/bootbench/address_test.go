package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// childAddressSpace is the environment variable that bounds the address space of TestChild, to so much
// more than it has.
const childAddressSpace = "BOOTBENCH_TEST_ADDRESS_SPACE"

// addressSpace is what this process has taken, in bytes.
func addressSpace(t testing.TB) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmSize:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Skip(err)
	}
	return kib << 10
}

// TestAddressSpace: whatever is left of address space when a run begins, from what Go itself
// needs to go on, it answers, or is refused in one line before the work.
func TestAddressSpace(t *testing.T) {
	if !soaking() {
		t.Skip("starts processes that load the machine")
	}
	addressSpace(t)
	answered, refused := 0, 0
	for _, line := range []string{
		"estimate boston --refine none --no-points",
		"estimate synthetic:friedman1,n=3000 --loss square --noise 1 --gamma 0.1 --no-points",
		"retrain synthetic:blobs,n=1500,d=5 --loss logistic --C 1 --gamma 0.2 --resamples 4",
		"predict synthetic:friedman1,n=300 --test synthetic:friedman1,n=40000,seed=2 --loss square --noise 1 " +
			"--no-points",
	} {
		for mib := 192; mib <= 2048; mib += 128 {
			c := child(t, strings.Fields(line)...)
			c.Env = append(c.Env, fmt.Sprintf("%s=%d", childAddressSpace, mib<<20))
			var said strings.Builder
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(5*time.Minute, func() { c.Process.Kill() })
			c.Wait()
			hung.Stop()
			switch code := c.ProcessState.ExitCode(); {
			case code == exitDone || code == exitNotConverged:
				answered++
			case code == exitUsage && strings.Count(said.String(), "\n") == 1 && strings.Contains(said.String(),
				"not enough memory"):
				refused++
			default:
				t.Errorf("%s with %d MiB: %v, %.300s", line, mib, c.ProcessState, said.String())
			}
		}
	}
	t.Logf("%d answered, %d refused", answered, refused)
	if answered == 0 || refused == 0 {
		t.Errorf("%d answered, %d refused", answered, refused)
	}
}
