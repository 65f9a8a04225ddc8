package main

import (
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
	"bootbench/loss"
	"bootbench/resample"
)

// tuneNames are the flags that can be chosen.
var tuneNames = append([]string{"gamma", "length-scale", "coef0", "amplitude", "constant", "jitter"},
	lossNames[1:]...)

func tuneCommand() *command {
	return &command{
		name: "tune",
		takes: slices.Concat(problemNames, engineNames, []string{"over/tune", "ard", "by", "model/train", "starts",
			"seed", "ratio", "scheme", "folds", "test-loss", "journal"}),
		run: runTune,
	}
}

// runTune reads DATA, searches and prints.
func runTune(a *app, o *options, data []string) error {
	if err := o.checkScheme(o.ratio); err != nil {
		return err
	}
	a.console.Progress("reading", 0, 1)
	set, err := a.loadData(o, data[0])
	if err != nil {
		return err
	}
	p, err := o.search(set)
	if err != nil {
		return err
	}
	if err := a.openJournal(choice{}); err != nil {
		return err
	}
	settings := tune.Settings{Starts: o.starts, Seed: o.seed, Tolerance: o.tol}
	if a.tasks.Journal != nil {
		law, err := o.schemeOf(o.ratio, p.Spec.Set.N())
		if err != nil {
			return err
		}
		key := p.Spec.Key(law, "tune", p.By, p.Over, p.Test.Name(), o.starts, o.seed)
		settings.Do = func(name string, compute func() (tune.Part, error)) (part tune.Part, err error) {
			_, err = a.tasks.do(0, keyOf(key, name), &part, func() (err error) { part, err = compute(); return err })
			return part, err
		}
	}
	judged := 0
	settings.Progress = func(e tune.Evaluation, least float64) {
		judged++
		a.console.Progress(fmt.Sprintf("%d models, best of %d examples %.6g", judged, e.Examples, least), 0, 1)
	}
	began := time.Now()
	r, err := tune.Run(a.ctx, *p, settings)
	if err != nil {
		return err
	}
	d := searchReport(p, r)
	built, err := tunedReport(a, o, d, p, r)
	if err == nil && o.model != "" {
		d.ModelFile, err = o.model, writeModel(o.model, built)
	}
	if err != nil {
		return err
	}
	d.Time.Solve = time.Since(began).Seconds()
	return a.deliver(given{document: d, warnings: d.Warnings, cost: &d.Cost})
}

// search is what is chosen of a data set. A preset is not looked at: what is chosen takes its place.
func (o *options) search(set *dataset.Set) (p *tune.Problem, err error) {
	p = &tune.Problem{Scheme: func(n int) (resample.CountDistribution, error) { return o.schemeOf(o.ratio, n) }}
	if o.loss == "" {
		if err := classifyTwoValues(set); err != nil {
			return nil, err
		}
	}
	if p.Spec, _, err = o.spec(set, model.Preset{Loss: o.startLoss(set)}); err != nil {
		return nil, err
	}
	switch {
	case o.by != "":
		p.By, _ = tune.ByName(o.by)
	case set.Task == dataset.Classification:
		p.By = tune.LeftOut
	default:
		p.By = tune.Plus632
	}
	if p.Over, err = o.tuneAxes(&p.Spec); err != nil {
		return nil, err
	}
	if err := o.begin(p); err != nil {
		return nil, err
	}
	p.Test, err = o.test(set.Task, set.Name)
	return p, err
}

// tuneAxes reads --over, and takes the scale of the kernel and what the loss takes by default.
func (o *options) tuneAxes(spec *model.Spec) (axes []tune.Axis, err error) {
	if o.ard {
		if err := scaleEach(spec); err != nil {
			return nil, err
		}
	}
	k, names := &spec.Kernel, o.over
	if len(names) == 0 {
		names = tune.Default(spec)
	}
	if len(names) == 0 {
		return nil, usage.Errorf(
			"--over is required: --loss %s with --kernel %v has nothing that is chosen by default",
			spec.Loss.Name(), k.Kind)
	}
	for _, text := range names {
		axis, err := tuneAxis(text)
		if err != nil {
			return nil, err
		}
		if axis.Name == "length-scale" && len(k.LengthScale) == 0 && k.Scaled() && k.Gamma == 0 {
			k.LengthScale = []float64{tune.Start(spec, axis.Name)}
		}
		axes = append(axes, axis)
	}
	return axes, nil
}

