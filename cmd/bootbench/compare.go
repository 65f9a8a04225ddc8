package main

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"bootbench/bench"
	"bootbench/blas"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// smallest is the least number of examples in compare's halvings of DATA.
const smallest = 250

func runCompare(a *app, o *options, data []string) {
	if o.Given("models") {
		compareModels(a, o, data)
		return
	}
	cases := o.compareCases(a, data)
	settings := bench.Settings{Ratios: o.ratios, Resamples: o.how.Resamples,
		Seed: o.asked.Seed, Workers: min(cmp.Or(o.how.Workers, runtime.GOMAXPROCS(0)), o.how.Resamples),
		Solve: o.asked.Solve, Scheme: o.scheme, Folds: o.folds, Progress: a.console.Progress}
	if !o.Given("resamples") {
		settings.Limit = bench.DefaultLimit
	}
	tasks := steps.Must(bench.CompareTasks(cases, settings))
	a.openJournal(&problem{flags: o})
	c := &report.Comparison{}
	deliverRows(a, rowRun[report.CompareRow]{
		tasks: tasks, together: 1, document: c,
		status: func(row report.CompareRow) string { return row.Status },
		finish: func(rows []report.CompareRow, _ bool) { c.Rows = rows },
	})
}

func (o *options) compareCases(a *app, data []string) (cases []bench.Case) {
	o.checkScheme(o.ratios...)
	if len(data) == 0 {
		return o.defaultCases()
	}
	for _, path := range data {
		set := a.loadData(o, path)
		if len(set.Levels()) > 2 || len(set.Columns) > 1 {
			refuse("compare is for numbers or two classes: --positive LABEL sets one class against the "+
				"others, and one --target at a time is compared; %s has %d classes and %d targets", set.Name,
				len(set.Levels()), len(set.Columns))
		}
		preset, _ := model.PresetFor(set)
		c := bench.Case{Spec: o.given(set, preset).spec, Sizes: o.sizes}
		if len(c.Sizes) == 0 { // DATA and its halves, ascending
			for n := set.N(); n >= smallest || n == set.N(); n /= 2 {
				c.Sizes = slices.Insert(c.Sizes, 0, n)
			}
		}
		cases = append(cases, c)
	}
	return cases
}

func (o *options) defaultCases() []bench.Case {
	for _, name := range slices.Concat(flagLists["model"], flagLists["data"]) {
		if o.Given(name) {
			refuse("--%s is for DATA, and none is given", name)
		}
	}
	sizes := o.sizes
	if len(sizes) == 0 {
		sizes = []int{100, 250, 500, 1000, 2000, 4000, 8000, 16000}
		if blas.Bound().Name() == "gonum" && !o.long {
			sizes = sizes[:4]
		} else if !o.long {
			sizes = sizes[:5]
		}
	}
	cases := steps.Must(bench.DefaultCases(sizes))
	for i := range cases {
		o.storage(&cases[i].Spec)
	}
	return cases
}

// savedModel is an answer of estimate, predict or retrain, for its model.
type savedModel struct {
	Schema int
	report.Answer
}

func loadModel(path string) *savedModel {
	f, err := os.Open(path)
	if err != nil {
		refuse("--models: %w", err)
	}
	defer f.Close()
	const longest = 1 << 30 // with the points of all rows
	s := savedModel{Answer: report.Answer{Resampling: &report.Resampling{}, Decisions: &report.Decisions{}}}
	err = json.NewDecoder(io.LimitReader(f, longest)).Decode(&s)
	if s.Model == nil && len(s.Names) > 0 { // hyperparameters are in units of the first target
		s.Model = cmp.Or(s.Targets[s.Names[0]], &report.Answer{}).Model
	}
	if err != nil || s.Model == nil {
		refuse("--models: %s is not the answer of estimate or retrain: it has no \"model\" (write one with "+
			"estimate DATA --json %s)", path, path)
	}
	if s.Schema != report.Schema {
		refuse("--models: %s is a document of schema %d, this program reads schema %d: write it again",
			path, s.Schema, report.Schema)
	}
	return &s
}

func (s *savedModel) judge() string {
	if s.Measured == nil {
		return calibration.ByError
	}
	return s.Measured.By
}

func (s *savedModel) spec(set *dataset.Set, maxBytes int64) model.Spec {
	m := s.Model
	about, _ := loss.About(m.Loss)
	fitTask(about, set)
	return model.Spec{Set: set, Loss: lossByName(m.Loss, m.Parameters), Kernel: kernel.Spec(m.Kernel),
		Measure:  steps.Must(calibration.ParseMeasure(s.judge())),
		MaxBytes: maxBytes, Bias: m.Bias, Standardize: m.Standardize && set.Sparse == nil,
		NormalizeTarget: m.NormalizeTarget, Pairs: s.Multiclass == answer.OneAgainstOne, Chosen: m.Chosen}
}

