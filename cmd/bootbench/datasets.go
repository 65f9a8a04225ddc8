package main

import (
	"github.com/spf13/cobra"

	"bootbench/dataset"
	"bootbench/model"
	"bootbench/report"
)

func datasetsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "datasets",
		Short: "The embedded data sets and the synthetic generators",
		Long: `datasets lists what DATA can name besides files: the embedded sets, and the
generators with their default number of features and strength of noise. Duplicates
are examples that repeat the inputs of an earlier one. A set with a preset needs
neither --loss nor a kernel.`,
		Example: `  bootbench datasets
  bootbench datasets --json -`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			list, err := listing()
			if err != nil {
				return err
			}
			return a.print(list)
		},
	}
}

func listing() (*report.Datasets, error) {
	list := &report.Datasets{}
	for _, name := range dataset.Names() {
		set, err := dataset.Open(name)
		if err != nil {
			return nil, err
		}
		preset, _ := model.PresetFor(set)
		sum := set.Summary()
		list.Sets = append(list.Sets, report.Dataset{
			Name: sum.Name, N: sum.N, D: sum.D, Task: sum.Task.String(), Duplicates: sum.Duplicates,
			Preset: preset.Source, Source: sum.Source,
		})
	}
	for _, g := range dataset.Generators() {
		list.Synthetic = append(list.Synthetic, report.Generator{Name: g.Name, Task: g.Task.String(), D: g.D, Noise: g.Noise, About: g.About})
	}
	return list, nil
}
