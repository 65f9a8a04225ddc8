package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// momentsFactor times the default resamples are twice M03's 5000.
const momentsFactor = 10

// bothLaws are the laws of the predictor by theory and retraining, S = N, at the inputs of the examples, or
// at held-out ones.
type bothLaws struct {
	examples       int
	solution       *solver.Solution
	mean, variance []float64 // by theory at held-out inputs
	retrained      *fits.Averages
	first          int         // index of these inputs among retraining's
	predictions    [][]float64 // of the resamples at each input
}

// lawsOf solves for the examples of an embedded set except those that are held out, and retrains on them.
func (p *paperRun) lawsOf(ctx context.Context, name string, isHeld func(i int) bool) *bothLaws {
	spec := p.preset(name)
	all, held, rest := spec.Set, []int(nil), []int(nil)
	for i := range all.N() {
		if isHeld(i) {
			held = append(held, i)
		} else {
			rest = append(rest, i)
		}
	}
	spec.Set = all.Subset(rest)
	m := steps.Must(model.Build(context.Background(), spec))
	var once resample.Scheme = resample.Poisson{Ratio: 1}
	if p.fixed {
		once = resample.Multinomial{Size: len(rest), N: len(rest)}
	}
	b := &bothLaws{examples: len(rest), solution: steps.Must(m.Solve(ctx, once, solver.Settings{}))}
	var cross blas64.General
	if held != nil {
		cross = steps.Must(m.CrossAll(all.Subset(held)))
		var err error
		b.mean, b.variance, err = b.solution.Predict(slices.Clone(cross.Data))
		steps.Check(err)
		b.first = m.Sites()
	}
	b.predictions = make([][]float64, m.Sites()+cross.Rows-b.first)
	b.retrained = p.retrain(ctx, m, once, loss.SquareTest{}, cross, momentsFactor*p.resamples,
		func(_ int, _, f []float64) {
			for i, v := range f[b.first:] {
				b.predictions[i] = append(b.predictions[i], v)
			}
		})
	return b
}

// moments is M03 figure 2: the first 50 examples of the Boston housing data are the new inputs, the other 456
// are resampled.
func (p *paperRun) moments(ctx context.Context) []*report.Figure {
	at := p.lawsOf(ctx, "boston", func(i int) bool { return i < 50 })
	panel := func(label string, theory, naive, se []float64) report.Panel {
		line := report.Series{Label: "theory", Mark: report.Triangles}
		dots := report.Series{Label: "retraining", Mark: report.Dots, Colour: 1}
		for i := range theory {
			line.Add(float64(i+1), theory[i])
			dots.AddErr(float64(i+1), naive[at.first+i], 2*se[at.first+i])
		}
		return report.Panel{X: report.Axis{Label: "new input"}, Y: report.Axis{Label: label},
			Series: []report.Series{dots, line}}
	}
	r, few := at.retrained, fluctuations(at.predictions)
	return []*report.Figure{{
		Name: "m03-figure-2", Title: "M03 figure 2: new inputs",
		Caption: fmt.Sprintf(
			"Mean and variance over resamples of the prediction at 50 held-out inputs of the Boston housing "+
				"data, N = 456, S = N; retraining on %d resamples with two standard errors. Averages over "+
				"%d resamples fluctuate by up to %.2f (up to %.1f%%) for the mean, and up to %.2f (up to "+
				"%.0f%%) for the variance.", r.Resamples, fewResamples, few[0].sd, 100*few[0].share,
			few[1].sd, 100*few[1].share),
		Panels: []report.Panel{panel("mean prediction", at.mean, r.Mean, r.MeanSE),
			panel("variance", at.variance, r.Variance, r.VarianceSE)},
	}}
}

// fewResamples are as many as M03 compares the theory's time with.
const fewResamples = 20

// fluctuation is a standard deviation, and one as a share of the average.
type fluctuation struct{ sd, share float64 }

// fluctuations are the largest over all inputs, of the mean and of the variance of a few predictions.
func fluctuations(predictions [][]float64) (largest [2]fluctuation) {
	for _, all := range predictions {
		var of [2][]float64
		for few := range slices.Chunk(all[:len(all)/fewResamples*fewResamples], fewResamples) {
			mean, variance := stat.MeanVariance(few, nil)
			of[0], of[1] = append(of[0], mean), append(of[1], variance)
		}
		for k, values := range of {
			mean, sd := stat.MeanStdDev(values, nil)
			largest[k].sd = max(largest[k].sd, sd)
			largest[k].share = max(largest[k].share, sd/math.Abs(mean))
		}
	}
	return largest
}

