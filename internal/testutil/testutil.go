// Package testutil shortens tests. Must returns the value of a call that must not fail,
//
//	set := testutil.Must(dataset.Open("boston"))(t)
//
// and ends the test if it does. Property tests of a package that imports testutil draw from a fixed seed, so
// that a run can be repeated; -rapid.seed=0 draws a new one each time.
package testutil

import (
	"context"
	"flag"
	"sync/atomic"

	_ "pgregory.net/rapid" // which makes the flag
)

func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// T is a test, benchmark or property.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Check ends a test at an error.
func Check(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Must is the value of a call.
func Must[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Must2 is the two values of a call.
func Must2[V, W any](v V, w W, err error) func(T) (V, W) {
	return func(t T) (V, W) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v, w
	}
}

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

// Left is the number of looks before the end, and below 0 minus the number of looks after it.
func (e *Ending) Left() int { return int(e.left.Load()) }
