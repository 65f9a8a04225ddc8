package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Ratios of the learning curves: the theory is dense, retraining is not.
var (
	theoryRatios = floats.LogSpan(make([]float64, 18), 0.1, 5)
	naiveRatios  = []float64{0.1, 0.2, 0.35, 0.6, 1, 1.7, 3, 5}
)

// ratioAxis is the axis of the learning curves.
func ratioAxis() report.Axis {
	a := report.Axis{Label: "S / N", Log: true}
	for _, at := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		a.Ticks = append(a.Ticks, report.Tick{Value: at, Label: fmt.Sprint(at)})
	}
	return a
}

// theoryLine is the left-out error by a method of the theory against the ratio, as far as it converges.
func theoryLine(ctx context.Context, m *model.Model, test loss.Test, method solver.Method) (s report.Series,
	err error) {
	var from *solver.Solution
	for _, ratio := range theoryRatios {
		settings := solver.Settings{Method: method}
		if method == solver.ADATAP {
			settings.From = from
		}
		solution, err := m.Solve(ctx, resample.Poisson{Ratio: ratio}, settings)
		switch {
		case err != nil:
			return s, fmt.Errorf("%s at ratio %v: %w", m.Set.Name, ratio, err)
		case solution.Status == solver.Cancelled:
			return s, ctx.Err()
		}
		if from = nil; solution.Status == solver.Converged {
			from = solution
			leftOut, _ := solution.LeftOut(test)
			s.Add(ratio, leftOut)
		}
	}
	return s, nil
}

// retrainedDots are the left-out errors by retraining with two standard errors.
func (p *paperRun) retrainedDots(ctx context.Context, m *model.Model, test loss.Test) (report.Series, error) {
	s := report.Series{Mark: report.Dots}
	for _, ratio := range naiveRatios {
		r, err := p.retrain(ctx, m, resample.Poisson{Ratio: ratio}, test, blas64.General{}, 1, nil)
		if err != nil {
			return s, err
		}
		s.AddErr(ratio, r.LeftOut[0].Error, 2*r.LeftOut[0].SE)
	}
	return s, nil
}

// bothSides are the theory's line and the dots of retraining, of one colour.
func (p *paperRun) bothSides(ctx context.Context, spec model.Spec, test loss.Test, colour int) (line,
	dots report.Series, err error) {
	m, err := model.Build(spec)
	if err != nil {
		return line, dots, err
	}
	if line, err = theoryLine(ctx, m, test, solver.ADATAP); err != nil {
		return line, dots, err
	}
	dots, err = p.retrainedDots(ctx, m, test)
	line.Colour, dots.Colour = colour, colour
	return line, dots, err
}

