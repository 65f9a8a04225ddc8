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

// role is what becomes of a column of a file.
type role int

const (
	asFeature role = iota
	asTarget
	asFurther // a target after the first
	asRowName
	asGroup
	asStratum
	asFold
	asWeight
	asCount
	asNothing // no name and no cells: a separator at the ends of lines
	unused    // its cells are not looked at
)

// hasCells reports whether rows of a table hold the cells of a column.
func (r role) hasCells() bool { return r <= asCount && r != asRowName }

// kind is what the cells of a column are; the first that is not missing decides.
type kind int

const (
	undecided kind = iota
	numbers
	texts
)

// column is a column of a file.
type column struct {
	name string
	role role
	kind kind
	cell int // its place in a row, of a role that has cells
	// texts are the different ones of a text column, number their numbers and first where each is met first; of
	// the names of rows all are here.
	texts  []string
	number map[string]int
	first  []place
	// categorical says that texts were asked for, whatever they look like.
	categorical bool
	date        string // layout of texts that are all dates

	odd             bool // has a number that a reader may not mean, see isOdd
	missing         int  // cells
	firstMissing    place
	firstMissingRow int
}

// text is what a cell holds.
func (c *column) text(v float64) string {
	if c.kind == texts {
		return c.texts[int(v)]
	}
	return labelName(v)
}

// miss counts a cell without a value.
func (c *column) miss(row int, at place) {
	if c.missing++; c.missing == 1 {
		c.firstMissingRow, c.firstMissing = row, at
	}
}

// numberOf is the number of a text, a new one if it was not met before.
func (c *column) numberOf(cell string, at place) int {
	k, ok := c.number[cell]
	if ok {
		return k
	}
	if c.number == nil {
		c.number = map[string]int{}
	}
	s := strings.Clone(cell) // not the line that it is part of
	k = len(c.texts)
	c.number[s], c.texts, c.first = k, append(c.texts, s), append(c.first, at)
	return k
}

// requireKnown refuses texts that the training set lacks.
func (c *column) requireKnown(known []string, cure string) error {
	for k, text := range c.texts {
		if !slices.Contains(known, text) {
			return c.first[k].error(c.name, fmt.Errorf("%s is none of the texts of the training set (%s)%s",
				quote(text), listTexts(known), cure))
		}
	}
	return nil
}

// isMissing reports whether a cell says that there is no value.
func isMissing(cell string) bool {
	switch cell {
	case "", "?", "NA", "N/A", "na", "NaN", "nan", "NAN", "null", "NULL":
		return true
	}
	return false
}

// textBytes is the memory of a text that is kept, with what finds it.
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

// checkFinite refuses NaN and infinities.
func checkFinite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is not a finite number", v)
	}
	return nil
}

// isOdd reports whether a number may not be what its writer meant: digits in groups, 1_000, or a whole number
// with more digits than a float64 holds, as of an identifier.
func isOdd(cell string, v float64) bool {
	const held = 1 << 53
	return math.Abs(v) > held && strings.Trim(cell, "+-0123456789") == "" || strings.Contains(cell, "_")
}

// isNumeric reports whether a cell reads as a number, NaN and Inf included, with
// a decimal point or comma.
func isNumeric(cell string) bool {
	_, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(cell), ",", ".", 1), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// headerNames copies and checks the names of columns. The first may lack a name (it names rows then) and the
// last (it must be empty).
func headerNames(cells []string) ([]string, error) {
	names := make([]string, len(cells))
	seen := make(map[string]int, len(cells))
	for j, cell := range cells {
		name := strings.TrimSpace(strings.ReplaceAll(strings.Clone(cell), "\ufeff", ""))
		if j == 0 { // a line that starts with # is a comment
			name = strings.TrimLeft(name, "# ")
		}
		names[j] = name
		first, again := seen[name]
		seen[name] = j
		switch {
		case name == "" && (j == 0 || j == len(cells)-1) && len(cells) > 1:
		case name == "":
			return nil, fmt.Errorf("column %d has no name", j+1)
		case strings.ContainsFunc(name, unicode.IsControl):
			return nil, fmt.Errorf("the name %s of column %d holds control characters", quote(name), j+1)
		case again:
			return nil, fmt.Errorf("columns %d and %d have the same name %s", first+1, j+1, quote(name))
		}
	}
	return names, nil
}
