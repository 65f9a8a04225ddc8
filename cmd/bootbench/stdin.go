package main

import (
	"context"
	"io"
)

// interruptible is standard input that stops waiting when a context ends.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

type read struct {
	data []byte
	err  error
}

// Read reads through a buffer of its own: a read that is given up may still
// come to an end later.
func (i interruptible) Read(p []byte) (int, error) {
	done := make(chan read, 1)
	go func() {
		data := make([]byte, len(p))
		n, err := i.r.Read(data)
		done <- read{data[:n], err}
	}()
	select {
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	case got := <-done:
		return copy(p, got.data), got.err
	}
}
