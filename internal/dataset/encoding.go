package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
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
func (c encodedColumn) width() int   { return len(c.features()) }

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

// name is the training set's name for messages. Sparse reports whether inputs are sparse.
func (e *Encoding) name() string { return printable(e.Name) }
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

// fewRows is the least number of rows for a column without repetitions to name or number them.
const fewRows = 10

// set is a training set, or new inputs for one.
func (t *table) set() (*Set, error) {
	if t.blank > 0 {
		t.note("%d empty rows are skipped", t.blank)
	}
	if t.zero > 0 {
		t.note("%d rows of weight 0 are left out", t.zero)
	}
	switch {
	case t.rows == 0 && t.zero > 0:
		return nil, errors.New("all weights are 0")
	case t.rows == 0:
		return nil, errors.New("no examples below the header")
	case t.train != nil:
		return t.inputs(t.train)
	case t.rows < 2:
		return nil, errOneExample
	}
	e, err := t.learn()
	if err != nil {
		return nil, err
	}
	s, err := t.inputs(e)
	switch {
	case err != nil:
		return nil, err
	case s.N() < 2:
		return nil, errors.New("only one row has all values: " + keepRows)
	}
	if s.Groups != nil && slices.Max(s.Groups) == 0 {
		return nil, fmt.Errorf("ReadOptions.Groups: all rows have the same %s, and without that group there "+
			"are none to train on: take another column, or leave it out", quote(t.withRole(asGroup).Name))
	}
	describe(t, s.X)
	t.doubtOrder(s)
	s.Source, s.Features = t.name, featureNames(e.Columns)
	if w := s.Weights; w != nil {
		t.note("column %s has the weights of the examples, from %.4g to %.4g: they count in training and in "+
			"errors, and the %d rows count like %.4g of equal weight", quote(t.withRole(asWeight).Name),
			slices.Min(w), slices.Max(w), len(w), math.Pow(floats.Sum(w), 2)/floats.Dot(w, w))
	}
	s.Notes, s.Doubts, s.encoding = t.notes, t.doubts, e
	if s.counts != nil {
		s = s.repeat(s.counts)
	}
	return s, s.decide(t.opt)
}

// keepRows is a cure for rows that are left out.
const keepRows = "ReadOptions.Missing mean or indicator keeps the others"

// learn derives the encoding of a training set.
func (t *table) learn() (*Encoding, error) {
	e := &Encoding{Headless: t.header.headless, Missing: t.opt.Missing}
	var features []*column
	for _, code := range t.codes {
		if e.NA = append(e.NA, code.text); !code.seen {
			return nil, fmt.Errorf("ReadOptions.NA: no cell holds %s", quote(code.text))
		}
	}
	for _, c := range t.columns {
		e.Header = append(e.Header, c.Name)
		if err := t.decide(c); err != nil {
			return nil, place{}.error(c.Name, err)
		}
		if err := t.settle(c); err != nil {
			return nil, place{}.error(c.Name, err)
		}
		if c.kind == texts && c.Date == "" && c.role.hasValues() {
			t.doubtSpellings(c)
		}
		if c.role != asFeature {
			continue
		}
		if c.kind == numbers && !c.padded.none && c.padded.text != "" {
			t.doubt(LeadingZeros, c.numeric, "take ReadOptions.Categorical "+bare(c.Name)+
				" if they are codes", "numbers of column %s have leading zeros, as %s, which are lost",
				quote(c.Name), c.padded.text)
		}
		if c.kind == texts && c.Date == "" {
			t.chooseLevels(c)
		}
		c.Flag = t.opt.Missing == MissingIndicator && c.missing > 0
		features, e.Columns = append(features, c), append(e.Columns, c.encodedColumn)
		e.Features += c.width()
	}
	t.features = features
	t.doubtSubjects()
	if names := t.withRole(asRowName); names != nil {
		e.RowName = names.Name
	}
	if e.Features == 0 {
		why := "no column is left as a feature"
		for _, d := range t.doubts {
			why += "; " + d.Text
		}
		if e.RowName != "" {
			why += fmt.Sprintf("; column %s names the rows: write it as a number if it is a quantity",
				quote(e.RowName))
		}
		return nil, errors.New(why)
	}
	names := featureNames(e.Columns)
	for _, c := range t.targets {
		y := Column{Name: c.Name}
		if c.kind == texts {
			y.Levels, y.Texts = slices.Sorted(slices.Values(c.texts)), true
		}
		names, e.Targets = append(names, c.Name), append(e.Targets, y)
	}
	slices.Sort(names)
	for k, name := range names[1:] {
		if name == names[k] { // as "a=b" may be if column a holds texts
			return nil, fmt.Errorf("two features would have the name %s: rename a column", quote(name))
		}
	}
	return e, nil
}

