// Package core holds what the engines of linalg and linalg/dist compute alike: the state
// and the estimates of the sites, the small system of a rank-k update, and passes over
// triangles in parallel.
package core

import (
	"runtime"
	"sync/atomic"
)

// Parallel runs f(0) ... f(n-1) on up to GOMAXPROCS goroutines. Tasks are
// taken in order and must write to places of their own, so that the result
// does not depend on how many goroutines there are. A panic of f becomes one of Parallel,
// a *Fault where there are several goroutines.
func Parallel(n int, f func(task int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for task := 0; task < n; task++ {
			f(task)
		}
		return
	}
	var next atomic.Int64
	var crew Crew
	for range workers {
		crew.Go(func() {
			for task := int(next.Add(1)) - 1; task < n && !crew.Failed(); task = int(next.Add(1)) - 1 {
				f(task)
			}
		}, nil)
	}
	crew.Wait()
}

// Blocks is the number of blocks of size b that cover n.
func Blocks(n, b int) int { return (n + b - 1) / b }

// SmallOrder is the order up to which a pass over a triangle runs on one
// goroutine: it takes some 100 microseconds, and a second goroutine would have
// to fight for its processor with OpenBLAS's threads, which wait spinning.
const SmallOrder = 512

// OverTriangle is Parallel for passes over a triangle of order n.
func OverTriangle(n, tasks int, f func(task int)) {
	if n > SmallOrder {
		Parallel(tasks, f)
		return
	}
	for task := range tasks {
		f(task)
	}
}
