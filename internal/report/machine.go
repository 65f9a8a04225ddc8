package report

import (
	"cmp"
	"fmt"
	"strings"

	"bootbench/blas"
	"bootbench/internal/dataset"
)

// Dataset is an embedded set in a listing.
type Dataset struct {
	Name       string `json:"name"`
	N          int    `json:"n"`
	D          int    `json:"d"`
	Task       string `json:"task"`
	Duplicates int    `json:"duplicates"` // examples that repeat the inputs of an earlier one
	Preset     string `json:"preset"`     // source of its preset model; "" without one
	Source     string `json:"source"`
}

// Datasets is the answer of datasets.
type Datasets struct {
	Sets      []Dataset           `json:"sets"`
	Synthetic []dataset.Generator `json:"synthetic"`
}

func (l *Datasets) document(bool) *document {
	d := &document{Title: "Data sets"}
	d.table([]head{"<embedded", "n", "d", "<task", "duplicates", "<preset", "<source"},
		each(l.Sets, func(s Dataset) []string {
			return []string{s.Name, fmt.Sprint(s.N), fmt.Sprint(s.D), s.Task, fmt.Sprint(s.Duplicates),
				cmp.Or(s.Preset, "-"), s.Source}
		}))
	d.table([]head{"<synthetic", "d", "<task", "noise", "<about"},
		each(l.Synthetic, func(g dataset.Generator) []string {
			return []string{"synthetic:" + g.Name, fmt.Sprint(g.D), g.Task, fmt.Sprint(g.Noise), g.About}
		}))
	d.gap()
	d.paragraph("A synthetic set takes n (default 1000), seed (1), d and noise: " +
		"synthetic:friedman1,n=2000,seed=3,d=8,noise=0.5. Text takes tilt, too (0.3): the log odds by " +
		"which a document prefers words of its topic; the larger, the easier.")
	return d
}

// Module is a library in the program.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
}

// System is the answer of info.
type System struct {
	Version string `json:"-"` // all documents have it
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	blas.Info
	GoProcs        int      `json:"gomaxprocs"`
	Backends       []string `json:"backends"`        // of this binary
	AvailableBytes *int64   `json:"available_bytes"` // null if unknown
	Modules        []Module `json:"modules"`
}

func (m *System) document(bool) *document {
	d := &document{Title: "Machine and libraries"}
	d.line("bootbench", "%s, %s, %s/%s", m.Version, m.Go, m.OS, m.Arch)
	d.line("backend", "%s, %s kernels, threads: %d (this binary has: %s)", m.Backend, m.Core, m.Threads,
		strings.Join(m.Backends, ", "))
	d.line("configuration", "%s", m.Config)
	d.line("processor", "%s, %d cores, %s", m.CPU, m.Cores, m.SIMD)
	d.line("goroutines", "on %d processors", m.GoProcs)
	if m.AvailableBytes != nil {
		d.line("memory", "%s available", mebibytes(*m.AvailableBytes))
	}
	for _, mod := range m.Modules {
		d.line("library", "%s %s", mod.Path, mod.Version)
	}
	for _, text := range m.Warnings {
		d.line("warning", "%s", text)
	}
	return d
}
