package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostLevels bounds the texts of a column that become indicators.
const mostLevels = 1000

// fewRows is the number of rows from which on a column that differs in each of
// them is taken for their names or numbers.
const fewRows = 10

// set makes a training set of a table.
func (t *table) set() (*Set, error) {
	if t.total() < 2 {
		return nil, t.bad(errOneExample)
	}
	if err := t.settle(); err != nil {
		return nil, t.bad(err)
	}
	s := t.newSchema()
	rows, err := t.complete()
	if err != nil {
		return nil, t.bad(err)
	}
	kept := shareOf(t.shared.all(), t.count(rows))
	n := kept.total(t.count(rows))
	if n < 2 {
		return nil, t.bad(errors.New(
			"fewer than two rows have all values: --missing mean or indicator keeps the others"))
	}
	if err := t.opt.checkSize(t.opt.share(n), s.width); err != nil {
		return nil, t.bad(err)
	}
	x := t.matrix(s, rows)
	if t.missing() > 0 {
		fillMeans(x, means(kept.all(), x))
	}
	t.notes = append(t.notes, s.describe()...)
	t.describe(s, x)
	set := &Set{Name: t.file, Source: t.file, Target: s.target, X: kept.even(x), Ranks: kept.all(),
		RowNames: kept.gatherTexts(t.namesOf(rows)), Notes: t.notes, schema: s}
	for _, e := range s.columns {
		set.Features = append(set.Features, e.features()...)
	}
	if err := t.checkNames(append(slices.Clone(set.Features), set.Target)); err != nil {
		return nil, t.bad(err)
	}
	if err := t.setTarget(set, rows, kept); err != nil {
		return nil, err
	}
	return set, nil
}

// checkNames refuses names that two features or a feature and the target share,
// as "a=b" may where column a holds texts.
func (t *table) checkNames(names []string) error {
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
		case c.role == asTarget && c.missing == t.total():
			return &Error{Column: c.name, Err: errors.New("the target has no value")}
		case c.role != asFeature:
		case c.kind == texts && !c.categorical && !slices.ContainsFunc(c.texts, isWord):
			return &Error{Column: c.name,
				Err: fmt.Errorf("%s and others are no numbers as they are written (thousands, per cent, currency): write plain numbers, or --categorical or --drop %s", quote(c.texts[0]), c.name)}
		case c.missing == t.total():
			c.role = unused
			t.note("column %s has no value and is left out", quote(c.name))
		case c.kind == texts && len(c.texts) == 1 && c.missing == 0:
			c.role = unused
			t.note("column %s is %s in every row and is left out", quote(c.name), quote(c.texts[0]))
		case c.kind == texts && len(c.texts) == t.total() && t.total() >= fewRows:
			t.takeRowNames(c)
		case c.kind == texts && len(c.texts) > mostLevels:
			return &Error{Column: c.name,
				Err: fmt.Errorf("%d different texts are too many for indicators: --drop %s leaves the column out",
					len(c.texts), c.name)}
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
	t.rowNames = c.texts[t.shared.first() : t.shared.first()+t.rows]
	t.note("column %s has another text in every row: it names the rows and is no feature", quote(c.name))
}

// newSchema says how the columns become features.
func (t *table) newSchema() *schema {
	s := &schema{headless: t.headless, missing: t.opt.Missing}
	for _, c := range t.columns {
		s.header = append(s.header, c.name)
		switch c.role {
		case asFeature:
			e := encoded{name: c.name, flag: t.opt.Missing == MissingIndicator && c.missing > 0}
			if c.kind == texts {
				e.levels = slices.Sorted(slices.Values(c.texts))
			}
			s.add(e)
		case asTarget:
			s.target = c.name
		case asRowName:
			s.rowName = c.name
		}
	}
	return s
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

// complete lists the rows to use, nil for all: those whose cells all have a value
// if the others are dropped. Rows without target are dropped where any may miss.
func (t *table) complete() ([]int, error) {
	switch {
	case t.missing() == 0:
		return nil, nil
	case t.opt.Missing == MissingError:
		return nil, t.errMissing()
	}
	rows := make([]int, 0, t.rows)
	for i := range t.rows {
		whole := true
		for k, j := range t.used {
			c := &t.columns[j]
			counts := c.role == asTarget || c.role == asFeature && t.opt.Missing == MissingDrop
			whole = whole && !(counts && c.missing > 0 && math.IsNaN(t.at(i, k)))
		}
		if whole {
			rows = append(rows, i)
		}
	}
	if dropped := t.total() - shareOf(t.shared.all(), len(rows)).total(len(rows)); dropped > 0 {
		t.note("%d of %d rows lack a value and are left out", dropped, t.total())
		if !t.named() { // what is left keeps its number
			for i := range t.rows {
				t.rowNames = append(t.rowNames, strconv.Itoa(t.shared.first()+i+1))
			}
		}
	}
	if t.opt.Missing != MissingDrop {
		t.note("cells without a value have the mean of their column")
	}
	return rows, nil
}

// total is the number of rows, those of other ranks among them.
func (t *table) total() int { return t.shared.total(t.rows) }

// named reports whether rows have names.
func (t *table) named() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.role == asRowName })
}

