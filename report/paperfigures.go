package report

import (
	"fmt"
	"math"
	"slices"

	"bootbench/bench"
	"bootbench/bench/paper"
)

// Lines of the approximations in M03 figure 1, and what they are called.
var methodLines = []struct {
	method, label string
	mark          Mark
	colour        int
}{
	{"adatap", "theory (ADATAP)", Line, 0},
	{"start", "approximate ADATAP", Dashed, 2},
	{"variational", "variational Gaussian", Dashed, 3},
	{"meanfield", "mean field", Dotted, 6},
}

// RegressionFigure is M03 figure 1, left: one learning curve with all
// approximations.
func RegressionFigure(c *paper.Curve) *Figure {
	p := Panel{X: ratioAxis(), Y: Axis{Label: "bootstrapped square loss", Min: 0, Max: 1.15 * largestError(c)},
		Above: "left-out examples", Top: leftOutTicks(c.N)}
	for _, l := range methodLines {
		p.Series = append(p.Series, curveLine(c, l.method, l.label, l.mark, l.colour))
	}
	p.Series = append(p.Series, curveDots(c, "retraining", 1))
	return &Figure{
		Name: "m03-figure-1-left", Title: "M03 figure 1, left: " + c.Name,
		Caption: "Square loss on left-out examples of resamples of S = ratio x N examples, Boston housing data: four approximations, and retraining with two standard errors. " +
			"Along the upper edge the mean number of left-out examples. Solves that did not converge are left out.",
		Panels: []Panel{p},
	}
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
func ratioAxis() Axis {
	a := Axis{Label: "S / N", Log: true}
	for _, at := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		a.Ticks = append(a.Ticks, Tick{at, fmt.Sprint(at)})
	}
	return a
}

// leftOutTicks are the ratios where a resample of n examples leaves round
// numbers of them out, n e^-ratio on average.
func leftOutTicks(n int) []Tick {
	var ticks []Tick
	for _, left := range []float64{450, 400, 300, 200, 100, 50, 20, 5} {
		if ratio := math.Log(float64(n) / left); ratio >= 0.1 && ratio <= 5 {
			ticks = append(ticks, Tick{ratio, fmt.Sprint(left)})
		}
	}
	return ticks
}

// curveLine is one method of a curve, as far as it converged.
func curveLine(c *paper.Curve, method, label string, mark Mark, colour int) Series {
	s := Series{Label: label, Mark: mark, Colour: colour}
	for _, p := range c.Theory {
		if p.Method == method && p.Status == "converged" {
			s.point(p.Ratio, p.Error)
		}
	}
	return s
}

// curveDots is retraining with two standard errors.
func curveDots(c *paper.Curve, label string, colour int) Series {
	s := Series{Label: label, Mark: Dots, Colour: colour}
	for _, p := range c.Naive {
		s.pointErr(p.Ratio, p.Error, 2*p.SE)
	}
	return s
}

// RobustFigure is M03 figure 1, right: the smoothed eps-insensitive loss, one
// curve per data set.
func RobustFigure(curves []*paper.Curve) *Figure {
	p := Panel{X: ratioAxis(), Y: Axis{Label: "bootstrapped eps-insensitive loss"}}
	for i, c := range curves {
		p.Series = append(p.Series, curveLine(c, "adatap", c.Name+", theory", Line, i),
			curveDots(c, c.Name+", retraining", i))
	}
	return &Figure{
		Name: "m03-figure-1-right", Title: "M03 figure 1, right: another test loss",
		Caption: "The same predictors, trained with square loss, judged by the eps-insensitive loss with smoothed corners (eps = beta = 0.1), with two standard errors of retraining.",
		Panels:  []Panel{p},
	}
}

// MomentsFigure is M03 figure 2: mean and variance at the new inputs.
func MomentsFigure(m *paper.Moments) *Figure {
	panel := func(label string, theory, naive, se []float64) Panel {
		line := Series{Label: "theory", Mark: Crosses}
		dots := Series{Label: "retraining", Mark: Dots, Colour: 1}
		for i := range theory {
			line.point(float64(i+1), theory[i])
			dots.pointErr(float64(i+1), naive[i], 2*se[i])
		}
		return Panel{X: Axis{Label: "new input"}, Y: Axis{Label: label}, Series: []Series{dots, line}}
	}
	return &Figure{
		Name: "m03-figure-2", Title: "M03 figure 2: new inputs",
		Caption: fmt.Sprintf(
			"Mean and variance over resamples of the prediction at 50 held-out inputs of the Boston housing data, N = 456, S = N; retraining on %d resamples with two standard errors.", m.Naive.Resamples),
		Panels: []Panel{panel("mean prediction", m.Mean, m.NaiveMean, m.NaiveMeanSE),
			panel("variance", m.Var, m.NaiveVar, m.NaiveVarSE)},
	}
}

