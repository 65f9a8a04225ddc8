package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

func runTune(a *app, o *options, data []string) {
	q := o.question()
	q.NoPoints, q.Verdict = true, true
	a.console.Progress("reading", 0, 1)
	set := a.loadData(o, data[0])
	p := o.search(set)
	q.Scheme = o.designed(o.ratio, set)
	a.openJournal(&problem{flags: o})
	r, chosen := a.choose(p)
	if len(r.Over) == 0 {
		refuse("--over is required: nothing of this model is chosen by default")
	}
	best := &problem{spec: r.Spec, test: p.Test, choice: chosen, flags: o}
	o.draw(a.ctx, best, q.DefaultSample)
	q.Scheme = o.designed(o.ratio, best.spec.Set)
	ctx := a.ctx
	if r.Cancelled {
		ctx = context.WithoutCancel(ctx)
	}
	s := a.build(ctx, best)
	o.keepable(best, q, o.shard.count > 0)
	a.keepFits(s)
	d := &report.Tuning{Search: searchReport(r), Answer: &report.Answer{Subject: s.Subject,
		TestError: report.NumberOf(math.NaN()), Status: completeness(false)}}
	if !r.Cancelled {
		d.Answer = steps.Must(s.Estimate(ctx, q))
	}
	if o.model != "" {
		d.ModelFile = o.model
		trained := steps.Must(s.Train(a.ctx, answer.Training{}))
		trained.Program = report.Version()
		a.mustFinish()
		steps.Check(files.Replace(o.model, trained.Write))
	}
	d.StandardError = report.Number(math.NaN())
	if d.Quality != nil {
		d.StandardError = d.Quality.ExampleSE
	}
	d.Command = "tune"
	a.deliver(d)
}

// choose searches. A journal stores the parts of the search.
func (a *app) choose(p *tune.Problem) (r *tune.Result, c choice) {
	began := time.Now()
	var settings tune.Settings
	if a.tasks.Journal != nil && a.command.name == "tune" {
		law := steps.Must(p.Scheme(p.Spec.Set.N()))
		key := p.Spec.Key(law, "tune", p.By, p.Over, p.Test.Name(), p.Spec.Measure.String(), p.Rows)
		settings.Do = func(name string, compute func() (tune.Part, error)) (part tune.Part, err error) {
			err = steps.Run(func() {
				a.tasks.doAll("the search's "+name, keyOf(key, name), &part,
					func() { part = steps.Must(compute()) })
			})
			return part, err
		}
	}
	judged := 0
	settings.Progress = func(e tune.Evaluation, least float64) {
		if judged++; a.command.name == "tune" { // it prints the best so far
			a.mustFinish()
		}
		a.console.Progress(fmt.Sprintf("choosing a model: %d judged, best of %d examples %.6g", judged,
			e.Examples, least), 0, 1)
	}
	run := tune.Run
	if a.options.kernel == autoKernel {
		run = a.options.chooseKernel
	}
	r, err := run(a.ctx, *p, settings)
	if len(a.tasks.missing) > 0 { // which the search takes for failures
		err = fits.ErrElsewhere
	}
	steps.Check(err)
	for _, b := range r.Bounds {
		a.found.Add(report.AtTheEdge.Check(b.Value, "widen the range of the search: tune --over NAME=FROM:TO",
			"%s", b.Text))
	}
	c = choice{by: r.String(), seconds: time.Since(began).Seconds()}
	if len(r.Over) > 0 {
		again := *p
		again.Scheme, again.Test = nil, nil
		c.again = func(scales tune.Scales) answer.Chooser { return chooser(run, again, scales) }
	}
	about, _ := loss.About(r.Spec.Loss.Name())
	for _, h := range r.Over {
		c.over = append(c.over, h.Name)
	}
	for _, name := range about.Takes {
		if !slices.Contains(c.over, name) && !a.options.Given(name) {
			c.over = append(c.over, name)
		}
	}
	c.over = slices.Compact(c.over) // of several length scales
	return r, c
}

// chooser searches on other rows by a problem, with scales for length scales per feature.
func chooser(run func(context.Context, tune.Problem, tune.Settings) (*tune.Result, error), p tune.Problem,
	scales tune.Scales) answer.Chooser {
	if p.Scales == tune.IfBetter {
		p.Scales = scales
	}
	return func(ctx context.Context, set *dataset.Set) (model.Spec, error) {
		part := p
		part.Spec.Set = set
		r, err := run(ctx, part, tune.Settings{})
		if err != nil {
			return model.Spec{}, err
		}
		return r.Spec, nil
	}
}

// autoKernel is the word for the best of some kernels.
const autoKernel = "auto"

// chooseKernel searches with each of several kernels, and returns the best search, the first of equals.
func (o *options) chooseKernel(ctx context.Context, p tune.Problem, settings tune.Settings) (
	best *tune.Result, err error) {
	err = steps.Run(func() {
		for _, kind := range []kernel.Kind{kernel.RBF, kernel.Matern52, kernel.Linear} {
			one := p
			one.Spec.Kernel.Kind = kind
			unscaled := one.Scales == tune.Each && !one.Spec.Kernel.Scaled()
			if unscaled || one.Spec.Kernel.Validate(p.Spec.Set.D()) != nil { // it takes no such length scales
				continue
			}
			one.Over = o.tuneAxes(&one.Spec)
			if r := steps.Must(tune.Run(ctx, one, settings)); best == nil || r.Value < best.Value {
				best = r
			}
		}
	})
	return best, err
}

