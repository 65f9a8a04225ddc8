package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bootbench/dataset"
	"bootbench/report"
)

// studyFile says in a folder which command its tasks belong to.
type studyFile struct {
	Args  []string   `json:"args"`  // without the flags that leave the answer as it is
	Dir   string     `json:"dir"`   // where it ran: relative paths start there
	Parts int        `json:"parts"` // how many there are
	Data  []dataFile `json:"data"`  // what it read
}

// dataFile is a data set as it was when a study began.
type dataFile struct {
	Name   string `json:"name"`
	Digest string `json:"digest"` // dataset.Set.Digest
}

// studyArgs are arguments without the flags that leave the answer as it is.
func studyArgs(args []string) []string {
	return withoutFlags(args, "shard", "shards", "out", "json", "quiet", "workers", "threads", "cpuprofile", "memprofile", "trace")
}

// writeStudy notes a command, and refuses a folder that belongs to another. Parts
// that begin at the same time write the same, or all but the first are refused.
func writeStudy(dir string, f studyFile) error {
	err := createWhole(filepath.Join(dir, studyName), func(w io.Writer) error { return report.WriteJSON(w, f) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	known, err := readStudy(dir)
	if err != nil {
		return err
	}
	if !slices.Equal(known.Args, f.Args) {
		return usagef("--out: %s belongs to another study: bootbench %s", dir, strings.Join(known.Args, " "))
	}
	return known.sameData(f.Data)
}

// studyName is the name of a studyFile.
const studyName = "study.json"

// createWhole writes a file that must not be there yet: it appears with all of
// its content, or the error is fs.ErrExist.
func createWhole(path string, write func(io.Writer) error) error {
	whole, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(whole.Name())
	if err := errors.Join(write(whole), whole.Chmod(0o644), whole.Close()); err != nil {
		return err
	}
	err = os.Link(whole.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without links: should another part get between this look and
	// the renaming, the later one stays.
	if _, err := os.Stat(path); err == nil {
		return fs.ErrExist
	}
	return os.Rename(whole.Name(), path)
}

func readStudy(dir string) (studyFile, error) {
	var f studyFile
	text, err := os.ReadFile(filepath.Join(dir, studyName))
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(text, &f); err != nil || len(f.Args) == 0 || f.Parts < 1 {
		return f, usagef("%s holds no study: %s is damaged", dir, studyName)
	}
	return f, nil
}

// sameData refuses data that differ from those that the study began with.
func (f *studyFile) sameData(data []dataFile) error {
	for i, d := range data {
		if i < len(f.Data) && d != f.Data[i] {
			return usagef("%s is not what it was when the study began: digest %s, then %s", d.Name, d.Digest, f.Data[i].Digest)
		}
	}
	if len(data) != len(f.Data) {
		return usagef("the study began with %d data sets, not %d", len(f.Data), len(data))
	}
	return nil
}

// readData reads a data set for a command that may be split, and notes it. merge
// finds files where the parts found them, or where they are called the same from
// here.
func (s *session) readData(path string, options dataset.Options) (*dataset.Set, error) {
	st := &s.study
	if path == "-" && st.wanted != "" {
		return nil, usagef("standard input cannot be split by --shard: every part and merge read DATA; save it as a file")
	}
	if sameFile(path, s.json) || sameFile(path, s.checkpoint.path) {
		return nil, usagef("DATA %s is the file of --json or --checkpoint", path)
	}
	place := path
	if st.merging && !filepath.IsAbs(path) && !slices.Contains(dataset.Names(), path) {
		there := filepath.Join(st.known.Dir, path)
		if _, err := os.Stat(there); err == nil {
			place = there
		}
	}
	set, err := dataset.Load(place, options)
	if err != nil {
		return nil, err
	}
	if place != path {
		set.Name = path
	}
	if st.wanted != "" || st.merging {
		st.data = append(st.data, dataFile{set.Name, set.Digest()})
	}
	return set, nil
}

// withoutFlags drops flags that do not change the answer.
func withoutFlags(args []string, names ...string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if !strings.HasPrefix(args[i], "--") || !slices.Contains(names, name) {
			kept = append(kept, args[i])
			continue
		}
		if !joined && name != "quiet" {
			i++ // its value
		}
	}
	return kept
}
