package main

import (
	"runtime"
	"runtime/debug"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/report"
	"bootbench/linalg"
)

// version is the module's version, which for a build from a repository names the revision.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func machine() *report.Machine {
	info := blas.Describe()
	m := &report.Machine{
		Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Backend: info.Backend, Core: info.Core, Config: info.Config, Threads: info.Threads,
		GoProcs: runtime.GOMAXPROCS(0), Backends: blas.Names(),
		CPU: info.CPU, Cores: info.Cores, SIMD: info.SIMD,
		Modules: []report.Module{}, Warnings: append([]string{}, info.Warnings...),
	}
	if bytes, known := linalg.AvailableMemory(); known {
		m.AvailableBytes = &bytes
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	told := map[string]bool{"gonum.org/v1/gonum": true, "gonum.org/v1/netlib": true,
		"github.com/klauspost/cpuid/v2": true}
	for _, dep := range build.Deps {
		if told[dep.Path] {
			m.Modules = append(m.Modules, report.Module{Path: dep.Path, Version: dep.Version})
		}
	}
	return m
}

func infoCommand() *command {
	return &command{
		name:  "info",
		takes: []string{},
		args: func(_ *options, args []string) error {
			if len(args) > 0 {
				return usage.Errorf("info takes no arguments, not %q", args[0])
			}
			return nil
		},
		out: "-",
		run: func(a *app, _ *options, _ []string) error { return a.deliver(&report.Sheet{Document: machine()}) },
	}
}