// count is the number of rows in a list, nil for all.
func (t *table) count(rows []int) int {
	if rows == nil {
		return t.rows
	}
	return len(rows)
}

// row is the k-th row of a list, nil for all.
func row(rows []int, k int) int {
	if rows == nil {
		return k
	}
	return rows[k]
}

// errMissing counts the cells without a value and names the first.
func (t *table) errMissing() error {
	first, columns := -1, 0
	for j, c := range t.columns {
		if c.missing == 0 || c.role != asFeature && c.role != asTarget {
			continue
		}
		columns++
		if first < 0 || c.firstMissing < t.columns[first].firstMissing {
			first = j
		}
	}
	e := &Error{Line: t.columns[first].firstMissing, Column: t.columns[first].name}
	if t.array {
		e.Line, e.Row = 0, e.Line
	}
	e.Err = fmt.Errorf("a missing value, the first of %d in %d of the columns: --missing drop, mean or indicator says what to do", t.missing(), columns)
	return e
}

// matrix fills the features of some rows; NaN stands for missing values.
func (t *table) matrix(s *schema, rows []int) Matrix {
	if rows == nil && t.placed != nil && t.placed.holds(t, s) {
		return t.placed.x
	}
	type source struct {
		encoded
		k    int
		rank []float64 // of the texts by number, nil for numbers
	}
	position := make(map[string]int, len(t.used))
	for k, j := range t.used {
		position[t.columns[j].name] = k
	}
	var sources []source
	for _, e := range s.columns {
		k := position[e.name]
		from := source{encoded: e, k: k}
		for _, text := range t.columns[t.used[k]].texts {
			r, _ := slices.BinarySearch(e.levels, text)
			from.rank = append(from.rank, float64(r))
		}
		sources = append(sources, from)
	}
	x := NewMatrix(t.count(rows), s.width)
	for to := range x.Rows {
		i, into := row(rows, to), x.Row(to)
		for _, from := range sources {
			v := t.at(i, from.k)
			if from.levels == nil {
				into[from.at] = v
				if !from.flag {
					continue
				}
			} else if v >= 0 {
				v = from.rank[int(v)]
			}
			from.put(into, v)
		}
	}
	return x
}

// means are those of what is no NaN in the columns of a matrix whose rows ranks hold together, nil for one
// process.
func means(r Ranks, x Matrix) []float64 {
	mean, count := make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !math.IsNaN(v) {
				count[j]++
				mean[j] += (v - mean[j]) / count[j]
			}
		}
	}
	if r == nil {
		return mean
	}
	for j, c := range count {
		mean[j] *= c
	}
	sum(r, mean)
	sum(r, count)
	for j, c := range count {
		mean[j] /= max(1, c)
	}
	return mean
}