// regression is M03 figure 1, left: one learning curve with all approximations.
func (p *paperRun) regression(ctx context.Context) ([]*report.Figure, error) {
	spec, err := preset("boston")
	if err != nil {
		return nil, err
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	var series []report.Series
	for _, l := range []struct {
		method solver.Method
		label  string
		mark   report.Mark
		colour int
	}{
		{solver.ADATAP, "theory (ADATAP)", report.Line, 0},
		{solver.StartOnly, "approximate ADATAP", report.Dashed, 2},
		{solver.Variational, "variational Gaussian", report.Dashed, 3},
		{solver.MeanField, "mean field", report.Dotted, 6},
	} {
		line, err := theoryLine(ctx, m, loss.SquareTest{}, l.method)
		if err != nil {
			return nil, err
		}
		line.Label, line.Mark, line.Colour = l.label, l.mark, l.colour
		series = append(series, line)
	}
	dots, err := p.retrainedDots(ctx, m, loss.SquareTest{})
	if err != nil {
		return nil, err
	}
	dots.Label, dots.Colour = "retraining", 1
	return []*report.Figure{report.NewFigure("m03-figure-1-left", "M03 figure 1, left: boston",
		"Square loss on left-out examples of resamples of S = ratio x N examples, Boston housing "+
			"data: four approximations, and retraining with two standard errors. "+
			"Of N examples N exp(-ratio) are left out on average. Solves that did not converge are left out.",
		ratioAxis(), report.Axis{Label: "bootstrapped square loss", Max: 1.6 * slices.Max(dots.Y)},
		append(series, dots)...)}, nil
}

// robust is M03 figure 1, right: the smoothed eps-insensitive loss, one curve per data set.
func (p *paperRun) robust(ctx context.Context) ([]*report.Figure, error) {
	test, err := loss.TestByName("smooth-eps")
	if err != nil {
		return nil, err
	}
	boston, err := preset("boston")
	if err != nil {
		return nil, err
	}
	specs := []model.Spec{boston}
	if p.pumadyn != "" {
		set, err := dataset.Load(p.pumadyn, dataset.Options{})
		if err != nil {
			return nil, err
		}
		arm, err := robot(set)
		if err != nil {
			return nil, err
		}
		specs = append(specs, arm)
	}
	var series []report.Series
	for i, spec := range specs {
		line, dots, err := p.bothSides(ctx, spec, test, i)
		if err != nil {
			return nil, err
		}
		line.Label, dots.Label = spec.Set.Name+", theory", spec.Set.Name+", retraining"
		series = append(series, line, dots)
	}
	return []*report.Figure{report.NewFigure("m03-figure-1-right", "M03 figure 1, right: another test loss",
		"The same predictors, trained with square loss, judged by the eps-insensitive loss with "+
			"smoothed corners (eps = beta = 0.1), with two standard errors of retraining.",
		ratioAxis(), report.Axis{Label: "bootstrapped eps-insensitive loss"}, series...)}, nil
}

// robotScale is l^2 of M03's kernel exp(-sum_j (x_j - x'_j)^2/(v_j l^2)) on the
// robot arm, v_j the variance of input j.
const robotScale = 3

// robot is M03's model of the robot arm (pumadyn-8nm): the first 500 examples.
func robot(set *dataset.Set) (model.Spec, error) {
	const n = 500
	if set.N() < n || set.D() != 8 {
		return model.Spec{}, fmt.Errorf("%w: %s has %d examples of %d features; the robot arm has at least %d of 8",
			model.ErrInput, set.Name, set.N(), set.D(), n)
	}
	head := set.Head(n)
	head.Name = "robot arm"
	scales := head.Standardizer().SD
	for j, sd := range scales {
		scales[j] = sd * math.Sqrt(robotScale/2.)
	}
	return model.Spec{Set: head, Kernel: kernel.Spec{Kind: kernel.RBF, LengthScale: scales},
		Loss: loss.Square{Noise: 0.01}}, nil
}

// classification is M04 figure 1, left: four learning curves of hard margins, wisconsin enlarged.
func (p *paperRun) classification(ctx context.Context) ([]*report.Figure, error) {
	all := report.Panel{X: ratioAxis(), Y: report.Axis{Label: "bootstrapped classification error"}}
	enlarged := report.Panel{Title: "wisconsin, enlarged", X: all.X, Y: all.Y}
	for i, name := range []string{"crabs", "wisconsin", "sonar", "pima"} {
		spec, err := preset(name)
		if err != nil {
			return nil, err
		}
		line, dots, err := p.bothSides(ctx, spec, loss.ZeroOne{}, i)
		if err != nil {
			return nil, err
		}
		if name == "wisconsin" {
			enlarged.Series = []report.Series{line, dots}
		}
		line.Label = name
		all.Series = append(all.Series, line, dots)
	}
	return []*report.Figure{{
		Name: "m04-figure-1-left", Title: "M04 figure 1, left: hard-margin support vector machines",
		Caption: "Error on left-out examples: theory (lines) and retraining (symbols, two standard errors). " +
			"The kernels are this project's, exp(-gamma |x-x'|^2) on standardised inputs; M04 does not print its " +
			"own. The right panel stands for the inset of the paper.",
		Panels: []report.Panel{all, enlarged},
	}}, nil
}