// DensityFigures are M03 figures 3 and 4: laws of the prediction at inputs of the
// Boston housing data, the well described ones and the others.
func DensityFigures(l *paper.PredictorDensities) []*Figure {
	caption := func(laws []paper.PredictorDensity) string {
		text := "Law over resamples of the prediction at inputs of the Boston housing data, S = N = 506: theory (line) and retraining (histogram, bins of 0.2). Chosen by rule:"
		for i, law := range laws {
			text += fmt.Sprintf(" (%d) %s, example %d, L1 distance %.3f;", i+1, law.Why, law.Place+1, law.L1)
		}
		return text[:len(text)-1] + "."
	}
	good, bad := l.Typical[:3], l.Typical[3:]
	return []*Figure{
		{Name: "m03-figure-3", Title: "M03 figure 3: laws that the theory describes", Caption: caption(good),
			Panels: lawPanels(good, "prediction")},
		{Name: "m03-figure-4", Title: "M03 figure 4: laws with more structure than the theory gives",
			Caption: caption(bad), Panels: lawPanels(bad, "prediction")},
	}
}

func lawPanels(laws []paper.PredictorDensity, label string) []Panel {
	var panels []Panel
	for _, law := range laws {
		p := Panel{Title: law.Why, X: Axis{Label: label}, Y: Axis{Label: "density"}, Series: []Series{
			{Label: "retraining", Mark: Bars, Colour: 1, X: law.Edges, Y: law.Retrained},
			{Label: "theory", Mark: Outline, X: law.Edges, Y: law.Theory},
		}}
		panels = append(panels, p)
	}
	return panels
}

// DistanceFigure is M03 figure 5: how many inputs have which L1 distance.
func DistanceFigure(l *paper.PredictorDensities) *Figure {
	const width = 0.02
	d := l.Choices[0]
	counts := make([]float64, int(math.Ceil(slices.Max(d.L1)/width))+1)
	edges := make([]float64, len(counts))
	for i := range edges {
		edges[i] = float64(i) * width
	}
	for _, v := range d.L1 {
		counts[int(v/width)]++
	}
	tail := Panel{Legend: NoLegend, X: Axis{Min: 0.16, Max: edges[len(edges)-1] + width},
		Y:      Axis{Min: 0, Max: 20},
		Series: []Series{{Mark: Bars, X: edges[8:], Y: counts[8:]}}}
	return &Figure{
		Name: "m03-figure-5", Title: "M03 figure 5: distance of the laws",
		Caption: fmt.Sprintf(
			"L1 distance between the laws by theory and by retraining (%d resamples, bins of 0.2) at the %d inputs of the Boston housing data: %.1f%% up to 0.1, %.1f%% from 0.2 on, largest %.3f. The inset enlarges the tail.",
			d.Resamples, l.Examples, 100*d.Close, 100*d.Far, d.Largest),
		Panels: []Panel{{X: Axis{Label: "L1 distance"}, Y: Axis{Label: "inputs"}, Legend: NoLegend,
			Series: []Series{{Mark: Bars, X: edges, Y: counts}}, Inset: &tail}},
	}
}

// ClassificationFigure is M04 figure 1, left: four learning curves, wisconsin
// enlarged.
func ClassificationFigure(curves []*paper.Curve) *Figure {
	p := Panel{X: ratioAxis(), Y: Axis{Label: "bootstrapped classification error"}, Legend: TopLeft}
	enlarged := Panel{Title: "wisconsin, enlarged", X: ratioAxis(),
		Y: Axis{Label: "bootstrapped classification error"}, Legend: NoLegend}
	for i, c := range curves {
		p.Series = append(p.Series, curveLine(c, "adatap", c.Name, Line, i), curveDots(c, "", i))
		if c.Name == "wisconsin" {
			enlarged.Series = []Series{curveLine(c, "adatap", "", Line, i), curveDots(c, "", i)}
		}
	}
	return &Figure{
		Name: "m04-figure-1-left", Title: "M04 figure 1, left: hard-margin support vector machines",
		Caption: "Error on left-out examples: theory (lines) and retraining (symbols, two standard errors). The kernels are this project's, exp(-gamma |x-x'|^2) on standardised inputs; M04 does not print its own. The right panel stands for the inset of the paper.",
		Panels:  []Panel{p, enlarged},
	}
}

// FieldFigure is M04 figure 1, right: laws of the internal field at new inputs,
// and the probability of the label -1.
func FieldFigure(f *paper.Fields) *Figure {
	panels := lawPanels(f.Typical, "internal field")
	vote := Series{Label: "new inputs", Mark: Dots}
	for i, p := range f.Negative {
		vote.pointErr(p, f.NaiveNegative[i], 2*f.NaiveSE[i])
	}
	panels = append(panels, Panel{
		Title: "probability of the label -1", Legend: TopLeft, X: Axis{Label: "theory", Min: 0, Max: 1},
		Y:      Axis{Label: "retraining", Min: 0, Max: 1},
		Series: []Series{{Mark: Dotted, Colour: 6, X: []float64{0, 1}, Y: []float64{0, 1}}, vote},
	})
	return &Figure{
		Name: "m04-figure-1-right", Title: "M04 figure 1, right: new inputs of the sonar data",
		Caption: fmt.Sprintf(
			"Law over resamples of the internal field at two of %d held-out inputs, N = S = %d, chosen by the rank of their L1 distance; and how often the classifier says -1, theory against retraining with two standard errors.", f.Held, f.Examples),
		Panels: panels,
	}
}