// scaleEach gives each feature a length scale.
func scaleEach(spec *model.Spec) error {
	k := &spec.Kernel
	switch {
	case !k.Scaled():
		return usage.Errorf("--ard: kernel %v has no length scales", k.Kind)
	case len(k.LengthScale) > 0:
	case k.Gamma > 0:
		k.LengthScale, k.Gamma = []float64{1 / math.Sqrt(2*k.Gamma)}, 0
	default:
		k.LengthScale = []float64{tune.Start(spec, "length-scale")}
	}
	for len(k.LengthScale) < spec.Set.D() {
		k.LengthScale = append(k.LengthScale, k.LengthScale[0])
	}
	return nil
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

// begin sets what is chosen and was not given to where a search begins.
func (o *options) begin(p *tune.Problem) error {
	for _, axis := range p.Over {
		over, err := p.Spec.Hyperparameters(axis.Name)
		if err != nil {
			return err
		}
		if o.Given(axis.Name) || axis.Name == "length-scale" {
			continue
		}
		for _, h := range over {
			if err := h.Set(&p.Spec, tune.Start(&p.Spec, axis.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeModel trains a model and writes its file.
func writeModel(path string, m *model.Model) error {
	p, err := answer.Train(m)
	if err != nil {
		return err
	}
	p.Program, p.Loss = version(), m.Loss.Name()
	return files.Replace(path, p.Write)
}

// searchReport is what a report says of a search.
func searchReport(p *tune.Problem, r *tune.Result) *report.Tuning {
	d := &report.Tuning{
		Command: "tune", Status: completeness(!r.Cancelled), Warnings: append([]string{}, r.Bounds...),
		Search: report.Search{By: p.By.String(), Best: map[string]any{}, Objective: null.Float(r.Value),
			Evaluations: len(r.Path), Failures: r.Failures, StartExamples: r.StartExamples,
			Ends: append([]float64{}, r.Ends...)},
		Alike: r.Alike(),
	}
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
		step := report.TuningStep{Start: e.Start, Examples: e.Examples, Values: e.Values, Failure: e.Failure}
		if e.Failure == "" {
			step.Objective = null.Of(e.Value)
		}
		d.Path = append(d.Path, step)
	}
	return d
}

// tunedReport fills in what is known of the model that was chosen, and returns it.
func tunedReport(a *app, o *options, d *report.Tuning, p *tune.Problem, r *tune.Result) (*model.Model,
	error) {
	built, err := r.Model, error(nil)
	if built == nil { // interrupted
		a.status = exitInterrupted
		if built, err = model.Build(r.Spec); err != nil {
			return nil, err
		}
	}
	law, err := o.schemeOf(o.ratio, built.Set.N())
	if err != nil {
		return nil, err
	}
	j := answer.Of(built, p.Test)
	d.Subject, d.Resampling = j.Subject, answer.Resampling(law, built.Set.N())
	d.ChosenBy, d.CommandLine = d.By+" and its gradient", againLine(a, o, d.Best, &built.Spec)
	d.TestLoss, d.TestError = p.Test.Name(), null.Float(math.NaN())
	if r.Solution != nil {
		d.StandardError = null.Float(r.StandardError)
		a.ended(r.Solution.Status.String())
		if d.Errors, err = j.Errors(r.TestError); err != nil {
			return nil, err
		}
		d.Warnings = append(d.Warnings, r.Solution.Warnings...)
	}
	if alike := r.Alike(); alike < len(r.Ends) {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("%d of %d starts ended at a worse place: more --starts may find a better one",
				len(r.Ends)-alike, len(r.Ends)))
	}
	return built, nil
}

// againLine is the command line that estimates the model that was chosen: the flags of tune that estimate
// has, too, and the choice.
func againLine(a *app, o *options, best map[string]any, spec *model.Spec) string {
	words := []string{"bootbench", "estimate", a.data[0], "--loss", spec.Loss.Name()}
	if _, known := model.PresetFor(spec.Set); known { // which tune does not look at
		words = append(words, "--kernel", spec.Kernel.Kind.String(), "--no-normalize-target="+
			strconv.FormatBool(!spec.NormalizeTarget))
	}
	other := []string{"over", "ard", "by", "starts", "seed", "loss"}
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