// law is the law of a prediction over resamples by theory and by retraining: densities on common bins.
type law struct {
	place                    int // example or new input, from 0
	edges, theory, retrained []float64
	distance                 float64 // half the L1 distance of the two, in [0, 1]
	why                      string  // the rule that chose it
}

func (l law) because(why string) law {
	l.why = why
	return l
}

// lawWidth is the width of M03's bins, fieldWidth the width of bins of internal fields.
const lawWidth, fieldWidth = 0.2, 0.1

func compareLaw(place int, theory loss.Distribution, predictions []float64, width float64) law {
	l := law{place: place}
	first, shares := histogram(predictions, width)
	inside := 0.0
	for i, share := range shares {
		low := float64(first+i) * width
		mass := theory.Prob(low, low+width)
		inside += mass
		l.distance += math.Abs(mass-share) / 2
		l.edges, l.theory = append(l.edges, low), append(l.theory, mass/width)
		l.retrained = append(l.retrained, share/width)
	}
	l.distance += math.Max(0, 1-inside) / 2 // the theory's mass where no resample fell
	return l
}

// histogram is the fraction of values in bins of the given width: bin i begins at (first+i) width.
func histogram(values []float64, width float64) (first int, shares []float64) {
	bin := func(v float64) int { return int(math.Floor(v / width)) }
	first = bin(slices.Min(values))
	shares = make([]float64, bin(slices.Max(values))-first+1)
	for _, v := range values {
		shares[bin(v)-first] += 1 / float64(len(values))
	}
	return first, shares
}

// byDistance compares the laws at all inputs with the theory's, and sorts them, the nearest first.
func (b *bothLaws) byDistance(theory func(place int) loss.Distribution) (laws []law) {
	for i, predictions := range b.predictions {
		laws = append(laws, compareLaw(i, theory(i), predictions, lawWidth))
	}
	slices.SortStableFunc(laws, func(a, b law) int { return cmp.Compare(a.distance, b.distance) })
	return laws
}

// lawPanels has a panel for each law.
func lawPanels(laws []law, label string) (panels []report.Panel) {
	for _, l := range laws {
		panels = append(panels, report.Panel{Title: l.why, X: report.Axis{Label: label},
			Y: report.Axis{Label: "density"}, Series: []report.Series{
				{Label: "retraining", Mark: report.Bars, Colour: 1, X: l.edges, Y: l.retrained},
				{Label: "theory", Mark: report.Steps, X: l.edges, Y: l.theory},
			}})
	}
	return panels
}

// laws are M03 figures 3 to 5: the laws of the predictor at the inputs of the Boston housing data.
func (p *paperRun) laws(ctx context.Context) []*report.Figure {
	both := p.lawsOf(ctx, "boston", func(int) bool { return false })
	all := both.byDistance(both.solution.Distribution)
	good, bad := typicalLaws(all, both.solution.Distribution)
	return []*report.Figure{
		lawFigure("m03-figure-3", "M03 figure 3: laws that the theory describes", good),
		lawFigure("m03-figure-4", "M03 figure 4: laws with more structure than the theory gives", bad),
		distanceFigure(all, both.retrained.Resamples),
	}
}

// typicalLaws chooses inputs by the rank of their distance, and the one with the most peaks among those that
// the theory describes well.
func typicalLaws(sorted []law, theory func(int) loss.Distribution) (good, bad []law) {
	at := func(q float64, why string) law { return sorted[int(q*float64(len(sorted)-1))].because(why) }
	structured, most := sorted[0], -1
	for _, l := range sorted {
		if l.distance > closeLaws {
			break
		}
		if peaks := peaks(theory(l.place)); peaks > most {
			structured, most = l, peaks
		}
	}
	return []law{at(0.25, "lower quartile of the distances"), at(0.5, "median distance"),
			structured.because("most peaks among distances up to 0.1")},
		[]law{at(0.85, "85% of the distances are smaller"), at(0.95, "95% of the distances are smaller"),
			at(1, "largest distance")}
}

// Laws are close to the theory's up to the distance closeLaws, and far from farLaws on.
const closeLaws, farLaws = 0.1, 0.2

// peaks counts the maxima of a density on a fine grid.
func peaks(law loss.Distribution) int {
	low, high := law.Quantile(0.001), law.Quantile(0.999)
	const steps = 400
	count, rising, last := 0, true, 0.0
	for i := range steps + 1 {
		density := law.Density(low + (high-low)*float64(i)/steps)
		if rising && density < last {
			count++
		}
		if density != last {
			rising = density > last
		}
		last = density
	}
	return count
}

