package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Check verifies that the targets suit a task: for classification they take exactly the two values -1 and
// +1 (ErrLabels where others occur), for regression they are not all the same.
func (s *Set) Check(task Task) error {
	differ := slices.ContainsFunc(s.Y, func(v float64) bool { return v != s.Y[0] })
	if differ && (task == Regression || guessTask(s.Y) == Classification) {
		return nil
	}
	values := s.values()
	names := labelNames(values[:min(len(values), 8)])
	what := map[Task]string{Regression: "targets", Classification: "labels"}[task]
	var err error
	switch {
	case len(values) == 0:
		err = fmt.Errorf("no %s", what)
	case len(values) == 1:
		err = fmt.Errorf("all %d %s are %s: %s that differ are needed%s", len(s.Y), what, names[0], what,
			s.anotherTarget())
	case len(values) == 2:
		err = fmt.Errorf("%w, not %s and %s (--positive %s makes classes of them)", ErrLabels, names[0],
			names[1], names[1])
	default:
		err = fmt.Errorf("%w, found %s", ErrLabels, listTexts(names))
	}
	return &Error{File: s.Name, Column: s.Target, Err: err}
}

// anotherTarget is a cure where the file has columns.
func (s *Set) anotherTarget() string {
	if s.encoding == nil {
		return ""
	}
	return ", --target NAME takes another column"
}

// checkTargets refuses targets that are all the same, whatever the task, and makes classes of them if a
// positive one is named.
func (s *Set) checkTargets(positive string) error {
	if err := s.Check(Regression); err != nil || positive == "" {
		return err
	}
	return s.Classify(positive)
}

// values are the different targets in order.
func (s *Set) values() []float64 {
	values := slices.Clone(s.Y)
	slices.Sort(values)
	return slices.Compact(values)
}

// labelName is a numeric label as a text.
func labelName(v float64) string { return formatNumber(v + 0) } // -0 is 0

func labelNames(values []float64) (names []string) {
	for _, v := range values {
		names = append(names, labelName(v))
	}
	return names
}

// Classes names the labels -1 and +1 as a file writes them. Of more than two labels, Negative
// is "not " and Positive.
type Classes struct {
	Negative string `json:"negative"`
	Positive string `json:"positive"`
}

// Name is what the file has for a label, or for the sign of a predictor; -1 or 1 of nil.
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

// Names are the classes alone; nil of nil.
func (l *Labels) Names() *Classes {
	if l == nil {
		return nil
	}
	return &l.Classes
}

// known are the texts that a file may have, Negative first where it is one of them.
func (l *Labels) known() []string {
	if l.Rest {
		return []string{l.Positive}
	}
	return []string{l.Negative, l.Positive}
}

// Classify makes classes of targets with two values: the larger becomes +1, the
// smaller -1, unless positive names the value that becomes +1 ("" names none). Of
// targets with more values, positive becomes +1 and all others -1. A set whose file has texts as targets has
// classes already.
func (s *Set) Classify(positive string) error {
	if l := s.Labels; l != nil {
		return s.classify([]string{l.Negative, l.Positive}, l.Texts, cmp.Or(positive, l.Positive),
			func(v float64) string {
				return map[bool]string{false: l.Negative, true: l.Positive}[v > 0]
			})
	}
	if v, err := parseNumber(positive); err == nil {
		positive = formatNumber(v)
	}
	values := s.values()
	if len(values) == 2 && values[0] == -1 && values[1] == 1 && positive == "" {
		s.Task = Classification // these are the labels
		return nil
	}
	return s.classify(labelNames(values), false, positive, labelName)
}

// classify makes classes of targets that stand for these names, in order.
func (s *Set) classify(names []string, texts bool, positive string, name func(target float64) string) error {
	l := &Labels{Texts: texts}
	var err error
	switch {
	case len(names) < 2:
		err = fmt.Errorf("two classes are needed, the target holds only %s%s", listTexts(names), s.anotherTarget())
	case positive != "" && !slices.Contains(names, positive):
		err = fmt.Errorf("--positive: %s is none of the %d values of the target (%s)", quote(positive), len(names),
			listTexts(names))
	case len(names) == 2:
		l.Negative, l.Positive = names[0], names[1]
		if positive == names[0] {
			l.Negative, l.Positive = names[1], names[0]
		}
	case positive != "":
		l.Negative, l.Positive, l.Rest = "not "+positive, positive, true
	case texts:
		err = fmt.Errorf("two classes are needed, the target holds %d texts (%s): --positive LABEL sets one of "+
			"them against the rest",
			len(names), listTexts(names))
	default:
		err = fmt.Errorf("two classes are needed, the target holds %d values (%s): --positive LABEL sets one "+
			"against the rest; or a loss for numbers (square, eps), or another --target",
			len(names), listTexts(names))
	}
	if err != nil {
		return &Error{File: s.Name, Column: s.Target, Err: err}
	}
	y := make([]float64, len(s.Y))
	for i, v := range s.Y {
		y[i] = -1
		if name(v) == l.Positive {
			y[i] = 1
		}
	}
	if s.Labels == nil || *s.Labels != *l {
		s.Notes = append(slices.Clone(s.Notes), fmt.Sprintf("classes of %s: %s is +1, %s is -1", quote(s.Target),
			l.Name(1), l.Name(-1)))
		s.Labels = l
	}
	s.Y, s.Task = y, Classification
	return nil
}

// apply takes further targets to -1 and +1; of a text column they are the numbers
// of Negative and Positive.
func (l *Labels) apply(y []float64, c *column) ([]float64, error) {
	low, high, _ := l.Numbers()
	if l.Texts {
		if c == nil || c.kind != texts {
			return nil, &Error{Err: fmt.Errorf("targets are numbers, not %s and %s", quote(l.Negative),
				quote(l.Positive))}
		}
		low, high = 0, float64(len(l.known())-1)
	}
	labels := make([]float64, len(y))
	for i, v := range y {
		switch {
		case v == high:
			labels[i] = 1
		case l.Rest || v == low:
			labels[i] = -1
		default:
			return nil, &Error{Row: i + 1, Err: fmt.Errorf("target %v is neither %s nor %s", v, l.Negative,
				l.Positive)}
		}
	}
	return labels, nil
}

// Numbers are the two labels of a file whose targets are two numbers; of one number against the
// rest the second is it.
func (l *Labels) Numbers() (negative, positive float64, ok bool) {
	negative, _ = parseNumber(l.Negative)
	positive, _ = parseNumber(l.Positive)
	return negative, positive, !l.Texts && !l.Rest
}

// formatNumber writes a number in the shortest form that reads back.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
