package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// schema says how the columns of a table became the features of a set, so that
// new inputs become features in the same way.
type schema struct {
	columns  []encoded
	width    int      // features
	header   []string // all columns of the file, for files without names
	headless bool
	target   string
	rowName  string // column that names the rows, "" if none does
	missing  Missing
}

// encoded is a column and its features: a number is one; a text with two values
// one, 0 or 1; a text with more values one for each.
type encoded struct {
	name   string
	at     int      // first feature
	levels []string // of a text, in order; nil for a number
	flag   bool     // one more feature says that the cell is missing
}

// width is the number of features without the flag.
func (e encoded) width() int {
	if len(e.levels) > 2 {
		return len(e.levels)
	}
	return 1
}

// put sets the features of one cell: a number, or the rank of a text among the
// levels, unseenText for none of them. A missing cell becomes NaN everywhere.
func (e encoded) put(x []float64, v float64) {
	to := x[e.at : e.at+e.width()]
	missing := v != v
	switch {
	case e.levels == nil || missing:
		for j := range to {
			to[j] = v
		}
	case len(e.levels) <= 2:
		to[0] = max(v, 0)
	default:
		for j := range to {
			to[j] = 0
		}
		if v >= 0 {
			to[int(v)] = 1
		}
	}
	if e.flag {
		x[e.at+e.width()] = 0
		if missing {
			x[e.at+e.width()] = 1
		}
	}
}

// features names the features of a column.
func (e encoded) features() (names []string) {
	switch {
	case e.levels == nil:
		names = []string{e.name}
	case len(e.levels) == 2:
		names = []string{e.name + "=" + printable(e.levels[1])}
	default:
		for _, level := range e.levels {
			names = append(names, e.name+"="+printable(level))
		}
	}
	if e.flag {
		names = append(names, e.name+" missing")
	}
	return names
}

// printable writes a text so that a name may hold it.
func printable(s string) string {
	if quoted := strconv.Quote(s); strings.ContainsFunc(s, unicode.IsControl) {
		return quoted[1 : len(quoted)-1]
	}
	return s
}

// add appends a column.
func (s *schema) add(e encoded) {
	e.at = s.width
	s.columns = append(s.columns, e)
	s.width += len(e.features())
}

// schemaOf is the schema of a training set; one that was not read from a table has
// its features as columns.
func schemaOf(train *Set) *schema {
	if train.schema != nil {
		return train.schema
	}
	s := &schema{header: append(slices.Clone(train.Features), train.Target), target: train.Target}
	for _, name := range train.Features {
		s.add(encoded{name: name})
	}
	return s
}

// planTraining gives the columns of a training set their roles.
func (t *table) planTraining() error {
	last := len(t.columns) - 1
	if t.columns[0].name == "" {
		t.columns[0].role = asRowName
		t.note("the first column has no name: it names the rows and is no feature")
	}
	if last > 0 && t.columns[last].name == "" {
		t.columns[last].role = asNothing
	}
	for _, name := range t.opt.Drop {
		j, err := find(t.columns, name)
		if err != nil {
			return fmt.Errorf("--drop: %w", err)
		}
		t.columns[j].role = unused
	}
	for _, name := range t.opt.Categorical {
		j, err := find(t.columns, name)
		if err != nil {
			return fmt.Errorf("--categorical: %w", err)
		}
		if t.array {
			return errors.New("--categorical: arrays have no texts, which categories become: a CSV or Parquet file has")
		}
		t.columns[j].kind, t.columns[j].categorical = texts, true
	}
	y, err := t.findTarget()
	if err != nil {
		return err
	}
	t.columns[y].role = asTarget
	if t.headless {
		t.columns[y].name = "y"
	}
	for _, c := range t.columns {
		if c.role == asFeature {
			return nil
		}
	}
	return fmt.Errorf("only one column (%s): features and a target, separated by commas, semicolons, tabs or blanks, are needed", quote(t.columns[y].name))
}