// PaperTables are the numbers that the papers give in words or tables.
type PaperTables struct {
	Laws        *paper.PredictorDensities
	Timing      []bench.CompareRow
	LeaveOneOut []paper.LeaveOneOutRow
}

// Title names the tables.
func (t *PaperTables) Title() string {
	return "The figures of Malzahn and Opper 2003 and 2004, computed anew"
}

func (t *PaperTables) document() *document {
	d := &document{}
	if t.Laws != nil {
		d.distances(t.Laws)
	}
	if len(t.Timing) > 0 {
		d.timing(t.Timing)
	}
	if len(t.LeaveOneOut) > 0 {
		d.leaveOneOut(t.LeaveOneOut)
	}
	return d
}

// distances sets the L1 distances of M03 figure 5 beside what M03 reports.
func (d *document) distances(l *paper.PredictorDensities) {
	d.paragraph("L1 distances of the laws on the Boston housing data, S = N. M03 reports 86.2% up to 0.1, 2% from 0.2 on, largest 0.3109; it does not say from how many resamples.")
	with := func(v, se float64, scale float64) string {
		if math.IsNaN(se) {
			return fmt.Sprintf("%.3g", scale*v)
		}
		return fmt.Sprintf("%.3g +- %.1g", scale*v, scale*se)
	}
	var rows [][]string
	for _, c := range l.Choices {
		rows = append(rows, []string{c.Scheme, fmt.Sprint(c.Offset), fmt.Sprint(c.Resamples),
			with(c.Close, c.CloseSE, 100), with(c.Far, c.FarSE, 100), with(c.Largest, c.LargestSE, 1)})
	}
	d.table([]column{{head: "scheme", left: true}, {head: "edge"}, {head: "resamples"}, {head: "<= 0.1, %"},
		{head: ">= 0.2, %"}, {head: "largest"}}, rows)
	d.gap()
}

// timing sets the theory's time beside that of single trainings, as both papers
// do.
func (d *document) timing(rows []bench.CompareRow) {
	d.paragraph("Time of the theory at S = N against single trainings. M03 claims at most 15 retrainings (all S rows) for N <= 500 and 25 for N <= 2500; M04 claims less than one training on the data for broad kernels.")
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{ShortName(r.Data), r.Loss, fmt.Sprint(r.N), seconds(r.TheoryS),
			seconds(r.FitS), seconds(r.ResampleFitS), naiveSeconds(r),
			fmt.Sprintf("%.3g", r.TheoryS/r.FitS), fmt.Sprintf("%.3g", r.FitsEquivalent), naiveRatio(r)})
	}
	d.table([]column{{head: "data", left: true}, {head: "loss", left: true}, {head: "n"}, {head: "theory s"},
		{head: "full fit s"}, {head: "merged fit s"}, {head: "naive fit s"},
		{head: "theory / full"}, {head: "/ merged"}, {head: "/ naive"}}, cells)
	d.gap()
}

// leaveOneOut is the table of the lecture on leave-one-out.
func (d *document) leaveOneOut(rows []paper.LeaveOneOutRow) {
	d.paragraph("Fast leave-one-out of soft-margin classifiers with bias, C = 1. The lecture reports 0.58% of the trainings and 32 s on Reuters (n = 6451), 20.42% and 235 s on WebKB (2092), 2.56% and 1132 s on Ohsumed (10000).")
	var cells [][]string
	for _, r := range rows {
		kernel := fmt.Sprintf("rbf, gamma %v/d", r.GammaD)
		if r.LinearKernel {
			kernel = "linear"
		}
		cells = append(cells, []string{ShortName(r.Data), fmt.Sprint(r.N), kernel,
			fmt.Sprintf("%.2f%%", 100*r.Retrained), seconds(r.FastS), seconds(r.ExactS), seconds(r.TrainS),
			fmt.Sprint(r.Errors), fmt.Sprint(r.ExactErrors), fmt.Sprint(r.Approximate), fmt.Sprint(r.XiAlpha)})
	}
	d.table([]column{{head: "data", left: true}, {head: "n"}, {head: "kernel", left: true}, {head: "retrained"},
		{head: "fast s"}, {head: "exact s"}, {head: "one training s"},
		{head: "fast errors"}, {head: "exact"}, {head: "approx"}, {head: "xi-alpha"}}, cells)
	d.gap()
}

func naiveRatio(r bench.CompareRow) string {
	if r.NaiveFitsEquivalent == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g", r.NaiveFitsEquivalent)
}
