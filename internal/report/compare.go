package report

import (
	"fmt"
	"io"
	"math"

	"bootbench/bench"
)

// Comparison is the answer of compare.
type Comparison struct {
	Data []string // names of the data sets to come
	Rows []bench.CompareRow
}

// Lead says what the rows mean, in a sentence for each data set.
func (c *Comparison) Lead() []string {
	var all []string
	for _, group := range compareGroups(c.Rows) {
		all = append(all, compareSentence(group))
	}
	return all
}

// WriteCSV writes the rows, one line each, columns as in the JSON document.
func (c *Comparison) WriteCSV(w io.Writer) error { return WriteRows(w, c.Rows) }

func (c *Comparison) document() *document { return rowDocument(c, c.Rows) }

func (c *Comparison) above() *document {
	d := &document{title: "The theory against naive retraining"}
	d.line("theory s", "seconds of the theory")
	d.line("fits", "theory s in bootstrap fits, repeated rows merged")
	d.line("theory error", "left-out error by the theory; retrained +-: by retraining, with its standard error")
	d.line("var error", `relative error of the theory in the variances per point, "-" where `+
		"retraining is too noisy to tell")
	d.line("speed-up", "time of as many retrainings as reach the same error in the variances, over theory s")
	d.line("refined +-", "left-out error by exact resamples around the theory, with its standard error")
	d.line("refined s", "seconds of both; faster: time of as many retrainings as have that standard "+
		"error, over refined s")
	d.gap()
	return d
}

func (c *Comparison) heads() []head {
	return []head{head(fmt.Sprintf("<%-*s", nameWidth(c.Data), "data")), "    n", " ratio", "theory s", " fits",
		"theory error", "retrained", "    +-", "var error", "speed-up", " refined", "     +-", "refined s",
		"faster"}
}

func (*Comparison) cells(r bench.CompareRow) []string {
	variance, mark := fmt.Sprintf("%.2g%%", 100*r.VarianceError), ""
	if r.EqualIsBound {
		variance, mark = "-", ">"
	}
	refined := [4]string{"-", "-", "-", "-"}
	if r.RefinedS > 0 {
		refined = [4]string{number(r.RefinedError), fmt.Sprintf("%.2g", r.RefinedSE), seconds(r.RefinedS),
			fmt.Sprintf("%.3g", r.RefinedSpeedup)}
	}
	return []string{ShortName(r.Data), fmt.Sprint(r.N), fmt.Sprintf("%.3g", r.Ratio), seconds(r.TheoryS),
		fmt.Sprintf("%.1f", r.FitsEquivalent), number(r.TheoryError), number(r.RetrainError),
		fmt.Sprintf("%.2g", r.RetrainSE),
		variance, mark + fmt.Sprintf("%.3g", r.SpeedupEqualAccuracy), refined[0], refined[1], refined[2],
		refined[3]}
}

func (c *Comparison) below() *document {
	d := &document{}
	for _, sentence := range c.Lead() {
		d.gap()
		d.paragraph(sentence)
	}
	return d
}

// compareGroups splits rows into runs of the same data set and loss, over sizes or
// over ratios.
func compareGroups(rows []bench.CompareRow) [][]bench.CompareRow {
	return bench.Groups(rows, func(a, b bench.CompareRow) bool {
		return a.Data == b.Data && a.Loss == b.Loss && (a.Ratio == b.Ratio || a.N == b.N)
	})
}

// compareSentence says what the rows of one data set mean.
func compareSentence(rows []bench.CompareRow) string {
	first, last := rows[0], rows[len(rows)-1]
	size := fmt.Sprintf("n = %d", last.N)
	if first.N != last.N {
		size = fmt.Sprintf("n = %d to %d", first.N, last.N)
	}
	if first.Ratio != last.Ratio {
		size += fmt.Sprintf(", ratio %.3g to %.3g", first.Ratio, last.Ratio)
	}
	bound, naive, refined, unfinished, relative, deviations := "", "", "", "", 0.0, 0.0
	for _, r := range rows {
		off := math.Abs(float64(r.TheoryError - r.RetrainError))
		relative = math.Max(relative, off/float64(r.RetrainError))
		deviations = math.Max(deviations, off/float64(r.RetrainSE))
		if r.EqualIsBound {
			bound = "at least "
		}
		if r.Status != "converged" {
			unfinished += fmt.Sprintf(" At n = %d the theory did not converge (%s).", r.N, r.Status)
		}
	}
	if first.NaiveFitS > 0 {
		naive = fmt.Sprintf(" (%s naive ones)",
			span(rows, func(r bench.CompareRow) float64 { return r.NaiveFitsEquivalent }))
	}
	if first.RefinedS > 0 && last.RefinedS > 0 {
		refined = fmt.Sprintf(" Refined by exact resamples its left-out error is unbiased; plain retraining to "+
			"the same standard error takes %s times as long.",
			span(rows, func(r bench.CompareRow) float64 { return float64(r.RefinedSpeedup) }))
	}
	return fmt.Sprintf("%s, %s: the theory takes as long as %s bootstrap fits with merged rows%s; "+
		"retraining to the same accuracy of the variances takes %s%s fits and %s%s times the time of the "+
		"theory; the left-out errors differ by %s.%s%s",
		ShortName(last.Data), size, span(rows, func(r bench.CompareRow) float64 { return r.FitsEquivalent }),
		naive, bound, span(rows, func(r bench.CompareRow) float64 { return r.EqualResamples }),
		bound, span(rows, func(r bench.CompareRow) float64 { return r.SpeedupEqualAccuracy }),
		deviation(relative, deviations), refined, unfinished)
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
	a, b := twoDigits(low), twoDigits(high)
	if a == b {
		return a
	}
	return a + " to " + b
}

// twoDigits writes a figure, without an exponent where it is large.
func twoDigits(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
