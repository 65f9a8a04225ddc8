package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table is what was read of files of columns.
type table struct {
	name     string // of all files
	opt      Options
	train    *Encoding // of the training set, for new inputs; nil for a training set
	dialect  *dialect  // of texts
	header   header    // of the first file
	columns  []column
	width    int // of a row: columns whose role has cells
	features int // columns
	rows     int
	perBlock int // rows
	blocks   [][]float64
	texts    int   // bytes of texts and names of rows
	blank    int   // rows without any cell
	zero     int   // rows of weight 0
	further  []int // columns of targets after the first
	notes    []string
}

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// addRow appends a row of zeros and returns it. Rows are parts of blocks, so that they stay where they are
// when the table grows.
func (t *table) addRow() []float64 {
	if t.rows%t.perBlock == 0 {
		t.blocks = append(t.blocks, make([]float64, t.perBlock*t.width))
	}
	t.rows++
	return t.row(t.rows - 1)
}

// row is row i: a number for each feature and the target, NaN if it is missing, the number of a text in a
// column of texts.
func (t *table) row(i int) []float64 {
	first := i % t.perBlock * t.width
	return t.blocks[i/t.perBlock][first : first+t.width]
}

// begin takes the header of a file. That of the first makes the columns and gives them their roles.
func (t *table) begin(h header) error {
	names, err := headerNames(h.names)
	if err != nil {
		return err
	}
	if t.columns != nil {
		return t.sameColumns(names)
	}
	t.header, t.notes = h, h.notes
	for j, name := range names {
		c := column{name: name}
		if name == "" && j == 0 {
			c.role = asRowName
		} else if name == "" {
			c.role = asNothing
		}
		t.columns = append(t.columns, c)
	}
	if t.train == nil {
		err = t.planTraining()
	} else {
		err = t.planInputs(t.train)
	}
	if err != nil {
		return err
	}
	for j := range t.columns {
		c := &t.columns[j]
		if refused := h.refused[c.name]; refused != "" && c.role != unused {
			return &Error{Column: c.name,
				Err: fmt.Errorf("it holds %s, which are neither numbers nor texts: --drop leaves it out", refused)}
		}
		if c.role == asFeature {
			t.features++
		}
		if c.role.hasCells() {
			c.cell = t.width
			t.width++
		}
	}
	const cells = 1 << 14 // 128 KiB
	t.perBlock = max(1, cells/max(1, t.width))
	return nil
}

// sameColumns compares the names of a further file.
func (t *table) sameColumns(names []string) error {
	if len(names) != len(t.columns) {
		return fmt.Errorf("%d columns, there are %d in the files before: files of one table have the same columns",
			len(names), len(t.columns))
	}
	for j, c := range t.columns {
		if names[j] != c.name && !t.header.headless {
			return fmt.Errorf("column %d is %s, in the files before %s: files of one table have the same columns",
				j+1, quote(names[j]), quote(c.name))
		}
	}
	return nil
}

// add appends the cells of a row unless all are empty.
func (t *table) add(cells []cell, at place) error {
	switch {
	case !slices.ContainsFunc(cells, func(x cell) bool { return x.isNumber || x.text != "" }):
		t.blank++
		return nil
	case len(cells) != len(t.columns):
		return at.error("", fmt.Errorf("%d cells, but the header names %d columns", len(cells), len(t.columns)))
	}
	if absent, err := t.weightless(cells, at); absent || err != nil {
		t.zero++
		return err
	}
	row := t.addRow()
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
			c.texts = append(c.texts, strings.Clone(x.asText()))
			t.texts += textBytes(x.text)
		default:
			v, err := t.value(c, x, at)
			if err != nil {
				return at.error(c.name, err)
			}
			if math.IsNaN(v) {
				c.miss(t.rows, at)
			}
			row[c.cell] = v
		}
	}
	return nil
}

// weightless reports whether a row of a training set counts nothing. It refuses weights that are negative or
// not finite, and counts that are not whole.
func (t *table) weightless(cells []cell, at place) (bool, error) {
	for _, r := range []role{asWeight, asCount} {
		c := t.withRole(r)
		if c == nil || t.train != nil {
			continue
		}
		x := cells[slices.IndexFunc(t.columns, func(other column) bool { return other.role == r })]
		v, err := x.number, error(nil)
		if !x.isNumber {
			v, err = t.parse(x.text)
		}
		switch {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return false, at.error(c.name, fmt.Errorf("%s is no weight: weights are finite numbers from 0 on",
				quote(x.asText())))
		case r == asCount && (v != math.Trunc(v) || v > maxCount):
			return false, at.error(c.name, fmt.Errorf("%s is no count: counts are whole numbers from 0 to %g",
				quote(x.asText()), float64(maxCount)))
		case v == 0:
			return true, nil
		}
	}
	return false, nil
}

// maxCount bounds the number of equal rows that a row stands for.
const maxCount = 1e6

// value is the number of a cell, NaN for a missing one.
func (t *table) value(c *column, x cell, at place) (float64, error) {
	if c.kind != texts {
		v, err := x.number, error(nil)
		if !x.isNumber {
			v, err = t.parse(x.text)
		}
		switch {
		case err == nil && !math.IsNaN(v):
			c.kind = numbers
			if !c.odd && isOdd(x.text, v) {
				c.odd = true
				t.note("column %s: %s is read as %v; --categorical or --drop %s if it is no number", quote(c.name),
					quote(x.text), v, flagText(c.name))
			}
			return v, checkFinite(v)
		case errors.Is(err, strconv.ErrRange):
			return 0, fmt.Errorf("%s is beyond the range of a float64", quote(x.text))
		}
	}
	text := x.asText()
	switch {
	case isMissing(text):
		return math.NaN(), nil
	case c.kind == numbers:
		return 0, fmt.Errorf("%s is not a number, as the cells above it are (--categorical %s takes all for "+
			"texts, --drop leaves the column out)", quote(text), flagText(c.name))
	}
	c.kind = texts
	before := len(c.texts)
	k := c.numberOf(text, at)
	if len(c.texts) > before {
		t.texts += textBytes(text)
	}
	return float64(k), nil
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

// withRole is the first column of a role, nil without one.
func (t *table) withRole(r role) *column {
	if j := slices.IndexFunc(t.columns, func(c column) bool { return c.role == r }); j >= 0 {
		return &t.columns[j]
	}
	return nil
}
