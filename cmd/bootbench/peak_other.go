//go:build !unix

package main

import "runtime"

// peakBytes is the memory that the Go runtime has taken from the system; what the BLAS took is not in it.
func peakBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