// without is the cure for an uninformative column.
const without = "drop the column"

// settle leaves out a column without values, with constant texts, or with texts that never repeat.
func (t *table) settle(c *column) error {
	rows, empty, different := t.rows, c.missing == t.rows, len(c.texts)
	if c.role == asTarget && empty {
		return errors.New("the target has no value")
	}
	if c.role != asFeature {
		return nil
	}
	omit := func(values int, cure, reason string, args ...any) {
		c.role = unused
		t.doubt(LeftOut, values, cure, "column %s "+reason, append([]any{quote(c.Name)}, args...)...)
	}
	free := c.kind == texts && !c.categorical
	if free {
		c.Date = dateLayout(c.texts)
	}
	many := rows >= fewRows && 2*different > rows && // no level has many rows
		different > maxLevels
	switch {
	case c.Date != "":
		t.note("column %s holds dates, read as %s: its features are %s", quote(c.Name),
			layoutText(c.Date, c.texts), strings.Join(dateParts(c.Date), ", "))
	case c.kind == numbers && len(t.features) > 1 && rowNumber.MatchString(c.Name) && rows >= fewRows &&
		ascend(rows, func(i int) float64 { return t.row(i)[c.at] }, 1):
		omit(rows, "rename it to have it as a feature", "counts the rows and is left out")
	case empty:
		omit(0, without, "has no value and is left out")
	case c.kind == texts && different == 1 && c.missing == 0:
		omit(1, without, "is %s in every row and is left out", quote(c.texts[0]))
	case c.kind == texts && different == rows && rows >= fewRows && t.withRole(asRowName) != nil:
		omit(different, without, "has another text in every row and is left out")
	case c.kind == texts && different == rows && rows >= fewRows:
		t.note("column %s has another text in every row: it names the rows and is no feature", quote(c.Name))
		c.role = asRowName
	case many && free:
		omit(different, "ReadOptions.Categorical "+bare(c.Name)+" takes it as a feature",
			"has %d different texts in %d rows and is left out", different, rows)
	}
	return nil
}

// maxLevels bounds the indicators of a column of texts: the rarest texts share one.
const maxLevels = 20

// chooseLevels chooses the texts of a column that become features: the most frequent if there are many.
func (t *table) chooseLevels(c *column) {
	levels := slices.Clone(c.texts)
	if c.Others = len(levels) > maxLevels; c.Others {
		count := make(map[string]int, len(levels))
		for i := range t.rows {
			if v := t.row(i)[c.at]; !math.IsNaN(v) {
				count[c.text(v)]++
			}
		}
		slices.SortFunc(levels, func(a, b string) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
		})
		levels = levels[:maxLevels-1]
		t.note("column %s has %d different texts: all but the %d most frequent are one",
			quote(c.Name), len(c.texts), maxLevels-1)
	}
	c.Levels = slices.Sorted(slices.Values(levels))
}

// ascend reports whether each of n values is the previous one plus step.
func ascend(n int, value func(i int) float64, step float64) bool {
	for i := 1; i < n; i++ {
		if value(i) != value(i-1)+step {
			return false
		}
	}
	return true
}

// rowNumber matches names of columns that number the rows.
var rowNumber = regexp.MustCompile(`(?i:(^|[^a-z])(id|index|row|rownames|nr|no|unnamed)[^a-z]*$)|I[dD]$`)

