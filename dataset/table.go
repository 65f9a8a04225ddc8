package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ReadTable reads a text with a line per example and a column per feature. The
// separator (comma, semicolon, tab or runs of blanks) and the header line are
// found by looking, see the package documentation; lines that start with # and
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

// ReadInputsTable reads such a text with a column for every feature of train, in
// any order; its target may be there, other columns are ignored.
func ReadInputsTable(r io.Reader, name string, train *Set, opt Options) (*Inputs, error) {
	return readInputsTable([]stream{{name, r}}, name, train, opt)
}

func readInputsTable(files []stream, name string, train *Set, opt Options) (*Inputs, error) {
	t, err := readTable(files, name, opt, func(t *table) error { return t.planInputs(train) })
	if err != nil {
		return nil, err
	}
	return t.inputs(train)
}

// table is a file of columns as it was read: a number for each cell that is
// used, NaN where there is none, the number of the text where a column holds texts.
type table struct {
	file     string
	files    fileLines
	dialect  dialect
	opt      Options
	columns  []column
	headless bool  // columns have positions, not names
	used     []int // columns that are features or target
	features int   // of them
	rows     int
	shared   *rowShare // where ranks have read other rows; nil: these are all
	cells    cellList
	placed   *placed // in the place of cells; nil: there are cells
	byColumn bool    // cells stand column after column, not row after row
	stride   int     // cells of a row
	array    bool    // places are rows, not lines
	last     *table  // holds the last column, an array of its own; nil: it stands with the others
	rowNames []string

	found
}

// found is what was met on the way through a table.
type found struct {
	memory  int // bytes of texts and names of rows
	commas  decimals
	blank   int // rows without any cell
	skipped int // comments below the first record
	notes   []string
}

// decimals are the lines that first show a decimal comma and a decimal point.
type decimals struct {
	possible     bool // no commas separate the columns
	comma, point int
	cell         string // with the comma
}

// at is the cell of row i in the k-th column used.
func (t *table) at(i, k int) float64 {
	if t.last != nil && k == len(t.used)-1 {
		return t.last.cells.at(i)
	}
	if t.placed != nil {
		return t.placed.at(i, t.used[k])
	}
	if t.byColumn {
		return t.cells.at(k*t.rows + i)
	}
	return t.cells.at(i*t.stride + k)
}

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// bad places an error in the file.
func (t *table) bad(err error) error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: reason(err)}
	}
	if e.File = t.file; e.Line > 0 {
		e.File, e.Line = t.files.find(e.Line, t.file)
	}
	return e
}

// readTable reads text tables as one, file after file, after plan has given its columns their roles.
func readTable(files []stream, name string, opt Options, plan func(t *table) error) (*table, error) {
	t := &table{file: name, opt: opt}
	for _, f := range files {
		if err := t.read(f, plan); err != nil {
			err := t.bad(err).(*Error)
			if len(files) > 1 {
				err.File = f.name
			}
			return nil, err
		}
	}
	if err := t.end(); err != nil {
		return nil, t.bad(err)
	}
	return t, nil
}

// read reads header and rows of a file.
func (t *table) read(f stream, plan func(t *table) error) error {
	records, first, err := t.begin(f, plan)
	if err != nil {
		return err
	}
	if t.dialect.header != firstLine {
		if err := t.addRecord(first); err != nil {
			return err
		}
	}
	if err := t.addRows(records); err != nil {
		return err
	}
	t.skipped += records.skipped
	t.files.end(records.lines)
	return nil
}

