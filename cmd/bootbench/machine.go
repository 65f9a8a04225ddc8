package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/report"
)

// version is the module's version and, for a build from a repository, its
// revision.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	text, revision, changed := info.Main.Version, "", ""
	if text == "" {
		text = "(devel)"
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value[:min(12, len(setting.Value))]
		case setting.Key == "vcs.modified" && setting.Value == "true":
			changed = ", changed since"
		}
	}
	if revision == "" {
		return text
	}
	return fmt.Sprintf("%s (%s%s)", text, revision, changed)
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
