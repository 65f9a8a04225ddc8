package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// tuneNames are the flags that can be chosen.
func tuneNames() []string {
	return append([]string{"gamma", "length-scale", "coef0", "amplitude", "constant", "jitter"},
		lossFlagNames[1:]...)
}

// tuneFlags are those of tune.
type tuneFlags struct {
	model    modelFlags
	scheme   schemeFlags
	test     testFlags
	solver   solverFlags
	over     []string
	ard      bool
	by       string
	file     string // of the model that is chosen
	settings tune.Settings
}

func (t *tuneFlags) register(f *pflag.FlagSet) {
	f.StringSliceVar(&t.over, "over", nil,
		"what to choose, `NAMES` of flags, each alone or with bounds NAME=FROM:TO, separated by commas; NAME "+
			"is "+strings.Join(tuneNames(), ", ")+"; default: gamma, or length-scale where that is given, and "+
			"what the loss takes")
	f.Lookup("over").DefValue = "" // not "[]"
	f.BoolVar(&t.ard, "ard", false,
		"a length scale for each feature (automatic relevance determination); default: one for all")
	registerBy(f, &t.by)
	f.Lookup("by").Usage += "; default: 632plus for numbers, leftout for labels"
	f.StringVar(&t.file, "model", "",
		"train the model that is chosen on all of DATA and write it to `FILE`, for predict --model; default: none")
	f.IntVar(&t.settings.Starts, "starts", tune.DefaultStarts,
		"descents, `N` at least 1, the first from the values given or defaults, the others around it")
	f.Uint64Var(&t.settings.Seed, "seed", 0,
		"of the starts but the first, an integer `SEED`; default 0")
}

// registerBy adds what models are compared by, which has its default.
func registerBy(f *pflag.FlagSet, by *string) {
	f.StringVar(by, "by", *by,
		"by what models are compared, `OBJECTIVE`: 632plus, leftout (error of examples that a resample leaves "+
			"out), loo (leave-one-out; for labels only with --test-loss square) or evidence (marginal "+
			"likelihood, square loss)")
}

// byName reads --by.
func byName(name string) (tune.By, error) {
	if err := usage.OneOf("by", name, tune.Names()...); err != nil {
		return 0, err
	}
	return tune.ByName(name)
}

func tuneCommand(a *app) *cobra.Command {
	var t tuneFlags
	cmd := &cobra.Command{
		Use:   "tune DATA",
		Short: "Hyperparameters by the gradient of the bootstrap error",
		Long: `tune chooses the hyperparameters of a model by descent along the gradient of an
estimate of its error: of .632+, or for labels of the left-out error, which the theory
computes for a model at the price of a few fits, and its derivatives by all
hyperparameters at once for about as much. The estimate has no noise from folds, and
is smooth for the zero-one loss too.

Descents begin at the given or default values and at others around them, on a part of
DATA if it is large, and the best goes on on all of it. An interrupted search keeps the
best so far, and goes on from its last start with --journal.
The model that is chosen is printed with its left-out error, and the command line that
estimates it again. The error of the best of many models is lower than what it will do
on new data, by less than its standard error where few numbers are chosen.`,
		Example: `  bootbench tune boston
  bootbench tune boston --ard
  bootbench tune pima --loss hinge --over C,gamma=0.001:1 --model pima.json
  bootbench tune houses.csv --loss square --kernel matern52 --by evidence`,
		Args: oneData,
		RunE: func(cmd *cobra.Command, args []string) error { return runTune(a, cmd, args[0], &t) },
	}
	f := cmd.Flags()
	t.register(f)
	t.model.register(f)
	t.scheme.register(f)
	t.test.registerTest(f)
	t.solver.register(f)
	t.model.registerEngine(f)
	a.tasks.register(f)
	registerOut(cmd, "")
	return cmd
}