// begin reads the header of a file and returns its first record, an example unless that is the header. The
// first file says what columns there are; others must have the same.
func (t *table) begin(f stream, plan func(t *table) error) (records *recordReader, first record, err error) {
	lines := newLineReader(f.r, t.lineLimit())
	t.files.begin(f.name, lines)
	sample, err := lines.b.Peek(sampleBytes)
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull && len(sample) == 0 {
		return nil, first, err
	}
	if err := refuseForeign(sample); err != nil {
		return nil, first, err
	}
	again := t.columns != nil
	if !again {
		t.dialect = detect(sample, err == io.EOF)
		if t.opt.NoHeader {
			t.dialect.header, t.dialect.rowNames = noLine, false
		}
		t.commas.possible = t.dialect.separator != ','
		t.notes = t.dialect.notes()
	}
	records = &recordReader{lines: lines, separator: t.dialect.separator}
	if again {
		first, err = t.sameHeader(records)
		return records, first, err
	}
	if first, err = t.readHeader(records, t.dialect); err != nil {
		return nil, first, err
	}
	if err := plan(t); err != nil {
		return nil, first, &Error{Line: first.line, Err: err}
	}
	t.use()
	return records, first, nil
}

// lineLimit bounds the bytes of a line.
func (t *table) lineLimit() int { return int(min(longestLine, max(longestCell, t.opt.maxBytes()))) }

// sameHeader reads the header of a further file.
func (t *table) sameHeader(records *recordReader) (first record, err error) {
	other := &table{}
	if first, err = other.readHeader(records, t.dialect); err != nil {
		return first, err
	}
	if len(other.columns) != len(t.columns) {
		return first, &Error{Line: first.line,
			Err: fmt.Errorf("%d columns, %s has %d: files of one table have the same columns", len(other.columns),
				t.files.names[0], len(t.columns))}
	}
	for j, c := range other.columns {
		if name := t.columns[j].name; c.name != name && !t.headless {
			return first, &Error{Line: first.line,
				Err: fmt.Errorf("column %d is %s, of %s %s: files of one table have the same columns", j+1, quote(c.name),
					t.files.names[0], quote(name))}
		}
	}
	return first, nil
}

// end notes what was found in the rows.
func (t *table) end() error {
	if t.commas.comma > 0 {
		t.note("numbers have decimal commas, such as %s", t.commas.cell)
	}
	if t.blank > 0 {
		t.note("%d empty rows are skipped", t.blank)
	}
	if t.skipped > 0 {
		t.note("%d lines below the first that start with # are skipped", t.skipped)
	}
	if t.rows == 0 {
		return errors.New("no examples below the header")
	}
	return nil
}

// addRows appends all records.
func (t *table) addRows(records *recordReader) error {
	for {
		rec, err := records.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &Error{Line: rec.line, Err: err}
		}
		if err := t.addRecord(rec); err != nil {
			return err
		}
	}
}

// addRecord appends a record unless it is empty.
func (t *table) addRecord(rec record) error {
	if isBlank(rec) {
		t.blank++
		return nil
	}
	return t.addRow(rec)
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
	t.stride = len(t.used)
}

// readHeader names the columns and returns the first record of the file, which is
// an example where the names stand elsewhere.
func (t *table) readHeader(records *recordReader, d dialect) (record, error) {
	first, err := records.next()
	switch {
	case err == io.EOF:
		return first, errors.New("the file is empty")
	case err != nil:
		return first, &Error{Line: first.line, Err: err}
	}
	if d.header == noLine {
		t.namePositions(len(first.cells))
		return first, nil
	}
	cells := first.cells
	if d.header == commentLine {
		cells = nil
		for _, name := range d.names {
			cells = append(cells, []byte(name))
		}
	}
	if d.rowNames {
		cells = append([][]byte{nil}, cells...)
	}
	names, err := headerNames(cells)
	if err != nil {
		return first, &Error{Line: first.line, Err: err}
	}
	for _, name := range names {
		t.columns = append(t.columns, column{name: name})
		t.memory += textBytes(name)
	}
	return first, nil
}

// namePositions names n columns x1, x2, ...
func (t *table) namePositions(n int) {
	t.headless = true
	for _, name := range numbered(n) {
		t.columns = append(t.columns, column{name: name})
	}
}

