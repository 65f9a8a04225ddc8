package dataset

import (
	"cmp"
	"slices"
)

// Encoding describes how files became the features and targets of a training set; by it new inputs are
// encoded in the same way without that set.
type Encoding struct {
	Name string `json:"name"` // of the training set
	// Features is the number D of features; Columns are the columns that became features, none if sparse.
	Features int             `json:"features"`
	Columns  []encodedColumn `json:"columns,omitempty"`
	// Header names all columns of the file, target and omitted ones included; Headless: the names are
	// positions. RowName is the column that names the rows, "" if none does.
	Header   []string `json:"header,omitempty"`
	Headless bool     `json:"headless,omitempty"`
	RowName  string   `json:"row_name,omitempty"`
	// FirstIndex is the number of the first feature in sparse lines, 1 or 0.
	FirstIndex int `json:"first_index"`
	// Targets are what is predicted, without values.
	Targets []Column `json:"targets"`
	// Missing is the treatment of cells without a value; Means of the features, nil if sparse, replace them.
	Missing Missing   `json:"missing"`
	NA      []string  `json:"na,omitempty"` // codes of such cells beside the usual ones
	Means   []float64 `json:"means,omitempty"`
}

// encodedColumn is a column that became features: a number one; a text with two levels one, 0 or 1; a text
// with more levels one per level, and one for all other texts if these are pooled; a date its dateParts. Flag
// adds an indicator of missing values.
type encodedColumn struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels,omitempty"` // of a text, ascending
	Others bool     `json:"others,omitempty"` // that are pooled
	Date   string   `json:"date,omitempty"`   // layout
	Flag   bool     `json:"flag,omitempty"`
}

func (c encodedColumn) isText() bool { return c.Levels != nil || c.Date != "" }

func (c encodedColumn) width() int { return len(c.features()) }

func (c encodedColumn) features() (names []string) {
	switch {
	case c.Date != "":
		for _, part := range dateParts(c.Date) {
			names = append(names, c.Name+" "+part)
		}
	case c.Levels == nil:
		names = []string{c.Name}
	case len(c.Levels) == 2 && !c.Others:
		names = []string{c.Name + "=" + printable(c.Levels[1])}
	default:
		for _, level := range c.Levels {
			names = append(names, c.Name+"="+printable(level))
		}
		if c.Others {
			names = append(names, c.Name+"=(others)")
		}
	}
	if c.Flag {
		names = append(names, c.Name+" missing")
	}
	return names
}

func featureNames(columns []encodedColumn) (names []string) {
	for _, c := range columns {
		names = append(names, c.features()...)
	}
	return names
}

// Encoding is the encoding of new inputs for a predictor trained on s.
func (s *Set) Encoding() *Encoding {
	e := Encoding{}
	switch {
	case s.encoding != nil:
		e = *s.encoding
	case s.Sparse == nil:
		e.Header = slices.Clone(s.Features)
		for _, c := range s.Columns {
			e.Header = append(e.Header, c.Name)
		}
		for _, name := range s.Features {
			e.Columns = append(e.Columns, encodedColumn{Name: name})
		}
	}
	e.Name, e.Features, e.Missing = s.Name, s.D(), cmp.Or(e.Missing, MissingError)
	e.Targets = slices.Clone(s.Columns)
	for k := range e.Targets {
		e.Targets[k].Y = nil
	}
	if !s.zeroBased {
		e.FirstIndex = 1
	}
	if s.Sparse == nil {
		e.Means = means(s.X)
	}
	return &e
}

// name is the training set's name for messages.
func (e *Encoding) name() string { return printable(e.Name) }

// Sparse reports whether inputs are sparse.
func (e *Encoding) Sparse() bool { return len(e.Columns) == 0 }

// Check reports the first error in e, which may come from a file.
func (e *Encoding) Check() error {
	width, known := 0, map[string]bool{}
	for _, y := range e.Targets {
		if known[y.Name] || len(e.Targets) > 1 && y.Levels != nil {
			return errorIn(e.Name, "target %s is there twice, or one of several that are no numbers",
				quote(y.Name))
		}
		if known[y.Name] = true; y.check() != nil {
			return inFile(e.Name, y.check())
		}
	}
	for _, c := range e.Columns {
		if known[c.Name] {
			return errorIn(e.Name, "two columns have the name %s", quote(c.Name))
		}
		known[c.Name] = true
		if !slices.Equal(c.Levels, slices.Compact(slices.Sorted(slices.Values(c.Levels)))) {
			return errorIn(e.Name, "levels of column %s that do not ascend", quote(c.Name))
		}
		if c.Date != "" && (c.Levels != nil || !slices.Contains(dateLayouts, c.Date)) {
			return errorIn(e.Name, "column %s: %s is no layout of dates", quote(c.Name), quote(c.Date))
		}
		width += c.width()
	}
	switch {
	case len(e.Targets) == 0:
		return errorIn(e.Name, "no targets")
	case e.Features < 1:
		return errorIn(e.Name, "%d features", e.Features)
	case !slices.Contains([]Missing{"", MissingError, MissingDrop, MissingMean, MissingIndicator}, e.Missing):
		return errorIn(e.Name, "%s is nothing to do about missing cells", quote(string(e.Missing)))
	case e.FirstIndex != 0 && e.FirstIndex != 1:
		return errorIn(e.Name, "features count from %d", e.FirstIndex)
	case !e.Sparse() && (width != e.Features || len(e.Means) != e.Features):
		return errorIn(e.Name, "columns of %d features and %d means of %d features", width,
			len(e.Means), e.Features)
	case slices.ContainsFunc(e.Means, func(v float64) bool { return checkFinite(v) != nil }):
		return errorIn(e.Name, "means that are not finite")
	}
	return nil
}

// options are opt with the choices of the training set.
func (e *Encoding) options(opt Options) Options {
	if opt = opt.complete(); opt.Missing == MissingError {
		opt.Missing = e.Missing
	}
	if opt.NA == nil {
		opt.NA = e.NA
	}
	return opt
}

// encodeTargets maps the first targets of new inputs to the levels of the training set.
func (e *Encoding) encodeTargets(columns []Column) ([]Column, error) {
	encoded := slices.Clone(e.Targets[:len(columns)])
	for k, c := range columns {
		var err error
		if encoded[k].Y, err = encoded[k].encode(c.Y, c.name); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}

// take makes new inputs of a whole set, whose features must be the training set's.
func (e *Encoding) take(s *Set) (err error) {
	switch {
	case e.Sparse() && s.Sparse == nil:
		return e.errNotSparse(s.Name)
	case !e.Sparse() && !slices.Equal(s.Features, featureNames(e.Columns)):
		return errorIn(s.Name, "its features are not those of %s", e.name())
	case len(s.Columns) != len(e.Targets):
		s.Columns = nil
		return nil
	}
	s.Columns, err = e.encodeTargets(s.Columns)
	return err
}

func (e *Encoding) errNotSparse(name string) error {
	return errorIn(name, "%s is sparse: new inputs must be sparse lines too (.svm, .libsvm or .dat)",
		e.name())
}
