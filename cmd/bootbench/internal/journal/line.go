package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
)

const (
	format    = 1
	magic     = "bootbench journal "
	firstLine = magic + "1\n"
	headKey   = "head"
)

// line is a record.
func line(key string, body []byte) []byte {
	text := fmt.Appendf(nil, "%s %s", key, body)
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text)
}

// parse is the key and the body of a line without its end, if it is whole.
func parse(text []byte) (key string, body []byte, whole bool) {
	sum, rest, _ := bytes.Cut(text, []byte(" "))
	name, body, whole := bytes.Cut(rest, []byte(" "))
	return string(name), body, whole && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(rest))
}

// scanned is what a file holds.
type scanned struct {
	head    *Head // the last one
	entries map[string]entry
	damaged int   // lines
	size    int64 // up to the end of the last whole line
}

// scan reads a file, and refuses one that is no journal or has another format.
func scan(file *os.File, path string) (*scanned, error) {
	found := &scanned{entries: map[string]entry{}}
	r := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), 1<<20)
	first := ""
	for at := int64(0); ; {
		text, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, usage.Wrap(err)
		}
		if at == 0 {
			first = string(text[:min(len(text), 2*len(firstLine))])
		}
		if err == io.EOF { // and what is left was cut short
			found.size = at
			return found, found.check(first, path)
		}
		if string(text) != firstLine {
			found.add(file, at, text[:len(text)-1])
		}
		at += int64(len(text))
	}
}

// add notes a line that begins at some place of the file.
func (s *scanned) add(file *os.File, at int64, text []byte) {
	key, body, whole := parse(text)
	var h Head
	switch {
	case !whole:
		s.damaged++
	case key == headKey && json.Unmarshal(body, &h) == nil:
		s.head = &h
	default:
		s.entries[key] = entry{file, at + int64(len(text)-len(body)), len(body)}
	}
}

// check refuses what is no journal of this format. Where there are records, a first line
// that is none is damaged; a part of one was left by a writer that was killed at once.
func (s *scanned) check(first, path string) error {
	other, named := strings.CutPrefix(strings.TrimSpace(first), magic)
	if s.head != nil {
		other, named = strconv.Itoa(s.head.Format), true
	}
	number, err := strconv.Atoi(other)
	switch {
	case named && number == format, strings.HasPrefix(firstLine, first):
		return nil
	case named && err == nil:
		return usage.Errorf("%s is a journal of format %d, this program reads format %d: name another folder",
			path, number, format)
	case len(s.entries) > 0:
		return nil
	}
	return usage.Errorf("%s is no journal of bootbench, and is left as it is: name another folder", path)
}
