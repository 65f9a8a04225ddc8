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
	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// tuneNames are the flags that can be chosen.
var tuneNames = append([]string{"gamma", "length-scale", "coef0", "amplitude", "constant", "jitter"},
	lossNames[1:]...)

// runTune reads DATA, searches, and estimates with the best model.
func runTune(a *app, o *options, data []string) error {
	q, err := o.question()
	if err != nil {
		return err
	}
	q.NoPoints, q.Verdict = true, true
	a.console.Progress("reading", 0, 1)
	set, err := a.loadData(o, data[0])
	if err != nil {
		return err
	}
	p, err := o.search(set)
	if err != nil {
		return err
	}
	if q.Scheme, err = o.designed(o.ratio, set); err != nil {
		return err
	}
	if err := a.openJournal(choice{}); err != nil {
		return err
	}
	r, chosen, err := a.choose(p)
	if err != nil {
		return err
	}
	if len(r.Over) == 0 {
		return usage.Errorf("--over is required: nothing of this model is chosen by default")
	}
	best := &problem{spec: r.Spec, test: p.Test, choice: chosen, flags: o}
	if err := o.draw(a.ctx, best, q.DefaultSample); err != nil {
		return err
	}
	if q.Scheme, err = o.designed(o.ratio, best.spec.Set); err != nil {
		return err
	}
	ctx := a.ctx
	if r.Cancelled {
		ctx = context.WithoutCancel(ctx)
	}
	s, err := a.build(ctx, best)
	if err != nil {
		return err
	}
	d := &report.Tuning{Search: searchReport(r), Answer: &report.Answer{Subject: s.Subject,
		TestError: report.NumberOf(math.NaN()), Status: completeness(false)}}
	if !r.Cancelled {
		if d.Answer, err = s.Estimate(ctx, q); err != nil {
			return a.answer(nil, err)
		}
		s.AddMeasure(ctx, d.Answer, q.Seed, q.Level)
		s.Caution(d.Answer)
	}
	if o.model != "" {
		d.ModelFile = o.model
		if err = writeModel(a, o.model, s); err != nil {
			return err
		}
	}
	d.StandardError = report.Number(math.NaN())
	if d.Quality != nil {
		d.StandardError = d.Quality.ExampleSE
	}
	d.Command = "tune"
	return a.answer(d, nil)
}

