package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// planTraining gives the columns of a training set their roles.
func (t *table) planTraining() error {
	if t.columns[0].name == "" {
		t.note("the first column has no name: it names the rows and is no feature")
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
	for _, part := range t.opt.parts() {
		if part.name == "" {
			continue
		}
		c, err := t.find(part.flag, part.name)
		switch {
		case err != nil:
			return err
		case c.role != asFeature:
			return fmt.Errorf("%s: column %s has another role", part.flag, quote(part.name))
		}
		if c.role = part.role; part.role < asWeight {
			c.kind, c.categorical = texts, true
		}
	}
	y, err := t.planTargets()
	if err != nil {
		return err
	}
	if t.header.headless {
		y.name = "y"
	}
	if t.withRole(asFeature) == nil {
		return fmt.Errorf("only one column (%s): at least one feature and a target are needed; commas, "+
			"semicolons, tabs or blanks separate columns", quote(y.name))
	}
	return nil
}

// part is a column whose cells say which part an example belongs to, or how much it counts.
type part struct {
	flag, name string
	role       role
}

func (o Options) parts() []part {
	return []part{{"--groups", o.Groups, asGroup}, {"--strata", o.Strata, asStratum},
		{"--fold-column", o.Folds, asFold}, {"--weights", o.Weights, asWeight}, {"--counts", o.Counts, asCount}}
}

// planTargets gives the columns of targets their roles, and returns the first. A comma separates several
// unless it is part of a name.
func (t *table) planTargets() (y *column, err error) {
	names := []string{t.opt.Target}
	if _, err := t.find("--target", t.opt.Target); err != nil {
		names = strings.Split(t.opt.Target, ",")
	}
	for k, name := range names {
		c, err := t.findTarget(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if c.role = asTarget; k == 0 {
			y = c
			continue
		}
		c.role = asFurther
		t.further = append(t.further, slices.IndexFunc(t.columns, func(x column) bool { return x.name == c.name }))
	}
	return y, nil
}

// findTarget is the column of a target: the one asked for, or the last feature.
func (t *table) findTarget(name string) (*column, error) {
	if name != "" || t.opt.Target != "" {
		c, err := t.find("--target", name)
		if err == nil && c.role != asFeature {
			err = fmt.Errorf("--target: column %s is left out or has another role", quote(name))
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
	for j := range t.columns {
		if c := &t.columns[j]; c.role == asFeature {
			c.role = unused
		}
	}
	columns := t.byName()
	for _, from := range e.Columns {
		c := columns[from.Name]
		if c == nil {
			return fmt.Errorf("column %s of %s is missing", quote(from.Name), e.name())
		}
		if c.role, c.kind = asFeature, numbers; from.isText() {
			c.kind = texts
		}
	}
	if y := columns[e.Target]; y != nil {
		y.role, y.kind = asTarget, numbers
		if e.Labels != nil && e.Labels.Texts || e.TextClasses {
			y.kind = texts
		}
	}
	t.planFurther(e, columns)
	if names := columns[e.RowName]; names != nil && e.RowName != "" {
		names.role = asRowName
	}
	known := make(map[string]bool, len(e.Header))
	for _, name := range e.Header {
		known[name] = true
	}
	var ignored []string
	for _, c := range t.columns {
		if c.role == unused && !known[c.name] {
			ignored = append(ignored, c.name)
		}
	}
	if len(ignored) > 0 {
		t.note("columns that %s lacks are ignored: %s", e.name(), listTexts(ignored))
	}
	return nil
}

// planFurther gives the columns of targets after the first their roles; new inputs have all targets or none.
func (t *table) planFurther(e *Encoding, columns map[string]*column) {
	y := columns[e.Target]
	if y == nil || len(e.Further) == 0 {
		return
	}
	if slices.ContainsFunc(e.Further, func(name string) bool { return columns[name] == nil }) {
		y.role = unused
		return
	}
	for _, name := range e.Further {
		c := columns[name]
		c.role, c.kind = asFurther, numbers
		t.further = append(t.further, slices.IndexFunc(t.columns, func(x column) bool { return x.name == name }))
	}
}

// byName finds columns by their names.
func (t *table) byName() map[string]*column {
	columns := make(map[string]*column, len(t.columns))
	for j := range t.columns {
		columns[t.columns[j].name] = &t.columns[j]
	}
	return columns
}

// takeNames gives columns without names those of the training file: all of them, all but the target, or those
// of the features with the target or without.
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