// isBlank reports whether no cell of a row holds anything.
func isBlank(rec record) bool {
	for _, cell := range rec.cells {
		if len(cell) > 0 {
			return false
		}
	}
	return true
}

// addRow appends the cells of a row.
func (t *table) addRow(rec record) error {
	if len(rec.cells) != len(t.columns) {
		return &Error{Line: rec.line, Err: fmt.Errorf("%d cells, but the header names %d columns", len(rec.cells),
			len(t.columns))}
	}
	t.rows++
	if err := t.checkSize(); err != nil {
		return err
	}
	for j, cell := range rec.cells {
		c := &t.columns[j]
		switch c.role {
		case unused:
			continue
		case asNothing:
			if len(cell) > 0 {
				return &Error{Line: rec.line, Err: fmt.Errorf("column %d has a cell, %s, but no name", j+1,
					quote(string(cell)))}
			}
			continue
		case asRowName:
			s := utf8Text(cell)
			t.rowNames = append(t.rowNames, s)
			t.memory += textBytes(s)
			continue
		}
		v, err := t.value(c, cell, rec.line)
		if err != nil {
			return &Error{Line: rec.line, Column: c.name, Err: err}
		}
		if math.IsNaN(v) {
			c.miss(rec.line)
		}
		t.cells.append(v)
	}
	return nil
}

// miss counts a cell without a value, at a line or row.
func (c *column) miss(place int) {
	if c.missing++; c.missing == 1 {
		c.firstMissing = place
	}
}

// checkSize refuses a table whose features and texts exceed the memory allowed.
func (t *table) checkSize() error {
	if err := t.opt.checkSize(t.rows, t.features); err != nil {
		return err
	}
	if limit := t.opt.maxBytes(); int64(t.memory) > limit {
		return fmt.Errorf("%w: the texts of %d rows take %s, the limit is %s", ErrMemory, t.rows,
			humanBytes(float64(t.memory)), humanBytes(float64(limit)))
	}
	return nil
}

// value is the number of a cell, NaN for a missing one.
func (t *table) value(c *column, cell []byte, line int) (float64, error) {
	if n := len(cell); n > 0 && (cell[0] <= ' ' || cell[n-1] <= ' ') {
		cell = bytes.TrimSpace(cell)
	}
	if c.kind != texts {
		v, err := strconv.ParseFloat(string(cell), 64)
		if err == nil && !math.IsNaN(v) {
			c.kind = numbers
			return v, t.checkNumber(cell, v, line)
		}
		if with, ok := decimalComma(cell); ok && t.commas.possible {
			if w, err := strconv.ParseFloat(string(with), 64); err == nil {
				c.kind = numbers
				return w, t.checkComma(cell, line)
			}
		}
		if errors.Is(err, strconv.ErrRange) {
			_, err := parseNumber(string(cell))
			return 0, err
		}
	}
	switch {
	case isMissing(cell):
		return math.NaN(), nil
	case c.kind == numbers:
		return 0, fmt.Errorf(
			"%s is not a number, as the cells above it are (--categorical %s takes all for texts, --drop leaves the column out)", quote(string(cell)), c.name)
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
func (t *table) checkNumber(cell []byte, v float64, line int) error {
	if t.commas.possible && t.commas.point == 0 && bytes.IndexByte(cell, '.') >= 0 {
		t.commas.point = line
		if t.commas.comma > 0 {
			return fmt.Errorf("%s has a decimal point, %s has a decimal comma", quote(string(cell)),
				t.files.where(t.commas.comma))
		}
	}
	return checkFinite(v)
}

func (t *table) checkComma(cell []byte, line int) error {
	if t.commas.point > 0 {
		return fmt.Errorf("%s has a decimal comma, %s has a decimal point", quote(string(cell)),
			t.files.where(t.commas.point))
	}
	if t.commas.comma == 0 {
		t.commas.comma, t.commas.cell = line, string(cell)
	}
	return nil
}
