package main

import (
	"io"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

func datasetsCommand() *command {
	return &command{
		name:  "datasets",
		takes: []string{"export"},
		args: func(o *options, args []string) error {
			if want := map[bool]int{true: 1}[o.exportName != ""]; len(args) != want {
				return usage.Errorf("%d arguments: datasets takes a FILE with --export NAME and none without", len(args))
			}
			return nil
		},
		out: "-",
		run: func(a *app, o *options, args []string) error {
			if o.exportName != "" {
				return exportSet(o.exportName, args[0])
			}
			list, err := listing()
			if err != nil {
				return err
			}
			return a.deliver(&report.Sheet{Document: list})
		},
	}
}

// exportSet writes a set to a file.
func exportSet(name, path string) error {
	if err := files.CheckWritable(path); err != nil {
		return usage.Errorf("--export: %w", err)
	}
	set, err := dataset.Load(name, dataset.Options{})
	if err != nil {
		return err
	}
	return files.Replace(path, func(w io.Writer) error { return dataset.Write(w, path, set) })
}

func listing() (*report.Datasets, error) {
	list := &report.Datasets{}
	for _, name := range dataset.Names() {
		set, err := dataset.Open(name)
		if err != nil {
			return nil, err
		}
		preset, _ := model.PresetFor(set)
		_, distinct := set.Distinct()
		list.Sets = append(list.Sets, report.Dataset{
			Name: set.Name, N: set.N(), D: set.D(), Task: set.Task.String(), Duplicates: set.N() - len(distinct),
			Preset: preset.Source, Source: set.Source,
		})
	}
	for _, g := range dataset.Generators() {
		list.Synthetic = append(list.Synthetic, report.Generator{Name: g.Name, Task: g.Task.String(), D: g.D,
			Noise: g.Noise, About: g.About})
	}
	return list, nil
}
