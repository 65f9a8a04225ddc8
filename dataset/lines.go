package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of text files, in bytes and columns. They hold before anything is known of
// a file, so that one without line ends, closing quotes or separators costs little
// memory; a line may not exceed Options.MaxBytes either, if that is above 1 MiB.
const (
	sampleBytes  = 1 << 16 // looked at before reading begins
	longestLine  = 1 << 26 // of a table, with the lines that a quoted cell continues
	longestEntry = 1 << 28 // of a sparse file
	leastLimit   = 1 << 20
	mostColumns  = 1 << 20
)

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	b      *bufio.Reader
	limit  int    // bytes of a line
	number int    // of the line read last, from 1
	long   []byte // a line that exceeds the buffer of b
}

// newLineReader skips the UTF-8 byte order mark. No line may have more bytes than most, or than the
// options allow.
func newLineReader(r io.Reader, most int64, opt Options) *lineReader {
	b := bufio.NewReaderSize(r, 2*sampleBytes)
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return &lineReader{b: b, limit: int(min(most, max(leastLimit, opt.maxBytes())))}
}

// next returns the next line with its end, valid until the next call, or io.EOF.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.b.ReadSlice('\n')
	l.number++
	if err == bufio.ErrBufferFull {
		l.long = l.long[:0]
		for err == bufio.ErrBufferFull && len(l.long) <= l.limit {
			l.long = append(l.long, line...)
			line, err = l.b.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	switch {
	case len(line) > l.limit:
		return nil, l.errLong()
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, reason(err)
	}
	return line, nil
}

func (l *lineReader) errLong() error {
	return fmt.Errorf("%w: a line of more than %s", ErrMemory, humanBytes(float64(l.limit)))
}

// tableLines hands the lines of a table to encoding/csv as that wants them: comments and lines of blanks
// are emptied, and runs of blanks become a tab where they separate the columns. All lines are handed on,
// one at a time, so that they keep their numbers.
type tableLines struct {
	*lineReader
	separator byte
	begun     bool   // a line with cells was read
	skipped   int    // comments after it
	open      bool   // within a cell in quotes
	record    int    // bytes of the lines with that cell
	rest      []byte // of the line, to be handed on
}

// Read implements io.Reader.
func (t *tableLines) Read(p []byte) (int, error) {
	if len(t.rest) == 0 {
		line, err := t.next()
		if err == nil {
			err = t.take(line)
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n, nil
}

// take prepares a line.
func (t *tableLines) take(line []byte) error {
	if !t.open {
		t.record = 0
		bare := bytes.Trim(line, " \r\n")
		if len(bare) == 0 || bare[0] == '#' {
			if len(bare) > 0 && t.begun {
				t.skipped++
			}
			t.rest = []byte{'\n'}
			return nil
		}
		t.begun = true
	}
	if t.record += len(line); t.record > t.limit {
		return t.errLong()
	}
	if bytes.Count(line, []byte{t.separator}) >= mostColumns {
		return fmt.Errorf("%w: more than %d columns; lines are examples, columns are features", ErrMemory,
			mostColumns)
	}
	t.rest = line
	if t.separator == ' ' {
		t.rest = squeeze(line, t.open)
	}
	t.open = t.open != (bytes.Count(line, []byte{'"'})%2 != 0)
	return nil
}

// squeeze makes runs of blanks and tabs outside quotes a single tab, none at the ends of the line. It
// works in place; quoted says that the line begins within a cell in quotes.
func squeeze(line []byte, quoted bool) []byte {
	to, gap := line[:0], false
	for _, c := range line {
		switch {
		case quoted || c != ' ' && c != '\t' && c != '\r' && c != '\n':
			if gap && len(to) > 0 {
				to = append(to, '\t')
			}
			gap = false
			quoted = quoted != (c == '"')
			to = append(to, c)
		case c == '\n':
			to = append(to, c)
		default:
			gap = true
		}
	}
	return to
}

// recordReader reads the records of a table.
type recordReader struct {
	lines *tableLines
	csv   *csv.Reader
}

func newRecordReader(lines *lineReader, separator byte) *recordReader {
	r := &recordReader{lines: &tableLines{lineReader: lines, separator: separator}}
	r.csv = csv.NewReader(r.lines)
	r.csv.Comma = rune(separator)
	if separator == ' ' {
		r.csv.Comma = '\t'
	}
	// Leading tabs are cells where tabs separate.
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t'
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	return r
}

// record is a record of a table, cut into cells without the blanks around them.
type record struct {
	line  int // its first line in the file
	cells []string
}

var errQuote = errors.New(
	`a stray quote ("): a cell with quotes stands in quotes, and quotes in it are doubled`)

// next returns the next record, valid until the next call, or io.EOF.
func (r *recordReader) next() (record, error) {
	cells, err := r.csv.Read()
	var place *csv.ParseError
	switch {
	case err == io.EOF:
		return record{}, io.EOF
	case errors.As(err, &place):
		return record{}, &Error{Line: place.StartLine, Err: errQuote}
	case err != nil:
		return record{}, &Error{Line: r.lines.number, Err: err}
	}
	for j, cell := range cells {
		if n := len(cell); n > 0 && (cell[0] <= ' ' || cell[n-1] <= ' ') {
			cells[j] = strings.TrimSpace(cell)
		}
	}
	line, _ := r.csv.FieldPos(0)
	return record{line, cells}, nil
}