// lawFigure draws laws at inputs of the Boston housing data.
func lawFigure(name, title string, laws []law) *report.Figure {
	text := "Law over resamples of the prediction at inputs of the Boston housing data, S = N = 506: " +
		"theory (line) and retraining (histogram, bins of 0.2). Chosen by rule:"
	for i, l := range laws {
		text += fmt.Sprintf(" (%d) %s, example %d, L1 distance %.3f;", i+1, l.why, l.place+1, l.distance)
	}
	return &report.Figure{Name: name, Title: title, Caption: strings.TrimSuffix(text, ";") + ".",
		Panels: lawPanels(laws, "prediction")}
}

// distanceFigure is M03 figure 5: the histogram of L1 distances over inputs.
func distanceFigure(sorted []law, resamples int) *report.Figure {
	const width = 0.02
	near, far, largest := 0.0, 0.0, sorted[len(sorted)-1].distance
	counts := make([]float64, int(math.Ceil(largest/width))+1)
	edges := make([]float64, len(counts))
	for i := range edges {
		edges[i] = float64(i) * width
	}
	for _, l := range sorted {
		counts[int(l.distance/width)]++
		if l.distance <= closeLaws {
			near += 100 / float64(len(sorted))
		}
		if l.distance >= farLaws {
			far += 100 / float64(len(sorted))
		}
	}
	x, y := report.Axis{Label: "L1 distance"}, report.Axis{Label: "inputs"}
	return &report.Figure{
		Name: "m03-figure-5", Title: "M03 figure 5: distance of the laws",
		Caption: fmt.Sprintf(
			"L1 distance between the laws by theory and by retraining (%d resamples, bins of 0.2) at the %d "+
				"inputs of the Boston housing data: %.1f%% up to 0.1, %.1f%% from 0.2 on, largest %.3f. The "+
				"right panel replaces the inset of the paper.", resamples, len(sorted), near, far, largest),
		Panels: []report.Panel{
			{Title: fmt.Sprintf("%.1f%% up to 0.1", near), X: x, Y: y,
				Series: []report.Series{{Mark: report.Bars, X: edges, Y: counts}}},
			{Title: fmt.Sprintf("the tail, enlarged: %.1f%% from 0.2 on, largest %.3f", far, largest), X: x,
				Y:      report.Axis{Label: "inputs", Max: 20},
				Series: []report.Series{{Mark: report.Bars, X: edges[8:], Y: counts[8:]}}},
		},
	}
}

// fields is M04 figure 1, right: laws of the internal field at new inputs of the sonar data, and the
// probability of the label -1. Every tenth example is held out, 20 of 208; the other 188, as many as M04 has,
// are resampled.
func (p *paperRun) fields(ctx context.Context) []*report.Figure {
	at := p.lawsOf(ctx, "sonar", func(i int) bool { return i%10 == 0 && i < 200 })
	field := func(i int) loss.Distribution { return loss.Normal(at.mean[i], at.variance[i]) } // M03-48
	vote := report.Series{Label: "new inputs", Mark: report.Dots}
	for i, predictions := range at.predictions {
		n := float64(len(predictions))
		share := float64(floats.Count(func(f float64) bool { return f < 0 }, predictions)) / n
		vote.AddErr(field(i).CDF(0), share, 2*math.Sqrt(share*(1-share)/n))
	}
	sorted := at.byDistance(field)
	typical := func(l law, why string) law {
		return compareLaw(l.place, field(l.place), at.predictions[l.place], fieldWidth).because(why)
	}
	shares := report.Panel{Title: "probability of the label -1", X: report.Axis{Label: "theory", Max: 1},
		Y: report.Axis{Label: "retraining", Max: 1}, Series: []report.Series{
			{Mark: report.Dotted, Colour: 6, X: []float64{0, 1}, Y: []float64{0, 1}}, vote}}
	return []*report.Figure{{
		Name: "m04-figure-1-right", Title: "M04 figure 1, right: new inputs of the sonar data",
		Caption: fmt.Sprintf(
			"Law over resamples of the internal field at two of %d held-out inputs, N = S = %d, chosen by "+
				"the rank of their L1 distance; and how often the classifier says -1, theory against "+
				"retraining with two standard errors.", len(at.mean), at.examples),
		Panels: append(lawPanels([]law{typical(sorted[len(sorted)/2], "median distance"),
			typical(sorted[len(sorted)-1], "largest distance")}, "internal field"), shares),
	}}
}
