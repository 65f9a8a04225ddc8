package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is what is predicted: numbers, or classes.
type Column struct {
	Name   string    `json:"name"`
	Y      []float64 `json:"-"`                // N numbers; of classes their places in Levels, from 0
	Levels []string  `json:"levels,omitempty"` // names of the classes, in order, as in the file; nil: numbers
	Texts  bool      `json:"texts,omitempty"`  // the levels are texts in the file, not numbers
	Rest   bool      `json:"rest,omitempty"`   // of two levels the first means any other than the second
}

// plainLabels are the levels of the labels -1 and +1.
var plainLabels = []string{"-1", "1"}

// Signs are +1 for the examples of a level and -1 for the others.
func (c *Column) Signs(level int) []float64 {
	signs := slices.Repeat([]float64{-1}, len(c.Y))
	for i, v := range c.Y {
		if int(v) == level {
			signs[i] = 1
		}
	}
	return signs
}

// Level is the printable name of the second of two levels if sign is above 0, else of the first; 1 or -1
// without two levels.
func (c *Column) Level(sign float64) string {
	levels := plainLabels
	if c != nil && len(c.Levels) == 2 {
		levels = c.Levels
	}
	if sign > 0 {
		return printable(levels[1])
	}
	return printable(levels[0])
}

// name is a target as in the file.
func (c *Column) name(target float64) string {
	if c.Levels != nil {
		return c.Levels[int(target)]
	}
	return labelName(target)
}

// cell is target i as in a file, from which it reads back to the last bit.
func (c *Column) cell(i int) string {
	if c.Levels != nil {
		return c.Levels[int(c.Y[i])]
	}
	return formatNumber(c.Y[i])
}

// values are the different targets in order, as in the file.
func (c *Column) values() (names []string) {
	for _, v := range c.different() {
		names = append(names, c.name(v))
	}
	return names
}

func (c *Column) different() []float64 { return slices.Compact(slices.Sorted(slices.Values(c.Y))) }

// guessed is the column of classes if all numbers are -1 or +1, else the same.
func (c Column) guessed() Column {
	if c.Levels != nil || slices.ContainsFunc(c.Y, func(v float64) bool { return v != -1 && v != 1 }) {
		return c
	}
	c.Levels, c.Y = plainLabels, slices.Clone(c.Y)
	for i, v := range c.Y {
		c.Y[i] = (v + 1) / 2
	}
	return c
}

// whole reports whether all targets are whole numbers, as names of classes may be.
func (c *Column) whole() bool {
	return !slices.ContainsFunc(c.Y, func(v float64) bool { return v != math.Trunc(v) })
}

// encode maps targets with names to the numbers of levels; numbers stay.
func (c *Column) encode(y []float64, name func(target float64) string) ([]float64, error) {
	if c.Levels == nil {
		return y, nil
	}
	levels := make([]float64, len(y))
	for i, v := range y {
		at := slices.Index(c.Levels, name(v))
		if at < 0 && !c.Rest {
			err := fmt.Errorf("target %s is none of the classes %s", quote(name(v)), listTexts(c.Levels))
			if len(c.Levels) == 2 {
				err = fmt.Errorf("target %s is neither %s nor %s", name(v), quote(c.Levels[0]),
					quote(c.Levels[1]))
			}
			return nil, place{unit: "row", number: i + 1}.error("", err)
		}
		levels[i] = float64(max(0, at))
	}
	return levels, nil
}

// check reports an error in the levels, which may come from a file.
func (c *Column) check() error {
	for k, name := range c.Levels {
		v, err := parseNumber(name)
		number := err == nil && labelName(v) == name || c.Rest && k == 0
		if !number && !c.Texts || slices.Contains(c.Levels[:k], name) || len(c.Levels) == 1 {
			return fmt.Errorf("labels %s", listTexts(c.Levels))
		}
	}
	if c.Rest && len(c.Levels) != 2 {
		return fmt.Errorf("%d labels, one of which is the rest", len(c.Levels))
	}
	return nil
}

// AreNumbers reports whether the targets are numbers, or there are none.
func (s *Set) AreNumbers() bool { return s.Levels() == nil }

// Levels are the levels of the first column; nil for numbers.
func (s *Set) Levels() []string {
	if len(s.Columns) == 0 {
		return nil
	}
	return s.Columns[0].Levels
}

// Task is regression for numbers, and classification for classes.
func (s *Set) Task() string {
	if s.AreNumbers() {
		return "regression"
	}
	return "classification"
}

