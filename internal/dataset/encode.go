package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// DefaultMaxLevels is the MaxLevels of zero Options.
const DefaultMaxLevels = 20

// fewRows is the number of rows from which on a column that differs in each of them is taken for their names
// or numbers.
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
	if err != nil {
		return nil, err
	}
	if s.N() < 2 {
		return nil, errors.New("only one row has all values: --missing mean or indicator keeps the others")
	}
	t.describe(e.Columns, s.X)
	s.Source, s.Features, s.Target, s.Task = t.name, featureNames(e.Columns), e.Target, guessTask(s.Y)
	if w := s.Weights; w != nil {
		t.note("column %s has the weights of the examples, from %.4g to %.4g: they count in training and in errors",
			quote(t.withRole(asWeight).name), slices.Min(w), slices.Max(w))
	}
	s.Notes, s.encoding = t.notes, e
	if s.counts != nil {
		s = s.repeat(s.counts)
	}
	if s.Further != nil {
		s.Task = Regression
		return s, t.checkFurther(s)
	}
	if y := t.withRole(asTarget); y.kind == texts {
		if t.opt.Task == Regression {
			return nil, fmt.Errorf("--task regression: the target %s holds texts", quote(y.name))
		}
		if err := s.classify(slices.Sorted(slices.Values(y.texts)), true, t.opt.Positive, y.text); err != nil {
			return nil, err
		}
		return s, s.Check(Regression) // rows of a class may have been left out
	}
	return s, s.checkTargets(t.opt)
}

// checkFurther refuses several targets that are not all numbers, or that do not differ.
func (t *table) checkFurther(s *Set) error {
	if t.opt.Positive != "" || t.opt.Task == Classification {
		return errors.New("--positive and --task classification are for one target; several targets are numbers")
	}
	for k, c := range append([]*column{t.withRole(asTarget)}, t.furtherColumns()...) {
		if c.kind == texts {
			return &Error{Column: c.name, Err: errors.New("several targets are numbers, and this one holds texts")}
		}
		one := *s
		if k > 0 {
			one.Target, one.Y = s.Further[k-1].Name, s.Further[k-1].Y
		}
		if err := one.Check(Regression); err != nil {
			return err
		}
	}
	return nil
}

// furtherColumns are the columns of targets after the first.
func (t *table) furtherColumns() (columns []*column) {
	for _, j := range t.further {
		columns = append(columns, &t.columns[j])
	}
	return columns
}

// inputs are the features and targets of the rows of a table, as an encoding says; without means in it, those
// of the table fill missing cells.
func (t *table) inputs(e *Encoding) (*Inputs, error) {
	y := t.withRole(asTarget)
	if y != nil && y.missing == t.rows {
		for _, c := range append(t.furtherColumns(), y) {
			c.role = unused
		}
		y = nil
	}
	gaps := t.gaps()
	rows, err := t.complete(gaps)
	if err != nil {
		return nil, err
	}
	if err := t.opt.fitsDense(len(rows), e.Features); err != nil {
		return nil, err
	}
	x, err := t.matrix(e, rows)
	if err != nil {
		return nil, err
	}
	in := &Inputs{Name: t.name, X: x, RowNames: t.rowNames(rows), Notes: t.notes,
		Groups: t.parts(asGroup, rows), Strata: t.parts(asStratum, rows), Folds: t.parts(asFold, rows),
		Weights: t.numbers(asWeight, rows), counts: t.numbers(asCount, rows)}
	switch {
	case len(gaps) == 0:
	case e.Means != nil:
		fill(in.X, e.Means)
	default:
		fill(in.X, means(in.X))
	}
	if y == nil {
		return in, nil
	}
	in.Y = t.cells(y, rows)
	for _, c := range t.furtherColumns() {
		in.Further = append(in.Further, Target{c.name, t.cells(c, rows)})
	}
	if e.Classes != nil {
		in.Y, err = e.applyClasses(in.Y, y.text)
	}
	if l := e.Labels; l != nil {
		if !l.Rest {
			err = y.requireKnown([]string{l.Negative, l.Positive}, "")
		}
		if err == nil {
			in.Y, err = l.apply(in.Y, y.text)
		}
	}
	return in, err
}

