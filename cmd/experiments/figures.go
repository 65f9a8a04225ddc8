package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"

	"bootbench/internal/paper"
	"bootbench/internal/report"
)

// Lines of the approximations in M03 figure 1, and what they are called.
var methodLines = []struct {
	method, label string
	mark          report.Mark
	colour        int
}{
	{"adatap", "theory (ADATAP)", report.Line, 0},
	{"start", "approximate ADATAP", report.Dashed, 2},
	{"variational", "variational Gaussian", report.Dashed, 3},
	{"meanfield", "mean field", report.Dotted, 6},
}

// regressionFigure is M03 figure 1, left: one learning curve with all
// approximations.
func regressionFigure(c *paper.Curve) *report.Figure {
	var series []report.Series
	for _, l := range methodLines {
		series = append(series, curveLine(c, l.method, l.label, l.mark, l.colour))
	}
	return report.NewFigure("m03-figure-1-left", "M03 figure 1, left: "+c.Name,
		"Square loss on left-out examples of resamples of S = ratio x N examples, Boston housing "+
			"data: four approximations, and retraining with two standard errors. "+
			"Of N examples N exp(-ratio) are left out on average. Solves that did not converge are left out.",
		ratioAxis(), report.Axis{Label: "bootstrapped square loss", Max: 1.6 * largestError(c)},
		append(series, curveDots(c, "retraining", 1))...)
}

// largestError is the largest of the retrained errors.
func largestError(c *paper.Curve) float64 {
	largest := 0.0
	for _, p := range c.Naive {
		largest = math.Max(largest, p.Error)
	}
	return largest
}

// ratioAxis is the axis of the learning curves.
func ratioAxis() report.Axis {
	a := report.Axis{Label: "S / N", Log: true}
	for _, at := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		a.Ticks = append(a.Ticks, plot.Tick{Value: at, Label: fmt.Sprint(at)})
	}
	return a
}

// curveLine is one method of a curve, as far as it converged.
func curveLine(c *paper.Curve, method, label string, mark report.Mark, colour int) report.Series {
	s := report.Series{Label: label, Mark: mark, Colour: colour}
	for _, p := range c.Theory {
		if p.Method == method && p.Status == "converged" {
			s.Add(p.Ratio, p.Error)
		}
	}
	return s
}

// curveDots is retraining with two standard errors.
func curveDots(c *paper.Curve, label string, colour int) report.Series {
	s := report.Series{Label: label, Mark: report.Dots, Colour: colour}
	for _, p := range c.Naive {
		s.AddErr(p.Ratio, p.Error, 2*p.SE)
	}
	return s
}

// robustFigure is M03 figure 1, right: the smoothed eps-insensitive loss, one
// curve per data set.
func robustFigure(curves []*paper.Curve) *report.Figure {
	var series []report.Series
	for i, c := range curves {
		series = append(series, curveLine(c, "adatap", c.Name+", theory", report.Line, i),
			curveDots(c, c.Name+", retraining", i))
	}
	return report.NewFigure("m03-figure-1-right", "M03 figure 1, right: another test loss",
		"The same predictors, trained with square loss, judged by the eps-insensitive loss with "+
			"smoothed corners (eps = beta = 0.1), with two standard errors of retraining.",
		ratioAxis(), report.Axis{Label: "bootstrapped eps-insensitive loss"}, series...)
}

// momentsFigure is M03 figure 2: mean and variance at the new inputs.
func momentsFigure(m *paper.Moments) *report.Figure {
	panel := func(label string, theory, naive, se []float64) report.Panel {
		line := report.Series{Label: "theory", Mark: report.Triangles}
		dots := report.Series{Label: "retraining", Mark: report.Dots, Colour: 1}
		for i := range theory {
			line.Add(float64(i+1), theory[i])
			dots.AddErr(float64(i+1), naive[i], 2*se[i])
		}
		return report.Panel{X: report.Axis{Label: "new input"}, Y: report.Axis{Label: label},
			Series: []report.Series{dots, line}}
	}
	return &report.Figure{
		Name: "m03-figure-2", Title: "M03 figure 2: new inputs",
		Caption: fmt.Sprintf(
			"Mean and variance over resamples of the prediction at 50 held-out inputs of the Boston housing "+
				"data, N = 456, S = N; retraining on %d resamples with two standard errors.", m.Naive.Resamples),
		Panels: []report.Panel{panel("mean prediction", m.Mean, m.NaiveMean, m.NaiveMeanSE),
			panel("variance", m.Var, m.NaiveVar, m.NaiveVarSE)},
	}
}

