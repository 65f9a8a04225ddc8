package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// laws are M03 figures 3 to 5: the laws of the predictor at the inputs of the Boston housing data, S = N.
func (p *paperRun) laws(ctx context.Context) ([]*report.Figure, error) {
	spec, err := preset("boston")
	if err != nil {
		return nil, err
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	solution, err := m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{})
	if err != nil {
		return nil, err
	}
	retrained, predictions, err := p.momentsRetrained(ctx, m, blas64.General{})
	if err != nil {
		return nil, err
	}
	all := make([]law, m.Sites())
	for i := range all {
		all[i] = compareLaw(i, solution.Distribution(i), predictions[i], lawWidth)
	}
	good, bad := typicalLaws(all, solution.Distribution)
	return []*report.Figure{
		{Name: "m03-figure-3", Title: "M03 figure 3: laws that the theory describes", Caption: lawCaption(good),
			Panels: lawPanels(good, "prediction")},
		{Name: "m03-figure-4", Title: "M03 figure 4: laws with more structure than the theory gives",
			Caption: lawCaption(bad), Panels: lawPanels(bad, "prediction")},
		distanceFigure(all, retrained.Resamples),
	}, nil
}

// typicalLaws chooses inputs by rule: by the rank of their distance, and among those
// that the theory describes well the one with the most structure.
func typicalLaws(all []law, theory func(int) loss.Distribution) (good, bad []law) {
	sorted := byDistance(all)
	at := func(q float64) law { return sorted[int(q*float64(len(sorted)-1))] }
	structured, most := sorted[0], -1
	for _, l := range sorted {
		if l.distance > closeLaws {
			break
		}
		if peaks := peaks(theory(l.place)); peaks > most {
			structured, most = l, peaks
		}
	}
	return []law{at(0.25).chosenBy("lower quartile of the distances"), at(0.5).chosenBy("median distance"),
			structured.chosenBy("most peaks among distances up to 0.1")},
		[]law{at(0.85).chosenBy("85% of the distances are smaller"),
			at(0.95).chosenBy("95% of the distances are smaller"), at(1).chosenBy("largest distance")}
}

// closeLaws is the distance up to which the theory describes a law well, farLaws that from which it does not.
const closeLaws, farLaws = 0.1, 0.2

// peaks counts the maxima of a density on a fine grid.
func peaks(law loss.Distribution) int {
	low, high := law.Quantile(0.001), law.Quantile(0.999)
	const steps = 400
	count, rising := 0, true
	last := 0.0
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

func lawCaption(laws []law) string {
	text := "Law over resamples of the prediction at inputs of the Boston housing data, S = N = 506: " +
		"theory (line) and retraining (histogram, bins of 0.2). Chosen by rule:"
	for i, l := range laws {
		text += fmt.Sprintf(" (%d) %s, example %d, L1 distance %.3f;", i+1, l.why, l.place+1, l.distance)
	}
	return text[:len(text)-1] + "."
}

// distanceFigure is M03 figure 5: how many inputs have which L1 distance.
func distanceFigure(all []law, resamples int) *report.Figure {
	const width = 0.02
	near, far, largest := 0.0, 0.0, byDistance(all)[len(all)-1].distance
	counts := make([]float64, int(math.Ceil(largest/width))+1)
	edges := make([]float64, len(counts))
	for i := range edges {
		edges[i] = float64(i) * width
	}
	for _, l := range all {
		counts[int(l.distance/width)]++
		if l.distance <= closeLaws {
			near += 100 / float64(len(all))
		}
		if l.distance >= farLaws {
			far += 100 / float64(len(all))
		}
	}
	x, y := report.Axis{Label: "L1 distance"}, report.Axis{Label: "inputs"}
	return &report.Figure{
		Name: "m03-figure-5", Title: "M03 figure 5: distance of the laws",
		Caption: fmt.Sprintf(
			"L1 distance between the laws by theory and by retraining (%d resamples, bins of 0.2) at the %d "+
				"inputs of the Boston housing data: %.1f%% up to 0.1, %.1f%% from 0.2 on, largest %.3f. The right "+
				"panel stands for the inset of the paper.", resamples, len(all), near, far, largest),
		Panels: []report.Panel{
			{X: x, Y: y, Series: []report.Series{{Mark: report.Bars, X: edges, Y: counts}}},
			{Title: "the tail, enlarged", X: x, Y: report.Axis{Label: "inputs", Max: 20},
				Series: []report.Series{{Mark: report.Bars, X: edges[8:], Y: counts[8:]}}},
		},
	}
}
