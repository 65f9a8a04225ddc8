package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Comparison is the answer of compare.
type Comparison struct{ Rows []CompareRow }

// fill adds the other forms of the rows to the sheet.
func (c *Comparison) fill(s *Sheet, _ bool) {
	s.JSON, s.CSV, s.Table, s.Figures = c.Rows, "compare.csv", TableOf(c.Rows), c.figures()
}

func (c *Comparison) document(bool) *document {
	d := &document{Title: "The theory against naive retraining"}
	times := []head{"<data", "n", "rank", "theory s", "200 fits s", "refined s", "retrain s", "<by",
		"speed-up", "<status"}
	if count := len(c.Rows); count > 0 {
		r := c.Rows[count-1]
		d.Lead = fmt.Sprintf("On %d rows of %s the theory takes the time of %.3g bootstrap fits; retraining "+
			"to the same accuracy takes %.3g times as long.", r.N, ShortName(r.Data), r.TheoryOverMergedFit,
			r.SpeedupEqualAccuracy)
	}
	d.claims(c.Rows)
	d.gap()
	if slices.ContainsFunc(c.Rows, func(r CompareRow) bool { return r.Rank > 0 }) {
		d.line("rank", "rank of the theory's kernel matrix, - for the exact one")
	}
	d.line("theory s", "seconds of the theory")
	d.line("200 fits s", "seconds of 200 resamples, trained one by one; ~: extrapolated from fewer")
	d.line("refined s", "seconds of the theory and of exact resamples around it")
	d.line("retrain s", "seconds of retraining alone to the same standard error, in the fastest way, "+
		"which is named (with its rank)")
	d.line("speed-up", "seconds of retraining to the theory's error in the variances, over theory s")
	d.gap()
	d.table(known(times, each(c.Rows, CompareRow.times)))
	d.gap()
	d.line("theory", "left-out error by the theory; refined, +-: by exact resamples around it, with its "+
		"standard error; retrained: by retraining")
	d.line("all rows", "the theory's time in fits to all rows by our trainer, and by LIBSVM (M04)")
	d.line("S rows", "the same in fits to the S rows of a resample; merged: with repeated rows merged (M03)")
	d.gap()
	d.table(known([]head{"<data", "n", "theory", "refined", "+-", "retrained", "all rows", "LIBSVM", "S rows",
		"merged"}, each(c.Rows, CompareRow.errors)))
	return d
}

// timesCell is a quotient with three digits, "-" if it is unknown.
func timesCell(v float64) string { return either(v > 0, fmt.Sprintf("%.3g", v), "-") }

// times are the cells of the times of a row.
func (r CompareRow) times() []string {
	return []string{ShortName(r.Data), strconv.Itoa(r.N), cmp.Or(nonzero("%d", r.Rank), "-"),
		seconds(r.TheoryS), either(r.FitsMeasured < 200, "~", "") + seconds(r.Fits200S),
		either(r.RefinedS > 0, seconds(r.RefinedS), "-"), seconds(r.BaselineS),
		r.Baseline + nonzero(" %d", r.BaselineRank),
		either(r.EqualIsBound, ">", "") + timesCell(r.SpeedupEqualAccuracy), unfinished(r.Status)}
}

// errors are the cells of the errors of a row, and of the theory's time in single fits.
func (r CompareRow) errors() []string {
	refined, se := "-", "-"
	if r.RefinedS > 0 {
		refined, se = number(r.RefinedError), fmt.Sprintf("%.2g", r.RefinedSE)
	}
	return []string{ShortName(r.Data), strconv.Itoa(r.N), number(r.TheoryError), refined, se,
		number(r.RetrainError), timesCell(r.TheoryOverFit),
		either(r.LIBSVMIsBound, "<", "") + timesCell(r.TheoryOverLIBSVM), timesCell(r.NaiveFitsEquivalent),
		timesCell(r.TheoryOverMergedFit)}
}

// noticeable is the quotient of two times from which they are called different: less is noise.
const noticeable = 1.1

