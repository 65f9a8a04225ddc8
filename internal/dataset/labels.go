package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Check verifies that the targets suit a task: -1 and +1 for classification, different ones for regression.
func (s *Set) Check(task Task) error {
	if task == Classification && s.Task == Several {
		task = Regression // whatever their numbers are
	}
	differ := slices.ContainsFunc(s.Y, func(v float64) bool { return v != s.Y[0] })
	if differ && (task == Regression || guessTask(s.Y) == Classification) {
		return nil
	}
	var err error
	switch names := s.values(); {
	case len(names) == 0:
		err = errors.New("no targets")
	case len(names) == 1 && s.encoding != nil:
		err = fmt.Errorf("all %d targets are %s: targets that differ are needed, --target NAME takes another "+
			"column", len(s.Y), names[0])
	case len(names) == 1:
		err = fmt.Errorf("all %d targets are %s: targets that differ are needed", len(s.Y), names[0])
	case len(names) == 2:
		err = fmt.Errorf("labels must be -1 and +1, not %s and %s (--positive %s makes classes of them)", names[0],
			names[1], names[1])
	default:
		err = fmt.Errorf("labels must be -1 and +1, found %s", listTexts(names))
	}
	return &Error{File: s.Name, Column: s.Target, Err: err}
}

// checkTargets refuses constant targets, and makes classes of the targets if the options ask for any.
func (s *Set) checkTargets(opt Options) error {
	err := s.Check(Regression)
	switch {
	case err != nil:
	case opt.Positive != "" || opt.Task == Classification:
		return s.Classify(opt.Positive)
	case opt.Task == "" && s.Task == Regression:
		const few, many, each = 10, 200, 20
		whole := !slices.ContainsFunc(s.Y, func(v float64) bool { return v != math.Trunc(v) })
		if count := len(s.values()); whole && count >= 3 && count <= few { // as names of classes may be
			if n := len(s.Y); n >= many && n >= each*count && !opt.TaskKnown {
				return place{file: s.Name}.error(s.Target, fmt.Errorf("the targets of %d rows are %d whole "+
					"numbers: --task %s if they are classes, --task %s if they are quantities", n, count,
					Classification, Regression))
			}
			s.note("the targets are %d whole numbers and are taken for quantities; classes? --task %s", count,
				Classification)
		}
	}
	return err
}

// values are the different targets in order, as texts.
func (s *Set) values() (names []string) {
	values := slices.Clone(s.Y)
	slices.Sort(values)
	for _, v := range slices.Compact(values) {
		names = append(names, labelName(v))
	}
	return names
}

// formatNumber writes a number in the shortest form that reads back.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// labelName is a numeric label as a text.
func labelName(v float64) string { return formatNumber(v + 0) } // -0 is 0

// Classes names the labels -1 and +1 as in the file. With more labels, Negative is "not " and Positive.
type Classes struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// Name is the file's name of a label, or of the sign of a predictor; -1 or 1 if c is nil.
func (c *Classes) Name(label float64) string {
	if c == nil {
		c = &Classes{"-1", "1"}
	}
	if label > 0 {
		return printable(c.Positive)
	}
	return printable(c.Negative)
}

// Labels are the classes of a file, texts or numbers.
type Labels struct {
	Classes
	Texts bool `json:"texts,omitempty"`
	Rest  bool `json:"rest,omitempty"` // Negative is any other label than Positive
}

// Names are the names of the classes; nil if l is nil.
func (l *Labels) Names() *Classes {
	if l == nil {
		return nil
	}
	return &l.Classes
}

// Numbers are the two labels of a file whose targets are two numbers.
func (l *Labels) Numbers() (negative, positive float64, ok bool) {
	negative, low := parseNumber(l.Negative)
	positive, high := parseNumber(l.Positive)
	return negative, positive, !l.Texts && low == nil && high == nil
}

// check reports the first error in labels, which may come from a file.
func (l *Labels) check() error {
	negative, positive, numbers := l.Numbers()
	if l.Rest && !l.Texts {
		_, err := parseNumber(l.Positive)
		negative, positive, numbers = 0, 1, err == nil
	}
	if l.Negative == l.Positive || !l.Texts && (!numbers || negative == positive) {
		return fmt.Errorf("labels %s and %s", quote(l.Negative), quote(l.Positive))
	}
	return nil
}

// apply maps targets with names to -1 and +1.
func (l *Labels) apply(y []float64, name func(target float64) string) ([]float64, error) {
	labels := make([]float64, len(y))
	for i, v := range y {
		switch class := name(v); {
		case class == l.Positive:
			labels[i] = 1
		case l.Rest || class == l.Negative:
			labels[i] = -1
		default:
			return nil, place{unit: "row", number: i + 1}.error("", fmt.Errorf("target %s is neither %s nor %s", class,
				quote(l.Negative), quote(l.Positive)))
		}
	}
	return labels, nil
}

