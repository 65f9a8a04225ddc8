// Package core is common to the engines of linalg and linalg/scalapack: the state of the sites, views of
// matrices, and parallel passes over triangles.
package core

import (
	"runtime"
	"sync/atomic"

	"bootbench/blas"
)

// Parallel runs f(0) ... f(n-1) on up to GOMAXPROCS goroutines. Tasks are started in order and must write to
// disjoint memory, so that the result does not depend on the number of goroutines. A panic of f becomes one
// of Parallel, a *blas.Fault if there are several goroutines.
func Parallel(n int, f func(task int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for task := 0; task < n; task++ {
			f(task)
		}
		return
	}
	var next atomic.Int64
	var crew blas.Crew
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

// SmallOrder is the order up to which a pass over a triangle runs on one goroutine: it takes about 100
// microseconds, and a second goroutine would compete for its core with OpenBLAS's spinning threads.
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

// Lanes is the number of partial sums of products with G o G, fixed so that the result does not depend on the
// number of goroutines.
const Lanes = 8

// SquareRow adds row_j^2 xi to every y_j and returns sum_j row_j^2 x_j.
func SquareRow(row, x, y []float64, xi float64) float64 {
	x, y = x[:len(row)], y[:len(row)]
	total := 0.0
	for j, v := range row {
		g := v * v
		total += g * x[j]
		y[j] += g * xi
	}
	return total
}
