//go:build linux && openblas

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestAddressSpace: under a limit of the address space (ulimit -v) a command answers, or is refused in one
// line.
func TestAddressSpace(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	answered, refused := 0, 0
	for _, line := range []string{
		"estimate boston --refine none --no-points --quiet",
		"retrain synthetic:blobs,n=1500,d=5 --loss logistic --C 1 --gamma 0.2 --resamples 4 --quiet",
	} {
		for _, mib := range []int{1431, 1800, 2250, 2600, 4000} {
			c := child(t, line)
			limited := exec.Command("sh",
				append([]string{"-c", fmt.Sprintf(`ulimit -v %d && exec "$0" "$@"`, mib<<10)},
					c.Args...)...)
			limited.Env = c.Env
			var said strings.Builder
			limited.Stderr = &said
			if err := limited.Start(); err != nil {
				t.Fatal(err)
			}
			hung := time.AfterFunc(5*time.Minute, func() { limited.Process.Kill() })
			limited.Wait()
			hung.Stop()
			switch code := limited.ProcessState.ExitCode(); {
			case code == exitDone || code == exitNotConverged:
				answered++
			case code == exitUsage && strings.Count(said.String(), "\n") == 1:
				refused++
			default:
				t.Errorf("%s with %d MiB: %v, %.300s", line, mib, limited.ProcessState, said.String())
			}
		}
	}
	if answered == 0 || refused == 0 {
		t.Errorf("%d answered, %d refused", answered, refused)
	}
}
