package main

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
)

// process is the settings of the process, and its profiles.
type process struct {
	backend                string
	threads                int
	cpuProfile, memProfile string // files
	cpu                    bytes.Buffer
}

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

func system() *report.System {
	m := &report.System{
		Version: report.Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Info:    blas.Describe(),
		GoProcs: runtime.GOMAXPROCS(0), Backends: blas.Names(), Modules: []report.Module{},
	}
	if bytes, known := linalg.AvailableMemory(); known {
		m.AvailableBytes = &bytes
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	told := []string{"gonum.org/v1/gonum", "gonum.org/v1/netlib", "github.com/klauspost/cpuid/v2"}
	for _, dep := range build.Deps {
		if slices.Contains(told, dep.Path) {
			m.Modules = append(m.Modules, report.Module{Path: dep.Path, Version: dep.Version})
		}
	}
	return m
}

func runInfo(a *app, _ *options, _ []string) { a.deliver(system()) }

func runDatasets(a *app, o *options, args []string) {
	if o.exportName != "" {
		set := steps.Must(dataset.Load(o.exportName, dataset.Options{}))
		steps.Check(files.Replace(args[0], func(w io.Writer) error { return dataset.Write(w, args[0], set) }))
		return
	}
	list := &report.Datasets{Synthetic: dataset.Generators()}
	for _, name := range dataset.Names() {
		set := steps.Must(dataset.Open(name))
		preset, _ := model.PresetFor(set)
		_, distinct := set.Distinct()
		list.Sets = append(list.Sets, report.Dataset{
			Name: set.Name, N: set.N(), D: set.D(), Task: set.Task(), Duplicates: set.N() - len(distinct),
			Preset: preset.Source, Source: set.Source,
		})
	}
	a.deliver(list)
}
