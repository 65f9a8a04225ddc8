package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of text files, in bytes and columns, so that a file without line ends, closing quotes or separators
// costs little memory. A line may not exceed Options.MaxBytes either, if that is above 1 MiB.
const (
	sampleBytes = 1 << 16 // to detect format and dialect
	longestLine = 1 << 28 // including continuation lines of a quoted cell
	leastLimit  = 1 << 20
	mostColumns = 1 << 20
)

var (
	errColumns = fmt.Errorf("%w: more than %d columns; rows are examples, columns are features", errMemory,
		mostColumns)
	errQuote = errors.New(
		`a stray quote ("): a cell with quotes must be in quotes, and quotes in it are doubled`)
)

// lines splits a text into lines of bounded length.
type lines struct {
	*bufio.Scanner
	limit  int // bytes of a line
	number int // of the line read last, from 1
}

func newLines(text io.Reader, opt Options) *lines {
	l := &lines{Scanner: bufio.NewScanner(text)}
	l.limit = int(min(longestLine, max(leastLimit, opt.MaxBytes)))
	l.Buffer(nil, l.limit)
	return l
}

// next is the next line without its end, valid until the next call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	l.number++
	switch {
	case l.Scan():
		return l.Bytes(), nil
	case errors.Is(l.Err(), bufio.ErrTooLong):
		return nil, l.errLong()
	case l.Err() != nil:
		return nil, reason(l.Err())
	}
	return nil, io.EOF
}

func (l *lines) errLong() error {
	return fmt.Errorf("%w: a line of more than %s", errMemory, humanBytes(float64(l.limit)))
}

// records splits a text into the rows of a table. encoding/csv gets one record at a time, of bounded length.
type records struct {
	*lines
	csv     *csv.Reader
	text    bytes.Buffer // of a record
	begun   bool         // a record was read
	skipped int          // comments after it
}

func newRecords(text io.Reader, separator byte, opt Options) *records {
	r := &records{lines: newLines(text, opt)}
	r.csv = csv.NewReader(&r.text)
	r.csv.Comma = rune(separator)
	r.csv.TrimLeadingSpace = separator != '\t' // leading tabs are cells if tabs separate
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	return r
}

// next returns the trimmed cells of the next record, valid until the next call, and its first line.
func (r *records) next() (cells []string, line int, err error) {
	if line, err = r.readText(); err == nil {
		if cells, err = r.csv.Read(); err != nil {
			err = errQuote
		} else if len(cells) > mostColumns {
			err = errColumns
		}
	}
	if err == io.EOF {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, place{unit: "line", number: line}.error("", err)
	}
	for j, cell := range cells {
		cells[j] = strings.TrimSpace(utf8Text(cell))
	}
	return cells, line, nil
}

// readText reads the text of a record: one line, or several if a quoted cell contains line ends. It skips
// comments and blank lines before it. If blanks separate the columns, tabs outside quotes become blanks.
func (r *records) readText() (first int, err error) {
	r.text.Reset()
	quoted := false // the line begins within a cell in quotes
	for r.text.Len() == 0 || quoted {
		line, err := r.lines.next()
		if err == io.EOF && quoted {
			err = errQuote
		}
		if !quoted {
			first = r.number
		}
		if err != nil {
			return first, err
		}
		if r.csv.Comma == ' ' {
			pieces := bytes.Split(line, []byte{'"'})
			for k := range pieces {
				if quoted == (k%2 == 1) { // outside quotes
					pieces[k] = bytes.ReplaceAll(pieces[k], []byte{'\t'}, []byte{' '})
				}
			}
			line = bytes.Join(pieces, []byte{'"'})
		}
		bare := bytes.Trim(line, " \r")
		if !quoted && (len(bare) == 0 || bare[0] == '#') {
			if len(bare) > 0 && r.begun {
				r.skipped++
			}
			continue
		}
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			quoted = !quoted
		}
		if r.csv.Comma == ' ' && !quoted { // trailing blanks separate nothing
			line = bytes.TrimRight(line, " \r")
		}
		r.text.Write(line)
		r.text.WriteByte('\n')
		if r.text.Len() > r.limit {
			return first, r.errLong()
		}
	}
	r.begun = true
	return first, nil
}

// utf8Text is a text in UTF-8; invalid UTF-8 is read as Latin-1.
func utf8Text(cell string) string {
	if utf8.ValidString(cell) {
		return cell
	}
	runes := make([]rune, len(cell))
	for i := range len(cell) {
		runes[i] = rune(cell[i])
	}
	return string(runes)
}
