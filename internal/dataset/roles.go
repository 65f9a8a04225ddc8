package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (t *table) planTraining() error {
	o := t.opt
	if t.columns[0].Name == "" {
		t.note("the first column has no name: it names the rows and is no feature")
	}
	for _, w := range []struct {
		option string
		role   role
		names  []string
	}{{"ReadOptions.Drop", unused, o.Drop}, {"ReadOptions.Categorical", asFeature, o.Categorical},
		{"ReadOptions.Groups", asGroup, []string{o.Groups}},
		{"ReadOptions.Strata", asStratum, []string{o.Strata}},
		{"ReadOptions.Folds", asFold, []string{o.Folds}},
		{"ReadOptions.Weights", asWeight, []string{o.Weights}},
		{"ReadOptions.Counts", asCount, []string{o.Counts}}} {
		for _, name := range w.names {
			if name == "" && w.role != unused && w.role != asFeature {
				continue
			}
			c, err := t.find(w.option, name)
			switch {
			case err != nil:
				return err
			case w.role == asFeature: // or left out
			case w.role != unused && c.role != asFeature:
				return fmt.Errorf("%s: column %s has another role", w.option, quote(name))
			default:
				c.role = w.role
			}
			if w.role < asWeight {
				c.kind, c.categorical = texts, true
			}
		}
	}
	if err := t.planTargets(); err != nil {
		return err
	}
	y := t.targets[0]
	if t.header.headless {
		y.Name = "y"
	}
	switch at := t.header.unit; {
	case t.withRole(asFeature) != nil:
	case len(t.columns) > 1:
		return fmt.Errorf("no column is left as a feature beside the target %s: the others have other roles "+
			"or are left out", quote(y.Name))
	case at == "line":
		return fmt.Errorf("only one column (%s): at least one feature and a target are needed; commas, "+
			"semicolons, tabs or blanks separate columns", quote(t.columns[0].Name))
	default:
		return errors.New("only one column: at least one feature is needed, and the target in the last")
	}
	return nil
}

// planTargets finds the requested targets, or the last feature. Commas outside names separate several.
func (t *table) planTargets() error {
	names := strings.Split(t.opt.Target, ",")
	if t.opt.Target == "" {
		for _, c := range slices.Backward(t.columns) {
			if c.role == asFeature {
				c.role, t.targets = asTarget, []*column{c}
				return nil
			}
		}
		return errors.New("no column is left for the target")
	}
	if _, err := t.find("ReadOptions.Target", t.opt.Target); err == nil {
		names = []string{t.opt.Target}
	}
	for _, name := range names {
		name = strings.TrimSpace(name)
		c, err := t.find("ReadOptions.Target", name)
		switch {
		case err != nil:
			return err
		case c.role != asFeature:
			return fmt.Errorf("ReadOptions.Target: column %s is left out or has another role", quote(name))
		}
		c.role, t.targets = asTarget, append(t.targets, c)
	}
	return nil
}

// find is the column that an option names, by its name or else its number from 1.
func (t *table) find(option, name string) (*column, error) {
	var names []string
	for _, c := range t.columns {
		if names = append(names, c.Name); c.Name == name && name != "" {
			return c, nil
		}
	}
	if k, err := strconv.Atoi(name); err == nil && k >= 1 && k <= len(names) {
		return t.columns[k-1], nil
	}
	return nil, fmt.Errorf("%s: no column %s among the %d columns (%s)", option, quote(name), len(names),
		listTexts(names))
}

// planInputs finds the columns of a training set in new inputs, by name or, in files without names, by
// position. New inputs have all targets or none.
func (t *table) planInputs(e *Encoding) error {
	if e.Sparse() {
		return e.errNotSparse(t.name)
	}
	if t.header.headless {
		if err := t.takeNames(e); err != nil {
			return err
		}
	}
	columns := make(map[string]*column, len(t.columns))
	for _, c := range t.columns {
		columns[c.Name] = c
		if c.role == asFeature {
			c.role = unused
		}
	}
	for _, from := range e.Columns {
		c := columns[from.Name]
		if c == nil {
			return fmt.Errorf("column %s of %s is missing", quote(from.Name), e.name())
		}
		if c.role, c.kind = asFeature, numbers; from.isText() {
			c.kind = texts
		}
		c.encodedColumn, t.features = from, append(t.features, c)
	}
	if !slices.ContainsFunc(e.Targets, func(y Column) bool { return columns[y.Name] == nil }) {
		for _, y := range e.Targets {
			c := columns[y.Name]
			if c.role, c.kind = asTarget, numbers; y.Texts {
				c.kind, c.Levels = texts, y.Levels
			}
			t.targets = append(t.targets, c)
		}
	}
	if names := columns[e.RowName]; names != nil && e.RowName != "" {
		names.role = asRowName
	}
	known := make(map[string]bool, len(e.Header))
	for _, name := range e.Header {
		known[name] = true
	}
	var ignored []string
	for _, c := range t.columns {
		if c.role == unused && !known[c.Name] {
			ignored = append(ignored, c.Name)
		}
	}
	if len(ignored) > 0 {
		t.note("columns that %s lacks are ignored: %s", e.name(), listTexts(ignored))
	}
	return nil
}

// takeNames gives columns the names of the training file, or of its features, with or without the target.
func (t *table) takeNames(e *Encoding) error {
	if !e.Headless && t.header.unit == "line" && !t.opt.NoHeader {
		return errors.New("all cells are numbers: a header line that names the columns is needed, as in " +
			e.name())
	}
	var features, targets []string
	for _, c := range e.Columns {
		features = append(features, c.Name)
	}
	for _, y := range e.Targets {
		targets = append(targets, y.Name)
	}
	without := slices.DeleteFunc(slices.Clone(e.Header), func(name string) bool {
		return slices.Contains(targets, name)
	})
	for _, names := range [][]string{e.Header, without, slices.Concat(features, targets), features} {
		if len(names) == len(t.columns) {
			for j, name := range names {
				t.columns[j].Name = name
			}
			return nil
		}
	}
	return fmt.Errorf("%d columns, but %s has %d features", len(t.columns), e.name(), len(features))
}
