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
	"unsafe"

	"bootbench/linalg"
)

// Bounds of text files, in bytes and columns, so that a file without line ends, closing quotes or separators
// costs little memory. A line may not exceed an eighth of Options.MaxBytes either, if that is above 1 MiB,
// since buffers and cells of a line take up to eight times its bytes.
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
	text   *bufio.Reader
	long   []byte  // a line that exceeds the buffer of text
	limit  int     // bytes of a line
	number int     // of the line read last, from 1
	bytes  float64 // of the lines read
}

func newLines(text io.Reader, opt Options) *lines {
	return &lines{text: bufio.NewReaderSize(text, sampleBytes),
		limit: int(min(longestLine, max(leastLimit, opt.MaxBytes/8)))}
}

// next is the next line without its end, valid until the next call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.long = l.long[:0]
	line, err := l.text.ReadSlice('\n')
	for err == bufio.ErrBufferFull {
		if l.long = append(l.long, line...); len(l.long) > l.limit {
			return nil, l.errLong()
		}
		line, err = l.text.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, line...)
		line = l.long
	}
	switch {
	case err != nil && err != io.EOF:
		return nil, reason(err)
	case len(line) == 0:
		return nil, io.EOF
	}
	l.bytes += float64(len(line))
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

func (l *lines) errLong() error {
	return fmt.Errorf("%w: a line of more than %s", errMemory, linalg.FormatBytes(float64(l.limit)))
}

// records splits a text into the rows of a table. encoding/csv gets one record at a time, of bounded length.
type records struct {
	*lines
	csv     *csv.Reader
	text    bytes.Buffer // of a record
	cells   []string
	width   int // cells of the last record, 0 before the first
	skipped int // comments below the first record
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
	valid := false
	if line, err = r.readText(); err == nil {
		valid = utf8.Valid(r.text.Bytes())
		cells, err = r.split()
	}
	if err == io.EOF {
		return nil, 0, err
	}
	if err != nil {
		return nil, 0, place{unit: "line", number: line}.error("", err)
	}
	for j, cell := range cells {
		if !valid {
			cell = utf8Text(cell)
		}
		cells[j] = strings.TrimSpace(cell)
	}
	r.width = len(cells)
	return cells, line, nil
}

// split splits the text of a record into cells, views of it if it has no quotes.
func (r *records) split() ([]string, error) {
	text, separator := r.text.Bytes(), []byte{byte(r.csv.Comma)}
	if bytes.Count(text, separator) >= mostColumns && r.csv.Comma != ' ' {
		return nil, errColumns
	}
	if bytes.IndexByte(text, '"') >= 0 {
		cells, err := r.csv.Read()
		if err != nil {
			return nil, errQuote
		}
		return cells, nil
	}
	r.cells = r.cells[:0]
	for more := true; more; {
		if r.csv.Comma == ' ' {
			text = bytes.TrimLeft(text, " ")
		}
		var cell []byte
		cell, text, more = bytes.Cut(text, separator)
		r.cells = append(r.cells, unsafe.String(unsafe.SliceData(cell), len(cell)))
	}
	return r.cells, nil
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
		if bare := bytes.Trim(line, " \r"); !quoted && (len(bare) == 0 || bare[0] == '#' && !r.isRow(bare)) {
			if len(bare) > 0 && r.width > 0 {
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
	return first, nil
}

// isRow reports whether a line that starts with # is no comment: it has as many cells as the record before.
func (r *records) isRow(line []byte) bool {
	defer r.text.Reset()
	r.text.Write(line)
	cells, err := r.split()
	return err == nil && len(cells) == r.width && (r.csv.Comma != ' ' || cells[0] != "#")
}

func cloneTexts(texts []string) []string {
	clones := make([]string, len(texts))
	for k, text := range texts {
		clones[k] = strings.Clone(text)
	}
	return clones
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
