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
		return &Error{Err: fmt.Errorf("all %d labels are %v: examples of both classes are needed", len(y), values[0])}
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
		return &Error{Err: fmt.Errorf("all %d targets are %v: there is nothing to learn", len(y), values[0])}
	}
	return nil
}

// LabelMap names the two target values that stand for -1 and +1.
type LabelMap struct {
	Negative, Positive float64
}

// MapLabels turns targets with exactly two values into labels: the smaller
// value becomes -1, the larger +1.
func MapLabels(y []float64) ([]float64, LabelMap, error) {
	values, complete := distinctValues(y, 3)
	if len(values) != 2 {
		return nil, LabelMap{}, &Error{Err: fmt.Errorf("two target values are needed for two classes, found %s", listValues(values, complete))}
	}
	m := LabelMap{Negative: values[0], Positive: values[1]}
	labels, err := m.Apply(y)
	return labels, m, err
}

// Apply maps further targets by the same values and refuses any other value.
func (m LabelMap) Apply(y []float64) ([]float64, error) {
	labels := make([]float64, len(y))
	for i, v := range y {
		switch v {
		case m.Negative:
			labels[i] = -1
		case m.Positive:
			labels[i] = 1
		default:
			return nil, &Error{Row: i + 1, Err: fmt.Errorf("target %v is neither %v nor %v", v, m.Negative, m.Positive)}
		}
	}
	return labels, nil
}

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
		words = append(words, strconv.FormatFloat(v, 'g', -1, 64))
	}
	if !complete {
		words = append(words, "...")
	}
	if len(words) == 1 {
		return "only the value " + words[0]
	}
	return "the values " + strings.Join(words, ", ")
}
