package report

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"bootbench/bench"
)

// Comparison is the answer of compare.
type Comparison struct {
	Data []string // names of all data sets
	Rows []bench.CompareRow
}

// WriteCSV writes the rows, one line each, columns as in the JSON document.
func (c *Comparison) WriteCSV(w io.Writer) error { return WriteRows(w, c.Rows) }

func (c *Comparison) document() *document { return rowDocument(c, c.Rows) }

func (c *Comparison) above() *document {
	d := &document{Title: "The theory against naive retraining"}
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
	width := len("data")
	for _, name := range c.Data {
		width = max(width, utf8.RuneCountInString(ShortName(name)))
	}
	return []head{head(fmt.Sprintf("<%-*s", width, "data")), "    n", " ratio", "theory s", " fits",
		"theory error", "retrained", "    +-", "var error", "speed-up", " refined", "     +-", "refined s",
		"faster", "<status"}
}

func (*Comparison) cells(r bench.CompareRow) []string {
	variance := either(r.EqualIsBound, "-", fmt.Sprintf("%.2g%%", 100*r.VarianceError))
	cells := []string{ShortName(r.Data), fmt.Sprint(r.N), fmt.Sprintf("%.3g", r.Ratio), seconds(r.TheoryS),
		fmt.Sprintf("%.1f", r.FitsEquivalent), number(r.TheoryError), number(r.RetrainError),
		fmt.Sprintf("%.2g", r.RetrainSE), variance,
		fmt.Sprintf(either(r.EqualIsBound, ">%.3g", "%.3g"), r.SpeedupEqualAccuracy)}
	if !(r.RefinedS > 0) {
		return append(cells, "-", "-", "-", "-", r.Status)
	}
	return append(cells, number(r.RefinedError), fmt.Sprintf("%.2g", r.RefinedSE), seconds(r.RefinedS),
		fmt.Sprintf("%.3g", r.RefinedSpeedup), r.Status)
}

func (c *Comparison) below() *document {
	d := &document{}
	for _, r := range c.Rows[max(0, len(c.Rows)-1):] {
		d.Lead = fmt.Sprintf("On %d examples of %s the theory takes the time of %.3g bootstrap fits; retraining "+
			"to the same accuracy takes %.3g times as long.", r.N, ShortName(r.Data), r.FitsEquivalent,
			r.SpeedupEqualAccuracy)
	}
	return d
}

// compareGroups splits rows into runs with equal data set and loss, over sizes or over ratios.
func compareGroups(rows []bench.CompareRow) (groups [][]bench.CompareRow) {
	for i, r := range rows {
		last := len(groups) - 1
		if i > 0 && r.Data == rows[i-1].Data && r.Loss == rows[i-1].Loss &&
			(r.Ratio == rows[i-1].Ratio || r.N == rows[i-1].N) {
			groups[last] = append(groups[last], r)
		} else {
			groups = append(groups, []bench.CompareRow{r})
		}
	}
	return groups
}

// Figures are two per data set: times and errors against n, or against the ratio.
func (c *Comparison) Figures() (figures []*Figure) {
	for _, rows := range compareGroups(c.Rows) {
		name, data, axis := "compare-"+fileName(rows[0].Data), ShortName(rows[0].Data), sizeAxis(rows)
		times := []Series{{Label: "retraining to the same accuracy"}, {Label: "theory"},
			{Label: "one naive bootstrap fit"}, {Label: "one bootstrap fit, rows merged"}}
		theory := Series{Label: "theory", Mark: Line}
		retrained := Series{Label: "retraining, two standard errors", Mark: Dots, Colour: 1}
		for i, r := range rows {
			x := axis.Ticks[i].Value
			if r.EqualIsBound {
				times[0].Label = "retraining to the same accuracy (at least)"
			}
			// the first is 0 if unknown, and then not drawn
			for k, s := range []float64{r.SpeedupEqualAccuracy * r.TheoryS, r.TheoryS, r.NaiveFitS, r.ResampleFitS} {
				times[k].Mark, times[k].Colour = Joined, k
				times[k].Add(x, s)
			}
			theory.Add(x, float64(r.TheoryError))
			retrained.AddErr(x, float64(r.RetrainError), 2*float64(r.RetrainSE))
		}
		figures = append(figures, NewFigure(name+"-time", data+": time",
			"Seconds of the theory, of one bootstrap fit, and of as many retrainings as give the same "+
				"accuracy of the variances per point.",
			axis, Axis{Label: "seconds", Log: true}, times...),
			NewFigure(name+"-error", data+": left-out error",
				"Error on left-out examples: the theory, and retraining with two of its standard errors.",
				axis, Axis{Label: "left-out error"}, theory, retrained))
	}
	return figures
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio of a learning curve.
func sizeAxis(rows []bench.CompareRow) Axis {
	first, last := &rows[0], &rows[len(rows)-1]
	overRatios := first.N == last.N && first.Ratio != last.Ratio
	a := Axis{Label: either(overRatios, "ratio S/N", "examples n"), Log: true}
	for _, r := range rows {
		x := either(overRatios, r.Ratio, float64(r.N))
		a.Ticks = append(a.Ticks, Tick{x, strconv.FormatFloat(x, 'g', 4, 64)})
	}
	return a
}
