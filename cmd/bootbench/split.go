package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/study"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
)

// split begins the part of a study that --shard asks for, or reads back what the
// parts of the study that is merged have left.
func (a *app) split(cmd *cobra.Command, data []string) (err error) {
	s := &a.shards
	switch {
	case a.merged != nil:
		s.study, err = study.Merge(a.outputs.folder, a.merged, version(), s.digests)
		return err
	case s.wanted == "" && s.count != 0:
		return usage.Errorf("--shards is for --shard auto")
	case s.wanted == "":
		return nil
	case a.outputs.out == "":
		return usage.Errorf("--shard needs --out, the folder that all parts share")
	}
	part, parts, err := study.ParsePart(s.wanted, s.count, os.LookupEnv)
	if err != nil {
		return err
	}
	record := study.Record{Version: version(), Command: cmd.Name(), Data: data, Digests: s.digests,
		Settings: recordSettings(cmd)}
	s.study, err = study.Begin(a.outputs.folder, record, part, parts)
	return err
}

// partDone ends a part of a study: the answer is for merge to print.
func (a *app) partDone() error {
	return a.text(func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%v in %s; bootbench merge %s puts all parts together\n", a.shards.study,
			a.outputs.out, shellWord(a.outputs.out))
		return err
	})
}

// partOf ends the answer to one question where err, or a study whose tasks are parts of
// it, does: with a part, or because parts are missing.
func (a *app) partOf(err error) (done bool, _ error) {
	if err == nil && a.shards.study.Partial() {
		return true, a.partDone()
	}
	if err == nil {
		err = a.shards.study.Complete()
	}
	return err != nil, err
}

// place is where a file is found that the parts of the study that is merged have named.
func (a *app) place(path string) string {
	if a.merged != nil && !filepath.IsAbs(path) && !slices.Contains(dataset.Names(), path) {
		there := filepath.Join(a.merged.Folder, path)
		if names, err := dataset.Files(there); err == nil {
			if _, err := os.Stat(names[0]); err == nil {
				return there
			}
		}
	}
	return path
}

// readData reads a data set for a command that may be split, and notes it. merge
// finds files where the parts found them, or where they are called the same from
// here.
func (a *app) readData(path string, options dataset.Options) (*dataset.Set, error) {
	if path == "-" && (a.shards.wanted != "" || a.merged != nil) {
		return nil, usage.Errorf(
			"standard input cannot be split by --shard: every part and merge read DATA; save it as a file")
	}
	if isAmong(a.outputs.json, path) {
		return nil, usage.Errorf("DATA %s is the file of --json", path)
	}
	place := a.place(path)
	set, err := dataset.Load(place, options)
	if err != nil {
		return nil, err
	}
	if place != path {
		set.Name = path
	}
	if a.shards.wanted != "" || a.merged != nil {
		a.shards.digests = append(a.shards.digests, set.Digest())
	}
	return set, nil
}
