package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
)

// Schema is the version of records and parts that this program reads.
const Schema = 2

// Record says in a folder which study its parts belong to. It holds the settings
// that decide the answer, by the names of their flags, and nothing that names a file
// to write.
type Record struct {
	Schema   int       `json:"schema"`
	Version  string    `json:"version"` // of the program
	Command  string    `json:"command"`
	Data     []string  `json:"data"`    // DATA as it was named
	Folder   string    `json:"folder"`  // where relative names in Data and Settings begin
	Digests  []string  `json:"digests"` // of the data sets, as they were read: dataset.Set.Digest
	Settings []Setting `json:"settings"`
	Parts    int       `json:"parts"` // how many there are
}

// Setting is a flag that was given and decides the answer.
type Setting struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // several for a list
}

// recordName is the name of a Record, and mostBytes bounds its length.
const (
	recordName = "study.json"
	mostBytes  = 1 << 20
)

// ReadRecord reads the record of a folder. A folder without one, or with anything
// else in its place, is refused.
func ReadRecord(folder files.Folder) (Record, error) {
	var r Record
	path := filepath.Join(folder.Path(), recordName)
	text, err := folder.Read(recordName, mostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return r, usage.Errorf("%s holds no study: there is no %s", folder.Path(), recordName)
	}
	if err != nil {
		return r, usage.Wrap(err)
	}
	var head struct{ Schema int }
	if err := json.Unmarshal(text, &head); err != nil {
		return r, usage.Errorf("%s is damaged: %w", path, err)
	}
	if head.Schema != Schema {
		return r, usage.Errorf(
			"%s is of schema %d, this program reads schema %d: run its parts again, into another folder", path,
			head.Schema, Schema)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, usage.Errorf("%s is damaged: %w", path, err)
	}
	if r.Command == "" || r.Parts < 1 {
		return r, usage.Errorf("%s is damaged: it has no command, or no parts", path)
	}
	return r, nil
}

// write notes a study in its folder, and refuses a folder that belongs to another.
// Parts that begin at the same time write the same, or all but the first are refused.
func (r *Record) write(folder files.Folder) error {
	r.Schema = Schema
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	err = folder.Create(recordName, func(w io.Writer) error {
		_,
			err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	known, err := ReadRecord(folder)
	if err != nil {
		return err
	}
	switch {
	case known.Command != r.Command || !reflect.DeepEqual(known.Data, r.Data) ||
		!reflect.DeepEqual(known.Settings, r.Settings):
		return usage.Errorf("--out: %s belongs to another study: %s", folder.Path(), known.title())
	case known.Version != r.Version:
		return usage.Errorf("--out: the study in %s was begun by version %s of the program, this is %s",
			folder.Path(), known.Version, r.Version)
	}
	return known.checkDigests(r.Digests)
}

// title is the study as a reader knows it.
func (r *Record) title() string {
	words := append([]string{"bootbench", r.Command}, r.Data...)
	for _, s := range r.Settings {
		for _, value := range s.Values {
			words = append(words, fmt.Sprintf("--%s %s", s.Name, value))
		}
	}
	return strings.Join(words, " ")
}

// checkDigests refuses data that differ from those that the study began with.
func (r *Record) checkDigests(digests []string) error {
	for i, digest := range digests {
		if i < len(r.Digests) && digest != r.Digests[i] {
			name := fmt.Sprintf("data set %d", i+1)
			if i < len(r.Data) {
				name = r.Data[i]
			}
			return usage.Errorf("%s is not what it was when the study began: digest %s, then %s", name, digest,
				r.Digests[i])
		}
	}
	if len(digests) != len(r.Digests) {
		return usage.Errorf("the study began with %d data sets, not %d", len(r.Digests), len(digests))
	}
	return nil
}