// densityFigures are M03 figures 3 and 4: laws of the prediction at inputs of the
// Boston housing data, the well described ones and the others.
func densityFigures(l *paper.PredictorDensities) []*report.Figure {
	caption := func(laws []paper.PredictorDensity) string {
		text := "Law over resamples of the prediction at inputs of the Boston housing data, S = N = 506: " +
			"theory (line) and retraining (histogram, bins of 0.2). Chosen by rule:"
		for i, law := range laws {
			text += fmt.Sprintf(" (%d) %s, example %d, L1 distance %.3f;", i+1, law.Why, law.Place+1, law.L1)
		}
		return text[:len(text)-1] + "."
	}
	good, bad := l.Typical[:3], l.Typical[3:]
	return []*report.Figure{
		{Name: "m03-figure-3", Title: "M03 figure 3: laws that the theory describes", Caption: caption(good),
			Panels: lawPanels(good, "prediction")},
		{Name: "m03-figure-4", Title: "M03 figure 4: laws with more structure than the theory gives",
			Caption: caption(bad), Panels: lawPanels(bad, "prediction")},
	}
}

func lawPanels(laws []paper.PredictorDensity, label string) []report.Panel {
	var panels []report.Panel
	for _, law := range laws {
		p := report.Panel{Title: law.Why, X: report.Axis{Label: label}, Y: report.Axis{Label: "density"},
			Series: []report.Series{
				{Label: "retraining", Mark: report.Bars, Colour: 1, X: law.Edges, Y: law.Retrained},
				{Label: "theory", Mark: report.Steps, X: law.Edges, Y: law.Theory},
			}}
		panels = append(panels, p)
	}
	return panels
}

// distanceFigure is M03 figure 5: how many inputs have which L1 distance.
func distanceFigure(d *paper.PredictorDensities) *report.Figure {
	const width = 0.02
	counts := make([]float64, int(math.Ceil(slices.Max(d.L1)/width))+1)
	edges := make([]float64, len(counts))
	for i := range edges {
		edges[i] = float64(i) * width
	}
	for _, v := range d.L1 {
		counts[int(v/width)]++
	}
	label := report.Axis{Label: "L1 distance"}
	tail := report.Panel{Title: "the tail, enlarged", X: label, Y: report.Axis{Label: "inputs", Max: 20},
		Series: []report.Series{{Mark: report.Bars, X: edges[8:], Y: counts[8:]}}}
	return &report.Figure{
		Name: "m03-figure-5", Title: "M03 figure 5: distance of the laws",
		Caption: fmt.Sprintf(
			"L1 distance between the laws by theory and by retraining (%d resamples, bins of 0.2) at the %d "+
				"inputs of the Boston housing data: %.1f%% up to 0.1, %.1f%% from 0.2 on, largest %.3f. The right "+
				"panel stands for the inset of the paper.",
			d.Resamples, len(d.L1), 100*d.Close, 100*d.Far, d.Largest),
		Panels: []report.Panel{{X: label, Y: report.Axis{Label: "inputs"},
			Series: []report.Series{{Mark: report.Bars, X: edges, Y: counts}}}, tail},
	}
}

// classificationFigure is M04 figure 1, left: four learning curves, wisconsin
// enlarged.
func classificationFigure(curves []*paper.Curve) *report.Figure {
	p := report.Panel{X: ratioAxis(), Y: report.Axis{Label: "bootstrapped classification error"}}
	enlarged := report.Panel{Title: "wisconsin, enlarged", X: ratioAxis(),
		Y: report.Axis{Label: "bootstrapped classification error"}}
	for i, c := range curves {
		p.Series = append(p.Series, curveLine(c, "adatap", c.Name, report.Line, i), curveDots(c, "", i))
		if c.Name == "wisconsin" {
			enlarged.Series = []report.Series{curveLine(c, "adatap", "", report.Line, i), curveDots(c, "", i)}
		}
	}
	return &report.Figure{
		Name: "m04-figure-1-left", Title: "M04 figure 1, left: hard-margin support vector machines",
		Caption: "Error on left-out examples: theory (lines) and retraining (symbols, two standard errors). " +
			"The kernels are this project's, exp(-gamma |x-x'|^2) on standardised inputs; M04 does not print its " +
			"own. The right panel stands for the inset of the paper.",
		Panels: []report.Panel{p, enlarged},
	}
}

// fieldFigure is M04 figure 1, right: laws of the internal field at new inputs,
// and the probability of the label -1.
func fieldFigure(f *paper.Fields) *report.Figure {
	panels := lawPanels(f.Typical, "internal field")
	vote := report.Series{Label: "new inputs", Mark: report.Dots}
	for i, p := range f.Negative {
		vote.AddErr(p, f.NaiveNegative[i], 2*f.NaiveSE[i])
	}
	panels = append(panels, report.Panel{
		Title: "probability of the label -1", X: report.Axis{Label: "theory", Min: 0,
			Max: 1},
		Y:      report.Axis{Label: "retraining", Min: 0, Max: 1},
		Series: []report.Series{{Mark: report.Dotted, Colour: 6, X: []float64{0, 1}, Y: []float64{0, 1}}, vote},
	})
	return &report.Figure{
		Name: "m04-figure-1-right", Title: "M04 figure 1, right: new inputs of the sonar data",
		Caption: fmt.Sprintf(
			"Law over resamples of the internal field at two of %d held-out inputs, N = S = %d, chosen by the "+
				"rank of their L1 distance; and how often the classifier says -1, theory against retraining with "+
				"two standard errors.", f.Held, f.Examples),
		Panels: panels,
	}
}