// learn says how the columns of a training set become features.
func (t *table) learn() (*Encoding, error) {
	e := &Encoding{Headless: t.header.headless, Missing: t.opt.Missing}
	for j := range t.columns {
		c := &t.columns[j]
		e.Header = append(e.Header, c.name)
		if err := t.settle(c); err != nil {
			return nil, &Error{Column: c.name, Err: err}
		}
		if c.role == asTarget {
			e.Target = c.name
		}
		if c.role != asFeature {
			continue
		}
		to := encodedColumn{Name: c.name, Flag: t.opt.Missing == MissingIndicator && c.missing > 0}
		if c.kind == texts {
			t.encodeTexts(c, &to)
		}
		e.Columns = append(e.Columns, to)
		e.Features += to.width()
	}
	if names := t.withRole(asRowName); names != nil {
		e.RowName = names.name
	}
	if e.Features == 0 {
		return nil, errors.New("no column is left as a feature")
	}
	return e, checkNames(append(featureNames(e.Columns), e.Target))
}

// encodeTexts says how a column of texts becomes features: by the parts of dates, or by its levels, the most
// frequent ones if there are many.
func (t *table) encodeTexts(c *column, to *encodedColumn) {
	if to.Date = c.date; to.Date != "" {
		return
	}
	levels, most := slices.Clone(c.texts), cmp.Or(t.opt.MaxLevels, DefaultMaxLevels)
	if to.Others = len(levels) > most; to.Others {
		count := make(map[string]int, len(levels))
		for i := range t.rows {
			if v := t.row(i)[c.cell]; !math.IsNaN(v) {
				count[c.texts[int(v)]]++
			}
		}
		slices.SortFunc(levels, func(a, b string) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
		})
		levels = levels[:most-1]
		t.note("column %s has %d different texts: all but the %d most frequent are one (--max-levels)",
			quote(c.name), len(c.texts), most-1)
	}
	to.Levels = slices.Sorted(slices.Values(levels))
}

// checkNames refuses names that two features or a feature and the target share, as "a=b" may if column a
// holds texts.
func checkNames(names []string) error {
	slices.Sort(names)
	for k, name := range names[1:] {
		if name == names[k] {
			return fmt.Errorf("two features would have the name %s: rename a column", quote(name))
		}
	}
	return nil
}

// settle looks at a column as a whole: without a value, with texts that never differ or always differ it is
// no feature.
func (t *table) settle(c *column) error {
	empty := c.missing == t.rows
	if c.role == asFeature && c.kind == texts && !c.categorical {
		c.date = dateLayout(c.texts)
	}
	many := c.kind == texts && t.rows >= fewRows && 2*len(c.texts) > t.rows && // no level has many rows
		len(c.texts) > cmp.Or(t.opt.MaxLevels, DefaultMaxLevels)
	switch {
	case (c.role == asTarget || c.role == asFurther) && empty:
		return errors.New("the target has no value")
	case c.role != asFeature:
	case c.date != "":
		t.note("column %s holds dates, read as %s: its features are %s", quote(c.name), layoutText(c.date, c.texts),
			strings.Join(dateParts(c.date), ", "))
	case c.kind == numbers && t.features > 1 && namesRows(c.name) && t.counts(c):
		c.role = unused
		t.note("column %s counts the rows and is left out (with another name it is a feature)", quote(c.name))
	case c.kind == texts && !c.categorical && !slices.ContainsFunc(c.texts, isWord):
		return fmt.Errorf("%s and others are no numbers as they are written (thousands, per cent, currency, "+
			"commas beside points): write plain numbers, or --categorical or --drop %s", quote(c.texts[0]),
			flagText(c.name))
	case empty:
		c.role = unused
		t.note("column %s has no value and is left out", quote(c.name))
	case c.kind == texts && len(c.texts) == 1 && c.missing == 0:
		c.role = unused
		t.note("column %s is %s in every row and is left out", quote(c.name), quote(c.texts[0]))
	case c.kind == texts && len(c.texts) == t.rows && t.rows >= fewRows &&
		t.withRole(asRowName) != nil:
		c.role = unused
		t.note("column %s has another text in every row and is left out", quote(c.name))
	case c.kind == texts && len(c.texts) == t.rows && t.rows >= fewRows:
		c.role = asRowName
		t.note("column %s has another text in every row: it names the rows and is no feature", quote(c.name))
	case many && !c.categorical:
		c.role = unused
		t.note("column %s has %d different texts in %d rows and is left out", quote(c.name), len(c.texts), t.rows)
	}
	return nil
}

