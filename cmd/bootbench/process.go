package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"runtime/pprof"
	"slices"

	"github.com/spf13/cobra"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
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

// checkOutputs refuses, before the work, output files that cannot be written, are read, or are named twice.
func checkOutputs(cmd *cobra.Command) (err error) {
	inputs, written := cmd.Flags().Args(), []string{}
	for _, name := range append([]string{"test"}, outputFlags...) {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || flag.Value.String() == "" {
			continue
		}
		path := flag.Value.String()
		isSame := func(other string) bool { return isAmong(path, other) }
		switch {
		case name == "test", name == "model" && cmd.Name() == "predict":
			inputs = append(inputs, path)
			continue
		case path == "-" && (name == "json" || name == "csv"):
			continue
		case path == "-":
			return usage.Errorf("--%s needs a file: - is none", name)
		case slices.ContainsFunc(inputs, isSame):
			return usage.Errorf("--%s: %s is read, and would be lost: name another file", name, path)
		case slices.ContainsFunc(written, isSame):
			return usage.Errorf("--%s: %s is written by another flag, too: name another file", name, path)
		case name == "out":
			err = files.OpenFolder(path)
		default:
			err = files.CheckWritable(path)
		}
		if err != nil {
			return usage.Errorf("--%s: %w", name, err)
		}
		written = append(written, path)
	}
	return nil
}

// isAmong reports whether a file is one of those that DATA names.
func isAmong(file, data string) bool {
	names, err := dataset.Files(data)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return files.Same(file, name) })
}
