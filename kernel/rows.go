package kernel

import (
	"sync"

	"bootbench/linalg"
)

// place is an element of a matrix, counted from 0.
type place struct{ row, col int }

// rowsAtOnce is the number of rows that a goroutine takes at a time.
const rowsAtOnce = 8

// eachRow calls do(i) once for each row i < n, in parallel. do returns the
// column of an element that is not finite, or -1; eachRow returns that place
// in the lowest row that has one, or nil.
func eachRow(n int, do func(i int) int) *place {
	var (
		lock  sync.Mutex
		first *place
	)
	note := func(i, j int) {
		lock.Lock()
		defer lock.Unlock()
		if first == nil || i < first.row {
			first = &place{i, j}
		}
	}
	linalg.Parallel((n+rowsAtOnce-1)/rowsAtOnce, func(task int) {
		for i := task * rowsAtOnce; i < min((task+1)*rowsAtOnce, n); i++ {
			if j := do(i); j >= 0 {
				note(i, j)
			}
		}
	})
	return first
}
