package main

import (
	"context"
	"flag"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// paperRun computes the figures of Malzahn and Opper 2003 ([M03]) and 2004 ([M04]) from their data and
// models: theory and retraining.
type paperRun struct {
	resamples int // per point of a learning curve; moments and laws take momentsFactor times as many
	seed      uint64
	workers   int
	pumadyn   string  // CSV of the robot arm
	fixed     bool    // moments and laws are of resamples of exactly N examples
	wider     float64 // factor of l^2 in the kernel of the Boston data
}

type paperFigure struct {
	id  string
	run func(*paperRun, context.Context) []*report.Figure
}

// paperFigures are the figures, in the order of the papers.
var paperFigures = []paperFigure{
	{"m03-1-left", (*paperRun).regression}, {"m03-1-right", (*paperRun).robust},
	{"m03-2", (*paperRun).moments}, {"m03-3-5", (*paperRun).laws}, {"m04-1-left", (*paperRun).classification},
	{"m04-1-right", (*paperRun).fields},
}

// paperStudy draws the figures of both papers.
func paperStudy(f *flag.FlagSet) func(context.Context, *output) {
	p := &paperRun{}
	only := f.String("figure", "",
		"only these `ids`, of m03-1-left,m03-1-right,m03-2,m03-3-5,m04-1-left,m04-1-right; default: all")
	f.IntVar(&p.resamples, "resamples", 1000, fmt.Sprintf(
		"retrainings per point of a learning curve; moments and laws take %d times as many", momentsFactor))
	f.Uint64Var(&p.seed, "seed", 0, "of the resamples")
	f.IntVar(&p.workers, "workers", 0, "retrainings at a time; default: one for each processor")
	f.StringVar(&p.pumadyn, "pumadyn", "",
		"CSV `file` of the robot arm, pumadyn-8nm; default: its curve is left out")
	f.BoolVar(&p.fixed, "fixed", false,
		"moments and laws are of resamples of exactly N examples; default: of N on average")
	f.Float64Var(&p.wider, "wider", 1, "`factor` of l^2 in the kernel of the Boston data")
	return func(ctx context.Context, o *output) {
		id := func(f paperFigure) string { return f.id }
		for _, figure := range pick("figure", *only, paperFigures, id) {
			o.figures(figure.run(p, ctx)...)
		}
	}
}

// preset is the papers' model of an embedded set.
func (p *paperRun) preset(name string) model.Spec {
	set := steps.Must(dataset.Open(name))
	preset, _ := model.PresetFor(set)
	floats.Scale(math.Sqrt(p.wider), preset.Kernel.LengthScale)
	return model.Spec{Set: set, Kernel: preset.Kernel, Loss: preset.Loss, Standardize: preset.Standardize}
}

// retrain trains on resamples with a test loss. onFit, unless nil, gets each resample's predictions, at the
// sites and then at new inputs whose kernel rows are given.
func (p *paperRun) retrain(ctx context.Context, m *model.Model, scheme resample.Scheme, test loss.Test,
	cross blas64.General, resamples int, onFit func(r int, weight, f []float64)) *fits.Averages {
	r := steps.Must(model.Retrain(ctx, m, model.Single, scheme, model.RetrainSettings{Seed: p.seed,
		Cross: cross, Settings: fits.Settings{Resamples: resamples, Workers: p.workers,
			Tests: []loss.Test{test}, OnFit: onFit}}))
	steps.Check(ctx.Err())
	return r.Averages
}

// Ratios of the learning curves: the theory is dense, retraining is not.
var (
	theoryRatios = floats.LogSpan(make([]float64, 18), 0.1, 5)
	naiveRatios  = []float64{0.1, 0.2, 0.35, 0.6, 1, 1.7, 3, 5}
)

// ratioAxis is the axis of the learning curves, with the mean number of test points among n examples unless n
// is 0.
func ratioAxis(n float64) report.Axis {
	a := report.Axis{Label: "S / N", Log: true}
	for _, at := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		tick := report.Tick{Value: at, Label: fmt.Sprint(at)}
		if n > 0 {
			tick.Label = fmt.Sprintf("%v (%.0f)", at, n*math.Exp(-at))
		}
		a.Ticks = append(a.Ticks, tick)
	}
	if n > 0 {
		a.Label += " (number of test points)"
	}
	return a
}

// theoryLine is the left-out error by a method of the theory against the ratio, with gaps where the method
// has no solution.
func theoryLine(ctx context.Context, m *model.Model, test loss.Test, method solver.Method) (s report.Series) {
	settings := solver.Settings{Method: method}
	for _, ratio := range theoryRatios {
		solution := steps.Must(m.Solve(ctx, resample.Poisson{Ratio: ratio}, settings))
		steps.Check(ctx.Err())
		leftOut, _ := solution.LeftOut(test)
		if settings.From = nil; solution.Status != solver.Converged {
			leftOut = math.NaN()
		} else if method == solver.ADATAP {
			settings.From = solution
		}
		s.Add(ratio, leftOut)
	}
	return s
}

