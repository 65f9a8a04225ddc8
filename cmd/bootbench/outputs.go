package main

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/journal"
	"bootbench/internal/dataset"
)

// outputs are the destinations of an answer besides standard output.
type outputs struct {
	json, out string   // --json and the folder --out; "": none
	ignore    []string // codes of checks
	folder    *files.Folder
	written   []output
}

// output is a file that a command writes, and the flag that names it or its folder, "" for standard output.
type output struct{ flag, path string }

// folderFiles are the names of the files that a command may write into the folder --out: the names of
// figures are the answer's, with DATA for curve, grid and compare.
func folderFiles(command string) *regexp.Regexp {
	figures := map[string]string{"compare": "|.+-(time|error)",
		"merge": "|curve|grid|compare|.+-(time|error)"}
	return regexp.MustCompile(`^(result\.json|report\.html|(points|rows|predict|reliability|roc|` + command +
		figures[command] + `)(-.+)?\.(csv|svg))$`)
}

// checkOutputs refuses, before the work, output files that cannot be written, are read, are named twice, or
// are in the folder --out and not the program's.
func (a *app) checkOutputs(cmd *cobra.Command) {
	o := &a.outputs
	value := func(name string) string {
		if flag := cmd.Flags().Lookup(name); flag != nil {
			return flag.Value.String()
		}
		return ""
	}
	inputs := append([]string{value("test")}, cmd.Flags().Args()...)
	if cmd.Name() == "merge" {
		for i, folder := range inputs[1:] {
			inputs[1+i] = asFile(folder)
		}
	}
	for _, name := range append([]string{"export"}, flagLists["outputs"]...) {
		path := value(name)
		switch {
		case path == "", path == "-" && (name == "json" || name == "csv"):
			continue
		case name == "model" && cmd.Name() == "predict":
			inputs = append(inputs, asFile(path))
			continue
		case path == "-":
			refuse("--%s needs a file: - is none", name)
		case name == "export":
			path, inputs = cmd.Flags().Arg(0), nil
		}
		paths, err := []string{path}, error(nil)
		if name == "out" {
			if o.folder, err = files.OpenFolder(path); err == nil {
				paths, err = o.folder.Paths(folderFiles(cmd.Name()))
			}
		} else {
			err = files.CheckWritable(path)
		}
		if err != nil {
			refuse("--%s: %w", name, err)
		}
		for _, path := range paths {
			if other := o.flagOf(path, cmd.Name()); other != "" && other != name {
				refuse("--%s: %s is written by another flag, too: name another file", name, path)
			}
			o.written = append(o.written, output{name, path})
		}
	}
	if models := cmd.Flags().Lookup("models"); models != nil {
		for _, path := range models.Value.(pflag.SliceValue).GetSlice() {
			inputs = append(inputs, asFile(path))
		}
	}
	if folder := value("journal"); folder != "" {
		inputs = append(inputs, journal.Files(folder, value("shard"))...)
	}
	for _, path := range inputs {
		a.reads(path)
	}
}

// asFile is the path of a file or folder that may have the name of an embedded set.
func asFile(path string) string {
	if slices.Contains(dataset.Names(), path) {
		return "." + string(filepath.Separator) + path
	}
	return path
}

// flagOf is the flag by which a file is written, "" for none.
func (o *outputs) flagOf(path, command string) string {
	name := filepath.Base(path)
	for _, w := range o.written {
		if files.Same(path, w.path) {
			return w.flag
		}
	}
	if o.folder != nil && folderFiles(command).MatchString(name) &&
		files.Same(path, filepath.Join(o.out, name)) {
		return "out"
	}
	return ""
}

// reads refuses to read a file, the files of a pattern, the journals of a folder, or standard input that the
// command would overwrite.
func (a *app) reads(input string) {
	names, err := dataset.Files(input)
	if err != nil || input == "" || slices.Contains(dataset.Names(), input) { // who reads it says so
		return
	}
	if info, err := os.Stat(input); err == nil && info.IsDir() {
		names = journal.Files(input, "")
	}
	if f, is := a.console.In.(*os.File); is && input == "-" {
		names = []string{f.Name()}
	}
	written := a.outputs.written
	for _, name := range names {
		at := slices.IndexFunc(written, func(o output) bool { return files.Same(o.path, name) })
		switch {
		case at < 0:
			continue
		case written[at].flag == "":
			refuse("standard output is %s, which is read, and would be lost: name another file", name)
		}
		refuse("--%s: %s is read, and would be lost: name another %s", written[at].flag, name,
			map[bool]string{true: "folder", false: "file"}[written[at].flag == "out"])
	}
}
