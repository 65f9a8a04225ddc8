package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ReadTable reads a text with a line per example and a column per feature. The
// separator (comma, semicolon, tab or runs of blanks) and the header line are
// detected, see the package documentation; lines that start with # and
// empty lines are skipped, a byte order mark and CRLF line ends accepted. The
// options choose target and columns and say what becomes of missing values.
// Columns of texts become indicators. At least two examples and one feature are
// needed. name stands in messages and becomes the name of the set.
func ReadTable(r io.Reader, name string, opt Options) (*Set, error) {
	return readTableSet([]stream{{name, r}}, name, opt)
}

// readTableSet reads files as one table.
func readTableSet(files []stream, name string, opt Options) (*Set, error) {
	t, err := readTable(files, name, opt, (*table).planTraining)
	if err != nil {
		return nil, err
	}
	return t.set()
}

// stream is a file that is read from its beginning.
type stream struct {
	name string
	r    io.Reader
}

// table is a file of columns as it was read: a number for each cell that is
// used, NaN where there is none, the number of the text where a column holds texts.
type table struct {
	file     string // all that are read
	part     string // the file that is being read
	dialect  dialect
	opt      Options
	columns  []column
	headless bool  // columns have positions, not names
	array    bool  // places are rows, not lines
	used     []int // columns that are features or target
	features int   // of them
	cells    *cellRows
	rowNames []string

	memory  int // bytes of texts and names of rows
	commas  decimals
	blank   int // rows without any cell
	skipped int // comments below the first record
	notes   []string
}

// place is a line of a text file, or a row of an array.
type place struct {
	file   string
	number int
}

// error is one at that place.
func (p place) error(array bool) *Error {
	if array {
		return &Error{File: p.file, Row: p.number}
	}
	return &Error{File: p.file, Line: p.number}
}

// decimals are the lines that first show a decimal comma and a decimal point.
type decimals struct {
	possible     bool // no commas separate the columns
	comma, point place
	cell         string // with the comma
}

// rows is the number of rows read.
func (t *table) rows() int { return t.cells.rows }

// at is the cell of row i in the k-th column used.
func (t *table) at(i, k int) float64 { return t.cells.row(i)[k] }

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// bad places an error in the file.
func (t *table) bad(err error) error { return inFile(t.file, err) }

// readTable reads text tables as one, file after file, after plan has given its columns their roles.
func readTable(files []stream, name string, opt Options, plan func(t *table) error) (*table, error) {
	t := &table{file: name, opt: opt.bounded()}
	for _, f := range files {
		if err := t.read(f, plan); err != nil {
			return nil, inFile(f.name, err)
		}
	}
	if err := t.end(); err != nil {
		return nil, t.bad(err)
	}
	return t, nil
}

// read reads header and rows of a file. The first file says what columns there are; others must have the
// same.
func (t *table) read(f stream, plan func(t *table) error) error {
	t.part = f.name
	lines := newLineReader(f.r, longestLine, t.opt)
	sample, err := lines.b.Peek(sampleBytes)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull && len(sample) == 0 {
		return err
	}
	if err := refuseForeign(sample); err != nil {
		return err
	}
	first := t.columns == nil
	if first {
		t.detect(sample, err == io.EOF)
	}
	records := newRecordReader(lines, t.dialect.separator)
	rec, err := records.next()
	switch {
	case err == io.EOF:
		return errors.New("the file is empty")
	case err != nil:
		return err
	}
	if first {
		if err = t.setHeader(rec); err == nil {
			err = plan(t)
		}
		t.use()
	} else {
		err = t.sameHeader(rec)
	}
	if err != nil {
		return &Error{Line: rec.line, Err: err}
	}
	if t.dialect.header == firstLine {
		rec, err = records.next()
	}
	for ; err == nil; rec, err = records.next() {
		if err := t.addRecord(rec); err != nil {
			return err
		}
	}
	t.skipped += records.lines.skipped
	if err == io.EOF {
		return nil
	}
	return err
}

// detect finds the dialect.
func (t *table) detect(sample []byte, whole bool) {
	t.dialect = detect(sample, whole)
	if t.opt.NoHeader {
		t.dialect.header, t.dialect.rowNames = noLine, false
	}
	t.commas.possible = t.dialect.separator != ','
	t.notes = t.dialect.notes()
}

// setHeader names the columns, given the first record of the first file.
func (t *table) setHeader(rec record) error {
	if t.dialect.header == noLine {
		t.namePositions(len(rec.cells))
		return nil
	}
	return t.nameColumns(t.namesIn(rec))
}

// namesIn are the names of the columns, given the first record of a file.
func (t *table) namesIn(rec record) []string {
	names := rec.cells
	if t.dialect.header == commentLine {
		names = t.dialect.names
	}
	if t.dialect.rowNames {
		names = append([]string{""}, names...)
	}
	return names
}

// nameColumns makes columns of these names.
func (t *table) nameColumns(cells []string) error {
	names, err := headerNames(cells)
	if err != nil {
		return err
	}
	for _, name := range names {
		t.columns = append(t.columns, column{name: name})
		t.memory += textBytes(name)
	}
	return nil
}

// namePositions names n columns x1, x2, ...
func (t *table) namePositions(n int) {
	t.headless = true
	for _, name := range numbered("x", n) {
		t.columns = append(t.columns, column{name: name})
	}
}

// sameHeader compares the header of a further file.
func (t *table) sameHeader(rec record) error {
	width := len(rec.cells)
	names, err := []string(nil), error(nil)
	if !t.headless {
		if names, err = headerNames(t.namesIn(rec)); err != nil {
			return err
		}
		width = len(names)
	}
	if width != len(t.columns) {
		return fmt.Errorf("%d columns, there are %d in the files before: files of one table have the same columns",
			width, len(t.columns))
	}
	for j, name := range names {
		if before := t.columns[j].name; name != before {
			return fmt.Errorf("column %d is %s, in the files before %s: files of one table have the same columns", j+1,
				quote(name), quote(before))
		}
	}
	return nil
}

