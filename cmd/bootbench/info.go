package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/report"
)

func infoCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Linear algebra backend, processor, memory and versions",
		Long: `info says what does the arithmetic: the backend, the kernels that it chose for
this processor and its threads; the processor, the memory that is left, and the
versions of the libraries. A warning names what keeps the backend below what the
processor can do.`,
		Example: `  bootbench info
  bootbench info --backend gonum --threads 1 --json -`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return s.print(machine()) },
	}
}

func machine() *report.Machine {
	info := blas.Describe()
	m := &report.Machine{
		Version: version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Backend: info.Backend, Core: info.Core, Config: info.Config, Threads: info.Threads,
		GoProcs: runtime.GOMAXPROCS(0), Backends: blas.Names(),
		CPU: info.CPU, Cores: info.Cores, SIMD: info.SIMD, Warnings: info.Warnings,
	}
	if bytes, known := linalg.AvailableMemory(); known {
		m.AvailableBytes = &bytes
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	told := map[string]bool{"gonum.org/v1/gonum": true, "gonum.org/v1/netlib": true, "github.com/klauspost/cpuid/v2": true}
	for _, dep := range build.Deps {
		if told[dep.Path] {
			m.Modules = append(m.Modules, report.Module{Path: dep.Path, Version: dep.Version})
		}
	}
	return m
}
