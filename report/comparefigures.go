package report

import (
	"strconv"

	"gonum.org/v1/plot"

	"bootbench/bench"
)

// Figures are two per data set: times and errors against n, or against the ratio.
func (c *Comparison) Figures() []*Figure {
	var figures []*Figure
	for _, group := range compareGroups(c.Rows) {
		figures = append(figures, timeFigure(group), errorFigure(group))
	}
	return figures
}

func compareName(rows []bench.CompareRow) string {
	return "compare-" + fileName(rows[0].Data)
}

func timeFigure(rows []bench.CompareRow) *Figure {
	equal := "retraining to the same accuracy"
	for _, r := range rows {
		if r.EqualIsBound {
			equal += " (at least)"
			break
		}
	}
	return NewFigure(compareName(rows)+"-time", ShortName(rows[0].Data)+": time",
		"Seconds of the theory, of one bootstrap fit, and of as many retrainings as give the same "+
			"accuracy of the variances per point.",
		sizeAxis(rows), Axis{Label: "seconds", Log: true},
		against(equal, Joined, 0, rows,
			func(r bench.CompareRow) float64 { return r.SpeedupEqualAccuracy * r.TheoryS }),
		against("theory", Joined, 1, rows, func(r bench.CompareRow) float64 { return r.TheoryS }),
		against("one naive bootstrap fit", Joined, 2, rows,
			func(r bench.CompareRow) float64 { return r.NaiveFitS }),
		against("one bootstrap fit, rows merged", Joined, 3, rows,
			func(r bench.CompareRow) float64 { return r.ResampleFitS }))
}

func errorFigure(rows []bench.CompareRow) *Figure {
	theory := against("theory", Line, 0, rows,
		func(r bench.CompareRow) float64 { return float64(r.TheoryError) })
	retrained := against("retraining, two standard errors", Dots, 1, rows,
		func(r bench.CompareRow) float64 { return float64(r.RetrainError) })
	for _, r := range rows {
		retrained.Err = append(retrained.Err, 2*float64(r.RetrainSE))
	}
	return NewFigure(compareName(rows)+"-error", ShortName(rows[0].Data)+": left-out error",
		"Error on left-out examples: the theory, and retraining with two of its standard errors.",
		sizeAxis(rows), Axis{Label: "left-out error"}, theory, retrained)
}

// against plots a figure of merit against the rows' positions; 0 means that it is
// not known.
func against(label string, mark Mark, colour int, rows []bench.CompareRow,
	of func(bench.CompareRow) float64) Series {
	s := Series{Label: label, Mark: mark, Colour: colour}
	for _, r := range rows {
		s.Add(position(rows, r), orNaN(of(r)))
	}
	return s
}

// overRatios reports whether rows are a learning curve: one n, several ratios.
func overRatios(rows []bench.CompareRow) bool {
	return rows[0].N == rows[len(rows)-1].N && rows[0].Ratio != rows[len(rows)-1].Ratio
}

// position is the place of a row on the horizontal axis: its ratio in a learning
// curve, else its n.
func position(rows []bench.CompareRow, r bench.CompareRow) float64 {
	if overRatios(rows) {
		return r.Ratio
	}
	return float64(r.N)
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio.
func sizeAxis(rows []bench.CompareRow) Axis {
	a := Axis{Label: "examples n", Log: true}
	if overRatios(rows) {
		a.Label = "ratio S/N"
	}
	for _, r := range rows {
		x := position(rows, r)
		a.Ticks = append(a.Ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 4, 64)})
	}
	return a
}