// runTune reads flags and DATA before it searches.
func runTune(a *app, cmd *cobra.Command, path string, t *tuneFlags) error {
	solving, err := t.solver.settings()
	if err != nil {
		return err
	}
	t.settings.Tolerance = solving.Tolerance
	if t.settings.Starts < 1 {
		return usage.Errorf("--starts is %d, must be at least 1", t.settings.Starts)
	}
	if err := t.scheme.check(t.scheme.ratio); err != nil {
		return err
	}
	p, err := readTuneProblem(a, t, path)
	if err != nil {
		return err
	}
	if err := a.openJournal(cmd, []string{path}, choice{}); err != nil {
		return err
	}
	if err := keepSearch(a, p, t); err != nil {
		return err
	}
	return tuneAll(a, cmd, p, t, path)
}

// keepSearch has the parts of the search kept in the journal, if there is one.
func keepSearch(a *app, p *tune.Problem, t *tuneFlags) error {
	law, err := t.scheme.of(t.scheme.ratio, p.Spec.Set.N())
	if err != nil || a.tasks.Journal == nil {
		return err
	}
	key := p.Spec.Key(law, "tune", p.By, p.Over, p.Test.Name(), t.settings.Starts, t.settings.Seed)
	t.settings.Do = func(name string, compute func() (tune.Part, error)) (part tune.Part, err error) {
		_, err = a.tasks.do(0, keyOf(key, name), &part, func() (err error) { part, err = compute(); return err })
		return part, err
	}
	return nil
}

// writeModel trains the model that was chosen, with a bias where the theory had one, and
// writes its file.
func (t *tuneFlags) writeModel(m *model.Model) error {
	fit, err := m.Fit(model.FitSettings{})
	if err == nil {
		err = fit.Err
	}
	if err != nil {
		return err
	}
	p, err := m.Predictor(fit)
	if err != nil {
		return err
	}
	p.Program, p.Loss = version(), m.Loss.Name()
	return files.Replace(t.file, p.Write)
}

// readTuneProblem reads DATA and says what is chosen. A preset is not looked at: what is
// chosen takes its place.
func readTuneProblem(a *app, t *tuneFlags, path string) (*tune.Problem, error) {
	a.console.Progress("reading", 0, 1)
	set, err := loadData(a, &t.model, path)
	if err != nil {
		return nil, err
	}
	p := &tune.Problem{Scheme: func(n int) (resample.CountDistribution,
		error) {
		return t.scheme.of(t.scheme.ratio, n)
	}}
	if !t.model.given("loss") {
		if err := classifyTwoValues(set); err != nil {
			return nil, err
		}
	}
	if p.Spec, _, err = t.model.spec(set, model.Preset{Loss: t.model.startLoss(set)}); err != nil {
		return nil, err
	}
	if t.by == "" {
		if t.by = tune.Plus632.String(); p.Spec.Set.Task == dataset.Classification {
			t.by = tune.LeftOut.String()
		}
	}
	if p.By, err = byName(t.by); err != nil {
		return nil, err
	}
	if p.Over, err = t.axes(&p.Spec); err != nil {
		return nil, err
	}
	if err := t.begin(p); err != nil {
		return nil, err
	}
	p.Test, err = t.test.of(set)
	return p, err
}