// Classify makes classes of targets with two values: the larger becomes +1, the smaller -1, unless positive
// names the value that becomes +1 ("" names none). If there are more values, positive becomes +1 and all
// others -1.
func (s *Set) Classify(positive string) error {
	if positive == "" && s.Check(Classification) == nil {
		s.Task = Classification
		return nil
	}
	if v, err := parseNumber(positive); err == nil {
		positive = formatNumber(v)
	}
	return s.classify(s.values(), false, positive, labelName)
}

// classify makes classes of targets with these names, in order.
func (s *Set) classify(names []string, texts bool, positive string, name func(target float64) string) error {
	if n := len(s.Y); positive == "" && (texts || areClasses(names, texts)) && len(names) > 2 &&
		(len(names) == n || n >= fewRows && 2*len(names) > n) {
		return place{file: s.Name}.error(s.Target, fmt.Errorf("%d classes in %d rows (%s), few have a "+
			"second row: --target NAME takes another column; numbers are written without separators of "+
			"thousands and units", len(names), n, listTexts(names)))
	}
	if positive == "" && areClasses(names, texts) {
		s.Y, _ = classNumbers(names, s.Y, name) // names holds all
		s.Classes, s.textClasses, s.Task = slices.Clone(names), texts, Several
		s.note("%d classes of %s: %s", len(names), quote(s.Target), listTexts(names))
		return nil
	}
	l, err := chooseLabels(names, texts, positive)
	if err != nil {
		return &Error{File: s.Name, Column: s.Target, Err: err}
	}
	s.Y, _ = l.apply(s.Y, name) // which has no other names
	s.Labels, s.Task = l, Classification
	s.note("classes of %s: %s is +1, %s is -1", quote(s.Target), l.Name(1), l.Name(-1))
	return nil
}

// areClasses reports whether targets with these names are several classes: texts, or whole numbers.
func areClasses(names []string, texts bool) bool {
	const most = 100
	return len(names) > 2 && len(names) <= most &&
		(texts || !slices.ContainsFunc(names, func(name string) bool {
			v, err := parseNumber(name)
			return err != nil || v != math.Trunc(v)
		}))
}

// chooseLabels chooses the classes among the names of targets.
func chooseLabels(names []string, texts bool, positive string) (*Labels, error) {
	if len(names) >= 2 && positive != "" && !slices.Contains(names, positive) {
		return nil, fmt.Errorf("--positive: %s is none of the %d values of the target (%s)", quote(positive),
			len(names), listTexts(names))
	}
	switch {
	case len(names) == 2 && positive == names[0]:
		return &Labels{Classes: Classes{names[1], names[0]}, Texts: texts}, nil
	case len(names) == 2:
		return &Labels{Classes: Classes{names[0], names[1]}, Texts: texts}, nil
	case len(names) > 2 && positive != "":
		return &Labels{Classes: Classes{"not " + positive, positive}, Texts: texts, Rest: true}, nil
	}
	what, cure := "values", ": --positive LABEL sets one against the rest; or a loss for numbers (square, "+
		"eps), or another --target"
	if texts {
		what, cure = "texts", ": --positive LABEL sets one of them against the rest"
	}
	if len(names) < 2 {
		cure = ", --target NAME takes another column"
	}
	return nil, fmt.Errorf("two classes are needed, the target holds %d %s (%s)%s", len(names), what,
		listTexts(names), cure)
}

// Against is a set of several classes relabelled: class k (from 0) +1, all others -1. It shares the inputs.
func (s *Set) Against(k int) *Set {
	one := *s
	one.Labels = &Labels{Classes: Classes{"not " + s.Classes[k], s.Classes[k]}, Texts: s.textClasses, Rest: true}
	one.Y, _ = one.Labels.apply(s.Y, func(v float64) string { return s.Classes[int(v)] })
	one.Classes, one.Task = nil, Classification
	return &one
}

// ClassOf numbers the classes of the examples.
func (s *Set) ClassOf() []int {
	class := make([]int, len(s.Y))
	for i, v := range s.Y {
		class[i] = int(v)
	}
	return class
}

// classNumbers are targets with names as the numbers of classes, from 0.
func classNumbers(classes []string, y []float64, name func(target float64) string) ([]float64, error) {
	class := make([]float64, len(y))
	for i, v := range y {
		k := slices.Index(classes, name(v))
		if k < 0 {
			return nil, place{unit: "row", number: i + 1}.error("", fmt.Errorf("target %s is none of the classes %s",
				quote(name(v)), listTexts(classes)))
		}
		class[i] = float64(k)
	}
	return class, nil
}