// use lists the columns that have cells to keep.
func (t *table) use() {
	for j := range t.columns {
		switch t.columns[j].role {
		case asFeature:
			t.features++
			t.used = append(t.used, j)
		case asTarget:
			t.used = append(t.used, j)
		}
	}
	t.cells = newCellRows(len(t.used))
}

// end notes what was found in the rows.
func (t *table) end() error {
	if t.commas.comma.number > 0 {
		t.note("numbers have decimal commas, such as %s", t.commas.cell)
	}
	t.noteOdd()
	if t.blank > 0 {
		t.note("%d empty rows are skipped", t.blank)
	}
	if t.skipped > 0 {
		t.note("%d lines below the first that start with # are skipped", t.skipped)
	}
	if t.rows() == 0 {
		return errors.New("no examples below the header")
	}
	return nil
}

// noteOdd notes columns whose numbers may be names.
func (t *table) noteOdd() {
	for _, c := range t.columns {
		if c.odd != "" {
			t.note("column %s: %s is read as %s; if these are names, not numbers: --categorical or --drop %s",
				quote(c.name), quote(c.odd), strconv.FormatFloat(c.oddValue, 'f', -1, 64), flagText(c.name))
		}
	}
}

// addRecord appends the cells of a row unless it is empty.
func (t *table) addRecord(rec record) error {
	if strings.Join(rec.cells, "") == "" {
		t.blank++
		return nil
	}
	if len(rec.cells) != len(t.columns) {
		return &Error{Line: rec.line, Err: fmt.Errorf("%d cells, but the header names %d columns", len(rec.cells),
			len(t.columns))}
	}
	row, k := t.cells.add(), 0
	if err := t.checkSize(); err != nil {
		return &Error{Line: rec.line, Err: err}
	}
	for j, cell := range rec.cells {
		c := &t.columns[j]
		switch c.role {
		case unused:
		case asNothing:
			if cell != "" {
				return &Error{Line: rec.line, Err: fmt.Errorf("column %d has a cell, %s, but no name", j+1, quote(cell))}
			}
		case asRowName:
			t.addRowName(cell)
		default:
			v, err := t.value(c, cell, rec.line)
			if err != nil {
				return &Error{Line: rec.line, Column: c.name, Err: err}
			}
			if math.IsNaN(v) {
				c.miss(t.rows()-1, place{t.part, rec.line})
			}
			row[k] = v
			k++
		}
	}
	return nil
}

func (t *table) addRowName(cell string) {
	t.rowNames = append(t.rowNames, printable(utf8Text(cell)))
	t.memory += textBytes(cell)
}

// checkSize refuses a table whose features and texts exceed the memory allowed.
func (t *table) checkSize() error {
	if err := t.opt.checkSize(t.rows(), t.features); err != nil {
		return err
	}
	if limit := t.opt.maxBytes(); int64(t.memory) > limit {
		return fmt.Errorf("%w: the texts of %d rows take %s, the limit is %s (--max-memory sets another)",
			ErrMemory,
			t.rows(), humanBytes(float64(t.memory)), humanBytes(float64(limit)))
	}
	return nil
}

// value is the number of a cell, NaN for a missing one.
func (t *table) value(c *column, cell string, line int) (float64, error) {
	if c.kind != texts {
		v, err := strconv.ParseFloat(cell, 64)
		if err == nil && !math.IsNaN(v) {
			c.kind = numbers
			c.noteOdd(cell, v)
			return v, t.checkNumber(cell, v, line)
		}
		if with, ok := decimalComma(cell); ok && t.commas.possible {
			if w, err := strconv.ParseFloat(with, 64); err == nil {
				c.kind = numbers
				return w, t.checkComma(cell, line)
			}
		}
		if errors.Is(err, strconv.ErrRange) {
			_, err := parseNumber(cell)
			return 0, err
		}
	}
	switch {
	case isMissing(cell):
		return math.NaN(), nil
	case c.kind == numbers:
		return 0, fmt.Errorf(
			"%s is not a number, as the cells above it are (--categorical %s takes all for texts, --drop leaves the "+
				"column out)",
			quote(cell), flagText(c.name))
	}
	c.kind = texts
	before := len(c.texts)
	k, err := c.numberOf(cell, t.opt.UnseenZero && c.role == asFeature)
	if len(c.texts) > before {
		t.memory += textBytes(c.texts[k])
	}
	return float64(k), err
}

// checkNumber refuses infinities, and decimal points where others are commas.
func (t *table) checkNumber(cell string, v float64, line int) error {
	d := &t.commas
	if d.possible && d.point.number == 0 && strings.Contains(cell, ".") {
		d.point = place{t.part, line}
		if d.comma.number > 0 {
			return fmt.Errorf("%s has a decimal point, %s has a decimal comma", quote(cell), t.where(d.comma))
		}
	}
	return checkFinite(v)
}

func (t *table) checkComma(cell string, line int) error {
	d := &t.commas
	if d.point.number > 0 {
		return fmt.Errorf("%s has a decimal comma, %s has a decimal point", quote(cell), t.where(d.point))
	}
	if d.comma.number == 0 {
		d.comma, d.cell = place{t.part, line}, strings.Clone(cell)
	}
	return nil
}

// where names a line of the file that is being read, or of one before.
func (t *table) where(p place) string {
	if p.file == t.part {
		return fmt.Sprintf("line %d", p.number)
	}
	return fmt.Sprintf("line %d of %s", p.number, quote(p.file))
}
