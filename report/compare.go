package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"bootbench/bench"
)

// CompareTable prints the rows of a comparison as they come.
type CompareTable struct{ lines lines }

// NewCompareTable prints the head of the table for data sets of the given names,
// with what its columns mean.
func NewCompareTable(w io.Writer, data []string) (*CompareTable, error) {
	width := len("data")
	for _, name := range data {
		width = max(width, utf8.RuneCountInString(ShortName(name)))
	}
	t := &CompareTable{lines{w, compareColumns()}}
	t.lines.columns[0].width = width
	if err := compareLegend().writeText(w); err != nil {
		return t, err
	}
	return t, t.lines.header()
}

// compareLegend says what the columns mean.
func compareLegend() *sheet {
	p := &sheet{}
	for _, l := range [][2]string{
		{"theory s", "seconds of the theory"},
		{"merged, naive s", "seconds of one bootstrap fit, repeated rows merged or not (GP only)"},
		{"fits", "theory s in merged fits"},
		{"theory error", "left-out error by the theory; retrained +-: by retraining, with its standard error"},
		{"var error", `relative error of the theory in the variances per point, "-" where retraining is too noisy to tell`},
		{"equal B", "retrainings that reach the same error; speed-up: their time over theory s"},
	} {
		p.line(l[0], "%s", l[1])
	}
	p.gap()
	return p
}

// Comparison is the answer of compare.
type Comparison struct{ Rows []bench.CompareRow }

// Title names the comparison.
func (c *Comparison) Title() string { return "The theory against naive retraining" }

// WriteText writes all rows and what their columns mean.
func (c *Comparison) WriteText(w io.Writer) error { return c.sheet().writeText(w) }

// Sentences say what the rows mean, one for each data set.
func (c *Comparison) Sentences() []string {
	var all []string
	for _, group := range Groups(c.Rows) {
		all = append(all, Sentence(group))
	}
	return all
}

func (c *Comparison) sheet() *sheet {
	p := &sheet{}
	var rows [][]string
	for _, r := range c.Rows {
		rows = append(rows, compareCells(r))
	}
	p.table(compareColumns(), rows)
	p.gap()
	p.blocks = append(p.blocks, compareLegend().blocks...)
	return p
}

// compareColumns are those of CompareTable.
func compareColumns() []column {
	return []column{
		{head: "data", left: true}, {head: "n", width: 5}, {head: "ratio", width: 6},
		{head: "theory s", width: 8}, {head: "merged s", width: 8}, {head: "naive s", width: 8},
		{head: "fits", width: 5}, {head: "theory error", width: 12}, {head: "retrained", width: 9}, {head: "+-", width: 6},
		{head: "var error", width: 9}, {head: "equal B", width: 7}, {head: "speed-up", width: 8},
	}
}

// Row prints one row.
func (t *CompareTable) Row(r bench.CompareRow) error { return t.lines.row(compareCells(r)...) }

func compareCells(r bench.CompareRow) []string {
	variance, mark := fmt.Sprintf("%.2g%%", 100*r.VarianceError), ""
	if r.EqualIsBound {
		variance, mark = "-", ">"
	}
	return []string{ShortName(r.Data), fmt.Sprint(r.N), fmt.Sprintf("%.3g", r.Ratio), seconds(r.TheoryS), seconds(r.ResampleFitS), naiveSeconds(r),
		fmt.Sprintf("%.1f", r.FitsEquivalent), number(r.TheoryError), number(r.RetrainError), fmt.Sprintf("%.2g", r.RetrainSE),
		variance, mark + fmt.Sprintf("%.3g", r.EqualResamples), mark + fmt.Sprintf("%.3g", r.SpeedupEqualAccuracy)}
}

// End says in a sentence per data set what the rows mean.
func (t *CompareTable) End(rows []bench.CompareRow) error {
	for _, group := range Groups(rows) {
		if _, err := fmt.Fprintf(t.lines.w, "\n%s\n", Sentence(group)); err != nil {
			return err
		}
	}
	return nil
}

