package dataset

import (
	"fmt"
	"io"
)

// stream is a file that is read from its beginning.
type stream struct {
	name string
	r    io.Reader
}

// fileLines are files whose lines are counted through, from 1.
type fileLines struct {
	names []string
	ends  []int // the last line of each but the file that is being read
}

// begin has lines go on where the file before ended.
func (f *fileLines) begin(name string, lines *lineReader) {
	f.names = append(f.names, name)
	lines.number = f.before(len(f.names) - 1)
}

// end notes that a file was read to its end, behind which a reader has looked for a line.
func (f *fileLines) end(lines *lineReader) { f.ends = append(f.ends, lines.number-1) }

// before is the number of lines before a file.
func (f *fileLines) before(k int) int {
	if k == 0 {
		return 0
	}
	return f.ends[k-1]
}

// find is the file of a line, and its number there; of a single file the given name.
func (f *fileLines) find(line int, single string) (name string, number int) {
	if len(f.names) < 2 {
		return single, line
	}
	k := 0
	for k < len(f.ends) && line > f.ends[k] {
		k++
	}
	return f.names[k], line - f.before(k)
}

// where names a line.
func (f *fileLines) where(line int) string {
	name, number := f.find(line, "")
	if name == "" {
		return fmt.Sprintf("line %d", number)
	}
	return fmt.Sprintf("line %d of %s", number, name)
}