func compareModels(a *app, o *options, args []string) {
	isModel := func(arg string) bool { return strings.HasSuffix(arg, ".json") }
	files := slices.Clone(o.models)
	for _, arg := range args {
		if isModel(arg) {
			files = append(files, arg)
		}
	}
	data := slices.DeleteFunc(slices.Clone(args), isModel)
	if len(files) != 2 || len(data) > 1 {
		refuse("--models compares two models on one DATA: compare [DATA] --models A.json "+
			"B.json; here are %d models and %d data sets", len(files), len(data))
	}
	var models [2]*savedModel
	for k, path := range files {
		models[k] = loadModel(path)
	}
	if len(data) == 0 {
		if models[0].Data != models[1].Data {
			refuse("%s is of %s and %s of %s: name the DATA to compare them on", files[0], models[0].Data,
				files[1], models[1].Data)
		}
		data = []string{models[0].Data}
	}
	o.agree(files, models)
	d := &report.ModelComparison{Command: "compare", Level: defaultLevel}
	var sides [2]compared
	for k, saved := range models {
		sides[k] = leftOutErrors(a, o, saved, data[0])
		sides[k].row.Model = files[k]
		d.Add(*sides[k].row)
	}
	one, other := sides[0], sides[1]
	if one.row.TestLoss != other.row.TestLoss || len(one.theory.Each) != len(other.theory.Each) {
		refuse("%s predicts numbers and %s labels, or the other way round: there is no "+
			"common error", files[0], files[1])
	}
	d.Data, d.N = data[0], len(one.theory.Each)
	if d.N <= mostHeadline {
		models := [2]*answer.Study{one.study, other.study}
		found, headlines, err := answer.CompareTrained(a.ctx, models, o.asked.Seed, d.Level)
		steps.Check(err)
		d.Trained = found
		for k := range headlines {
			if d.Models[k].Headline = headlines[k]; headlines[k] != nil {
				d.Models[k].Add(headlines[k].Said...)
				d.AddOf(d.Models[k].Model, &report.Findings{Checks: headlines[k].Said})
			}
			d.Models[k].Measured, err = models[k].Measured(a.ctx, o.asked.Seed, d.Level)
			steps.Check(err)
		}
	}
	d.Theory = calibration.Compare(one.theory, other.theory, d.Level)
	if one.exact.Each != nil && other.exact.Each != nil {
		d.Refined = calibration.Compare(one.exact, other.exact, d.Level)
	}
	a.deliver(d)
}

// mostInteractions is the number N of examples up to which a comparison computes N x N interactions.
const mostInteractions = 4000

// agree refuses answers with different examples, targets or resamples, and flags that contradict them; the
// features may differ. It takes the scheme from the answers.
func (o *options) agree(files []string, models [2]*savedModel) {
	o.only(flagLists["of-models"], "has no meaning with --models: the answers say how DATA is read and "+
		"resampled, and which models predict it; leave it out")
	a, b := models[0], models[1]
	rows := func(s *savedModel) []string { // flags that decide more than the features
		return slices.DeleteFunc(slices.Clone(s.Reading), func(given string) bool {
			return strings.HasPrefix(given, "drop=") || strings.HasPrefix(given, "categorical=")
		})
	}
	if x, y := rows(a), rows(b); !slices.Equal(x, y) {
		refuse("%s was read with %q and %s with %q: their errors are not of the same rows",
			files[0], x, files[1], y)
	}
	if a.Scheme != b.Scheme || a.Design != b.Design || a.Ratio != b.Ratio || a.Folds != b.Folds {
		refuse("%s is of --scheme %s --ratio %v %s and %s of --scheme %s --ratio %v %s: write both with the "+
			"same", files[0], a.Scheme, a.Ratio, a.Design, files[1], b.Scheme, b.Ratio, b.Design)
	}
	if strings.Contains(a.Design, "groups") || strings.Contains(a.Design, "blocks") {
		refuse("%s is of resamples %s, and models are compared on resamples of single rows: "+
			"write both without --groups and --blocks, or with --groups none where rows are copies", files[0],
			a.Design)
	}
	if x, y := a.judge(), b.judge(); x != y {
		refuse("%s is judged by %s and %s by %s: write both with the same --judge", files[0], x, files[1], y)
	}
	o.scheme, o.folds = a.Scheme, a.Folds
}

// compared are the left-out errors of a model's examples by the theory, and by exact resamples if the loss
// has them. Their influences are the theory's, nil if that has no derivative.
type compared struct {
	row           *report.ComparedModel
	study         *answer.Study
	theory, exact report.Examples
}

// leftOutErrors reads DATA as it was for a saved model, and builds and asks that.
func leftOutErrors(a *app, o *options, saved *savedModel, data string) (c compared) {
	read, err := with(saved.Reading, &command{name: "data"})
	if err != nil {
		refuse("--models: %w", err)
	}
	read.maxMemory, read.loss = o.maxMemory, saved.Model.Loss // the loss says what the targets are
	set := a.loadData(read, data)
	p := &problem{flags: read, spec: saved.spec(set, o.maxMemory)}
	q := answer.Question{Solve: o.asked.Solve, Theory: answer.Yes, Exact: answer.IfPossible,
		Resamples: autoResamples, Level: defaultLevel}
	if saved.Design != "" {
		q.Scheme = o.designed(saved.Ratio, set)
	} else {
		q.Scheme = steps.Must(o.schemeOver(resample.Design{N: set.N()}, o.scheme, saved.Ratio))
	}
	c.study = a.build(a.ctx, p)
	c.theory, c.exact, c.row, err = c.study.LeftOut(a.ctx, q, set.N() <= mostInteractions)
	steps.Check(err)
	a.ended(c.row.Status)
	return c
}
