package dataset

import (
	"cmp"
	"slices"
)

// Encoding describes how files became the features and targets of a training set; by it new inputs are
// encoded in the same way without that set.
type Encoding struct {
	Name string `json:"name"` // of the training set
	Task Task   `json:"task"`
	// Features is the number D of features; Columns are the columns that became features, none if sparse.
	Features int             `json:"features"`
	Columns  []encodedColumn `json:"columns,omitempty"`
	// Header names all columns of the file, target and omitted ones included; Headless: the names are positions.
	// RowName is the column that names the rows, "" if none does.
	Header   []string `json:"header,omitempty"`
	Headless bool     `json:"headless,omitempty"`
	RowName  string   `json:"row_name,omitempty"`
	// FirstIndex is the number of the first feature in sparse lines, 1 or 0.
	FirstIndex int    `json:"first_index"`
	Target     string `json:"target"`
	// Further names the targets after the first, of a regression with several.
	Further []string `json:"further_targets,omitempty"`
	// Labels are the classes, nil if they are -1 and +1 in the file.
	Labels *Labels `json:"labels,omitempty"`
	// Classes are the names of several classes; TextClasses: they are texts in the file.
	Classes     []string `json:"classes,omitempty"`
	TextClasses bool     `json:"text_classes,omitempty"`
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
		e.Header = append(slices.Clone(s.Features), s.Target)
		for _, name := range s.Features {
			e.Columns = append(e.Columns, encodedColumn{Name: name})
		}
	}
	e.Name, e.Task, e.Features, e.Target, e.Labels = s.Name, s.Task, s.D(), s.Target, s.Labels
	e.Classes, e.TextClasses, e.Further = s.Classes, s.textClasses, nil
	e.Missing = cmp.Or(e.Missing, MissingError)
	for _, t := range s.Further {
		e.Further = append(e.Further, t.Name)
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
	width, known := 0, map[string]bool{e.Target: true}
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
	case e.Task != Regression && e.Task != Classification && (e.Task != Several || len(e.Classes) < 3):
		return errorIn(e.Name, "%s is no task", quote(string(e.Task)))
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
	case e.Labels != nil && e.Labels.check() != nil:
		return inFile(e.Name, e.Labels.check())
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
	opt.ZeroBased = opt.ZeroBased || e.FirstIndex == 0
	return opt
}

// encodeTargets maps the targets of new inputs, with names, to labels or to the numbers of classes.
func (e *Encoding) encodeTargets(y []float64, name func(target float64) string) ([]float64, error) {
	switch {
	case e.Labels != nil:
		return e.Labels.apply(y, name)
	case e.Classes != nil:
		return classNumbers(e.Classes, y, name)
	}
	return y, nil
}

// checkFeatures refuses a whole set as new inputs unless its features are those of the training set.
func (e *Encoding) checkFeatures(s *Set) error {
	switch {
	case e.Sparse() && s.Sparse == nil:
		return e.errNotSparse(s.Name)
	case !e.Sparse() && !slices.Equal(s.Features, featureNames(e.Columns)):
		return errorIn(s.Name, "its features are not those of %s", e.name())
	}
	return nil
}

func (e *Encoding) errNotSparse(name string) error {
	return errorIn(name, "%s is sparse: new inputs must be sparse lines too (.svm, .libsvm or .dat)", e.name())
}