// ShortName is the name of a data set, of a generated one that of its generator.
func ShortName(data string) string {
	if rest, ok := strings.CutPrefix(data, "synthetic:"); ok {
		data, _, _ = strings.Cut(rest, ",")
	}
	return data
}

// Groups splits rows into runs of the same data set and loss.
func Groups(rows []bench.CompareRow) [][]bench.CompareRow {
	var groups [][]bench.CompareRow
	for i, r := range rows {
		if i == 0 || r.Data != rows[i-1].Data || r.Loss != rows[i-1].Loss || r.Ratio != rows[i-1].Ratio && r.N != rows[i-1].N {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, r)
	}
	return groups
}

// Sentence says what the rows of one data set mean.
func Sentence(rows []bench.CompareRow) string {
	first, last := rows[0], rows[len(rows)-1]
	size := fmt.Sprintf("n = %d", last.N)
	if first.N != last.N {
		size = fmt.Sprintf("n = %d to %d", first.N, last.N)
	}
	if first.Ratio != last.Ratio {
		size += fmt.Sprintf(", ratio %.3g to %.3g", first.Ratio, last.Ratio)
	}
	bound := ""
	for _, r := range rows {
		if r.EqualIsBound {
			bound = "at least "
		}
	}
	relative, deviations := 0.0, 0.0
	for _, r := range rows {
		off := math.Abs(r.TheoryError - r.RetrainError)
		relative = math.Max(relative, off/r.RetrainError)
		deviations = math.Max(deviations, off/r.RetrainSE)
	}
	text := fmt.Sprintf("%s, %s: the theory takes as long as %s bootstrap fits with merged rows%s; retraining to the same "+
		"accuracy of the variances takes %s%s fits and %s%s times the time of the theory; the left-out errors differ by %s.",
		ShortName(last.Data), size, span(rows, func(r bench.CompareRow) float64 { return r.FitsEquivalent }),
		naiveFits(rows),
		bound, span(rows, func(r bench.CompareRow) float64 { return r.EqualResamples }),
		bound, span(rows, func(r bench.CompareRow) float64 { return r.SpeedupEqualAccuracy }), deviation(relative, deviations))
	for _, r := range rows {
		if r.Status != "converged" {
			text += fmt.Sprintf(" At n = %d the theory did not converge (%s).", r.N, r.Status)
		}
	}
	return text
}

// naiveSeconds is the time of a fit of all S rows, "-" where repeated rows are
// no rows of their own.
func naiveSeconds(r bench.CompareRow) string {
	if r.NaiveFitS == 0 {
		return "-"
	}
	return seconds(r.NaiveFitS)
}

// naiveFits words the same in fits, nothing where there are none.
func naiveFits(rows []bench.CompareRow) string {
	if rows[0].NaiveFitS == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s naive ones)", span(rows, func(r bench.CompareRow) float64 { return r.NaiveFitsEquivalent }))
}

// deviation words a relative difference that is worth so many standard errors
// of retraining.
func deviation(relative, deviations float64) string {
	if math.IsNaN(deviations) || math.IsInf(deviations, 0) {
		return "an amount that so few resamples cannot judge"
	}
	return fmt.Sprintf("at most %.1f%%, %.1f standard errors of retraining", 100*relative, deviations)
}

// span writes the range of a figure over rows.
func span(rows []bench.CompareRow, of func(bench.CompareRow) float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		low, high = math.Min(low, of(r)), math.Max(high, of(r))
	}
	a, b := fmt.Sprintf("%.2g", low), fmt.Sprintf("%.2g", high)
	if low >= 100 {
		a = fmt.Sprintf("%.0f", low)
	}
	if high >= 100 {
		b = fmt.Sprintf("%.0f", high)
	}
	if a == b {
		return a
	}
	return a + " to " + b
}