// counts reports whether each number of a column is one more than that of the row above.
func (t *table) counts(c *column) bool {
	for i := 1; i < t.rows; i++ {
		if t.row(i)[c.cell] != t.row(i - 1)[c.cell]+1 {
			return false
		}
	}
	return t.rows >= fewRows
}

// namesRows reports whether a column is named as numbers of rows are.
func namesRows(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	return len(words) > 0 && slices.Contains([]string{"id", "index", "row", "rownames", "nr", "no", "unnamed"},
		words[len(words)-1]) || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

// isWord reports whether a text is more than digits with the signs of numbers.
func isWord(s string) bool {
	return strings.Trim(s, "+-") == "" || strings.Trim(s, "+-0123456789.,'%$\u20ac\u00a3\u00a5 \u00a0") != "" ||
		!strings.ContainsAny(s, "0123456789") || strings.Contains(strings.TrimLeft(s, "+-"), "-")
}

// parts are the numbers of the parts that some rows belong to, nil without a column of that role.
func (t *table) parts(r role, rows []int) (part []int) {
	c := t.withRole(r)
	if c == nil {
		return nil
	}
	for _, i := range rows {
		part = append(part, int(t.row(i)[c.cell]))
	}
	return renumber(part)
}

// numbers are those of a column in some rows, nil without a column of that role.
func (t *table) numbers(r role, rows []int) (values []float64) {
	c := t.withRole(r)
	if c == nil || t.train != nil {
		return nil
	}
	return t.cells(c, rows)
}

// cells are those of a column in some rows.
func (t *table) cells(c *column, rows []int) (values []float64) {
	for _, i := range rows {
		values = append(values, t.row(i)[c.cell])
	}
	return values
}

// gaps are the features, parts and targets with missing cells.
func (t *table) gaps() (gaps []*column) {
	for j := range t.columns {
		if c := &t.columns[j]; c.missing > 0 && c.role.hasCells() {
			gaps = append(gaps, c)
		}
	}
	return gaps
}

// complete lists the rows to use: those whose target and parts have a value, and all other cells too if
// Missing says to drop the others.
func (t *table) complete(gaps []*column) (rows []int, err error) {
	if len(gaps) > 0 && t.opt.Missing == MissingError {
		return nil, errMissing(gaps)
	}
	required := slices.DeleteFunc(slices.Clone(gaps), func(c *column) bool {
		return c.role == asFeature && t.opt.Missing != MissingDrop
	})
	rows = make([]int, 0, t.rows)
	for i := range t.rows {
		if !slices.ContainsFunc(required, func(c *column) bool { return math.IsNaN(t.row(i)[c.cell]) }) {
			rows = append(rows, i)
		}
	}
	if dropped := t.rows - len(rows); dropped > 0 {
		t.note("%d of %d rows lack a value and are left out", dropped, t.rows)
	}
	if len(gaps) > 0 && t.opt.Missing != MissingDrop {
		t.note("cells without a value have the mean of their column")
	}
	if len(rows) == 0 {
		return nil, errors.New("no row has all values: --missing mean or indicator keeps the others")
	}
	return rows, nil
}

// errMissing counts the cells without a value and names the first.
func errMissing(gaps []*column) error {
	first, count := gaps[0], 0
	for _, c := range gaps {
		count += c.missing
		if c.firstMissingRow < first.firstMissingRow {
			first = c
		}
	}
	return first.firstMissing.error(first.name, fmt.Errorf("a missing value, the first of %d in %d of the "+
		"columns: --missing drop, mean or indicator says what to do", count, len(gaps)))
}

// rowNames are the names of some rows, their numbers if others are left out, else nil.
func (t *table) rowNames(rows []int) (names []string) {
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

// gather copies the elements of a list with these numbers; nil stays nil.
func gather[T any](list []T, rows []int) []T {
	if list == nil {
		return nil
	}
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = list[i]
	}
	return some
}

// matrix holds the features of some rows; NaN stands for missing values.
func (t *table) matrix(e *Encoding, rows []int) (Matrix, error) {
	columns := t.byName()
	type feature struct {
		encodedColumn
		cell, at, end int
		codes         [][]float64 // of the texts; nil for numbers
		unseen        int         // cells with none of the levels
	}
	features, at := make([]feature, 0, len(e.Columns)), 0
	for _, to := range e.Columns {
		c := columns[to.Name]
		if to.Levels != nil && !to.Others && !t.opt.UnseenZero {
			err := c.requireKnown(to.Levels, "; --unseen zero takes it for none of them")
			if err != nil {
				return Matrix{}, err
			}
		}
		f := feature{encodedColumn: to, cell: c.cell, at: at, end: at + to.width()}
		if to.isText() {
			var err error
			if f.codes, err = to.codes(c); err != nil {
				return Matrix{}, err
			}
		}
		features, at = append(features, f), f.end
	}
	x := NewMatrix(len(rows), e.Features)
	for k, i := range rows {
		cells, into := t.row(i), x.Row(k)
		for j := range features {
			f := &features[j]
			code := cells[f.cell : f.cell+1]
			if f.codes != nil && code[0] >= 0 {
				if code = f.codes[int(code[0])]; f.Date == "" && code[0] < 0 {
					f.unseen++
				}
			}
			f.put(into[f.at:f.end], code)
		}
	}
	for _, f := range features {
		if f.unseen > 0 {
			t.note("column %s: %d cells hold texts that %s lacks", quote(f.Name), f.unseen, e.name())
		}
	}
	return x, nil
}

// means are those of what is no NaN in the columns of a matrix.
func means(x Matrix) []float64 {
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
func fill(x Matrix, mean []float64) {
	for i := range x.Rows {
		row := x.Row(i)
		for j, v := range row {
			if math.IsNaN(v) {
				row[j] = mean[j]
			}
		}
	}
}

// describe notes what texts became, constant columns and columns that count the rows.
func (t *table) describe(columns []encodedColumn, x Matrix) {
	end, grouped := 0, t.withRole(asGroup) != nil
	for _, c := range columns {
		at := end
		end += c.width()
		constant, counts := true, x.Rows >= fewRows
		for i := 1; i < x.Rows && (constant || counts); i++ {
			before, v := x.At(i-1, at), x.At(i, at)
			constant, counts = constant && v == before, counts && v == before+1
		}
		if !grouped && isIdentifier(c.Name) && repeats(x, at, end) {
			t.note("rows of one %s are in several resamples: --groups %s?", quote(c.Name), flagText(c.Name))
		}
		switch {
		case c.Date != "" || c.Others: // noted
		case len(c.Levels) == 2:
			t.note("column %s holds texts: 0 is %s, 1 is %s", quote(c.Name), quote(c.Levels[0]), quote(c.Levels[1]))
		case len(c.Levels) > 0:
			t.note("column %s holds texts: an indicator for each of %d (%s)", quote(c.Name), len(c.Levels),
				strings.ReplaceAll(listTexts(c.Levels), `"`, ""))
		case constant:
			t.note("column %s is %v in every row", quote(c.Name), x.At(0, at))
		case counts:
			t.note("column %s counts the rows: --drop %s unless that tells something", quote(c.Name), flagText(c.Name))
		}
	}
}

// identifiers are names, or last words of names, of columns that say who or what rows are of.
var identifiers = []string{"patient", "user", "site", "subject", "customer", "participant", "id"}

// isIdentifier reports whether a column has such a name.
func isIdentifier(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	return len(words) > 0 && slices.Contains(identifiers, words[len(words)-1])
}

// repeats reports whether the values of a column are whole numbers or texts that rows share, two on average.
func repeats(x Matrix, at, end int) bool {
	values := map[string]bool{}
	for i := range x.Rows {
		cells := x.Row(i)[at:end]
		if cells[0] != math.Trunc(cells[0]) {
			return false
		}
		values[fmt.Sprint(cells)] = true
	}
	return len(values) > 1 && 2*len(values) <= x.Rows
}