// retrainedDots are the left-out errors by retraining with two standard errors.
func (p *paperRun) retrainedDots(ctx context.Context, m *model.Model, test loss.Test) report.Series {
	s := report.Series{Mark: report.Dots}
	for _, ratio := range naiveRatios {
		r := p.retrain(ctx, m, resample.Poisson{Ratio: ratio}, test, blas64.General{}, p.resamples, nil)
		s.AddErr(ratio, r.Tests[0].Error, 2*r.Tests[0].SE)
	}
	return s
}

// bothSides are the theory's line and the dots of retraining, in one colour.
func (p *paperRun) bothSides(ctx context.Context, spec model.Spec, test loss.Test, colour int) (line,
	dots report.Series) {
	m := steps.Must(model.Build(context.Background(), spec))
	line, dots = theoryLine(ctx, m, test, solver.ADATAP), p.retrainedDots(ctx, m, test)
	line.Colour, dots.Colour = colour, colour
	return line, dots
}

// regression is M03 figure 1, left: one learning curve with all approximations.
func (p *paperRun) regression(ctx context.Context) []*report.Figure {
	m := steps.Must(model.Build(context.Background(), p.preset("boston")))
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
		line := theoryLine(ctx, m, loss.SquareTest{}, l.method)
		line.Label, line.Mark, line.Colour = l.label, l.mark, l.colour
		series = append(series, line)
	}
	dots := p.retrainedDots(ctx, m, loss.SquareTest{})
	dots.Label, dots.Colour = "retraining", 1
	return []*report.Figure{report.NewFigure("m03-figure-1-left", "M03 figure 1, left: boston",
		"Square loss on left-out examples of resamples of S = ratio x N examples, Boston housing "+
			"data: four approximations, and retraining with two standard errors. "+
			"Of N examples N exp(-ratio) are left out on average. A line has a gap where its method has "+
			"no solution.",
		ratioAxis(float64(m.Set.N())), report.Axis{Label: "bootstrapped square loss"},
		append(series, dots)...)}
}

// robust is M03 figure 1, right: the smoothed eps-insensitive loss, one curve per data set.
func (p *paperRun) robust(ctx context.Context) []*report.Figure {
	test := steps.Must(loss.TestByName("smooth-eps"))
	specs := []model.Spec{p.preset("boston")}
	if p.pumadyn != "" {
		specs = append(specs, robot(steps.Must(dataset.Load(p.pumadyn, dataset.Options{}))))
	}
	var series []report.Series
	for i, spec := range specs {
		line, dots := p.bothSides(ctx, spec, test, i)
		line.Label, dots.Label = spec.Set.Name+", theory", spec.Set.Name+", retraining"
		series = append(series, line, dots)
	}
	return []*report.Figure{report.NewFigure("m03-figure-1-right", "M03 figure 1, right: another test loss",
		"The same predictors, trained with square loss, judged by the eps-insensitive loss with "+
			"smoothed corners (eps = beta = 0.1), with two standard errors of retraining.",
		ratioAxis(0), report.Axis{Label: "bootstrapped eps-insensitive loss"}, series...)}
}

// robotScale is l^2 of M03's kernel exp(-sum_j (x_j - x'_j)^2/(v_j l^2)) on the
// robot arm, v_j the variance of input j.
const robotScale = 3

// robot is M03's model of the robot arm (pumadyn-8nm): the first 500 examples.
func robot(set *dataset.Set) model.Spec {
	const n = 500
	if set.N() < n || set.D() != 8 {
		steps.Check(fmt.Errorf("%s has %d examples of %d features; the robot arm has at least %d of 8",
			set.Name, set.N(), set.D(), n))
	}
	head := set.Head(n)
	head.Name = "robot arm"
	scales := head.Standardizer().SD
	floats.Scale(math.Sqrt(robotScale/2.), scales)
	return model.Spec{Set: head, Kernel: kernel.Spec{Kind: kernel.RBF, LengthScale: scales},
		Loss: loss.Square{Noise: 0.01}}
}

// classification is M04 figure 1, left: four learning curves of hard margins, wisconsin enlarged.
func (p *paperRun) classification(ctx context.Context) []*report.Figure {
	all := report.Panel{X: ratioAxis(0), Y: report.Axis{Label: "bootstrapped classification error"}}
	enlarged := report.Panel{Title: "wisconsin, enlarged", X: all.X, Y: all.Y}
	for i, name := range []string{"crabs", "wisconsin", "sonar", "pima"} {
		line, dots := p.bothSides(ctx, p.preset(name), loss.ZeroOne{}, i)
		if name == "wisconsin" {
			enlarged.Series = []report.Series{line, dots}
		}
		line.Label = name
		all.Series = append(all.Series, line, dots)
	}
	return []*report.Figure{{
		Name: "m04-figure-1-left", Title: "M04 figure 1, left: hard-margin support vector machines",
		Caption: "Error on left-out examples: theory (lines) and retraining (symbols, two standard " +
			"errors). The kernels are this project's, exp(-gamma |x-x'|^2) on standardised inputs; M04 " +
			"does not print its own. The right panel replaces the inset of the paper.",
		Panels: []report.Panel{all, enlarged},
	}}
}
