package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
)

// spec is the model of a data set: base, a preset or only a loss, changed by the user's flags; and its
// source.
func (o *options) spec(set *dataset.Set, base model.Preset) (spec model.Spec, source string) {
	known := base.Source != ""
	spec = model.NewSpec(set, o.lossOf(base.Loss, set))
	spec.Kernel = o.covariance
	asPreset := known && !o.Given("kernel", "gamma", "length-scale")
	if k := &spec.Kernel; asPreset {
		k.Kind, k.Gamma, k.LengthScale = base.Kernel.Kind, base.Kernel.Gamma, base.Kernel.LengthScale
		spec.Standardize = base.Standardize
	} else {
		k.Kind, _ = kernel.ParseKind(o.kernel)
		k.LengthScale = o.lengthScale
	}
	if o.Given("no-standardize") {
		spec.Standardize = !o.noStandardize
	}
	spec.Standardize = spec.Standardize && spec.Kernel.Kind != kernel.Precomputed
	spec.NormalizeTarget = !known || o.noise.Percent // whose unit is then the target's variance
	if o.Given("no-normalize-target") {
		spec.NormalizeTarget = !o.noNormalizeTarget
	}
	spec.Pairs, spec.Measure = o.multiclass == answer.OneAgainstOne, o.measure
	o.storage(&spec)
	byDefault := !(known && !o.Given("loss")) && spec.Storage != model.ScaLAPACK &&
		model.BiasByDefault(spec.Set, spec.Loss)
	spec.Bias = o.bias || byDefault && !o.noBias
	if asPreset || known && !o.Given(flagLists["loss"]...) {
		source = base.Source
		if o.Given(flagLists["model"]...) {
			source += ", changed"
		}
	}
	steps.Check(usage.Wrap(spec.Kernel.Validate(set.D())))
	return spec, source
}

// storage sets the form and the memory limit of a specification's kernel matrix.
func (o *options) storage(spec *model.Spec) {
	spec.Storage, spec.RankTol, spec.MaxBytes = o.engine, o.rankTol, o.maxMemory
	if o.rankError != model.DefaultRankError {
		spec.RankError = o.rankError
	}
}

// lossOf is the given loss, or else base, nil for none; given parameters replace base's. The targets
// of set become labels if the loss is one of labels.
func (o *options) lossOf(base loss.Loss, set *dataset.Set) loss.Loss {
	name := o.loss
	switch {
	case name != "":
	case base != nil:
		name = base.Name()
	default:
		refuse("--loss is required (%s); estimate, predict, curve and rows choose a model",
			strings.Join(o.losses, ", "))
	}
	about := loss.Info{Name: name, Task: loss.Classification} // of the perceptron: labels, no parameter
	if name != perceptronLoss {
		about, _ = loss.About(name)
	}
	o.refuseForeign(about)
	noise, err := o.noise.Of(set.Targets(0), set.Weights)
	steps.Check(usage.Wrap(err))
	o.parameters.Noise = noise
	var used loss.Parameters
	for _, name := range about.Takes {
		*used.Named(name) = *o.parameters.Named(name)
	}
	if t := loss.TraitsOf(base); t.Quadratic && name == base.Name() && !o.Given("noise") {
		used.Noise = t.Noise
	}
	if name == (loss.Square{}).Name() && used.Noise == 0 {
		refuse("--noise is required with --loss square: the noise variance, above 0")
	}
	fitTask(about, set)
	used.ClassWeights = readClassWeights(o.classWeight, set)
	if name == perceptronLoss {
		return loss.HardMargin{}
	}
	return lossByName(name, used)
}

func lossByName(name string, p loss.Parameters) loss.Loss {
	chosen, err := loss.ByName(name, p)
	steps.Check(usage.Wrap(err))
	return chosen
}

// fitTask makes classes of targets for a loss of labels, and refuses labels for one of regression.
func fitTask(about loss.Info, set *dataset.Set) {
	switch {
	case about.Task == loss.Regression && !set.AreNumbers():
		refuse("--loss %s is for regression; the targets of %s are the labels -1 and +1", about.Name,
			set.Name)
	case about.Task == loss.Classification && set.AreNumbers() && len(set.Columns) == 1:
		steps.Check(set.Classify(""))
	}
}

// decideTask makes classes of numbers for a loss of labels, and without a loss of two different numbers,
// unless --task says that these are quantities.
func (o *options) decideTask(set *dataset.Set) {
	if o.loss != "" && o.loss != perceptronLoss {
		about, err := loss.About(o.loss)
		steps.Check(usage.Wrap(err))
		fitTask(about, set)
		return
	}
	_, known := model.PresetFor(set)
	distinct := slices.Compact(slices.Sorted(slices.Values(set.Columns[0].Y)))
	if o.loss == perceptronLoss || !known && o.read.As != dataset.Numbers && len(distinct) == 2 {
		fitTask(loss.Info{Task: loss.Classification}, set)
	}
}

func (o *options) refuseForeign(about loss.Info) {
	takes := slices.Clone(about.Takes)
	if about.Weighted {
		takes = append(takes, "class-weight")
	}
	for _, name := range flagLists["parameters"] {
		switch {
		case !o.Given(name) || slices.Contains(takes, name):
		case len(takes) == 0:
			refuse("--%s: --loss %s takes no parameter", name, about.Name)
		default:
			refuse("--%s: --loss %s takes only --%s", name, about.Name, strings.Join(takes, ", --"))
		}
	}
}

