package journal

import (
	"slices"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
)

// Head is what a journal is of.
type Head struct {
	Format   int      `json:"format"`
	Version  string   `json:"version"` // of the program
	Command  string   `json:"command"`
	Data     []string `json:"data"`             // DATA as it was named
	Settings []string `json:"settings"`         // flags that decide the answer as NAME=VALUE, sorted
	Chosen   string   `json:"chosen,omitempty"` // how a search chose what the settings say of the model
	Digests  []string `json:"digests"`          // of the data sets, in the order in which they were read
	Folder   string   `json:"folder"`           // where relative names begin
	Shards   int      `json:"shards"`           // of how many shards the file is one
}

// check refuses what a file was begun for, unless it is the same.
func (h *Head) check(found *Head, path string) error {
	switch {
	case found.String() != h.String():
		return usage.Errorf("%s is of another command line: %s", path, found)
	case found.Version != h.Version:
		return usage.Errorf("%s was begun by version %s of the program, this is %s", path, found.Version, h.Version)
	}
	return found.CheckData(h.Digests)
}

// CheckData refuses data that differ from those that the journal was begun with.
func (h *Head) CheckData(digests []string) error {
	if len(digests) != len(h.Digests) {
		return usage.Errorf("the journal was begun with %d data sets, not %d", len(h.Digests), len(digests))
	}
	for i, digest := range digests {
		if digest != h.Digests[i] {
			name := strings.Join(h.Data, ", ")
			if i < len(h.Data) {
				name = h.Data[i]
			}
			return usage.Errorf("%s is not what it was when the journal was begun: digest %s, then %s", name, digest,
				h.Digests[i])
		}
	}
	return nil
}

// String is the command line.
func (h *Head) String() string {
	words := slices.Concat([]string{"bootbench", h.Command}, h.Data)
	for _, s := range h.Settings {
		words = append(words, "--"+s)
	}
	return strings.Join(words, " ")
}
