package report

import (
	"strconv"

	"gonum.org/v1/plot"

	"bootbench/bench"
)

// Figures are two per data set: times and errors against n, or against the ratio.
func (c *Comparison) Figures() []*Figure {
	var figures []*Figure
	for _, rows := range compareGroups(c.Rows) {
		figures = append(figures, timeFigure(rows), errorFigure(rows))
	}
	return figures
}

func timeFigure(rows []bench.CompareRow) *Figure {
	equal := "retraining to the same accuracy"
	for _, r := range rows {
		if r.EqualIsBound {
			equal = "retraining to the same accuracy (at least)"
		}
	}
	return NewFigure("compare-"+fileName(rows[0].Data)+"-time", ShortName(rows[0].Data)+": time",
		"Seconds of the theory, of one bootstrap fit, and of as many retrainings as give the same "+
			"accuracy of the variances per point.",
		sizeAxis(rows), Axis{Label: "seconds", Log: true},
		against(equal, Joined, 0, rows,
			func(r *bench.CompareRow) float64 { return r.SpeedupEqualAccuracy * r.TheoryS }),
		against("theory", Joined, 1, rows, func(r *bench.CompareRow) float64 { return r.TheoryS }),
		against("one naive bootstrap fit", Joined, 2, rows,
			func(r *bench.CompareRow) float64 { return r.NaiveFitS }),
		against("one bootstrap fit, rows merged", Joined, 3, rows,
			func(r *bench.CompareRow) float64 { return r.ResampleFitS }))
}

func errorFigure(rows []bench.CompareRow) *Figure {
	theory := against("theory", Line, 0, rows,
		func(r *bench.CompareRow) float64 { return float64(r.TheoryError) })
	retrained := against("retraining, two standard errors", Dots, 1, rows,
		func(r *bench.CompareRow) float64 { return float64(r.RetrainError) })
	for _, r := range rows {
		retrained.Err = append(retrained.Err, 2*float64(r.RetrainSE))
	}
	return NewFigure("compare-"+fileName(rows[0].Data)+"-error", ShortName(rows[0].Data)+": left-out error",
		"Error on left-out examples: the theory, and retraining with two of its standard errors.",
		sizeAxis(rows), Axis{Label: "left-out error"}, theory, retrained)
}

// against plots a figure of merit against n, or against the ratio; 0 means that it is not known.
func against(label string, mark Mark, colour int, rows []bench.CompareRow,
	of func(*bench.CompareRow) float64) Series {
	s := Series{Label: label, Mark: mark, Colour: colour}
	for i, tick := range sizeAxis(rows).Ticks {
		s.Add(tick.Value, orNaN(of(&rows[i])))
	}
	return s
}

// sizeAxis is a logarithmic axis with a mark at every n, or at every ratio of a learning curve.
func sizeAxis(rows []bench.CompareRow) Axis {
	first, last := &rows[0], &rows[len(rows)-1]
	a, overRatios := Axis{Label: "examples n", Log: true}, first.N == last.N && first.Ratio != last.Ratio
	if overRatios {
		a.Label = "ratio S/N"
	}
	for _, r := range rows {
		x := float64(r.N)
		if overRatios {
			x = r.Ratio
		}
		a.Ticks = append(a.Ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 4, 64)})
	}
	return a
}
