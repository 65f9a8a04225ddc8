package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// DoubtKind is a kind of doubt.
type DoubtKind int

// The kinds of doubts, and their values.
const (
	RepeatingIDs DoubtKind = iota // an identifier of units with several rows each: the number of rows
	RowNumbers                    // a feature that counts the rows: their number
	LeftOut                       // a column that is no feature, or a constant one: its different values
	Spellings                     // texts that differ only in spelling: how many more there are
	LeadingZeros                  // numbers of equal width, some with leading zeros: their number
	TimeOrder                     // a time by which the targets depend on each other: their correlation
)

// Doubt is something in a file on which a user may act.
type Doubt struct {
	Kind       DoubtKind
	Value      float64 // the number that triggers it
	Text, Cure string
}

func (t *table) doubt(kind DoubtKind, value int, cure, format string, args ...any) {
	t.doubts = append(t.doubts, Doubt{kind, float64(value), fmt.Sprintf(format, args...), cure})
}

// Names of columns that identify the subjects of rows, and names that may also be of a kind.
var (
	subject = regexp.MustCompile(`(?i:(^|[^a-z])(patient|user|site|subj|subject|customer|consumer|` +
		`participant|person|donor|pid|mrn|id)[^a-z]*$)|[a-z]I[dD]$`)
	unit = regexp.MustCompile(`(?i:(^|[^a-z])(student|case|animal|school|hospital|farm|store|plate|block|` +
		`batch|lab|litter|herd|center|centre|clinic|district|county)[^a-z]*$)`)
)

// subjects number the values of a column by first appearance, row by row, a missing one as -1. They are nil
// unless all are whole numbers or texts that stand in 4/3 rows each or more on average.
func (t *table) subjects(c *column) (of []int, count int) {
	number := map[float64]int{}
	for i := range t.rows {
		v := t.row(i)[c.at]
		k, known := number[v]
		switch {
		case math.IsNaN(v):
			k = -1
		case v != math.Trunc(v) || 4*len(number) > 3*t.rows:
			return nil, 0
		case !known:
			k = len(number)
			number[v] = k
		}
		of = append(of, k)
	}
	return of, len(number)
}

// fixed are the values of a column for subjects if each has one in all its rows, else nil.
func (t *table) fixed(c *column, of []int, count int) []float64 {
	values := slices.Repeat([]float64{math.NaN()}, count)
	for i, k := range of {
		switch v := t.row(i)[c.at]; {
		case k < 0 || math.IsNaN(v) || v == values[k]:
		case math.IsNaN(values[k]):
			values[k] = v
		default:
			return nil
		}
	}
	return values
}

// isPanel reports whether subjects, at least ten and not fewer than each has rows, have numbers of their own
// (ages), while their rows differ. Numbers that change little between neighbours in the order of the column,
// as its functions do, or a code of it, do not count.
func (t *table) isPanel(c *column, of []int, count int) bool {
	if count < fewRows || count*count < t.rows {
		return false
	}
	own, differ, names := false, false, t.fixed(c, of, count)
	for _, d := range t.columns {
		if d == c || d.role != asFeature && d.role != asTarget {
			continue
		}
		values := t.fixed(d, of, count)
		if values == nil {
			differ = true
			continue
		}
		next := slices.DeleteFunc(inOrderOf(names, values), math.IsNaN)
		different := slices.Compact(slices.Sorted(slices.Values(next)))
		if d.kind == numbers && 2*len(different) >= min(count, 2*fewRows) &&
			different[len(different)-1]-different[0] != float64(len(different)-1) {
			own = own || stat.Correlation(next[1:], next[:len(next)-1], nil) < 0.9
		}
	}
	return own && differ
}

// areRuns reports whether the rows of each of at least five subjects follow each other. A file in the order
// of a quantity has such runs, too: sorted numbers with gaps count if at least ten have equally many rows.
func (t *table) areRuns(c *column, of []int, count int) bool {
	if count < 5 || len(slices.Compact(slices.Clone(of))) != count {
		return false
	}
	names, rows := t.fixed(c, of, count), make([]int, count)
	for _, k := range of {
		rows[max(0, k)]++
	}
	up := slices.IsSorted(names)
	slices.Reverse(names)
	switch {
	case c.kind != numbers, !up && !slices.IsSorted(names):
		return true
	case slices.Max(names)-slices.Min(names) == float64(count-1):
		return true
	}
	return count >= fewRows && slices.Min(rows) == slices.Max(rows)
}

// haveTimes reports whether subjects, at least ten texts, stand in at most one row each at every time, and in
// half of these or more: a column with the name of a time has the times.
func (t *table) haveTimes(c *column, of []int, count int) bool {
	for _, d := range t.features {
		if c.kind != texts || !timeName.MatchString(d.Name) {
			continue
		}
		when, times := t.subjects(d)
		known := map[[2]int]bool{}
		for i := range when {
			known[[2]int{of[i], when[i]}] = true
		}
		if times > 1 && len(known) == t.rows && count >= fewRows && 2*t.rows >= count*times {
			return true
		}
	}
	return false
}

// inOrderOf are values in ascending order of keys.
func inOrderOf(keys, values []float64) []float64 {
	order := make([]int, len(keys))
	floats.ArgsortStable(slices.Clone(keys), order)
	return gather(values, order)
}