// TargetNames are the names of the columns, joined by commas.
func (s *Set) TargetNames() string {
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// Targets are what a model has of a column before it is centred: numbers, or +1 for the second of two levels
// and -1 for the first. They are nil without that column.
func (s *Set) Targets(column int) []float64 {
	if column >= len(s.Columns) {
		return nil
	}
	c := &s.Columns[column]
	if len(c.Levels) == 2 {
		return c.Signs(1)
	}
	return c.Y
}

// Check refuses targets that do not differ, and numbers where labels are needed.
func (s *Set) Check(labels bool) error {
	columns := s.Columns
	if columns == nil {
		columns = make([]Column, 1)
	}
	for _, c := range columns {
		differs := func(v float64) bool { return v != c.Y[0] }
		if (!labels || c.Levels != nil) && slices.ContainsFunc(c.Y, differs) {
			continue
		}
		var err error
		switch names := c.values(); {
		case len(names) == 0:
			err = errors.New("no targets")
		case len(names) == 1:
			cure := map[bool]string{true: ", ReadOptions.Target NAME takes another column"}[s.encoding != nil]
			err = fmt.Errorf("all %d targets are %s: targets that differ are needed%s", len(c.Y), names[0],
				cure)
		case len(names) == 2:
			err = fmt.Errorf("labels must be -1 and +1, not %s and %s (ReadOptions.Positive %[2]s makes "+
				"classes of them)", names[0], names[1])
		default:
			err = fmt.Errorf("labels must be -1 and +1, found %s", listTexts(names))
		}
		return &Error{File: s.Name, Column: c.Name, Err: err}
	}
	return nil
}

// decide refuses constant targets, and makes classes of texts, of -1 and +1, and of what the options ask.
func (s *Set) decide(opt Options) error {
	c, asked := s.Columns[0], opt.Positive != "" || opt.As == Classes
	switch texts := slices.IndexFunc(s.Columns, func(c Column) bool { return c.Texts }); {
	case len(s.Columns) > 1 && asked:
		return errors.New("ReadOptions.Positive and ReadOptions.As classification are for one target; " +
			"several targets are numbers")
	case len(s.Columns) > 1 && texts >= 0:
		return &Error{Column: s.Columns[texts].Name,
			Err: errors.New("several targets are numbers, and this one holds texts")}
	case c.Texts && opt.As == Numbers:
		return fmt.Errorf("ReadOptions.As regression: the target %s holds texts", quote(c.Name))
	case c.Texts: // rows of a class may have been left out
		return cmp.Or(s.classify(opt.Positive), s.Check(false))
	}
	if err := s.Check(false); err != nil || len(s.Columns) > 1 {
		return err
	}
	if asked {
		return s.classify(opt.Positive)
	}
	s.Columns[0] = c.guessed()
	const few, many, each = 10, 200, 20
	if opt.As != Either || !s.AreNumbers() || !c.whole() {
		return nil
	}
	switch count, n := len(c.different()), s.N(); {
	case count < 3 || count > few:
	case n >= many && n >= each*count && !opt.TaskKnown:
		return place{file: s.Name}.error(c.Name, fmt.Errorf("the targets of %d rows are %d whole numbers: "+
			"ReadOptions.As %s if they are classes, ReadOptions.As %s if they are quantities", n, count,
			Classes, Numbers))
	default:
		s.note("the targets are %d whole numbers, read as quantities; if they are classes, ReadOptions.As %s",
			count, Classes)
	}
	return nil
}

// formatNumber writes a number in the shortest form that reads back.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// labelName is a numeric label as a text.
func labelName(v float64) string { return formatNumber(v + 0) } // -0 is 0

// Classify makes classes of numbers: of two values the larger is the second level, unless positive names the
// one that is ("" names none). Of more values, positive is the second level, and all others the first;
// without it each whole number is a level. Classes stay without positive.
func (s *Set) Classify(positive string) error {
	if len(s.Columns) == 0 {
		return errorIn(s.Name, "no targets")
	}
	if positive == "" && !s.AreNumbers() {
		return nil
	}
	return s.classify(positive)
}

func (s *Set) classify(positive string) error {
	c := s.Columns[0]
	names, n := c.values(), s.N()
	if v, err := parseNumber(positive); err == nil && !c.Texts {
		positive = formatNumber(v)
	}
	const most = 100
	several := len(names) > 2 && len(names) <= most && (c.Texts || c.whole())
	if positive == "" && (c.Texts || several) && len(names) > 2 &&
		(len(names) == n || n >= fewRows && 2*len(names) > n) {
		return place{file: s.Name}.error(c.Name, fmt.Errorf("%d classes in %d rows (%s), few have a "+
			"second row: ReadOptions.Target NAME takes another column; numbers are written without "+
			"separators of thousands and units", len(names), n, listTexts(names)))
	}
	to := Column{Name: c.Name, Levels: names, Texts: c.Texts}
	switch {
	case positive == "" && slices.Equal(names, plainLabels) && !c.Texts:
	case positive == "" && several:
		s.note("%d classes of %s: %s", len(names), quote(c.Name), listTexts(names))
	default:
		if err := to.choose(positive); err != nil {
			return &Error{File: s.Name, Column: c.Name, Err: err}
		}
		s.note("classes of %s: %s is +1, %s is -1", quote(c.Name), to.Level(1), to.Level(-1))
	}
	to.Y, _ = to.encode(c.Y, c.name) // which has no other names
	s.Columns = []Column{to}
	return nil
}

// choose makes two levels of all: positive is the second, or of two by default the second one.
func (c *Column) choose(positive string) error {
	names, what := c.Levels, "values"
	cure := ": ReadOptions.Positive LABEL sets one against the rest; or a loss for numbers (square, eps), " +
		"or another ReadOptions.Target"
	if c.Texts {
		what, cure = "texts", ": ReadOptions.Positive LABEL sets one of them against the rest"
	}
	switch {
	case len(names) < 2:
		cure = ", ReadOptions.Target NAME takes another column"
	case positive != "" && !slices.Contains(names, positive):
		return fmt.Errorf("ReadOptions.Positive: %s is none of the %d values of the target (%s)",
			quote(positive), len(names), listTexts(names))
	case len(names) == 2:
		if positive == names[0] {
			c.Levels = []string{names[1], names[0]}
		}
		return nil
	case positive != "":
		c.Levels, c.Rest = []string{"not " + positive, positive}, true
		return nil
	}
	return fmt.Errorf("two classes are needed, the target holds %d %s (%s)%s", len(names), what,
		listTexts(names), cure)
}
