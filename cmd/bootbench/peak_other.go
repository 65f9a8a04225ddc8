//go:build !unix

package main

import (
	"runtime"
	"time"
)

// peakBytes is the memory that the Go runtime has taken from the system, without the BLAS's.
func peakBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// processorTime is 0: this system does not tell the time of all processors.
func processorTime() time.Duration { return 0 }