// means are those of the features.
func (s *Set) means() []float64 {
	if s.mean != nil {
		return s.mean
	}
	return means(s.Ranks, s.X)
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

// describe notes constant columns and columns that count the rows.
func (t *table) describe(s *schema, x Matrix) {
	all := runOf(x)
	if r := t.shared.all(); r != nil {
		all = run{}
		for _, part := range exchange(r, runOf(x)) {
			all.append(part)
		}
	}
	for _, e := range s.columns {
		switch {
		case e.levels != nil:
		case all.Constant[e.at]:
			t.note("column %s is %v in every row", quote(e.name), all.First[e.at])
		case all.Rows >= fewRows && all.Counts[e.at]:
			t.note("column %s counts the rows: --drop %s unless that tells something", quote(e.name), e.name)
		}
	}
}

// run says of the columns of consecutive rows whether they are constant, or count the rows.
type run struct {
	Rows             int
	First, Last      []float64
	Constant, Counts []bool
}

func runOf(x Matrix) (r run) {
	for i := range x.Rows {
		row := x.Row(i)
		if i == 0 {
			r = run{First: row, Constant: slices.Repeat([]bool{true}, x.Cols), Counts: slices.Repeat([]bool{true},
				x.Cols)}
		} else {
			r.follow(row)
		}
		r.Last = row
	}
	r.Rows = x.Rows
	return r
}

// follow appends a row but for what is last.
func (r *run) follow(row []float64) {
	for j, v := range row {
		r.Constant[j] = r.Constant[j] && v == r.Last[j]
		r.Counts[j] = r.Counts[j] && v == r.Last[j]+1
	}
}

// append appends the rows of another run.
func (r *run) append(next run) {
	switch {
	case next.Rows == 0:
		return
	case r.Rows == 0:
		*r = next
		return
	}
	r.follow(next.First)
	for j := range next.First {
		r.Constant[j], r.Counts[j] = r.Constant[j] && next.Constant[j], r.Counts[j] && next.Counts[j]
	}
	r.Rows, r.Last = r.Rows+next.Rows, next.Last
}

// namesOf are the names of some rows.
func (t *table) namesOf(rows []int) []string {
	if t.rowNames == nil || rows == nil {
		return t.rowNames
	}
	names := make([]string, len(rows))
	for k, i := range rows {
		names[k] = t.rowNames[i]
	}
	return names
}

// targets are the cells of the target in some rows, nil without one; of a text
// column they are the numbers of the texts.
func (t *table) targets(rows []int) ([]float64, *column) {
	k := slices.IndexFunc(t.used, func(j int) bool { return t.columns[j].role == asTarget })
	if k < 0 || t.columns[t.used[k]].missing == t.total() {
		return nil, nil
	}
	if rows == nil && t.placed != nil {
		return t.placed.y, &t.columns[t.used[k]]
	}
	y := make([]float64, t.count(rows))
	for to := range y {
		y[to] = t.at(row(rows, to), k)
	}
	return y, &t.columns[t.used[k]]
}

// setTarget sets targets and task: texts must be two labels.
func (t *table) setTarget(set *Set, rows []int, kept *rowShare) error {
	y, c := t.targets(rows)
	if y != nil {
		y = kept.gather(y)
	}
	set.Y, set.Task = y, guessTask(y)
	if c.kind == texts {
		return set.classifyTexts(c.texts, t.opt.Positive)
	}
	if t.opt.Positive != "" {
		return set.Classify(t.opt.Positive)
	}
	return nil
}

// inputs makes new inputs of a table, for a predictor trained on a set.
func (t *table) inputs(train *Set) (*Inputs, error) {
	s := schemaOf(train)
	for j := range t.columns {
		if c := &t.columns[j]; c.role == asTarget && c.missing == t.rows {
			c.role = unused
		}
	}
	rows, err := t.complete()
	if err != nil {
		return nil, t.bad(err)
	}
	n := t.count(rows)
	if n == 0 {
		return nil, t.bad(errors.New("no row has all values"))
	}
	if err := t.opt.checkSize(n, s.width); err != nil {
		return nil, t.bad(err)
	}
	in := &Inputs{Name: t.file, X: t.matrix(s, rows), RowNames: t.namesOf(rows)}
	if t.missing() > 0 {
		fillMeans(in.X, train.means())
	}
	for _, c := range t.columns {
		if c.unseen > 0 {
			t.note("column %s: %d cells hold texts that %s lacks", quote(c.name), c.unseen, train.Name)
		}
	}
	in.Notes = t.notes
	y, c := t.targets(rows)
	if y != nil && train.Labels != nil {
		if y, err = train.Labels.apply(y, c); err != nil {
			return nil, t.bad(err)
		}
	}
	in.Y = y
	return in, nil
}