// doubtSubjects doubts features that identify units with several rows each: by their name, or since they have
// rows that follow each other, numbers of their own, or times. Where groups are given, it doubts those that
// are named so and have several groups each.
func (t *table) doubtSubjects() {
	group := t.withRole(asGroup)
	for _, c := range t.features {
		of, count := t.subjects(c)
		named, what := subject.MatchString(c.Name), "rows"
		if several := 2*count <= t.rows; several {
			named = named || count >= 5 && unit.MatchString(c.Name)
		} else if !named {
			continue
		}
		switch {
		case count < 2:
			continue
		case group != nil:
			inner, groups := t.subjects(group)
			if what = "groups"; !named || 2*count > groups || t.fixed(c, inner, groups) == nil {
				continue
			}
		case named:
		case len(t.features) == 1 || timeName.MatchString(c.Name):
			continue
		case !t.areRuns(c, of, count) && !t.isPanel(c, of, count) && !t.haveTimes(c, of, count):
			continue
		}
		t.doubt(RepeatingIDs, t.rows, "take ReadOptions.Groups "+bare(c.Name)+" if new rows are of others",
			"column %s looks like an identifier with several %s each, which are in several resamples",
			quote(c.Name), what)
	}
}

// Words for yes and no, and signs between words, which belong to the spelling.
var (
	boolean   = regexp.MustCompile(`^(?i:y|yes|t|true|1|on|n|no|f|false|0|off)$`)
	yes       = regexp.MustCompile(`^(?i:y|yes|t|true|1|on)$`)
	separator = regexp.MustCompile(`(\p{L})[\s_-]+(\p{L})`)
)

// doubtSpellings doubts texts that differ only in case, blanks and a last point, or are words for yes and no.
func (t *table) doubtSpellings(c *column) {
	words, known, pairs := allMatch(boolean, c.texts) && len(c.texts) > 2, map[string]string{}, []string(nil)
	for _, text := range slices.Sorted(slices.Values(c.texts)) {
		plain := separator.ReplaceAllString(strings.ToLower(strings.Trim(text, " .")), "$1 $2")
		if words {
			plain = fmt.Sprint(yes.MatchString(text))
		}
		if other, again := known[plain]; again {
			pairs = append(pairs, quote(other)+" and "+quote(text))
		} else {
			known[plain] = text
		}
	}
	if extra := len(pairs); extra > 0 {
		t.doubt(Spellings, extra, "write them alike if they are one", "texts of column %s differ only in "+
			"spelling: %s%s", quote(c.Name), strings.Join(pairs[:min(3, extra)], ", "),
			map[bool]string{true: ", ..."}[extra > 3])
	}
}

// padded finds whole numbers of equal width, at least 3, of which one has a leading zero, as codes have.
type padded struct {
	none  bool // there is another number
	width int
	text  string
}

func (p *padded) add(text string) {
	switch {
	case p.none:
	case len(text) < 3 || p.width > 0 && len(text) != p.width || strings.Trim(text, "0123456789") != "":
		p.none = true
	default:
		if p.width = len(text); p.text == "" && text[0] == '0' {
			p.text = strings.Clone(text)
		}
	}
}

// timeName matches names of columns of time.
var timeName = regexp.MustCompile(`(?i:^(t|time|time.?stamp|date|day|week|month|quarter|year|epoch)s?$)`)

// doubtOrder doubts a date, or a column that counts the rows or has the name of a time and does not descend,
// in whose order targets are like the ones before them: their correlation is above 0.3 and three standard
// errors. It doubts other columns that count the rows.
func (t *table) doubtOrder(s *Set) {
	at, n, y := 0, s.N(), s.Columns[0].Y
	if n < fewRows {
		return
	}
	for _, c := range t.features {
		column := at
		if at += c.width(); c.Date != "" {
			column += slices.Index(dateParts(c.Date), "days")
		}
		value := func(i int) float64 { return s.X.At(i, column) }
		counts := c.kind == numbers && ascend(n, value, 1)
		if c.Date == "" && !counts && !timeName.MatchString(c.Name) {
			continue
		}
		time := make([]float64, n)
		for i := range time {
			time[i] = value(i)
		}
		cure := "take cv with Folds.Design.Block LENGTH"
		if !slices.IsSorted(time) {
			if cure = "sort the rows by it, and " + cure; c.Date == "" {
				continue
			}
		}
		later := inOrderOf(time, y)
		alike := stat.Correlation(later[1:], later[:n-1], nil)
		switch {
		case s.Groups == nil && alike > max(0.3, 3/math.Sqrt(float64(n))):
			text := fmt.Sprintf("in the order of column %s targets are like those before them (correlation "+
				"%.2g): the errors are for rows between these, and may be much larger for later rows",
				quote(c.Name), alike)
			t.doubts = append(t.doubts, Doubt{TimeOrder, alike, text, "for later rows " + cure})
			return
		case counts:
			t.doubt(RowNumbers, n, "take ReadOptions.Drop "+bare(c.Name)+
				" unless the order of the rows matters", "column %s counts the rows", quote(c.Name))
		}
	}
}
