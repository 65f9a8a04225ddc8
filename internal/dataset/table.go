package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// table holds the cells read from files of columns.
type table struct {
	name     string // of all files
	opt      Options
	train    *Encoding // of the training set, for new inputs; nil for a training set
	dialect  *dialect  // of texts
	header   header    // of the first file
	columns  []*column
	features []*column // in the order of the set's features
	targets  []*column // in the requested order
	kept     int       // columns with stored cells
	codes    []code    // of missing cells, Options.NA
	// cells are the stored cells, row by row: NaN for a missing one, the number of a text, a boxedText in an
	// undecided column. In the end the features take their place.
	cells  []float64
	copied bool // their number is not known before
	rows   int
	texts  int // bytes of texts and names of rows
	blank  int // empty rows
	zero   int // rows of weight 0
	notes  []string
	doubts []Doubt
}

// column is a column of a file with its encoding.
type column struct {
	encodedColumn
	role role
	kind kind
	at   int // position of its cells in the rows
	// texts are the distinct texts (of row names all), by number, and first the place of each.
	texts  []string
	number map[string]int
	first  []place

	categorical  bool   // cells are texts by Options.Categorical
	odd          string // a number that may be a mistake, see isOdd
	thousands    thousands
	padded       padded
	numeric      int // cells with numbers in an undecided column
	textual      int // cells with texts in it
	missing      int // cells
	lacks        int // the first row with one
	firstMissing place
}

// code is a text, or a number, of cells without a value.
type code struct {
	text   string
	number float64 // NaN for a text
	seen   bool
}

// role is the use of a column.
type role int

const (
	asFeature role = iota
	asTarget
	asGroup
	asStratum
	asFold
	asWeight
	asCount
	asRowName
	asNothing // no name and no cells: a separator at the ends of lines
	unused    // its cells are ignored
)

// hasValues reports whether the cells of a column are stored.
func (r role) hasValues() bool { return r <= asCount }

// kind is the type of the cells of a column. All cells of a training set decide it, see decide.
type kind int

const (
	undecided kind = iota
	numbers
	texts
)

// columnBytes is the memory of a column without its cells.
const columnBytes = 512

func newTable(name string, opt Options, train *Encoding) *table {
	t := &table{name: name, opt: opt, train: train}
	for _, text := range opt.NA {
		v, err := parseNumber(text)
		if err != nil {
			v = math.NaN()
		}
		t.codes = append(t.codes, code{text: text, number: v})
	}
	return t
}

// maxCount bounds the count of a row.
const maxCount = 1e6

func (t *table) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// withRole is the first column of a role, or nil.
func (t *table) withRole(r role) *column {
	if j := slices.IndexFunc(t.columns, func(c *column) bool { return c.role == r }); j >= 0 {
		return t.columns[j]
	}
	return nil
}

