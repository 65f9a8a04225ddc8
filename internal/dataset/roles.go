package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// planTraining gives the columns of a training set their roles.
func (t *table) planTraining() error {
	if t.header.noTarget {
		return errors.New("the archive has no array y: np.savez(file, X=X, y=y) writes both")
	}
	last := len(t.columns) - 1
	if t.columns[0].name == "" {
		t.columns[0].role = asRowName
		t.note("the first column has no name: it names the rows and is no feature")
	}
	if last > 0 && t.columns[last].name == "" {
		t.columns[last].role = asNothing
	}
	for _, name := range t.opt.Drop {
		c, err := t.find("--drop", name)
		if err != nil {
			return err
		}
		c.role = unused
	}
	for _, name := range t.opt.Categorical {
		c, err := t.find("--categorical", name)
		if err != nil {
			return err
		}
		c.kind, c.categorical = texts, true
	}
	y, err := t.findTarget()
	if err != nil {
		return err
	}
	y.role = asTarget
	if t.header.headless {
		y.name = "y"
	}
	if t.withRole(asFeature) == nil {
		return fmt.Errorf("only one column (%s): at least one feature and a target are needed; commas, "+
			"semicolons, tabs or blanks separate columns", quote(y.name))
	}
	return nil
}

// findTarget is the column of the target: the one asked for, or the last feature.
func (t *table) findTarget() (*column, error) {
	if t.opt.Target != "" {
		c, err := t.find("--target", t.opt.Target)
		if err == nil && c.role != asFeature {
			err = fmt.Errorf("--target: column %s is left out or names the rows", quote(t.opt.Target))
		}
		return c, err
	}
	for j := range slices.Backward(t.columns) {
		if t.columns[j].role == asFeature {
			return &t.columns[j], nil
		}
	}
	return nil, errors.New("no column is left for the target")
}

// find is the column that a flag asks for by its name or else, if that is a whole number, by its number from
// 1.
func (t *table) find(flag, name string) (*column, error) {
	var names []string
	for j := range t.columns {
		c := &t.columns[j]
		if names = append(names, c.name); c.name == name && name != "" {
			return c, nil
		}
	}
	if k, err := strconv.Atoi(name); err == nil && k >= 1 && k <= len(names) {
		return &t.columns[k-1], nil
	}
	return nil, fmt.Errorf("%s: no column %s among the %d columns (%s)", flag, quote(name), len(names),
		listTexts(names))
}

// planInputs finds the columns of a training set in new inputs, by name or, in files without names, by
// position.
func (t *table) planInputs(e *Encoding) error {
	if e.Sparse() {
		return e.errNotSparse(t.name)
	}
	if t.header.headless {
		if err := t.takeNames(e); err != nil {
			return err
		}
	}
	features := make(map[string]EncodedColumn, len(e.Columns))
	for _, c := range e.Columns {
		features[c.Name] = c
	}
	var ignored []string
	known := make(map[string]bool, len(e.Header))
	for _, name := range e.Header {
		known[name] = true
	}
	found := make(map[string]bool, len(e.Columns))
	for j := range t.columns {
		c := &t.columns[j]
		from, isFeature := features[c.name]
		switch {
		case isFeature:
			c.role, c.kind, found[c.name] = asFeature, numbers, true
			if from.Levels != nil {
				c.kind = texts
			}
		case c.name == e.Target:
			c.role = asTarget
			if e.Labels != nil && e.Labels.Texts {
				c.kind = texts
			}
		case c.name == "" && j == 0, c.name != "" && c.name == e.RowName:
			c.role = asRowName
		case c.name == "":
			c.role = asNothing
		default:
			c.role = unused
			if !known[c.name] {
				ignored = append(ignored, c.name)
			}
		}
	}
	for _, c := range e.Columns {
		if !found[c.Name] {
			return fmt.Errorf("column %s of %s is missing", quote(c.Name), e.name())
		}
	}
	if len(ignored) > 0 {
		t.note("columns that %s lacks are ignored: %s", e.name(), listTexts(ignored))
	}
	return nil
}

// takeNames gives columns without names those of the training file: all of them,
// all but the target, or the features alone.
func (t *table) takeNames(e *Encoding) error {
	if !e.Headless && t.header.unit == "line" && !t.opt.NoHeader {
		return errors.New("all cells are numbers: a header line that names the columns is needed, as in " +
			e.name())
	}
	var features []string
	for _, c := range e.Columns {
		features = append(features, c.Name)
	}
	without := slices.DeleteFunc(slices.Clone(e.Header), func(name string) bool { return name == e.Target })
	for _, names := range [][]string{e.Header, without, append(slices.Clone(features), e.Target), features} {
		if len(names) == len(t.columns) {
			for j, name := range names {
				t.columns[j].name = name
			}
			return nil
		}
	}
	return fmt.Errorf("%d columns, but %s has %d features", len(t.columns), e.name(), len(features))
}
