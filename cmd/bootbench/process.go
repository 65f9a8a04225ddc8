package main

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

func (p *process) register(f *pflag.FlagSet) {
	f.StringVar(&p.backend, "backend", "",
		"linear algebra, `NAME`: openblas or gonum (pure Go); default: openblas where the program was built with "+
			"it (tag openblas)")
	f.IntVar(&p.threads, "threads", 0, "processors to use, an integer of at least 1 (`T`); default: all of them")
}

func (p *process) registerProfiles(f *pflag.FlagSet) {
	f.StringVar(&p.cpuProfile, "cpuprofile", "",
		"write a CPU profile for go tool pprof to `FILE`; default: none")
	f.StringVar(&p.memProfile, "memprofile", "",
		"write a heap profile, as at the end, for go tool pprof to `FILE`; default: none")
}

// bind binds the backend and bounds the threads, before any linear algebra.
func (p *process) bind(cmd *cobra.Command) error {
	if p.backend != "" {
		before := blas.Bound().Name()
		if err := blas.Bind(p.backend); err != nil {
			return err
		}
		p.undoing = append(p.undoing, func() { blas.Bind(before) })
	}
	if !cmd.Flags().Changed("threads") {
		return nil
	}
	const most = 4096
	if p.threads < 1 || p.threads > most {
		return usage.Errorf("--threads is %d, must be from 1 to %d", p.threads, most)
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