// begin takes the header of a file. The first file's header creates the columns and assigns their roles.
func (t *table) begin(h header) error {
	if err := t.opt.fits(columnBytes*float64(len(h.names)), "%d columns", len(h.names)); err != nil {
		return err
	}
	names, err := headerNames(h.names)
	if err != nil {
		return err
	}
	if t.columns != nil {
		return t.sameColumns(names)
	}
	t.header = h
	for j, name := range names {
		c := &column{encodedColumn: encodedColumn{Name: name}}
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
	for _, c := range t.columns {
		if refused := h.refused[c.Name]; refused != "" && c.role != unused {
			return &Error{Column: c.Name, Err: fmt.Errorf("it holds %s, which are neither numbers nor "+
				"texts: ReadOptions.Drop leaves it out", refused)}
		}
		if c.role == asFeature && t.train == nil {
			t.features = append(t.features, c)
		}
		if c.role.hasValues() {
			c.at = t.kept
			t.kept++
		}
	}
	return nil
}

// headerNames copies and checks the names of columns; only the first (row names) and the last may be empty.
func headerNames(cells []string) ([]string, error) {
	names := make([]string, len(cells))
	seen := make(map[string]int, len(cells))
	for j, cell := range cells {
		name := strings.TrimSpace(lineEnds.Replace(strings.Clone(cell)))
		if j == 0 { // a line that starts with # is a comment
			name = strings.TrimLeft(name, "# ")
		}
		names[j] = name
		first, again := seen[name]
		seen[name] = j
		switch {
		case name == "" && (j == 0 || j == len(cells)-1) && len(cells) > 1:
		case name == "":
			return nil, fmt.Errorf("column %d has no name: give it one", j+1)
		case strings.ContainsFunc(name, unicode.IsControl):
			return nil, fmt.Errorf("the name %s of column %d holds control characters", quote(name), j+1)
		case again:
			return nil, fmt.Errorf("columns %d and %d have the same name %s: rename one", first+1, j+1,
				quote(name))
		}
	}
	return names, nil
}

// lineEnds removes byte order marks, and makes one line of a name in quotes.
var lineEnds = strings.NewReplacer("\ufeff", "", "\r\n", " ", "\n", " ", "\r", " ")

func (t *table) sameColumns(names []string) error {
	if len(names) != len(t.columns) {
		return fmt.Errorf("%d columns, there are %d in the files before: files of one table have the same "+
			"columns", len(names), len(t.columns))
	}
	for j, c := range t.columns {
		if names[j] != c.Name && !t.header.headless {
			return fmt.Errorf("column %d is %s, in the files before %s: files of one table have the same "+
				"columns", j+1, quote(names[j]), quote(c.Name))
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
		cure := "mend the line, or quote cells that hold a separator"
		if t.rows == 0 {
			cure = "remove what stands above the names of the columns, or mend the line"
		}
		return at.error("", fmt.Errorf("%d cells, but the header names %d columns: %s", len(cells),
			len(t.columns), cure))
	}
	if absent, err := t.weightless(cells, at); absent || err != nil {
		t.zero++
		return err
	}
	t.rows++
	bytes := 8*float64(t.rows)*float64(len(t.features)) + float64(t.texts)
	if t.copied { // as they grow, by a quarter
		bytes *= 2.25
	}
	err := t.opt.fits(bytes, "%d rows of %d columns and their texts, read", t.rows, len(t.features))
	if err != nil {
		return at.error("", err)
	}
	for j, x := range cells {
		c := t.columns[j]
		switch {
		case c.role.hasValues():
			v, err := t.value(c, x, at)
			if err != nil {
				return at.error(c.Name, err)
			}
			if _, text := unboxed(v); math.IsNaN(v) && !text {
				if c.missing++; c.missing == 1 {
					c.firstMissing, c.lacks = at, t.rows
				}
			}
			t.cells = append(t.cells, v)
		case c.role == asRowName:
			c.texts = append(c.texts, strings.Clone(x.asText()))
			t.texts += textBytes(x.text)
		case c.role == asNothing && x.text != "":
			return at.error("", fmt.Errorf("column %d has a cell, %s, but no name", j+1, quote(x.text)))
		}
	}
	return nil
}

// row is a view of the stored cells of a row.
func (t *table) row(i int) []float64 { return t.cells[i*t.kept : (i+1)*t.kept] }

// grow makes room for a row and, if a reader can tell how many are left, for these and a few more, which
// costs nothing until it is used: growing later would copy all cells.
func (t *table) grow(left func() float64) {
	t.copied = left == nil
	const first = 1 << 16 // cells, by which left is estimated
	switch {
	case len(t.cells)+t.kept <= cap(t.cells):
	case t.cells == nil:
		t.cells = make([]float64, 0, first+t.kept)
	case left != nil:
		most := float64(t.opt.MaxBytes)/8 - float64(len(t.cells))
		t.cells = slices.Grow(t.cells, t.kept+int(max(0, min(most, 1.05*left()*float64(t.kept)))))
	}
}

// weightless reports whether a row of a training set has weight or count 0, and refuses invalid ones.
func (t *table) weightless(cells []cell, at place) (bool, error) {
	for j, c := range t.columns {
		if c.role != asWeight && c.role != asCount {
			continue
		}
		v, err := t.parse(cells[j])
		switch {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
			return false, at.error(c.Name, fmt.Errorf("%s is no weight: weights are finite numbers from 0 on",
				quote(cells[j].asText())))
		case c.role == asCount && (v != math.Trunc(v) || v > maxCount):
			return false, at.error(c.Name, fmt.Errorf("%s is no count: counts are whole numbers from 0 to %g",
				quote(cells[j].asText()), float64(maxCount)))
		case v == 0:
			return true, nil
		}
	}
	return false, nil
}

// value is what is stored of a cell: NaN for a missing one.
func (t *table) value(c *column, x cell, at place) (float64, error) {
	if c.kind != texts {
		v, err := t.parse(x)
		switch {
		case err == nil && !math.IsNaN(v):
			if t.isCode(x, v) {
				return math.NaN(), nil
			}
			if c.numeric++; c.odd == "" && isOdd(x.text, v) {
				c.odd = strings.Clone(x.text)
			}
			c.padded.add(x.text)
			switch {
			case t.dialect == nil || t.dialect.separator == ',':
			case t.dialect.separator != ';' && strings.Contains(x.text, "."): // as in English
				c.thousands.none = true
			default:
				c.thousands.add(x.text)
			}
			if err := checkFinite(v); err != nil {
				return v, fmt.Errorf("%w: ReadOptions.NA %s with ReadOptions.Missing drop, mean or "+
					"indicator if that stands for no value", err, bare(x.asText()))
			}
			return v, nil
		case errors.Is(err, strconv.ErrRange):
			return 0, fmt.Errorf("%s is beyond the range of a float64", quote(x.text))
		}
	}
	text := x.asText()
	switch {
	case isMissing(text) || t.isCode(x, math.NaN()):
		return math.NaN(), nil
	case c.kind == numbers:
		return 0, fmt.Errorf("%s is not a number, as the cells of the training set are", quote(text))
	}
	if t.train != nil && !slices.Contains(c.Levels, text) { // the number may be written in another way there
		if v, err := t.parse(x); err == nil && slices.Contains(c.Levels, formatNumber(v)) {
			text = formatNumber(v)
		}
	}
	k := t.number(c, text, at)
	if c.kind == texts {
		return float64(k), nil
	}
	c.textual++
	return boxedText(k), nil
}

// isCode reports whether a cell with a number, or with a text if v is NaN, has a code of Options.NA.
func (t *table) isCode(x cell, v float64) bool {
	for k, c := range t.codes {
		if c.number == v || !x.isNumber && c.text == x.text {
			t.codes[k].seen = true
			return true
		}
	}
	return false
}

// number numbers the texts of a column in order of appearance.
func (t *table) number(c *column, text string, at place) int {
	k, known := c.number[text]
	if !known {
		if c.number == nil {
			c.number = map[string]int{}
		}
		text = strings.Clone(text) // do not retain the whole line
		k = len(c.texts)
		c.number[text], c.texts, c.first = k, append(c.texts, text), append(c.first, at)
		t.texts += textBytes(text)
	}
	return k
}

// textMark is the lead of the NaN that stands for a text in an undecided column.
const textMark = 0x7ffa << 48

// boxedText is a NaN that holds the number of a text.
func boxedText(k int) float64 { return math.Float64frombits(textMark | uint64(k)) }

// unboxed is the number of a text, if v holds one.
func unboxed(v float64) (k int, ok bool) {
	bits := math.Float64bits(v)
	return int(bits &^ (0xffff << 48)), bits>>48 == textMark>>48
}

// parse is the number of a cell in the dialect.
func (t *table) parse(x cell) (float64, error) {
	if x.isNumber {
		return x.number, nil
	}
	if t.dialect != nil && t.dialect.commas {
		if strings.Contains(x.text, ".") {
			return 0, strconv.ErrSyntax
		}
		x.text = strings.Replace(x.text, ",", ".", 1)
	}
	return strconv.ParseFloat(x.text, 64)
}

func (c *column) text(v float64) string {
	if c.kind == texts {
		return c.texts[int(v)]
	}
	return labelName(v)
}

// requireKnown refuses texts of the rows that the training set lacks.
func (t *table) requireKnown(c *column, rows []int, known []string, cure string) error {
	if c.kind != texts {
		return nil
	}
	kept := make([]bool, len(c.texts))
	for _, v := range t.values(c, rows) {
		if !math.IsNaN(v) {
			kept[int(v)] = true
		}
	}
	for k, text := range c.texts {
		if kept[k] && !slices.Contains(known, text) {
			return c.first[k].error(c.Name, fmt.Errorf("%s is none of the texts of the training set (%s)%s",
				quote(text), listTexts(known), cure))
		}
	}
	return nil
}

func isMissing(cell string) bool { return slices.Contains(missingTexts, cell) }

var missingTexts = []string{"", "?", "NA", "N/A", "na", "NaN", "nan", "NAN", "null", "NULL"}

func textBytes(s string) int { return len(s) + 64 }

// parseNumber reads a finite number; blanks around it are ignored.
func parseNumber(cell string) (float64, error) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return 0, errors.New("empty cell")
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of a float64", quote(cell))
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", quote(cell))
	}
	return v, checkFinite(v)
}

func checkFinite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is not a finite number", v)
	}
	return nil
}

// isOdd reports grouped digits, 1_000, and whole numbers beyond a float64's digits, such as identifiers.
func isOdd(cell string, v float64) bool {
	const held = 1 << 53
	return math.Abs(v) > held && strings.Trim(cell, "+-0123456789") == "" || strings.Contains(cell, "_")
}

// isNumeric reports whether a cell is a number, NaN and Inf included, with a decimal point or comma.
func isNumeric(cell string) bool {
	_, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(cell), ",", ".", 1), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