// axes reads --over, and takes the scale of the kernel and what the loss takes by default.
func (t *tuneFlags) axes(spec *model.Spec) (axes []tune.Axis, err error) {
	if t.ard {
		if err := scaleEach(spec); err != nil {
			return nil, err
		}
	}
	k, names := &spec.Kernel, t.over
	if len(names) == 0 {
		names = tune.Default(spec)
	}
	if len(names) == 0 {
		return nil, usage.Errorf(
			"--over is required: --loss %s with --kernel %v has nothing that is chosen by default", spec.Loss.Name(),
			k.Kind)
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
	if err := usage.OneOf("over", axis.Name, tuneNames()...); err != nil || !bounded {
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
func (t *tuneFlags) begin(p *tune.Problem) error {
	for _, axis := range p.Over {
		over, err := p.Spec.Hyperparameters(axis.Name)
		if err != nil {
			return err
		}
		if t.model.given(axis.Name) || axis.Name == "length-scale" {
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

// tuneAll chooses and prints.
func tuneAll(a *app, cmd *cobra.Command, p *tune.Problem, t *tuneFlags, path string) error {
	judged := 0
	t.settings.Progress = func(e tune.Evaluation, least float64) {
		judged++
		a.console.Progress(fmt.Sprintf("%d models, best of %d examples %.6g", judged, e.Examples, least), 0, 1)
	}
	began := time.Now()
	r, err := tune.Run(a.ctx, *p, t.settings)
	if err != nil {
		return err
	}
	d := searchReport(r)
	d.By = p.By.String()
	built, err := tunedReport(a, d, cmd, p, r, t, path)
	if err == nil && t.file != "" {
		d.ModelFile, err = t.file, t.writeModel(built)
	}
	if err != nil {
		return err
	}
	if alike := r.Alike(); alike < len(r.Ends) {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("%d of %d starts ended at a worse place: more --starts may find a better one",
				len(r.Ends)-alike, len(r.Ends)))
	}
	d.Cost = a.cost(report.Times{Solve: time.Since(began).Seconds()})
	return a.deliver(answer{document: d, warnings: d.Warnings, page: report.Page{Answers: []report.Document{d},
		Figures: d.Figures()}})
}

// searchReport is what a report says of a search.
func searchReport(r *tune.Result) *report.Tuning {
	d := &report.Tuning{
		Command: "tune", Status: "complete", Warnings: append([]string{}, r.Bounds...),
		Search: report.Search{Best: map[string]any{}, Objective: null.Float(r.Value), Evaluations: len(r.Path),
			Failures:      r.Failures,
			StartExamples: r.StartExamples, Ends: append([]float64{}, r.Ends...)},
		Alike: r.Alike(),
	}
	if r.Cancelled {
		d.Status = "cancelled"
	}
	for _, h := range r.Over {
		d.Over = append(d.Over, h.String())
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
func tunedReport(a *app, d *report.Tuning, cmd *cobra.Command, p *tune.Problem, r *tune.Result, t *tuneFlags,
	path string) (*model.Model, error) {
	built, err := r.Model, error(nil)
	if built == nil { // interrupted
		a.interrupted()
		if built, err = model.Build(r.Spec); err != nil {
			return nil, err
		}
	}
	law, err := t.scheme.of(t.scheme.ratio, built.Set.N())
	if err != nil {
		return nil, err
	}
	d.Subject, d.Resampling = subjectReport(built, ""), resamplingReport(law, built.Set.N())
	d.ChosenBy, d.CommandLine = d.By+" and its gradient", againLine(cmd, path, d.Best, &built.Spec)
	if r.Solution == nil {
		d.TestLoss, d.TestError = p.Test.Name(), null.Float(math.NaN())
		return built, nil
	}
	d.StandardError = null.Float(r.StandardError)
	a.notConverged(r.Solution.Status.String())
	fitted, err := built.FullFit()
	if err != nil {
		return nil, err
	}
	d.Errors = errorsReport(p.Test, solver.Combine632(r.TestError, p.Test, built.Set.Y,
		(&job{Model: built}).perExample(fitted)))
	d.Warnings = append(d.Warnings, r.Solution.Warnings...)
	return built, nil
}

// againLine is the command line that estimates the model that was chosen: the flags of tune that estimate
// has, too, and the choice.
func againLine(cmd *cobra.Command, path string, best map[string]any, spec *model.Spec) string {
	words := []string{"bootbench", "estimate", path, "--loss", spec.Loss.Name()}
	if _, known := model.PresetFor(spec.Set); known { // which tune does not look at
		words = append(words, "--kernel", spec.Kernel.Kind.String(), "--no-normalize-target="+
			strconv.FormatBool(!spec.NormalizeTarget))
	}
	other := []string{"over", "ard", "by", "model", "starts", "seed", "loss", "out", "json", "quiet", "journal"}
	for _, setting := range givenSettings(cmd.LocalFlags()) {
		name, _, _ := strings.Cut(setting, "=")
		instead := name == "gamma" && best["length-scale"] != nil
		if best[name] == nil && !instead && !slices.Contains(other, name) && !slices.Contains(words, "--"+name) {
			words = append(words, "--"+setting)
		}
	}
	words = append(words, chosenFlags(spec, slices.DeleteFunc(tuneNames(),
		func(name string) bool { return best[name] == nil })...)...)
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}
