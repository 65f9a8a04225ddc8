package need

import (
	"context"
	"sync/atomic"
)

// Ending is a context that ends after a number of looks at it.
type Ending struct {
	context.Context
	left atomic.Int64
}

// EndAfter makes an Ending.
func EndAfter(looks int) *Ending {
	e := &Ending{Context: context.Background()}
	e.left.Store(int64(looks))
	return e
}

// Err implements context.Context.
func (e *Ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Left is the number of looks before the end; below 0, that of looks after it.
func (e *Ending) Left() int { return int(e.left.Load()) }