// search is the problem of choosing everything that no flag gives. It ignores presets.
func (o *options) search(set *dataset.Set) *tune.Problem {
	p := &tune.Problem{By: o.by, Scheme: func(n int) (resample.Scheme, error) {
		return o.schemeOver(resample.Design{N: n}, o.scheme, o.ratio)
	}}
	start := model.Preset{Loss: loss.Hinge{C: 1}}
	if square := (loss.Square{Noise: 1}); set.AreNumbers() || o.loss == square.Name() {
		start.Loss = square
	}
	p.Spec, _ = o.spec(set, start)
	if o.Given("folds") {
		p.Folds = o.folds
	}
	p.Rows = o.tuneRows
	p.Over = o.tuneAxes(&p.Spec)
	if loss.TraitsOf(p.Spec.Loss).Quadratic && !o.Given("noise") &&
		!slices.ContainsFunc(p.Over, func(a tune.Axis) bool { return a.Name == "noise" }) {
		refuse("--noise is required with --over %s: give it, or choose it, too, by --over "+
			"noise,%[1]s", strings.Join(o.over, ","))
	}
	switch {
	case o.ard:
		p.Scales = tune.Each
	case len(o.over) == 0:
		p.Scales = tune.DefaultScales(&p.Spec)
	}
	p.Test = o.test(set, set.Name)
	return p
}

// tuneAxes reads --over. The default is tune.Default without the given flags; for a named and given one the
// search begins at the value of the flag.
func (o *options) tuneAxes(spec *model.Spec) []tune.Axis {
	k, names := &spec.Kernel, o.over
	if len(names) == 0 {
		names = slices.DeleteFunc(tune.Default(spec), func(name string) bool {
			return o.Given(name) && !(o.ard && (name == "gamma" || name == "length-scale"))
		})
	}
	axes := []tune.Axis{}
	for _, text := range names {
		axis := tuneAxis(text)
		axis.Given = o.Given(axis.Name) || axis.Name == "length-scale" && o.Given("gamma")
		if axis.Name == "length-scale" && len(k.LengthScale) == 0 && k.Scaled() && k.Gamma == 0 {
			k.LengthScale = []float64{tune.Start(spec, axis.Name)}
		}
		axes = append(axes, axis)
	}
	return axes
}

func tuneAxis(text string) (axis tune.Axis) {
	name, bounds, bounded := strings.Cut(text, "=")
	axis.Name = strings.TrimSpace(name)
	steps.Check(usage.OneOf("over", axis.Name, flagLists["over-tune"]...))
	if !bounded {
		return axis
	}
	from, to, _ := strings.Cut(bounds, ":")
	var low, high error
	axis.From, low = strconv.ParseFloat(from, 64)
	axis.To, high = strconv.ParseFloat(to, 64)
	if low != nil || high != nil || !(axis.From > 0 && axis.From < axis.To) || math.IsInf(axis.To, 1) {
		refuse("--over %s: bounds are FROM:TO, numbers above 0, the lower one first", text)
	}
	return axis
}

func searchReport(r *tune.Result) report.Search {
	d := report.Search{By: r.By.String(), Best: map[string]any{}, Objective: report.Number(r.Value),
		Evaluations: r.Evaluations(), Failures: r.Failures}
	for _, h := range r.Over {
		if values := valuesOf(&r.Spec, h.Name); len(values) > 1 {
			d.Best[h.Name] = values
		} else {
			d.Best[h.Name] = values[0]
		}
	}
	for _, e := range r.Path {
		step := report.TuningStep{Examples: e.Examples, Values: e.Values, Failure: e.Failure}
		if e.Failure == "" {
			step.Objective = report.NumberOf(e.Value)
		}
		d.Path = append(d.Path, step)
	}
	return d
}

// repeat is the command line that repeats an answer with the model that was chosen for it; after tune, the
// estimate of that model.
func (a *app) repeat(p *problem) string {
	command, other := a.command.name, []string{"no-normalize-target"}
	if command == "tune" {
		command, other = "estimate", append(other, "over", "ard", "by")
		if p.flags.scheme != (resample.KFold{}).Name() {
			other = append(other, "folds")
		}
	}
	chosen, given := p.settings(func(name string) bool {
		return (isRecorded(name) || name == "model" && command == "train") && !slices.Contains(other, name)
	})
	if len(chosen) == 0 { // the choice is a part of what is repeated
		return a.line()
	}
	words := append([]string{"bootbench", command}, a.data...)
	for _, setting := range chosen {
		name, value, _ := strings.Cut(setting, "=")
		words = append(words, "--"+name, value)
	}
	if _, preset := model.PresetFor(p.spec.Set); preset || p.flags.Given("no-normalize-target") {
		words = append(words, fmt.Sprintf("--no-normalize-target=%t", !p.spec.NormalizeTarget))
	}
	for _, setting := range given {
		name, on := strings.CutSuffix(setting, "=true")
		if on && p.flags.Lookup(name).Value.Type() == "bool" {
			setting = name
		}
		words = append(words, "--"+setting)
	}
	return shellWords(words...)
}
