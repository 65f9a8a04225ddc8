package main

import (
	"slices"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
)

// start puts the shared flags into effect, before the command itself.
func (a *app) start(cmd *cobra.Command) error {
	a.outputs.use(cmd)
	if err := a.process.bind(cmd); err != nil {
		return err
	}
	if err := keepInputs(cmd); err != nil {
		return err
	}
	if err := a.checkOutputs(); err != nil {
		return err
	}
	if err := a.process.profile(); err != nil {
		return err
	}
	a.console.ShowProgress()
	a.started = true
	return nil
}

// keepInputs refuses an output in the place of a file that is read.
func keepInputs(cmd *cobra.Command) error {
	inputs := cmd.Flags().Args()
	if test := cmd.Flags().Lookup("test"); test != nil {
		inputs = append(inputs, test.Value.String())
	}
	for _, name := range outputFlags {
		output := cmd.Flags().Lookup(name)
		if output == nil || output.Value.String() == "-" || name == "model" && cmd.Name() == "predict" {
			continue
		}
		for _, input := range inputs {
			if isAmong(output.Value.String(), input) {
				return usage.Errorf("--%s: %s is read, and would be lost: name another file", name, output.Value)
			}
		}
	}
	return nil
}

// isAmong reports whether a file is one of those that DATA or a path like it names; standard
// output is none of them.
func isAmong(file, data string) bool {
	if file == "-" {
		return false
	}
	names, err := dataset.Files(data)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return files.Same(file, name) })
}

// checkOutputs refuses output files that cannot be written, before the work.
func (a *app) checkOutputs() (err error) {
	o := &a.outputs
	if o.out != "" {
		if o.folder, err = files.OpenFolder(o.out); err != nil {
			return usage.Errorf("--out: %w", err)
		}
	}
	if o.json == "" || o.json == "-" {
		return nil
	}
	return files.CheckWritable("json", o.json)
}
