package blas

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Crew is a group of goroutines. A panic of one is passed to the goroutine that waits, where it can be
// recovered.
type Crew struct {
	wait  sync.WaitGroup
	fault atomic.Pointer[Fault]
}

// Fault is a panic of a goroutine of a Crew.
type Fault struct {
	Value any    // argument of panic
	Stack []byte // of the goroutine
}

func (f *Fault) Error() string { return fmt.Sprint(f.Value) }

// Unwrap is the value, if it is an error.
func (f *Fault) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}

// Go runs f on a goroutine. If f panics, failed is called there, unless nil.
func (c *Crew) Go(f, failed func()) {
	c.wait.Add(1)
	go func() {
		defer c.wait.Done()
		defer func() {
			if p := recover(); p != nil {
				fault, nested := p.(*Fault)
				if !nested {
					fault = &Fault{p, debug.Stack()}
				}
				c.fault.CompareAndSwap(nil, fault)
				if failed != nil {
					failed()
				}
			}
		}()
		f()
	}()
}

// Failed reports whether a goroutine has panicked.
func (c *Crew) Failed() bool { return c.fault.Load() != nil }

// Wait waits for all goroutines, and panics with the first Fault if there was one.
func (c *Crew) Wait() {
	c.wait.Wait()
	if fault := c.fault.Load(); fault != nil {
		panic(fault)
	}
}
