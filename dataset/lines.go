package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Bounds of text files, in bytes and columns. They hold before anything is known of
// a file, so that one without line ends, closing quotes or separators costs little
// memory; a line may not exceed Options.MaxBytes either, if that is above 1 MiB.
const (
	sampleBytes  = 1 << 16 // looked at before reading begins
	longestLine  = 1 << 26 // of a table, with the lines that a quoted cell continues
	longestEntry = 1 << 28 // of a sparse file
	longestCell  = 1 << 20
	mostColumns  = 1 << 20
)

// lineReader cuts a stream into lines of bounded length.
type lineReader struct {
	b      *bufio.Reader
	limit  int    // bytes of a line
	number int    // of the line read last, from 1
	long   []byte // a line that exceeds the buffer of b
}

// newLineReader skips the UTF-8 byte order mark.
func newLineReader(r io.Reader, limit int) *lineReader {
	b := bufio.NewReaderSize(r, 2*sampleBytes)
	l := &lineReader{b: b, limit: limit}
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" {
		b.Discard(3)
	}
	return l
}

// next returns the next line without its end, valid until the next call, or io.EOF.
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
		return nil, errLongLine(l.limit)
	case err == io.EOF && len(line) == 0:
		return nil, io.EOF
	case err != nil && err != io.EOF:
		return nil, reason(err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func errLongLine(limit int) error {
	return fmt.Errorf("%w: a line of more than %s", ErrMemory, humanBytes(float64(limit)))
}

// record is a line of a table cut into cells.
type record struct {
	line  int // its first line in the file
	cells [][]byte
}

// recordReader cuts lines into cells (RFC 4180): a cell may stand in double
// quotes, and hold separators, line ends and doubled quotes then.
type recordReader struct {
	lines     *lineReader
	separator byte // blank: runs of blanks and tabs
	skipped   int  // lines after the first record that start with #, which are comments
	records   int
	joined    []byte
	cells     [][]byte
}

var errQuote = errors.New(
	`a stray quote ("): a cell with quotes stands in quotes, and quotes in it are doubled`)

// next returns the next record, valid until the next call. Empty lines are skipped.
func (r *recordReader) next() (record, error) {
	for {
		line, err := r.lines.next()
		if err != nil {
			return record{line: r.lines.number}, err
		}
		unpaired := bytes.Count(line, []byte{'"'})%2 != 0
		bare := bytes.TrimLeft(line, " ")
		if len(bare) == 0 || bare[0] == '#' {
			if len(bare) > 0 && r.records > 0 {
				r.skipped++
			}
			continue
		}
		first := r.lines.number
		if unpaired {
			if line, err = r.join(line); err != nil {
				return record{line: first}, err
			}
		}
		r.cells = r.cells[:0]
		if err := r.split(line); err != nil {
			return record{line: first}, err
		}
		r.records++
		return record{first, r.cells}, nil
	}
}

// join appends lines until every quote is closed.
func (r *recordReader) join(line []byte) ([]byte, error) {
	r.joined = append(r.joined[:0], line...)
	for {
		more, err := r.lines.next()
		if err == io.EOF {
			return r.joined, nil // split finds the open quote
		}
		if err != nil {
			return nil, err
		}
		r.joined = append(append(r.joined, '\n'), more...)
		if len(r.joined) > r.lines.limit {
			return nil, errLongLine(r.lines.limit)
		}
		if bytes.Count(more, []byte{'"'})%2 != 0 {
			return r.joined, nil
		}
	}
}

// split cuts a line into cells without the blanks around them.
func (r *recordReader) split(line []byte) error {
	for {
		line = r.trimLeft(line)
		if r.separator == ' ' && len(line) == 0 && len(r.cells) > 0 {
			return nil
		}
		cell, rest, more, err := r.cut(line)
		switch {
		case err != nil:
			return err
		case len(cell) > longestCell:
			return fmt.Errorf("%w: cell %d has more than %s", ErrMemory, len(r.cells)+1, humanBytes(longestCell))
		case len(r.cells) == mostColumns:
			return fmt.Errorf("%w: more than %d columns; lines are examples, columns are features", ErrMemory,
				mostColumns)
		}
		r.cells = append(r.cells, cell)
		if !more {
			return nil
		}
		line = rest
	}
}

// cut takes the first cell off a line; more says that a separator followed.
func (r *recordReader) cut(line []byte) (cell, rest []byte, more bool, err error) {
	if len(line) > 0 && line[0] == '"' {
		if cell, rest, err = unquote(line[1:]); err != nil {
			return nil, nil, false, err
		}
		after := r.trimLeft(rest)
		if r.separator == ' ' {
			return cell, after, len(after) > 0 && len(after) < len(rest),
				quoteEnd(len(after) == 0 || len(after) < len(rest))
		}
		more = len(after) > 0 && after[0] == r.separator
		if more {
			return cell, after[1:], true, nil
		}
		return cell, nil, false, quoteEnd(len(after) == 0)
	}
	end := r.end(line)
	cell, more = bytes.TrimRight(line[:end], " \t"), end < len(line)
	if bytes.IndexByte(cell, '"') >= 0 {
		return nil, nil, false, errQuote
	}
	if more {
		rest = line[end+1:]
	}
	return cell, rest, more, nil
}

// end is the position of the separator that ends an unquoted cell.
func (r *recordReader) end(line []byte) int {
	at := -1
	if r.separator == ' ' {
		at = bytes.IndexAny(line, " \t")
	} else {
		at = bytes.IndexByte(line, r.separator)
	}
	if at < 0 {
		return len(line)
	}
	return at
}

func (r *recordReader) trimLeft(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') && (line[0] != r.separator || r.separator == ' ') {
		line = line[1:]
	}
	return line
}

func quoteEnd(ok bool) error {
	if ok {
		return nil
	}
	return errQuote
}

// unquote returns what stands before the closing quote, doubled quotes made one
// in place, and what follows it.
func unquote(line []byte) (cell, rest []byte, err error) {
	end, to := 0, 0
	for {
		at := bytes.IndexByte(line[end:], '"')
		if at < 0 {
			return nil, nil, errQuote
		}
		to += copy(line[to:], line[end:end+at])
		end += at + 1
		if end == len(line) || line[end] != '"' {
			return line[:to], line[end:], nil
		}
		line[to] = '"'
		to++
		end++
	}
}