// claims prints what holds of the claims of both papers, and where retraining is faster.
func (d *document) claims(rows []CompareRow) {
	var own, libsvm, naive, merged []float64
	var lost []string
	for _, r := range rows {
		own = append(own, r.TheoryOverFit)
		if r.RefinedS > noticeable*r.BaselineS && r.BaselineS > 0 {
			lost = append(lost, fmt.Sprintf("%s %d %s %.2g", ShortName(r.Data), r.N, r.Baseline,
				r.RefinedS/r.BaselineS))
		}
		if r.TheoryOverLIBSVM > 0 {
			libsvm = append(libsvm, r.TheoryOverLIBSVM)
		}
		if r.NaiveFitsEquivalent > 0 {
			naive, merged = append(naive, r.NaiveFitsEquivalent), append(merged, r.TheoryOverMergedFit)
		}
	}
	if len(naive) > 0 {
		d.line("claim of M03", "(JMLR 2003) at most 15 fits of S rows to N = 500, 25 to 2500: here %.3g to "+
			"%.3g, and %.3g to %.3g merged ones", slices.Min(naive), slices.Max(naive), slices.Min(merged),
			slices.Max(merged))
	}
	shorter := func(times []float64) string {
		return fmt.Sprintf("%d of %d rows", floats.Count(func(v float64) bool { return v < 1 }, times),
			len(times))
	}
	d.line("claim of M04", "(NIPS 2003) one training takes longer than the theory: in %s by our trainers, "+
		"in %s by LIBSVM", shorter(own), shorter(libsvm))
	if len(lost) > 0 {
		d.line("retraining wins",
			"in %d of %d rows over theory and refinement (data, n, way, times as fast): %s",
			len(lost), len(rows), strings.Join(lost, ", "))
	}
}

// compareGroups splits rows into runs with equal data set and loss, over sizes or over ratios.
func compareGroups(rows []CompareRow) (groups [][]CompareRow) {
	for i, r := range rows {
		last := len(groups) - 1
		if i > 0 && r.Data == rows[i-1].Data && r.Loss == rows[i-1].Loss &&
			(r.Ratio == rows[i-1].Ratio || r.N == rows[i-1].N) {
			groups[last] = append(groups[last], r)
		} else {
			groups = append(groups, []CompareRow{r})
		}
	}
	return groups
}

// figures are one for each data set with several sizes or ratios: times against these, with their slopes.
func (c *Comparison) figures() (figures []*Figure) {
	for _, rows := range compareGroups(c.Rows) {
		if len(rows) == 1 {
			continue
		}
		axis, data := sizeAxis(rows), ShortName(rows[0].Data)
		times := []Series{{Label: "200 fits"}, {Label: "theory"}, {Label: "theory and refinement"},
			{Label: "one fit to all rows"}}
		for i, r := range rows {
			for k, s := range []float64{r.Fits200S, r.TheoryS, r.RefinedS, r.FitS} {
				times[k].Mark, times[k].Colour = Joined, k
				if s > 0 { // else it is unknown
					times[k].Add(axis.Ticks[i].Value, s)
				}
			}
		}
		times = slices.DeleteFunc(times, func(s Series) bool { return len(s.X) < 2 })
		for k := range times {
			times[k].Label += fmt.Sprintf(", slope %.2g", times[k].slope())
		}
		figures = append(figures, NewFigure("compare-"+fileName(rows[0].Data)+"-time", data+": time",
			"Seconds of the theory, of one fit, of 200 bootstrap fits with repeated rows merged, and of the "+
				"theory with exact resamples around it.",
			axis, Axis{Label: "seconds", Log: true}, times...))
	}
	return figures
}

// slope is the slope of the line through the logarithms, by least squares.
func (s *Series) slope() float64 {
	_, slope := stat.LinearRegression(each(s.X, math.Log), each(s.Y, math.Log), nil, false)
	return slope
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio of a learning curve.
func sizeAxis(rows []CompareRow) Axis {
	first, last := &rows[0], &rows[len(rows)-1]
	overRatios := first.N == last.N && first.Ratio != last.Ratio
	a := Axis{Label: either(overRatios, "ratio S/N", "examples n"), Log: true}
	for _, r := range rows {
		x := either(overRatios, r.Ratio, float64(r.N))
		a.Ticks = append(a.Ticks, Tick{x, strconv.FormatFloat(x, 'g', 4, 64)})
	}
	return a
}
