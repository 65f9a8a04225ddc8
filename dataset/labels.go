package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Check verifies that the targets suit a task: CheckLabels for classification,
// CheckTarget for regression.
func (s *Set) Check(task Task) error {
	check := CheckTarget
	if task == Classification {
		check = CheckLabels
	}
	if err := check(s.Y); err != nil {
		return &Error{File: s.Name, Column: s.Target, Err: err.(*Error).Err}
	}
	return nil
}

// checkVaries refuses targets that are all the same, whatever the task.
func (s *Set) checkVaries() error {
	if values, _ := distinctValues(s.Y, 2); len(values) > 1 {
		return nil
	}
	return s.Check(s.Task)
}

// CheckLabels verifies that the targets take exactly the two values -1 and +1.
// Otherwise the error says what they take; it is ErrLabels where other values
// than these two occur.
func CheckLabels(y []float64) error {
	values, complete := distinctValues(y, 6)
	switch {
	case len(values) == 2 && values[0] == -1 && values[1] == 1:
		return nil
	case len(y) == 0:
		return &Error{Err: errors.New("no labels")}
	case len(values) == 1 && (values[0] == -1 || values[0] == 1):
		return &Error{Err: fmt.Errorf("all %d labels are %v: examples of both classes are needed, --target NAME takes another column",
			len(y), values[0])}
	case len(values) == 2:
		return &Error{Err: fmt.Errorf("%w, not %v and %v (--map-labels takes %v to -1 and %v to +1)",
			ErrLabels, values[0], values[1], values[0], values[1])}
	}
	return &Error{Err: fmt.Errorf("%w, found %s", ErrLabels, listValues(values, complete))}
}

// CheckTarget verifies that regression targets are not all the same.
func CheckTarget(y []float64) error {
	values, _ := distinctValues(y, 2)
	switch len(values) {
	case 0:
		return &Error{Err: errors.New("no targets")}
	case 1:
		return &Error{Err: fmt.Errorf(
			"all %d targets are %v: there is nothing to learn, --target NAME takes another column", len(y), values[0])}
	}
	return nil
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

// oneAgainstRest are the labels that make two classes of more: one label and all others.
func oneAgainstRest(positive string) *Labels {
	return &Labels{Classes: Classes{"not " + positive, positive}, Rest: true}
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
	if s.Labels != nil {
		if positive == "" || positive == s.Labels.Positive {
			return nil
		}
		if positive != s.Labels.Negative {
			return s.errPositive(positive, s.Labels.Negative, s.Labels.Positive)
		}
		return s.flip()
	}
	values, complete := distinctValues(s.Y, 6)
	one, errOne := parseNumber(positive)
	if len(values) > 2 && errOne == nil && slices.Contains(s.Y, one) {
		return s.take(oneAgainstRest(formatNumber(one)))
	}
	if len(values) > 2 && positive != "" {
		return &Error{File: s.Name, Column: s.Target,
			Err: fmt.Errorf("--positive: %s is no value of the target, found %s", quote(positive),
				listValues(values, complete))}
	}
	if len(values) != 2 {
		return &Error{File: s.Name, Column: s.Target, Err: fmt.Errorf(
			"two classes are needed, found %s: --positive LABEL sets one against the rest; or a loss for numbers (square, eps), or another --target", listValues(values, complete))}
	}
	l := &Labels{Classes: Classes{formatNumber(values[0]), formatNumber(values[1])}}
	y, err := l.apply(s.Y, nil)
	if err != nil {
		return err
	}
	s.Y, s.Task = y, Classification
	if values[0] == -1 && values[1] == 1 && positive == "" {
		return nil // these are the labels
	}
	s.Labels = l
	if errOne == nil {
		positive = formatNumber(one)
	}
	switch positive {
	case "", l.Positive:
	case l.Negative:
		return s.flip()
	default:
		return s.errPositive(positive, l.Negative, l.Positive)
	}
	s.noteLabels()
	return nil
}

// take makes classes of numbers by labels.
func (s *Set) take(l *Labels) error {
	y, err := l.apply(s.Y, nil)
	if err != nil {
		return err
	}
	s.Y, s.Task, s.Labels = y, Classification, l
	s.noteLabels()
	return nil
}

// classifyTexts makes classes of targets that are the numbers of texts: the later
// one in order becomes +1, or positive, which stands against all others.
func (s *Set) classifyTexts(found []string, positive string) error {
	order := slices.Sorted(slices.Values(found))
	labels := &Labels{}
	switch {
	case len(order) > 2 && slices.Contains(order, positive):
		labels = oneAgainstRest(positive)
	case len(order) > 2 && positive != "":
		return &Error{File: s.Name, Column: s.Target,
			Err: fmt.Errorf("--positive: %s is none of the %d texts of the target (%s)", quote(positive), len(order),
				listTexts(order))}
	case len(order) > 2:
		return &Error{File: s.Name, Column: s.Target,
			Err: fmt.Errorf("the target holds %d texts (%s): two classes are needed, --positive LABEL sets one of them against the rest", len(order), listTexts(order))}
	case len(order) < 2:
		return &Error{File: s.Name, Column: s.Target,
			Err: fmt.Errorf("the target holds only %s: two classes are needed, --target NAME takes another column", listTexts(order))}
	default:
		labels.Negative, labels.Positive = order[0], order[1]
	}
	for i, v := range s.Y {
		s.Y[i] = -1
		if found[int(v)] == labels.Positive {
			s.Y[i] = 1
		}
	}
	labels.Texts = true
	s.Task, s.Labels = Classification, labels
	switch positive {
	case "", labels.Positive:
		s.noteLabels()
		return nil
	case labels.Negative:
		return s.flip()
	}
	return s.errPositive(positive, labels.Negative, labels.Positive)
}

// flip exchanges the classes.
func (s *Set) flip() error {
	y := make([]float64, len(s.Y))
	for i, v := range s.Y {
		y[i] = -v
	}
	l := *s.Labels
	l.Negative, l.Positive = l.Positive, l.Negative
	s.Y, s.Labels = y, &l
	s.noteLabels()
	return nil
}

func (s *Set) noteLabels() {
	s.Notes = append(s.Notes[:len(s.Notes):len(s.Notes)], fmt.Sprintf("classes of %s: %s is +1, %s is -1",
		quote(s.Target), s.Labels.Name(1), s.Labels.Name(-1)))
}

func (s *Set) errPositive(positive, a, b string) error {
	return &Error{File: s.Name, Column: s.Target, Err: fmt.Errorf("--positive: %s is neither %s nor %s",
		quote(positive), quote(a), quote(b))}
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

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// distinctValues returns the distinct values of y in ascending order, at most
// the first limit of them to appear; complete says whether these are all.
func distinctValues(y []float64, limit int) (values []float64, complete bool) {
	for _, v := range y {
		if slices.Contains(values, v) {
			continue
		}
		if len(values) == limit {
			slices.Sort(values)
			return values, false
		}
		values = append(values, v)
	}
	slices.Sort(values)
	return values, true
}

// listValues writes "the values 0, 1, 2" or, if there are more, "the values 0, 1, 2, ...".
func listValues(values []float64, complete bool) string {
	if len(values) == 0 {
		return "none"
	}
	words := make([]string, 0, len(values)+1)
	for _, v := range values {
		words = append(words, formatNumber(v))
	}
	if !complete {
		words = append(words, "...")
	}
	if len(words) == 1 {
		return "only the value " + words[0]
	}
	return "the values " + strings.Join(words, ", ")
}
