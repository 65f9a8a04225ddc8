package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// newInputs are what both sides say of the predictor at held-out inputs, S = N.
type newInputs struct {
	examples, held int
	mean, variance []float64 // by theory
	retrained      *retrain.Result
	first          int         // place of the first held-out input among those of retraining
	predictions    [][]float64 // of the resamples at each held-out input
}

// holdOut solves for the examples of an embedded set that are not held, retrains on them and predicts the
// others.
func (p *paperRun) holdOut(ctx context.Context, name string, hold func(row int) bool) (*newInputs, error) {
	spec, err := preset(name)
	if err != nil {
		return nil, err
	}
	rest, held := partition(spec.Set, hold)
	spec.Set = rest
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	cross, err := m.CrossAll(model.Dense(blas64.General(held.X)))
	if err != nil {
		return nil, err
	}
	solution, err := m.Solve(ctx, resample.Poisson{Ratio: 1}, solver.Settings{})
	if err != nil {
		return nil, err
	}
	at := &newInputs{examples: rest.N(), held: held.N(), first: m.Sites()}
	if at.mean, at.variance, err = solution.Predict(slices.Clone(cross.Data)); err != nil {
		return nil, err
	}
	at.retrained, at.predictions, err = p.momentsRetrained(ctx, m, cross)
	at.predictions = at.predictions[at.first:]
	return at, err
}

// partition separates the held rows of a set from the rest.
func partition(set *dataset.Set, hold func(row int) bool) (rest, held *dataset.Set) {
	var in, out []int
	for i := range set.N() {
		if hold(i) {
			out = append(out, i)
		} else {
			in = append(in, i)
		}
	}
	return set.Subset(in), set.Subset(out)
}

// moments is M03 figure 2: the first 50 examples of the Boston housing data are the new inputs, the other 456
// are resampled.
func (p *paperRun) moments(ctx context.Context) ([]*report.Figure, error) {
	at, err := p.holdOut(ctx, "boston", func(row int) bool { return row < 50 })
	if err != nil {
		return nil, err
	}
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
	r := at.retrained
	return []*report.Figure{{
		Name: "m03-figure-2", Title: "M03 figure 2: new inputs",
		Caption: fmt.Sprintf(
			"Mean and variance over resamples of the prediction at 50 held-out inputs of the Boston housing "+
				"data, N = 456, S = N; retraining on %d resamples with two standard errors.", r.Resamples),
		Panels: []report.Panel{panel("mean prediction", at.mean, r.Mean, r.MeanSE),
			panel("variance", at.variance, r.Var, r.VarSE)},
	}}, nil
}

// fieldWidth is the width of the bins of internal fields.
const fieldWidth = 0.1

// fields is M04 figure 1, right: laws of the internal field at new inputs of the sonar data, and the
// probability of the label -1. Every tenth example is held out, 20 of 208; the other 188, as many as M04 has,
// are resampled.
func (p *paperRun) fields(ctx context.Context) ([]*report.Figure, error) {
	at, err := p.holdOut(ctx, "sonar", func(row int) bool { return row%10 == 0 && row < 200 })
	if err != nil {
		return nil, err
	}
	vote := report.Series{Label: "new inputs", Mark: report.Dots}
	laws := make([]law, at.held)
	for i := range laws {
		field := loss.Normal(at.mean[i], at.variance[i]) // M03-48
		laws[i] = compareLaw(i, field, at.predictions[i], lawWidth)
		share := negative(at.predictions[i])
		vote.AddErr(field.CDF(0), share, 2*math.Sqrt(share*(1-share)/float64(at.retrained.Resamples)))
	}
	sorted := byDistance(laws)
	typical := []law{sorted[len(sorted)/2].chosenBy("median distance"),
		sorted[len(sorted)-1].chosenBy("largest distance")}
	for i, l := range typical {
		fine := compareLaw(l.place, loss.Normal(at.mean[l.place], at.variance[l.place]), at.predictions[l.place],
			fieldWidth)
		typical[i] = fine.chosenBy(l.why)
	}
	shares := report.Panel{Title: "probability of the label -1", X: report.Axis{Label: "theory", Max: 1},
		Y:      report.Axis{Label: "retraining", Max: 1},
		Series: []report.Series{{Mark: report.Dotted, Colour: 6, X: []float64{0, 1}, Y: []float64{0, 1}}, vote}}
	return []*report.Figure{{
		Name: "m04-figure-1-right", Title: "M04 figure 1, right: new inputs of the sonar data",
		Caption: fmt.Sprintf(
			"Law over resamples of the internal field at two of %d held-out inputs, N = S = %d, chosen by the "+
				"rank of their L1 distance; and how often the classifier says -1, theory against retraining with "+
				"two standard errors.", at.held, at.examples),
		Panels: append(lawPanels(typical, "internal field"), shares),
	}}, nil
}