// findTarget is the column of the target: the one asked for, or the last feature.
func (t *table) findTarget() (int, error) {
	if t.opt.Target != "" {
		j, err := find(t.columns, t.opt.Target)
		if err != nil {
			return 0, fmt.Errorf("--target: %w", err)
		}
		if t.columns[j].role != asFeature {
			return 0, fmt.Errorf("--target: column %s is left out or names the rows", quote(t.opt.Target))
		}
		return j, nil
	}
	for j := len(t.columns) - 1; j >= 0; j-- {
		if t.columns[j].role == asFeature {
			return j, nil
		}
	}
	return 0, errors.New("no column is left for the target")
}

// planInputs finds the columns of a training set in new inputs, by name or, in
// files without names, by position.
func (t *table) planInputs(train *Set) error {
	s := schemaOf(train)
	if t.headless {
		if err := t.takeNames(s, train.Name); err != nil {
			return err
		}
	}
	number := make(map[string]int, len(s.columns))
	for k, e := range s.columns {
		number[e.name] = k
	}
	var ignored []string
	for j := range t.columns {
		c := &t.columns[j]
		k, ok := number[c.name]
		switch {
		case ok:
			c.role = asFeature
			c.know(s.columns[k].levels)
			delete(number, c.name)
		case c.name == s.target:
			c.role = asTarget
			if train.Labels != nil && train.Labels.Texts {
				c.know(train.Labels.known())
				if train.Labels.Rest {
					c.others = othersAlike
				}
			}
		case c.name == "" && j == 0, c.name != "" && c.name == s.rowName:
			c.role = asRowName
		case c.name == "":
			c.role = asNothing
		default:
			c.role = unused
			if !slices.Contains(s.header, c.name) {
				ignored = append(ignored, c.name)
			}
		}
	}
	for _, e := range s.columns {
		if _, missing := number[e.name]; missing {
			return fmt.Errorf("column %s of %s is missing", quote(e.name), train.Name)
		}
	}
	if len(ignored) > 0 {
		t.note("columns that %s lacks are ignored: %s", train.Name, listTexts(ignored))
	}
	return nil
}

// know fixes the values of a text column.
func (c *column) know(levels []string) {
	if levels == nil {
		c.kind = numbers
		return
	}
	c.kind, c.others, c.number = texts, othersRefused, make(map[string]int, len(levels))
	for k, s := range levels {
		c.number[s], c.texts = k, append(c.texts, s)
	}
}

// takeNames gives columns without names those of the training file: all of them,
// all but the target, or the features alone.
func (t *table) takeNames(s *schema, train string) error {
	if !s.headless && !t.array && !t.opt.NoHeader {
		return errors.New("all cells are numbers: a header line that names the columns is needed, as in " + train)
	}
	var features []string
	for _, e := range s.columns {
		features = append(features, e.name)
	}
	without := slices.DeleteFunc(slices.Clone(s.header), func(name string) bool { return name == s.target })
	for _, names := range [][]string{s.header, without, append(slices.Clone(features), s.target), features} {
		if len(names) == len(t.columns) {
			for j := range t.columns {
				t.columns[j].name = names[j]
			}
			return nil
		}
	}
	return fmt.Errorf("%d columns, but %s has %d features", len(t.columns), train, len(features))
}

// describe says in notes what the text columns became.
func (s *schema) describe() (notes []string) {
	for _, e := range s.columns {
		switch {
		case len(e.levels) == 2:
			notes = append(notes, fmt.Sprintf("column %s holds texts: 0 is %s, 1 is %s", quote(e.name),
				quote(e.levels[0]), quote(e.levels[1])))
		case len(e.levels) > 2:
			notes = append(notes, fmt.Sprintf("column %s holds texts: an indicator for each of %d (%s)", quote(e.name),
				len(e.levels), strings.ReplaceAll(listTexts(e.levels), `"`, "")))
		}
	}
	return notes
}
