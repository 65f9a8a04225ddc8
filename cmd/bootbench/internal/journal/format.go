package journal

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
)

const (
	format    = 2
	magic     = "bootbench journal "
	firstLine = magic + "2\n"
	headKey   = "head"
)

// line is a record.
func line(key string, body []byte) []byte {
	text := fmt.Appendf(nil, "%s %s", key, body)
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

// parse is the key and the body of a line without its end, if it is intact.
func parse(text []byte) (key string, body []byte, whole bool) {
	sum, rest, _ := bytes.Cut(text, []byte(" "))
	name, body, whole := bytes.Cut(rest, []byte(" "))
	return string(name), body, whole && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(rest))
}

// scan calls add for each line of a file: its position, text without the end, and whether it is an intact
// record. It returns the beginning of the first line, and the size up to the end of the last complete line.
func scan(file *os.File, add func(at int64, key string, body []byte, whole bool)) (first string, size int64,
	err error) {
	r := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), 1<<20)
	for {
		text, err := r.ReadBytes('\n')
		if size == 0 {
			first = string(text[:min(len(text), 2*len(firstLine))])
		}
		switch {
		case err == io.EOF:
			return first, size, nil
		case err != nil:
			return "", 0, usage.Wrap(err)
		case string(text) != firstLine:
			key, body, whole := parse(text[:len(text)-1])
			add(size+int64(len(text)-1-len(body)), key, body, whole)
		}
		size += int64(len(text))
	}
}

// check refuses a file that is no journal of this format, by the beginning of its first line and its head,
// nil for none. With records, an invalid first line is damaged; an incomplete one is from a killed writer.
func check(first string, head *Head, records int, path string) error {
	other, named := strings.CutPrefix(strings.TrimSpace(first), magic)
	if head != nil {
		other, named = strconv.Itoa(head.Format), true
	}
	number, err := strconv.Atoi(other)
	switch {
	case named && number == format, strings.HasPrefix(firstLine, first):
		return nil
	case named && err == nil:
		return usage.Errorf("%s is a journal of format %d, this program reads format %d: name another folder",
			path, number, format)
	case records > 0:
		return nil
	}
	return usage.Errorf("%s is no journal of bootbench, and is left as it is: name another folder", path)
}

// Head describes the computation of a journal.
type Head struct {
	Format   int      `json:"format"`
	Version  string   `json:"version"` // of the program
	Command  string   `json:"command"`
	Data     []string `json:"data"`             // DATA as given
	Settings []string `json:"settings"`         // flags that decide the answer as NAME=VALUE, sorted
	Chosen   string   `json:"chosen,omitempty"` // how a search chose the settings of the model
	Digests  []string `json:"digests"`          // of the data sets, in the order of reading
	Folder   string   `json:"folder"`           // base of relative names
	Shards   int      `json:"shards"`           // number of shards
}

// check refuses a file of another computation.
func (h *Head) check(found *Head, path string) error {
	switch {
	case found.String() != h.String():
		return usage.Errorf("%s is of another command line: %s", path, found)
	case found.Version != h.Version:
		return usage.Errorf("%s was begun by version %s of the program, this is %s", path, found.Version,
			h.Version)
	}
	return found.CheckData(h.Digests)
}

// CheckData refuses data other than the journal's.
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
			return usage.Errorf("%s is not what it was when the journal was begun: digest %s, then %s", name,
				digest,
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
