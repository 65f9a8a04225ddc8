package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Encoding says how what files hold became the features and targets of a training set, so
// that new inputs become features alike without that set. JSON keeps it.
type Encoding struct {
	Name string `json:"name"` // of the training set
	Task Task   `json:"task"`
	// Features is the number D of features; Columns are those of the file that became
	// features, in order, and none where inputs are sparse.
	Features int             `json:"features"`
	Columns  []EncodedColumn `json:"columns,omitempty"`
	// Header names all columns of the file, with target and columns that were left out;
	// Headless says that they were named by their positions. RowName is the column that
	// names the rows, "" if none does.
	Header   []string `json:"header,omitempty"`
	Headless bool     `json:"headless,omitempty"`
	RowName  string   `json:"row_name,omitempty"`
	// FirstIndex is the number of the first feature in sparse lines, 1 or 0.
	FirstIndex int    `json:"first_index"`
	Target     string `json:"target"`
	// Labels are the classes, nil where they are -1 and +1 in the file.
	Labels *Labels `json:"labels,omitempty"`
	// Missing is what was done about cells without a value, and Means, of the features, what
	// stands there then; nil where inputs are sparse.
	Missing Missing   `json:"missing"`
	Means   []float64 `json:"means,omitempty"`
}

// EncodedColumn is a column that became features: a number one, a text with two levels one,
// 0 or 1, a text with more levels one for each. Flag adds one that says where a value is
// missing.
type EncodedColumn struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels,omitempty"` // of a text, ascending
	Flag   bool     `json:"flag,omitempty"`
}

// Encoding says how the features of new inputs are made for a predictor trained on s.
func (s *Set) Encoding() *Encoding {
	e := &Encoding{Name: s.Name, Task: s.Task, Features: s.D(), FirstIndex: 1, Target: s.Target,
		Labels: s.Labels}
	if s.zeroBased {
		e.FirstIndex = 0
	}
	if s.Sparse != nil {
		return e
	}
	from := schemaOf(s)
	e.Header, e.Headless, e.RowName, e.Missing, e.Means = from.header, from.headless, from.rowName, from.missing,
		s.means()
	for _, c := range from.columns {
		e.Columns = append(e.Columns, EncodedColumn{Name: c.name, Levels: c.levels, Flag: c.flag})
	}
	return e
}

// LoadInputs is the function LoadInputs for the set that e is of. What it did about missing
// values is done again, unless opt says otherwise, and its sparse lines count alike.
func (e *Encoding) LoadInputs(path string, opt Options) (*Inputs, error) {
	train, err := e.empty()
	if err != nil {
		return nil, err
	}
	return LoadInputs(path, train, e.options(opt))
}

// ReadInputsTable is LoadInputs for a text table.
func (e *Encoding) ReadInputsTable(r io.Reader, name string, opt Options) (*Inputs, error) {
	train, err := e.empty()
	if err != nil {
		return nil, err
	}
	return ReadInputsTable(r, name, train, e.options(opt))
}

func (e *Encoding) options(opt Options) Options {
	if opt.Missing == MissingError {
		opt.Missing = e.Missing
	}
	opt.ZeroBased = opt.ZeroBased || e.FirstIndex == 0
	return opt
}

// empty is a set without examples whose features are made as e says.
func (e *Encoding) empty() (*Set, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	s := &Set{Name: e.Name, Source: e.Name, Task: e.Task, Target: e.Target, Labels: e.Labels}
	if e.Sparse() {
		s.Sparse = &CSR{Cols: e.Features, Start: []int{0}}
		return s, nil
	}
	s.X, s.mean = Matrix{Cols: e.Features, Stride: e.Features}, e.Means
	s.schema = &schema{header: e.Header, headless: e.Headless, target: e.Target, rowName: e.RowName,
		missing: e.Missing}
	for _, c := range e.Columns {
		s.schema.add(encoded{name: c.Name, levels: c.Levels, flag: c.Flag})
		s.Features = append(s.Features, s.schema.columns[len(s.schema.columns)-1].features()...)
	}
	return s, nil
}

// Sparse reports whether inputs are sparse.
func (e *Encoding) Sparse() bool { return len(e.Columns) == 0 }

// Check reports the first thing wrong with e, which may come from a file.
func (e *Encoding) Check() error {
	bad := func(format string, args ...any) error {
		return &Error{File: e.Name, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case e.Features < 1:
		return bad("%d features", e.Features)
	case e.FirstIndex != 0 && e.FirstIndex != 1:
		return bad("features count from %d", e.FirstIndex)
	case !e.Sparse() && len(e.Means) != e.Features:
		return bad("%d means of %d features", len(e.Means), e.Features)
	case slices.ContainsFunc(e.Means, func(v float64) bool { return checkFinite(v) != nil }):
		return bad("means that are not finite")
	}
	if l := e.Labels; l != nil {
		low, errLow := parseNumber(l.Negative)
		high, errHigh := parseNumber(l.Positive)
		if l.Rest {
			low, errLow = high-1, nil
		}
		if l.Negative == l.Positive || !l.Texts && (errors.Join(errLow, errHigh) != nil || low == high) {
			return bad("labels %s and %s", quote(l.Negative), quote(l.Positive))
		}
	}
	return e.checkColumns(bad)
}

func (e *Encoding) checkColumns(bad func(format string, args ...any) error) error {
	width, known := 0, map[string]bool{}
	for _, c := range e.Columns {
		if known[c.Name] || c.Name == e.Target {
			return bad("two columns have the name %s", quote(c.Name))
		}
		known[c.Name] = true
		for k := 1; k < len(c.Levels); k++ {
			if c.Levels[k] <= c.Levels[k-1] {
				return bad("levels of column %s that do not ascend", quote(c.Name))
			}
		}
		width += len(encoded{name: c.Name, levels: c.Levels, flag: c.Flag}.features())
	}
	if !e.Sparse() && width != e.Features {
		return bad("columns of %d features, where there are %d", width, e.Features)
	}
	return nil
}
