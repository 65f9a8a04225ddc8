//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peakBytes is the largest resident set of this process so far, which the system counts in KiB on Linux and
// the BSDs and in bytes on macOS.
func peakBytes() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	peak := int64(usage.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10
	}
	return peak
}
