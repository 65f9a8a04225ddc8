package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// mostLevels bounds the texts of a column that become indicators.
const mostLevels = 1000

// fewRows is the number of rows from which on a column that differs in each of
// them is taken for their names or numbers.
const fewRows = 10

// set makes a training set of a table.
func (t *table) set(Options) (*Set, error) {
	if t.rows < 2 {
		return nil, errOneExample
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	e := t.encoding()
	rows, err := t.complete()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 {
		return nil, errors.New("fewer than two rows have all values: --missing mean or indicator keeps the others")
	}
	features, y := featureNames(e.Columns), t.target()
	if err := t.opt.fitsDense(len(rows), len(features)); err != nil {
		return nil, err
	}
	if err := checkNames(append(slices.Clone(features), y.name)); err != nil {
		return nil, err
	}
	x := t.matrix(e.Columns, len(features), rows)
	if t.missing() > 0 {
		fillMeans(x, means(x))
	}
	t.describe(e.Columns, x)
	set := &Set{Name: t.file, Source: t.file, Features: features, Target: y.name, X: x, Y: t.targets(rows),
		RowNames: gather(t.rowNames, rows), Notes: t.notes, encoding: e}
	set.Task = guessTask(set.Y)
	if y.kind == texts {
		if err := set.classify(slices.Sorted(slices.Values(y.texts)), true, t.opt.Positive,
			func(v float64) string { return y.texts[int(v)] }); err != nil {
			return nil, err
		}
		return set, set.Check(Regression) // rows of a class may have been left out
	}
	return set, set.checkTargets(t.opt.Positive)
}

// checkNames refuses names that two features or a feature and the target share,
// as "a=b" may where column a holds texts.
func checkNames(names []string) error {
	slices.Sort(names)
	for k := 1; k < len(names); k++ {
		if names[k] == names[k-1] {
			return fmt.Errorf("two features would have the name %s: rename a column", quote(names[k]))
		}
	}
	return nil
}

// settle looks at the columns as a whole: those without a value, texts that never
// differ and texts that always differ are no features.
func (t *table) settle() error {
	left := 0
	for _, j := range t.used {
		c := &t.columns[j]
		switch {
		case c.role == asTarget && c.missing == t.rows:
			return &Error{Column: c.name, Err: errors.New("the target has no value")}
		case c.role != asFeature:
		case c.kind == texts && !c.categorical && !slices.ContainsFunc(c.texts, isWord):
			return &Error{Column: c.name,
				Err: fmt.Errorf("%s and others are no numbers as they are written (thousands, per cent, currency, "+
					"commas beside points): "+
					"write plain numbers, or --categorical or --drop %s", quote(c.texts[0]), flagText(c.name))}
		case c.missing == t.rows:
			c.role = unused
			t.note("column %s has no value and is left out", quote(c.name))
		case c.kind == texts && len(c.texts) == 1 && c.missing == 0:
			c.role = unused
			t.note("column %s is %s in every row and is left out", quote(c.name), quote(c.texts[0]))
		case c.kind == texts && len(c.texts) == t.rows && t.rows >= fewRows:
			t.takeRowNames(c)
		case c.kind == texts && len(c.texts) > mostLevels:
			return &Error{Column: c.name,
				Err: fmt.Errorf("%d different texts are too many for indicators: --drop %s leaves the column out",
					len(c.texts), flagText(c.name))}
		default:
			left++
		}
	}
	if left == 0 {
		return errors.New("no column is left as a feature")
	}
	return nil
}

// isWord reports whether a text is more than digits with the signs of numbers.
func isWord(s string) bool {
	return strings.Trim(s, "+-") == "" || strings.Trim(s, "+-0123456789.,'%$\u20ac\u00a3\u00a5 \u00a0") != "" ||
		!strings.ContainsAny(s, "0123456789") || strings.Contains(strings.TrimLeft(s, "+-"), "-")
}

// takeRowNames makes a text column, which has another text in every row, the names of the rows, unless they
// have some.
func (t *table) takeRowNames(c *column) {
	c.role = unused
	if t.named() {
		t.note("column %s has another text in every row and is left out", quote(c.name))
		return
	}
	c.role = asRowName
	t.rowNames = nil
	for _, text := range c.texts {
		t.rowNames = append(t.rowNames, printable(text))
	}
	t.note("column %s has another text in every row: it names the rows and is no feature", quote(c.name))
}

// encoding says how the columns become features.
func (t *table) encoding() *Encoding {
	e := &Encoding{Headless: t.headless, Missing: t.opt.Missing}
	for _, c := range t.columns {
		e.Header = append(e.Header, c.name)
		switch c.role {
		case asFeature:
			to := EncodedColumn{Name: c.name, Flag: t.opt.Missing == MissingIndicator && c.missing > 0}
			if c.kind == texts {
				to.Levels = slices.Sorted(slices.Values(c.texts))
			}
			e.Columns = append(e.Columns, to)
		case asRowName:
			e.RowName = c.name
		}
	}
	return e
}

// missing is the number of cells without a value that count.
func (t *table) missing() (count int) {
	for _, c := range t.columns {
		if c.role == asFeature || c.role == asTarget {
			count += c.missing
		}
	}
	return count
}

// complete lists the rows to use: those whose cells all have a value if the others are dropped, and whose
// target has one.
func (t *table) complete() ([]int, error) {
	missing := t.missing() > 0
	if missing && t.opt.Missing == MissingError {
		return nil, t.errMissing()
	}
	rows := make([]int, 0, t.rows)
	for i := range t.rows {
		whole := true
		for k, j := range t.used {
			c := &t.columns[j]
			counts := c.role == asTarget || c.role == asFeature && t.opt.Missing == MissingDrop
			whole = whole && !(missing && counts && c.missing > 0 && math.IsNaN(t.row(i)[k]))
		}
		if whole {
			rows = append(rows, i)
		}
	}
	if dropped := t.rows - len(rows); dropped > 0 {
		t.note("%d of %d rows lack a value and are left out", dropped, t.rows)
		if !t.named() { // what is left keeps its number
			t.rowNames = numbered("", t.rows)
		}
	}
	if missing && t.opt.Missing != MissingDrop {
		t.note("cells without a value have the mean of their column")
	}
	return rows, nil
}

// named reports whether rows have names.
func (t *table) named() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.role == asRowName })
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