// inputs encodes the rows of a table; if the encoding has no means, the table's fill missing cells.
func (t *table) inputs(e *Encoding) (*Inputs, error) {
	if lacking := len(t.targets) > 0 && t.targets[0].missing > 0; lacking &&
		(t.targets[0].missing == t.rows || t.train != nil && t.opt.Missing != MissingDrop) {
		if missing := t.targets[0].missing; missing < t.rows {
			t.note("%d of %d rows lack the target: no error on these rows is computed", missing, t.rows)
		}
		for _, c := range t.targets {
			c.role = unused
		}
		t.targets = nil
	}
	rows, gaps, err := t.complete()
	if err != nil {
		return nil, err
	}
	if err := t.opt.fitsDense(len(rows), e.Features); err != nil {
		return nil, err
	}
	of := func(r role) []float64 { return t.values(t.withRole(r), rows) }
	in := &Inputs{Name: t.name, RowNames: rowNames(t, rows), Groups: renumber(of(asGroup)),
		Strata: renumber(of(asStratum)), Folds: renumber(of(asFold)), Weights: of(asWeight),
		counts: of(asCount)}
	for k, c := range t.targets {
		y := e.Targets[k]
		if y.Levels != nil && !y.Rest {
			if err := t.requireKnown(c, rows, y.Levels, ""); err != nil {
				return nil, err
			}
		}
		if y.Y, err = y.encode(t.values(c, rows), c.text); err != nil {
			return nil, err
		}
		in.Columns = append(in.Columns, y)
	}
	if in.X, err = t.matrix(e, rows); err != nil { // takes the place of the cells
		return nil, err
	}
	if in.Notes = t.notes; gaps {
		mean := e.Means
		if mean == nil {
			mean = means(in.X)
		}
		fill(in.X, mean)
	}
	return in, nil
}

// complete lists the rows with a value in target and parts, and with MissingDrop in all cells; gaps: cells
// are missing.
func (t *table) complete() (rows []int, gaps bool, err error) {
	var lacking, required []*column
	for _, c := range t.columns {
		if c.missing == 0 || !c.role.hasValues() {
			continue
		}
		lacking = append(lacking, c)
		if c.role != asFeature || t.opt.Missing == MissingDrop {
			required = append(required, c)
		}
	}
	if gaps = len(lacking) > 0; gaps && t.opt.Missing == MissingError {
		return nil, true, errMissing(lacking)
	}
	rows = make([]int, 0, t.rows)
	for i := range t.rows {
		row := t.row(i)
		if !slices.ContainsFunc(required, func(c *column) bool { return math.IsNaN(row[c.at]) }) {
			rows = append(rows, i)
		}
	}
	if dropped := t.rows - len(rows); dropped > 0 {
		t.note("%d of %d rows lack a value and are left out", dropped, t.rows)
	}
	if gaps && t.opt.Missing != MissingDrop {
		t.note("cells without a value have the mean of their column")
	}
	if len(rows) == 0 {
		return nil, gaps, errors.New("no row has all values: " + keepRows)
	}
	return rows, gaps, nil
}

func errMissing(columns []*column) error {
	first, count := columns[0], 0
	for _, c := range columns {
		if count += c.missing; c.lacks < first.lacks {
			first = c
		}
	}
	return first.firstMissing.error(first.Name, fmt.Errorf("a missing value, the first of %d in %d of the "+
		"columns: ReadOptions.Missing drop, mean or indicator says what to do", count, len(columns)))
}

// values are the cells of a column in some rows; nil for a nil column.
func (t *table) values(c *column, rows []int) []float64 {
	if c == nil {
		return nil
	}
	values := make([]float64, len(rows))
	for k, i := range rows {
		values[k] = t.row(i)[c.at]
	}
	return values
}

// rowNames are the names of some rows, or their numbers if other rows are left out, else nil.
func rowNames(t *table, rows []int) (names []string) {
	switch c := t.withRole(asRowName); {
	case c != nil:
		names = gather(c.texts, rows)
	case len(rows) < t.rows:
		names = gather(numbered("", t.rows), rows)
	}
	for k := range names {
		names[k] = printable(names[k])
	}
	return names
}