// readClassWeights reads --class-weight for the labels of DATA: "balanced", the weight of the class
// +1, the weights of -1 and +1, or LABEL=W for one class or both.
func readClassWeights(text string, set *dataset.Set) loss.ClassWeights {
	switch {
	case text == "":
		return loss.ClassWeights{}
	case len(set.Levels()) > 2:
		refuse("--class-weight is for two classes: --positive LABEL sets one against the others")
	case text == "balanced":
		return loss.Balanced(set.Targets(0))
	}
	classes := &set.Columns[0]
	names, weights := []string{classes.Level(-1), classes.Level(1)}, []float64{0, 0}
	parts := strings.Split(text, ",")
	for k, part := range parts {
		label, number, named := strings.Cut(part, "=")
		class := slices.Index(names, strings.TrimSpace(label))
		if !named {
			class, number = len(names)-len(parts)+k, part
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if len(parts) > 2 || class < 0 || weights[class] != 0 || err != nil {
			refuse("--class-weight %s: take balanced, %s=A,%s=B, or two numbers in this order, or one for "+
				"%[3]s", text, names[0], names[1])
		}
		steps.Check(usage.Wrap(flags.Range{From: 1e-10, To: 1e10}.Check("class-weight", v)))
		weights[class] = v
	}
	return loss.ClassWeights{Negative: cmp.Or(weights[0], 1), Positive: cmp.Or(weights[1], 1)}
}

// test is the test loss for a data set, after a check of --metrics.
func (o *options) test(set *dataset.Set, name string) loss.Test {
	targets, others, own, foreign := "numbers", "labels", report.NumberMetrics, report.LabelMetrics
	known := slices.Concat([]string{report.AllMetrics}, own, foreign, []string{report.Jackknife})
	if len(set.Levels()) == 2 {
		targets, others, own, foreign = others, targets, foreign, own
	}
	for _, m := range o.asked.Metrics {
		steps.Check(usage.OneOf("metrics", m, known...))
		if slices.Contains(foreign, m) {
			refuse("--metrics %s is for %s; the targets of %s are %s, which have %s", m, others, name,
				targets, strings.Join(own, ", "))
		}
	}
	if o.testLoss == "" {
		return model.DefaultTest(set)
	}
	if o.testLoss == (loss.ZeroOne{}).Name() && set.AreNumbers() {
		refuse("--test-loss zero-one is for labels; the targets of %s are numbers", name)
	}
	test, err := loss.TestByName(o.testLoss)
	steps.Check(usage.Wrap(err))
	return test
}

// autoResamples is the number of resamples of auto: 200 fits in batches cost about as much as the solve
// (BENCHMARKS.md, batch).
const autoResamples = 200

func readRefine(to *answer.Question) flags.Reader {
	return func(text string) (string, error) {
		n, err := strconv.Atoi(text)
		switch {
		case text == "auto":
			n = autoResamples
		case text != "none" && (err != nil || n < 2 || n > model.DefaultMaxResamples):
			return "", fmt.Errorf("is %q, must be auto, none or a number of resamples from 2 to %d", text,
				model.DefaultMaxResamples)
		}
		to.Resamples, to.Exact = n, answer.Yes
		if text == "auto" {
			to.Exact = answer.IfPossible
		} else if text == "none" {
			to.Exact = answer.No
		}
		return text, nil
	}
}

// question is the question of the flags, without the scheme, after a check of them.
func (o *options) question() answer.Question {
	q := o.asked
	q.Covariances, q.Theory = o.covarianceMatrix != "", answer.Yes
	switch o.method {
	case "fits":
		q.Theory = answer.No
	case "auto":
		q.Theory = answer.IfPossible
	}
	if q.Accuracy > 0 {
		q.Exact = answer.Yes
	}
	o.checkScheme(o.ratio)
	return q
}

// choice says what a search has chosen of a problem's specification; the zero value: all was given.
type choice struct {
	by      string                                  // how; "": all was given
	over    []string                                // the names of the hyperparameters that it has chosen
	sample  int                                     // the rows that were drawn by default; 0: all
	seconds float64                                 // that the search took
	again   func(scales tune.Scales) answer.Chooser // searches other rows; nil: all was given
	inside  bool                                    // the answer itself makes the choice
}

// settings are flags as NAME=VALUE that have a problem's answer again: those that give what a search has
// chosen, none if the answer itself makes the choice, and the wanted ones of the command line besides.
func (p *problem) settings(wanted func(name string) bool) (chosen, given []string) {
	var names []string
	set := func(name, value string) { chosen, names = append(chosen, name+"="+value), append(names, name) }
	if c, o := &p.choice, p.flags; c.by != "" && !c.inside {
		set("loss", p.spec.Loss.Name())
		if _, preset := model.PresetFor(p.spec.Set); preset || o.kernel == autoKernel { // a search ignores it
			set("kernel", p.spec.Kernel.Kind.String())
		}
		for _, name := range c.over {
			if values := valuesOf(&p.spec, name); values != nil {
				set(name, flags.Join(values))
			}
		}
		if o.Lookup("chosen") != nil || o.Lookup("ard") != nil { // the estimate of tune's model
			set("chosen", strings.Join(p.spec.Chosen, ","))
		}
		if c.sample > 0 {
			set("sample", strconv.Itoa(c.sample))
		}
	}
	if slices.Contains(names, "length-scale") { // instead of a given gamma
		names = append(names, "gamma")
	}
	return chosen, p.flags.Settings(func(name string) bool {
		return wanted(name) && !slices.Contains(names, name)
	})
}

// valuesOf are the values of a hyperparameter in a specification, for its flag; nil if it has none.
func valuesOf(spec *model.Spec, name string) (values []float64) {
	over, err := spec.Hyperparameters(name)
	if err != nil {
		return nil
	}
	if p, _ := loss.ParametersOf(spec.Loss); name == "class-weight" && p.ClassWeights.Negative != 1 {
		values = []float64{p.ClassWeights.Negative}
	}
	for _, h := range over {
		values = append(values, h.Value(spec))
	}
	return values
}