// choose searches. A journal stores the parts of the search.
func (a *app) choose(p *tune.Problem) (r *tune.Result, c choice, err error) {
	began := time.Now()
	var settings tune.Settings
	if a.tasks.Journal != nil && a.command.name == "tune" {
		law, err := p.Scheme(p.Spec.Set.N())
		if err != nil {
			return nil, c, err
		}
		key := p.Spec.Key(law, "tune", p.By, p.Over, p.Test.Name(), p.Measure.String())
		settings.Do = func(name string, compute func() (tune.Part, error)) (part tune.Part, err error) {
			_, err = a.tasks.do(0, keyOf(key, name), &part,
				func() (err error) { part, err = compute(); return err })
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
	if r, err = run(a.ctx, *p, settings); err != nil {
		return nil, c, err
	}
	for _, b := range r.Bounds {
		a.found.Add(report.AtTheEdge.Check(b.Value, "widen the range of the search", "%s", b.Text))
	}
	c = choice{by: r.String(), seconds: time.Since(began).Seconds()}
	if len(r.Over) > 0 {
		again := *p
		again.Scheme, again.Test = nil, nil
		c.again = func(scales tune.Scales) answer.Chooser { return chooser(run, again, scales) }
		c.settings = []string{"loss=" + r.Spec.Loss.Name()}
	}
	if a.options.kernel == autoKernel {
		c.settings = append(c.settings, "kernel="+r.Spec.Kernel.Kind.String())
	}
	var names []string
	for _, h := range r.Over {
		names = append(names, h.Name)
	}
	about, _ := loss.About(r.Spec.Loss.Name())
	for _, name := range about.Takes {
		if !slices.Contains(names, name) && !a.options.Given(name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Compact(names) { // of several length scales
		if values := valuesOf(&r.Spec, name); values != nil {
			c.settings = append(c.settings, name+"="+flags.Join(values))
		}
	}
	if (a.options.Lookup("chosen") != nil || a.command.name == "tune") && len(r.Spec.Chosen) > 0 {
		c.settings = append(c.settings, "chosen="+strings.Join(r.Spec.Chosen, ","))
	}
	return r, c, nil
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
	for _, kind := range []kernel.Kind{kernel.RBF, kernel.Matern52, kernel.Linear} {
		one := p
		one.Spec.Kernel.Kind = kind
		unscaled := one.Scales == tune.Each && !one.Spec.Kernel.Scaled()
		if unscaled || one.Spec.Kernel.Validate(p.Spec.Set.D()) != nil { // it takes no such length scales
			continue
		}
		if one.Over, err = o.tuneAxes(&one.Spec); err != nil {
			return nil, err
		}
		r, err := tune.Run(ctx, one, settings)
		if err != nil {
			return nil, err
		}
		if best == nil || r.Value < best.Value {
			best = r
		}
	}
	return best, nil
}

// search is the problem of choosing everything that no flag gives. It ignores presets.
func (o *options) search(set *dataset.Set) (p *tune.Problem, err error) {
	p = &tune.Problem{By: o.by, Measure: o.measure, Scheme: func(n int) (resample.Scheme, error) {
		return o.schemeOver(resample.Design{N: n}, o.scheme, o.ratio)
	}}
	distinct := slices.Compact(slices.Sorted(slices.Values(set.Columns[0].Y)))
	if o.loss == "" && set.AreNumbers() && len(set.Columns) == 1 && len(distinct) == 2 {
		if err := set.Classify(""); err != nil {
			return nil, err
		}
	}
	start := model.Preset{Loss: loss.Hinge{C: 1}}
	if square := (loss.Square{Noise: 1}); set.AreNumbers() || o.loss == square.Name() {
		start.Loss = square
	}
	if p.Spec, _, err = o.spec(set, start); err != nil {
		return nil, err
	}
	if o.Given("folds") {
		p.Folds = o.folds
	}
	if p.Over, err = o.tuneAxes(&p.Spec); err != nil {
		return nil, err
	}
	if loss.TraitsOf(p.Spec.Loss).Quadratic && !o.Given("noise") &&
		!slices.ContainsFunc(p.Over, func(a tune.Axis) bool { return a.Name == "noise" }) {
		return nil, usage.Errorf("--noise is required with --over %s: give it, or choose it, too, by --over "+
			"noise,%[1]s", strings.Join(o.over, ","))
	}
	switch {
	case o.ard:
		p.Scales = tune.Each
	case len(o.over) == 0:
		p.Scales = tune.DefaultScales(&p.Spec)
	}
	p.Test, err = o.test(set, set.Name)
	return p, err
}

// tuneAxes reads --over. The default is tune.Default without the given flags; for a named and given one the
// search begins at the value of the flag.
func (o *options) tuneAxes(spec *model.Spec) (axes []tune.Axis, err error) {
	k, names := &spec.Kernel, o.over
	if len(names) == 0 {
		names = slices.DeleteFunc(tune.Default(spec), func(name string) bool {
			return o.Given(name) && !(o.ard && (name == "gamma" || name == "length-scale"))
		})
	}
	axes = []tune.Axis{}
	for _, text := range names {
		axis, err := tuneAxis(text)
		if err != nil {
			return nil, err
		}
		axis.Given = o.Given(axis.Name) || axis.Name == "length-scale" && o.Given("gamma")
		if axis.Name == "length-scale" && len(k.LengthScale) == 0 && k.Scaled() && k.Gamma == 0 {
			k.LengthScale = []float64{tune.Start(spec, axis.Name)}
		}
		axes = append(axes, axis)
	}
	return axes, nil
}

// tuneAxis reads NAME or NAME=FROM:TO.
func tuneAxis(text string) (axis tune.Axis, err error) {
	name, bounds, bounded := strings.Cut(text, "=")
	axis.Name = strings.TrimSpace(name)
	if err := usage.OneOf("over", axis.Name, tuneNames...); err != nil || !bounded {
		return axis, err
	}
	from, to, _ := strings.Cut(bounds, ":")
	axis.From, err = strconv.ParseFloat(from, 64)
	if err == nil {
		axis.To, err = strconv.ParseFloat(to, 64)
	}
	if err != nil || !(axis.From > 0 && axis.From < axis.To) || math.IsInf(axis.To, 1) {
		return axis, usage.Errorf("--over %s: bounds are FROM:TO, numbers above 0, the lower one first", text)
	}
	return axis, nil
}

// writeModel trains a model and writes its file.
func writeModel(a *app, path string, s *answer.Study) error {
	p, err := s.Train(a.ctx)
	if err != nil {
		return err
	}
	p.Program = report.Version()
	a.mustFinish()
	return files.Replace(path, p.Write)
}

// searchReport is the report of a search.
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
	o, spec, chosen, command := p.flags, &p.spec, slices.Clone(p.choice.settings), a.command.name
	other := []string{"no-normalize-target"}
	if len(chosen) == 0 { // the choice is a part of what is repeated
		return a.line()
	}
	_, preset := model.PresetFor(spec.Set) // a search ignores it
	if preset && o.kernel != autoKernel {
		chosen = slices.Insert(chosen, 1, "kernel="+spec.Kernel.Kind.String())
	}
	if command == "tune" {
		command, other = "estimate", append(other, "over", "ard", "by")
		if o.scheme != (resample.KFold{}).Name() {
			other = append(other, "folds")
		}
	}
	words := append([]string{"bootbench", command}, a.data...)
	for _, setting := range chosen {
		name, value, _ := strings.Cut(setting, "=")
		if words, other = append(words, "--"+name, value), append(other, name); name == "length-scale" {
			other = append(other, "gamma")
		}
	}
	if preset || o.Given("no-normalize-target") {
		words = append(words, fmt.Sprintf("--no-normalize-target=%t", !spec.NormalizeTarget))
	}
	for _, setting := range o.Settings(func(name string) bool {
		return (isRecorded(name) || name == "model" && command == "train") && !slices.Contains(other, name)
	}) {
		words = append(words, "--"+setting)
	}
	return shellWords(words...)
}
