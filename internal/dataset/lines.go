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

// Bounds of text files, in bytes and columns. They hold before anything is known of a file, so that one
// without line ends, closing quotes or separators costs little memory; a line may not exceed Options.MaxBytes
// either, if that is above 1 MiB.
const (
	sampleBytes = 1 << 16 // looked at before reading begins
	longestLine = 1 << 28 // with the lines that a quoted cell continues
	leastLimit  = 1 << 20
	mostColumns = 1 << 20
)

// lines cuts a text into lines of bounded length.
type lines struct {
	*bufio.Scanner
	limit  int // bytes of a line
	number int // of the line read last, from 1
}

func newLines(text io.Reader, opt Options) *lines {
	l := &lines{Scanner: bufio.NewScanner(text)}
	l.limit = int(min(longestLine, max(leastLimit, opt.maxBytes())))
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

// records cuts a text into the rows of a table. encoding/csv gets the lines of one record at a time.
type records struct {
	*lines
	csv     *csv.Reader
	record  bytes.Reader // what csv reads
	blanks  bool         // separate the columns
	begun   bool         // a record was read
	skipped int          // comments after it
	buffer  []byte
}

func newRecords(text io.Reader, separator byte, opt Options) *records {
	r := &records{lines: newLines(text, opt), blanks: separator == ' '}
	r.csv = csv.NewReader(&r.record)
	r.csv.Comma = rune(separator)
	if r.blanks {
		r.csv.Comma = '\t'
	}
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t' // leading tabs are cells if tabs separate
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	return r
}

// next returns the cells of the next record without the blanks around them, valid until the next call, and
// its first line, or io.EOF.
func (r *records) next() (cells []string, line int, err error) {
	line, err = r.readRecord()
	if err == nil {
		r.record.Reset(r.buffer)
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
	valid := utf8.Valid(r.buffer)
	for j, cell := range cells {
		if !valid {
			cell = utf8Text(cell)
		}
		cells[j] = strings.TrimSpace(cell)
	}
	return cells, line, nil
}

// readRecord reads the lines of a record, one or those up to the end of a cell in quotes, and skips comments
// and lines of blanks before it. If blanks separate the columns, they become tabs.
func (r *records) readRecord() (first int, err error) {
	r.buffer = r.buffer[:0]
	quoted := false // the line begins within a cell in quotes
	for len(r.buffer) == 0 || quoted {
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
		if r.blanks {
			line = squeeze(line, quoted)
		}
		if bare := bytes.Trim(line, " \r"); !quoted && (len(bare) == 0 || bare[0] == '#') {
			if len(bare) > 0 && r.begun {
				r.skipped++
			}
			continue
		}
		if bytes.Count(line, []byte{'"'})%2 == 1 {
			quoted = !quoted
		}
		r.buffer = append(append(r.buffer, line...), '\n')
		if len(r.buffer) > r.limit {
			return first, r.errLong()
		}
	}
	r.begun = true
	return first, nil
}

// squeeze makes runs of blanks and tabs outside quotes a single tab, none at the ends of the line. It
// works in place; quoted says that the line begins within a cell in quotes.
func squeeze(line []byte, quoted bool) []byte {
	to, gap := line[:0], false
	for _, c := range line {
		if !quoted && (c == ' ' || c == '\t' || c == '\r') {
			gap = true
			continue
		}
		if gap && len(to) > 0 {
			to = append(to, '\t')
		}
		gap = false
		quoted = quoted != (c == '"')
		to = append(to, c)
	}
	return to
}

var errColumns = fmt.Errorf("%w: more than %d columns; rows are examples, columns are features", errMemory,
	mostColumns)

var errQuote = errors.New(
	`a stray quote ("): a cell with quotes must be in quotes, and quotes in it are doubled`)

// utf8Text is a text in UTF-8; what is not is read as Latin-1.
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