// matrix holds the features of some rows, in the place of the cells unless they are more; missing values are
// NaN.
func (t *table) matrix(e *Encoding, rows []int) (linalg.Matrix, error) {
	x := linalg.Matrix{Rows: len(rows), Cols: e.Features, Stride: e.Features}
	if size := x.Rows * x.Cols; e.Features <= t.kept {
		x.Data = t.cells[:size:size]
	} else {
		x.Data = make([]float64, size)
	}
	cells := make([]float64, t.kept)
	width, unseen := make([]int, len(t.features)), make([]int, len(t.features))
	for j, c := range t.features {
		width[j] = c.width()
		if c.Levels != nil && !c.Others && !t.opt.UnseenZero {
			err := t.requireKnown(c, rows, c.Levels, "; ReadOptions.UnseenZero takes it for none of them")
			if err != nil {
				return linalg.Matrix{}, err
			}
		}
	}
	for k, i := range rows {
		row := x.Row(k)
		copy(cells, t.row(i))
		clear(row)
		for j, c := range t.features {
			seen, err := c.encode(row[:width[j]], cells[c.at])
			if err != nil {
				return linalg.Matrix{}, err
			}
			if !seen {
				unseen[j]++
			}
			row = row[width[j]:]
		}
	}
	for j, c := range t.features {
		if unseen[j] > 0 {
			t.note("column %s: %d cells hold texts that %s lacks", quote(c.Name), unseen[j], e.name())
		}
	}
	return x, nil
}

// encode sets the features x, initially 0, of a cell: NaN for a missing one. seen: a text is a level.
func (c *column) encode(x []float64, v float64) (seen bool, err error) {
	if c.Flag {
		last := len(x) - 1
		if math.IsNaN(v) {
			x[last] = 1
		}
		x = x[:last]
	}
	switch {
	case math.IsNaN(v):
		for j := range x {
			x[j] = v
		}
	case c.Date != "":
		parts, err := dateFeatures(c.Date, c.text(v))
		if err != nil {
			return false, c.first[int(v)].error(c.Name, err)
		}
		copy(x, parts)
	case c.Levels == nil:
		x[0] = v
	default:
		level, seen := slices.BinarySearch(c.Levels, c.text(v))
		switch {
		case seen && len(x) == 1:
			x[0] = float64(level)
		case seen:
			x[level] = 1
		case c.Others:
			x[len(x)-1] = 1
		}
		return seen || c.Others, nil
	}
	return true, nil
}

func means(x linalg.Matrix) []float64 {
	mean, count := make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !math.IsNaN(v) {
				count[j]++
				mean[j] += (v - mean[j]) / count[j]
			}
		}
	}
	return mean
}

// fill replaces each NaN in x by the mean of its column.
func fill(x linalg.Matrix, mean []float64) {
	for i := range x.Rows {
		row := x.Row(i)
		for j, v := range row {
			if math.IsNaN(v) {
				row[j] = mean[j]
			}
		}
	}
}

// describe notes the encoding of texts, and doubts constant columns.
func describe(t *table, x linalg.Matrix) {
	end := 0
	for _, c := range t.features {
		at := end
		end += c.width()
		value := func(i int) float64 { return x.At(i, at) }
		switch {
		case c.Date != "" || c.Others: // noted
		case len(c.Levels) == 2:
			t.note("column %s holds texts: 0 is %s, 1 is %s", quote(c.Name), quote(c.Levels[0]),
				quote(c.Levels[1]))
		case len(c.Levels) > 0:
			t.note("column %s holds texts: an indicator for each of %d (%s)", quote(c.Name), len(c.Levels),
				strings.ReplaceAll(listTexts(c.Levels), `"`, ""))
		case ascend(x.Rows, value, 0):
			t.doubt(LeftOut, 1, without, "column %s is %v in every row", quote(c.Name), value(0))
		}
	}
}
