package main

import (
	"slices"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
)

// start puts the shared flags into effect, before the command itself.
func (a *app) start(cmd *cobra.Command) error {
	if err := a.checkOutputs(cmd); err != nil {
		return err
	}
	if err := a.process.begin(); err != nil {
		return err
	}
	a.console.ShowProgress()
	a.started = true
	return nil
}

// checkOutputs refuses, before the work, files that cannot be written, and those that take the place of a
// file that is read or of another that is written.
func (a *app) checkOutputs(cmd *cobra.Command) (err error) {
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

// isAmong reports whether a file is one of those that DATA or a path like it names.
func isAmong(file, data string) bool {
	names, err := dataset.Files(data)
	return err == nil && slices.ContainsFunc(names, func(name string) bool { return files.Same(file, name) })
}
