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
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// tuneNames are the flags that can be chosen.
var tuneNames = append([]string{"gamma", "length-scale", "coef0", "amplitude", "constant", "jitter"},
	lossNames[1:]...)

func tuneCommand() *command {
	return &command{
		name: "tune",
		takes: slices.Concat(problemNames, engineNames, []string{"over/tune", "ard", "by", "model/train", "refine",
			"seed", "accuracy", "metrics", "ratio", "scheme", "folds", "test-loss", "journal", "groups", "verbose"}),
		defaults: map[string]string{"by": tune.Folds.String()},
		run:      runTune,
		classes:  true,
	}
}

// runTune reads DATA, searches, and estimates with the model that it has found.
func runTune(a *app, o *options, data []string) error {
	s, err := o.answers()
	if err == nil {
		err = o.checkScheme(o.ratio)
	}
	if err != nil {
		return err
	}
	s.NoPoints = true
	a.console.Progress("reading", 0, 1)
	set, err := a.loadData(o, data[0])
	if err != nil {
		return err
	}
	p, err := o.search(set)
	if err != nil {
		return err
	}
	if s.Scheme, err = o.designed(o.ratio, set); err != nil {
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
	d := &report.Tuning{Search: searchReport(r), Estimate: &report.Estimate{}}
	best := &problem{spec: r.Spec, test: p.Test, choice: choice{seconds: chosen.seconds}, flags: o}
	if best.spec.Set.Further != nil {
		best.choice = chosen
		return a.answerJoint(best, func(j answer.Joint) (report.Joint, error) { return j.Estimate(a.ctx, s) })
	}
	j, err := a.tuned(best, r, s, d)
	if err == nil && o.model != "" {
		d.ModelFile, err = o.model, writeModel(a.ctx, o.model, j)
	}
	if err != nil {
		return err
	}
	return a.deliver(d.Sheet())
}

// choose searches. A journal keeps the parts of the search.
func (a *app) choose(p *tune.Problem) (r *tune.Result, c choice, err error) {
	began := time.Now()
	var settings tune.Settings
	if a.tasks.Journal != nil && a.command.name == "tune" {
		law, err := p.Scheme(p.Spec.Set.N())
		if err != nil {
			return nil, c, err
		}
		key := p.Spec.Key(law, "tune", p.By, p.Over, p.Test.Name())
		settings.Do = func(name string, compute func() (tune.Part, error)) (part tune.Part, err error) {
			_, err = a.tasks.do(0, keyOf(key, name), &part, func() (err error) { part, err = compute(); return err })
			return part, err
		}
	}
	judged := 0
	settings.Progress = func(e tune.Evaluation, least float64) {
		judged++
		a.console.Progress(fmt.Sprintf("choosing a model: %d judged, best of %d examples %.6g", judged, e.Examples,
			least), 0, 1)
	}
	if a.options.kernel == autoKernel {
		r, err = a.chooseKernel(p, settings)
	} else {
		r, err = tune.Run(a.ctx, *p, settings)
	}
	if err != nil {
		return nil, c, err
	}
	c = choice{by: r.String(), seconds: time.Since(began).Seconds()}
	if len(r.Over) > 0 {
		c.settings = []string{"loss=" + r.Spec.Loss.Name()}
	}
	if a.options.kernel == autoKernel {
		c.settings = append(c.settings, "kernel="+r.Spec.Kernel.Kind.String())
	}
	for k, h := range r.Over {
		if k == 0 || h.Name != r.Over[k-1].Name {
			c.settings = append(c.settings, chosenSettings(&r.Spec, h.Name)...)
		}
	}
	return r, c, nil
}

// autoKernel is the word for the best of some kernels.
const autoKernel = "auto"

// chooseKernel searches with each of some kernels, and returns the search that ends best, the first of
// equals.
func (a *app) chooseKernel(p *tune.Problem, settings tune.Settings) (best *tune.Result, err error) {
	for _, kind := range []kernel.Kind{kernel.RBF, kernel.Matern52, kernel.Linear} {
		one := *p
		one.Spec.Kernel.Kind = kind
		if one.Spec.Kernel.Validate(p.Spec.Set.D()) != nil { // a length scale is given, which it does not take
			continue
		}
		if one.Over, err = a.options.tuneAxes(&one.Spec); err != nil {
			return nil, err
		}
		r, err := tune.Run(a.ctx, one, settings)
		if err != nil {
			return nil, err
		}
		if best == nil || r.Value < best.Value {
			p.Over, best = one.Over, r
		}
	}
	return best, nil
}

// search is what is chosen of a data set: not what flags give. A preset is not looked at: what is chosen
// takes its place.
func (o *options) search(set *dataset.Set) (p *tune.Problem, err error) {
	p = &tune.Problem{Scheme: func(n int) (resample.Scheme, error) { return o.schemeOf(o.ratio, n) }}
	if o.loss == "" {
		if err := classifyTwoValues(set); err != nil {
			return nil, err
		}
	}
	if p.Spec, _, err = o.spec(set, model.Preset{Loss: o.startLoss(set)}); err != nil {
		return nil, err
	}
	if o.by != "" {
		p.By, _ = tune.ByName(o.by)
	}
	if o.Given("folds") {
		p.Folds = o.folds
	}
	if p.Over, err = o.tuneAxes(&p.Spec); err != nil {
		return nil, err
	}
	switch {
	case o.ard:
		p.Scales = tune.Each
	case len(o.over) == 0:
		p.Scales = tune.DefaultScales(&p.Spec)
	}
	p.Test, err = o.test(set.Task, set.Name)
	return p, err
}

// startLoss is the loss whose parameters are chosen where none is given.
func (o *options) startLoss(set *dataset.Set) loss.Loss {
	if square := (loss.Square{Noise: 1}); set.Task == dataset.Regression || o.loss == square.Name() {
		return square
	}
	return loss.Hinge{C: 1}
}

// tuneAxes reads --over. By default it takes what tune.Default names and no flag gives; the search of what is
// named and given begins at the value of the flag.
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

// trainer is what a model file is trained of: a job, or several classes.
type trainer interface {
	Train(ctx context.Context) (*model.Predictor, error)
}

// writeModel trains a model and writes its file.
func writeModel(ctx context.Context, path string, t trainer) error {
	p, err := t.Train(ctx)
	if err != nil {
		return err
	}
	p.Program = version()
	return files.Replace(path, p.Write)
}

// searchReport is what a report says of a search.
func searchReport(r *tune.Result) report.Search {
	d := report.Search{By: r.By.String(), Best: map[string]any{}, Objective: null.Float(r.Value),
		Evaluations: r.Evaluations(), Failures: r.Failures}
	for _, h := range r.Over {
		value := any(h.Value(&r.Spec))
		if len(r.Spec.Kernel.LengthScale) > 1 && h.Name == "length-scale" {
			value = r.Spec.Kernel.LengthScale
		}
		if w := loss.WeightsOf(r.Spec.Loss); h.Name == "class-weight" && w.Negative != 1 {
			value = []float64{w.Negative, w.Positive}
		}
		d.Best[h.Name] = value
	}
	for _, e := range r.Path {
		step := report.TuningStep{Examples: e.Examples, Values: e.Values, Failure: e.Failure}
		if e.Failure == "" {
			step.Objective = null.Of(e.Value)
		}
		d.Path = append(d.Path, step)
	}
	return d
}

// tuned builds the model that was chosen and fills in its estimate, unless the search was interrupted.
func (a *app) tuned(p *problem, r *tune.Result, s answer.Settings,
	d *report.Tuning) (t trainer, err error) {
	again := againLine(a, p.flags, d.Best, &r.Spec)
	switch {
	case r.Cancelled && p.joint():
		return nil, a.ctx.Err()
	case r.Cancelled:
		j, err := answer.New(p.spec, p.test)
		if err != nil {
			return nil, err
		}
		t, d.Subject, d.Status = j, j.Subject, completeness(false)
		d.TestError, d.StandardError = null.Float(math.NaN()), null.Float(math.NaN())
	case p.joint():
		c, err := a.buildJoint(p)
		if err != nil {
			return nil, err
		}
		joint, err := c.Estimate(a.ctx, s)
		if err != nil {
			return nil, err
		}
		t, d.Estimate = c, answer.AsEstimate(joint)
		d.StandardError = d.Quality.ExampleSE
	default:
		j, err := a.build(p)
		if err != nil {
			return nil, err
		}
		if d.Estimate, _, err = j.Estimate(a.ctx, s, "solve"); err != nil {
			return nil, err
		}
		t, d.StandardError = j, d.Quality.ExampleSE
		j.Caution(d.Estimate)
	}
	d.Command, d.ChosenBy, d.CommandLine = "tune", r.String(), again
	d.Warnings = append(append([]string{}, r.Bounds...), d.Warnings...)
	return t, nil
}

// againLine is the command line that estimates the model that was chosen: the flags of tune that estimate
// has, too, and the choice.
func againLine(a *app, o *options, best map[string]any, spec *model.Spec) string {
	words := []string{"bootbench", "estimate", a.data[0], "--loss", spec.Loss.Name()}
	if _, known := model.PresetFor(spec.Set); known { // which tune does not look at
		words = append(words, "--kernel", spec.Kernel.Kind.String(), "--no-normalize-target="+
			strconv.FormatBool(!spec.NormalizeTarget))
	}
	other := []string{"over", "ard", "by", "loss"}
	if o.kernel == autoKernel {
		words, other = append(words, "--kernel", spec.Kernel.Kind.String()), append(other, "kernel")
	}
	for _, setting := range o.settings(func(name string) bool {
		instead := name == "gamma" && best["length-scale"] != nil
		return best[name] == nil && !instead && isRecorded(name) && !slices.Contains(other, name) &&
			!slices.Contains(words, "--"+name)
	}) {
		words = append(words, "--"+setting)
	}
	for _, setting := range chosenSettings(spec, tuneNames...) {
		if name, value, _ := strings.Cut(setting, "="); best[name] != nil {
			words = append(words, "--"+name, value)
		}
	}
	return shellWords(words...)
}