// errMissing counts the cells without a value and names the first.
func (t *table) errMissing() error {
	var first *column
	columns := 0
	for _, j := range t.used {
		c := &t.columns[j]
		if c.missing == 0 || c.role == unused {
			continue
		}
		columns++
		if first == nil || c.firstMissingRow < first.firstMissingRow {
			first = c
		}
	}
	return first.firstMissing.error(first.name, fmt.Errorf("a missing value, the first of %d in %d of the "+
		"columns: --missing drop, mean or indicator says what to do", t.missing(), columns))
}

// matrix fills the features of some rows; NaN stands for missing values.
func (t *table) matrix(columns []EncodedColumn, width int, rows []int) Matrix {
	position := make(map[string]int, len(t.used))
	for k, j := range t.used {
		position[t.columns[j].name] = k
	}
	type source struct {
		EncodedColumn
		k, at, end int
		rank       []float64 // of the texts by number, nil for numbers
	}
	var sources []source
	at := 0
	for _, c := range columns {
		from := source{EncodedColumn: c, k: position[c.Name], at: at, end: at + c.width()}
		for _, text := range t.columns[t.used[from.k]].texts {
			r, _ := slices.BinarySearch(c.Levels, text)
			from.rank = append(from.rank, float64(r))
		}
		sources, at = append(sources, from), from.end
	}
	x := NewMatrix(len(rows), width)
	for to := range x.Rows {
		cells, into := t.row(rows[to]), x.Row(to)
		for i := range sources {
			from := &sources[i]
			v := cells[from.k]
			if from.Levels != nil && v >= 0 {
				v = from.rank[int(v)]
			}
			from.put(into[from.at:from.end], v)
		}
	}
	return x
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

// fillMeans replaces each NaN in x by the mean of its column.
func fillMeans(x Matrix, mean []float64) {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) {
				x.Row(i)[j] = mean[j]
			}
		}
	}
}

// describe notes what texts became, constant columns and columns that count the rows.
func (t *table) describe(columns []EncodedColumn, x Matrix) {
	end := 0
	for _, c := range columns {
		at := end
		end += c.width()
		constant, counts := true, x.Rows >= fewRows
		for i := 1; i < x.Rows && (constant || counts); i++ {
			before, v := x.At(i-1, at), x.At(i, at)
			constant, counts = constant && v == before, counts && v == before+1
		}
		switch {
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

// target is the column of the target, nil without one.
func (t *table) target() *column {
	j := slices.IndexFunc(t.columns, func(c column) bool { return c.role == asTarget })
	if j < 0 {
		return nil
	}
	return &t.columns[j]
}

// targets are the cells of the target in some rows; of a text column they are the numbers of the texts.
func (t *table) targets(rows []int) []float64 {
	k := slices.IndexFunc(t.used, func(j int) bool { return t.columns[j].role == asTarget })
	y := make([]float64, len(rows))
	for to, i := range rows {
		y[to] = t.row(i)[k]
	}
	return y
}

// inputs makes new inputs of a table, for a predictor of that encoding.
func (t *table) inputs(e *Encoding, _ Options) (*Inputs, error) {
	y := t.target()
	if y != nil && y.missing == t.rows {
		y.role, y = unused, nil
	}
	rows, err := t.complete()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("no row has all values")
	}
	if err := t.opt.fitsDense(len(rows), e.Features); err != nil {
		return nil, err
	}
	in := &Inputs{Name: t.file, X: t.matrix(e.Columns, e.Features, rows), RowNames: gather(t.rowNames, rows)}
	if t.missing() > 0 {
		fillMeans(in.X, e.Means)
	}
	for _, c := range t.columns {
		if c.unseen > 0 {
			t.note("column %s: %d cells hold texts that %s lacks", quote(c.name), c.unseen, e.name())
		}
	}
	in.Notes = t.notes
	if y != nil {
		in.Y = t.targets(rows)
	}
	if y != nil && e.Labels != nil {
		in.Y, err = e.Labels.apply(in.Y, y)
	}
	return in, err
}
