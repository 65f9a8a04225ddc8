package main

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/usage"
)

// process is what a run sets of its process, and the profiles that it writes.
type process struct {
	backend    string
	threads    int
	cpuProfile string
	memProfile string
	undoing    []func() // the last first
	ending     []func() error
}

// bind binds the backend and bounds the threads, 0 for all, before any linear algebra.
func (p *process) bind() error {
	if p.backend != "" {
		before := blas.Bound().Name()
		if err := blas.Bind(p.backend); err != nil {
			return err
		}
		p.undoing = append(p.undoing, func() { blas.Bind(before) })
	}
	if p.threads == 0 {
		return nil
	}
	procs, backend, threads := runtime.GOMAXPROCS(p.threads), blas.Bound(), blas.Bound().Threads()
	backend.SetThreads(p.threads)
	p.undoing = append(p.undoing, func() {
		runtime.GOMAXPROCS(procs)
		backend.SetThreads(threads)
	})
	return nil
}

// undo sets the process to what it was.
func (p *process) undo() {
	for i := len(p.undoing) - 1; i >= 0; i-- {
		p.undoing[i]()
	}
	p.undoing = nil
}

// profile starts the CPU profile and arranges for the heap profile.
func (p *process) profile() error {
	if p.cpuProfile != "" {
		f, err := os.Create(p.cpuProfile)
		if err != nil {
			return usage.Errorf("--cpuprofile: %w", err)
		}
		w := &firstError{w: f} // which package pprof does not tell
		if err := pprof.StartCPUProfile(w); err != nil {
			return errors.Join(err, f.Close())
		}
		p.ending = append(p.ending, func() error { pprof.StopCPUProfile(); return errors.Join(w.err, f.Close()) })
	}
	if p.memProfile != "" {
		f, err := os.Create(p.memProfile)
		if err != nil {
			return usage.Errorf("--memprofile: %w", err)
		}
		p.ending = append(p.ending, func() error {
			runtime.GC()
			return errors.Join(pprof.WriteHeapProfile(f), f.Close())
		})
	}
	return nil
}

// firstError is a writer that remembers what went wrong first.
type firstError struct {
	w   io.Writer
	err error
}

func (f *firstError) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	if f.err == nil {
		f.err = err
	}
	return n, err
}

// end writes the profiles.
func (p *process) end() error {
	for len(p.ending) > 0 {
		last := p.ending[len(p.ending)-1]
		p.ending = p.ending[:len(p.ending)-1]
		if err := last(); err != nil {
			return err
		}
	}
	return nil
}
