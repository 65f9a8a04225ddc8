// Package journal stores the finished tasks of a long computation in a folder: the same command line
// continues there when run again, and merge combines the journals of several processes.
//
// A folder holds one file per shard, which one process at a time appends to. After a line with the format
// there is a line for each record,
//
//	CRC32 KEY BODY
//
// with a checksum of the rest of the line. The record "head" describes the computation; every other key is a
// task, the body its result. Both are JSON. A damaged line loses only its record: the next one begins after
// the next line end. Nothing is overwritten; only an incomplete last line is cut off.
package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
)

// Journal is the finished tasks of a computation. A nil Journal is empty and stores nothing.
type Journal struct {
	Head       Head
	Kept, Lost int // tasks appended, and tasks that could not be
	entries    map[string]entry
	files      []*os.File // open for reading
	out        *os.File   // open for appending; nil: none, or broken
	size       int64      // of it
	begun      bool       // it has a head
	warn       func(...string)
}

// entry is the position of a task's result.
type entry struct {
	file   *os.File
	at     int64
	length int
}

// fileName is the file of a shard, fileNames are the files of all.
func fileName(shard, shards int) string {
	if shards == 1 {
		return "journal"
	}
	return fmt.Sprintf("journal-%d-of-%d", shard, shards)
}

var fileNames = regexp.MustCompile(`^journal(-\d+-of-\d+)?$`)

// Files are the paths of the journals of a folder, and of the one of a shard I/N, "" for all.
func Files(folder, shard string) []string {
	name := fileName(0, 1)
	if shard != "" {
		name += "-" + strings.Replace(shard, "/", "-of-", 1)
	}
	paths := []string{filepath.Join(folder, name)}
	list, _ := os.ReadDir(folder) // none, if it cannot be read
	for _, item := range list {
		if fileNames.MatchString(item.Name()) {
			paths = append(paths, filepath.Join(folder, item.Name()))
		}
	}
	return paths
}

// Open reads the journal of a folder, which is created if missing, and appends to the file of a shard (0 of
// 1: all), which no other process may have open. A journal of another computation is refused. warn gets
// damaged records and failures to write.
func Open(folder string, head Head, shard int, warn func(...string)) (*Journal, error) {
	head.Format = format
	j := &Journal{Head: head, warn: warn}
	path := filepath.Join(folder, fileName(shard, head.Shards))
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		j.out, err = openRegular(path, os.O_RDWR|os.O_CREATE|os.O_APPEND)
	}
	if err != nil {
		return nil, usage.Wrap(err)
	}
	if errors.Is(lock(j.out), errHeld) {
		err = usage.Errorf("%s is in use by another run", path)
	} else if err = j.take(folder); err == nil {
		err = j.begin()
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// begin cuts off an incomplete last line, and writes a head unless there is one.
func (j *Journal) begin() error {
	if err := j.out.Truncate(j.size); err != nil {
		return usage.Wrap(err)
	}
	text, err := json.Marshal(j.Head)
	if err != nil || j.begun {
		return err
	}
	if err := j.write(append([]byte(firstLine), line(headKey, text)...)); err != nil {
		j.Lost++
		j.warn(fmt.Sprintf("--journal: %v; the run continues without keeping what it finishes", err))
	}
	return nil
}

// Read reads the journals of folders, for merge.
func Read(folders []string, warn func(...string)) (*Journal, error) {
	j := &Journal{warn: warn}
	err := j.take(folders...)
	if err == nil && j.Head.Command == "" {
		err = usage.Errorf("%s holds no journal of bootbench", folders[0])
	}
	if err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// take reads all files of folders.
func (j *Journal) take(folders ...string) error {
	j.entries = map[string]entry{}
	for _, folder := range folders {
		list, err := os.ReadDir(folder)
		if err != nil {
			return usage.Wrap(err)
		}
		for _, item := range list {
			if fileNames.MatchString(item.Name()) {
				if err := j.takeFile(filepath.Join(folder, item.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// takeFile adds the records of a file.
func (j *Journal) takeFile(path string) (err error) {
	file := j.out
	own := file != nil && path == file.Name()
	if !own {
		if file, err = openRegular(path, os.O_RDONLY); err != nil {
			return usage.Wrap(err)
		}
		j.files = append(j.files, file)
	}
	var head *Head
	damaged, records := 0, 0
	first, size, err := scan(file, func(at int64, key string, body []byte, whole bool) {
		var h Head
		switch {
		case !whole:
			damaged++
		case key == headKey && json.Unmarshal(body, &h) == nil:
			head = &h
		default:
			j.entries[key] = entry{file, at, len(body)}
			records++
		}
	})
	if err == nil {
		err = check(first, head, records, path)
	}
	switch {
	case err != nil:
		return err
	case head != nil && j.Head.Command == "":
		j.Head = *head
	case head != nil:
		err = j.Head.check(head, path)
	}
	if damaged > 0 {
		j.warn(fmt.Sprintf("%s has %d damaged records: their tasks count as not done", path, damaged))
	}
	if own {
		j.size, j.begun = size, head != nil
	}
	return err
}

// Has reports whether a task is finished.
func (j *Journal) Has(key string) bool {
	if j == nil {
		return false
	}
	_, known := j.entries[key]
	return known
}

// Lookup reads the result of a task into a pointer, and reports whether it is finished and could be read.
func (j *Journal) Lookup(key string, result any) bool {
	if !j.Has(key) {
		return false
	}
	e := j.entries[key]
	body := make([]byte, e.length)
	_, err := e.file.ReadAt(body, e.at)
	return err == nil && json.Unmarshal(body, result) == nil
}

// Append stores the result of a task on disk. A failure, such as a full disk, is reported once, and only
// loses the record.
func (j *Journal) Append(key string, result any) {
	if j == nil {
		return
	}
	body, err := json.Marshal(result)
	if err == nil {
		err = j.write(line(key, body))
	}
	if err == nil {
		j.Kept++
		return
	}
	if j.Lost == 0 {
		j.warn(fmt.Sprintf("--journal: %v; the run continues without keeping what it finishes", err))
	}
	j.Lost++
}

// write appends complete lines, or nothing.
func (j *Journal) write(lines []byte) error {
	if j.out == nil {
		return errors.New("the file cannot be written any more")
	}
	_, err := j.out.Write(lines)
	if err = cmp.Or(err, j.out.Sync()); err == nil {
		j.size += int64(len(lines))
	} else if j.out.Truncate(j.size) != nil { // a record after an incomplete line would be lost
		j.out = nil
	}
	return err
}

// Count is the number of finished tasks found.
func (j *Journal) Count() int { return len(j.entries) }

// Close releases the file for other processes.
func (j *Journal) Close() {
	if j == nil {
		return
	}
	for _, f := range append(j.files, j.out) {
		if f != nil {
			f.Close()
		}
	}
	j.files, j.out = nil, nil
}

// openRegular opens a regular file without blocking; links are refused.
func openRegular(path string, how int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file, and links are not followed", path)
	}
	return os.OpenFile(path, how|noFollow, 0o644)
}

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
