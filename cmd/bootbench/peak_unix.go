//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// peakBytes is the largest resident set of this process so far, which the system counts in KiB on Linux and
// the BSDs and in bytes on macOS.
func peakBytes() int64 {
	peak := int64(used().Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10
	}
	return peak
}

// processorTime is the time of all processors in this process so far.
func processorTime() time.Duration {
	usage := used()
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func used() (usage syscall.Rusage) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // zero if it is unknown
	return usage
}
