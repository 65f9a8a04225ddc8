package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"runtime/pprof"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
)

// process is the settings of the process, and its profiles.
type process struct {
	backend                string
	threads                int
	cpuProfile, memProfile string // files
	cpu                    bytes.Buffer
}

// bind binds the requested backend.
func (p *process) bind() error {
	if p.backend == "" {
		return nil
	}
	return blas.Bind(p.backend)
}

// begin binds the backend and limits the threads, 0 for all, before any linear algebra, and starts the CPU
// profile.
func (p *process) begin() error {
	if err := p.bind(); err != nil {
		return err
	}
	if p.threads > 0 {
		runtime.GOMAXPROCS(p.threads)
		blas.Bound().SetThreads(p.threads)
	}
	if p.cpuProfile == "" {
		return nil
	}
	return pprof.StartCPUProfile(&p.cpu)
}

// end writes the profiles.
func (p *process) end() (err error) {
	if p.cpuProfile != "" {
		pprof.StopCPUProfile()
		err = files.Replace(p.cpuProfile, func(w io.Writer) error { _, err := p.cpu.WriteTo(w); return err })
	}
	if p.memProfile != "" {
		runtime.GC()
		err = errors.Join(err, files.Replace(p.memProfile, pprof.WriteHeapProfile))
	}
	return err
}
