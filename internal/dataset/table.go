package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table is what was read of files of columns: a number for each cell that is used, NaN where there is none,
// the number of the text where a column holds texts.
type table struct {
	file     string // all that are read
	part     string // the file that is being read
	opt      Options
	dialect  *dialect // of texts
	columns  []column
	headless bool  // columns have positions, not names
	noTarget bool  // the files can only hold new inputs
	array    bool  // places are rows, not lines
	used     []int // columns that are features or target
	features int   // of them
	rows     int
	blocks   [][]float64 // of rows: a table grows without being copied
	perBlock int         // rows
	rowNames []string

	texts int // bytes of texts and names of rows
	blank int // rows without any cell
	notes []string
}

// place is a line of a text file, or a row of an array.
type place struct {
	file   string
	number int
	array  bool
}

// error is one at that place.
func (p place) error(column string, err error) *Error {
	if p.array {
		return &Error{File: p.file, Row: p.number, Column: column, Err: err}
	}
	return &Error{File: p.file, Line: p.number, Column: column, Err: err}
}

func newTable(file string, opt Options) *table { return &table{file: file, opt: opt.bounded()} }

// blockCells is about the number of cells of a block: 128 KiB.
const blockCells = 1 << 14

// addRow appends a row of zeros and returns it.
func (t *table) addRow() []float64 {
	if t.rows%t.perBlock == 0 {
		t.blocks = append(t.blocks, make([]float64, t.perBlock*len(t.used)))
	}
	t.rows++
	return t.row(t.rows - 1)
}

// row is row i, a view: a cell for each column used.
func (t *table) row(i int) []float64 {
	first := i % t.perBlock * len(t.used)
	return t.blocks[i/t.perBlock][first : first+len(t.used)]
}

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// nameColumns makes the columns of the first file.
func (t *table) nameColumns(h header) error {
	names, err := headerNames(h.names)
	for _, name := range names {
		t.columns = append(t.columns, column{name: name, refused: h.refused[name]})
	}
	return err
}

// sameColumns compares the header of a further file.
func (t *table) sameColumns(h header) error {
	names, err := headerNames(h.names)
	if err != nil {
		return err
	}
	if len(names) != len(t.columns) {
		return fmt.Errorf("%d columns, there are %d in the files before: files of one table have the same columns",
			len(names), len(t.columns))
	}
	for j, name := range names {
		if before := t.columns[j].name; name != before && !t.headless {
			return fmt.Errorf("column %d is %s, in the files before %s: files of one table have the same columns", j+1,
				quote(name), quote(before))
		}
	}
	return nil
}

// use lists the columns that have cells to keep.
func (t *table) use() error {
	for j, c := range t.columns {
		switch c.role {
		case asFeature:
			t.features++
			t.used = append(t.used, j)
		case asTarget:
			t.used = append(t.used, j)
		}
		if c.refused != "" && c.role != unused {
			return &Error{Column: c.name,
				Err: fmt.Errorf("it holds %s, which are neither numbers nor texts: --drop leaves it out", c.refused)}
		}
	}
	t.perBlock = max(1, blockCells/max(1, len(t.used)))
	return nil
}

// add appends the cells of a row unless all are empty.
func (t *table) add(cells []cell, number int) error {
	at := place{t.part, number, t.array}
	if !slices.ContainsFunc(cells, func(x cell) bool { return x.isNumber || x.text != "" }) {
		t.blank++
		return nil
	}
	if len(cells) != len(t.columns) {
		return at.error("", fmt.Errorf("%d cells, but the header names %d columns", len(cells), len(t.columns)))
	}
	row, k := t.addRow(), 0
	bytes := 8*float64(t.rows)*float64(t.features) + float64(t.texts)
	if err := t.opt.fits(bytes, "%d rows of %d columns and their texts", t.rows, t.features); err != nil {
		return at.error("", err)
	}
	for j, x := range cells {
		c := &t.columns[j]
		switch c.role {
		case unused:
		case asNothing:
			if x.text != "" {
				return at.error("", fmt.Errorf("column %d has a cell, %s, but no name", j+1, quote(x.text)))
			}
		case asRowName:
			t.addRowName(x.asText())
		default:
			v, err := t.value(c, x)
			if err != nil {
				return at.error(c.name, err)
			}
			if math.IsNaN(v) {
				c.miss(t.rows-1, at)
			}
			row[k] = v
			k++
		}
	}
	return nil
}

// asText is a cell as a text file writes it.
func (x cell) asText() string {
	if x.isNumber {
		return formatNumber(x.number)
	}
	return x.text
}

func (t *table) addRowName(name string) {
	t.rowNames = append(t.rowNames, strings.Clone(printable(utf8Text(name))))
	t.texts += textBytes(name)
}

// value is the number of a cell, NaN for a missing one.
func (t *table) value(c *column, x cell) (float64, error) {
	if c.kind != texts {
		v, err := x.number, error(nil)
		if !x.isNumber {
			v, err = t.parse(x.text)
		}
		switch {
		case err == nil && !math.IsNaN(v):
			c.kind = numbers
			if c.odd == "" && isOdd(x.text, v) {
				c.odd = strings.Clone(x.text)
				t.note("column %s: %s is read as %v; --categorical or --drop %s if it is no number", quote(c.name),
					quote(c.odd), v, flagText(c.name))
			}
			return v, checkFinite(v)
		case errors.Is(err, strconv.ErrRange):
			return 0, fmt.Errorf("%s is beyond the range of a float64", quote(x.text))
		}
	}
	text := utf8Text(x.asText())
	switch {
	case isMissing(text):
		return math.NaN(), nil
	case c.kind == numbers:
		return 0, fmt.Errorf("%s is not a number, as the cells above it are (--categorical %s takes all for "+
			"texts, --drop leaves the column out)", quote(text), flagText(c.name))
	}
	c.kind = texts
	before := len(c.texts)
	k, err := c.numberOf(text, t.opt.UnseenZero && c.role == asFeature)
	if len(c.texts) > before {
		t.texts += textBytes(c.texts[k])
	}
	return float64(k), err
}

// parse reads a number as the dialect writes it.
func (t *table) parse(text string) (float64, error) {
	if t.dialect != nil && t.dialect.commas {
		if strings.Contains(text, ".") {
			return 0, strconv.ErrSyntax
		}
		text = strings.Replace(text, ",", ".", 1)
	}
	return strconv.ParseFloat(text, 64)
}
