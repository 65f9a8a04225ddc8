// Package answer answers questions about a model: how well it predicts rows that it has not seen, how much
// its predictions change with other rows, and which rows it gets wrong, for one target, several classes or
// several targets alike.
//
// A Question becomes averages over resamples (fits.Averages), of the theory, of exact fits or of both, for
// every function of the model; these become a report.Answer. Several classes have one more step: the
// decision between them (fits.Decision) is averaged over the same fits.
package answer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

// Study is a model that is asked.
type Study struct {
	Model    *model.Model // of the first function
	Test     loss.Test
	Measure  calibration.Measure // of the specification
	Subject  report.Subject
	Times    report.Times
	Progress func(label string, done, total int)
	// Memory, if set, remembers exact fits: key encodes everything that they depend on, each has that
	// number of outputs, and there will be count of them, 0 if unknown.
	Memory func(key string, outputs, count int) (fits.Memory, error)
	Nested bool // a choice is made again without each fold, for any number of rows
	// Candidates are the models among which the study's was chosen; nil: a search's.
	Candidates  []model.Spec
	Others      *dataset.Set     // rows of the data outside the sample; nil: no sample
	Solution    *solver.Solution // the last one of the first function
	built       *model.Model     // before a solve that refined the factor
	measurement *measurement     // the last one; nil: not made yet
	widening    struct {         // of the last risks (wider)
		seed   uint64
		factor float64 // 0: unknown
	}
	again  *chosenAgain // nil: not made yet
	choice []float64    // factors of left-out errors, by function (choose); nil: not made yet
	full   [][]float64  // the fits to all data by function, at the sites; nil: not made yet
}

// New builds a model with a test loss, nil for the default of the targets.
func New(ctx context.Context, spec model.Spec, test loss.Test) (*Study, error) {
	if square := (loss.SquareTest{}).Name(); spec.Set != nil && len(spec.Set.Columns) > 1 && test != nil &&
		test.Name() != square {
		return nil, model.InputError(fmt.Errorf("errors of several targets are squares, not %s", test.Name()))
	}
	built, err := model.Build(ctx, spec)
	if err != nil {
		return nil, err
	}
	if test == nil {
		test = model.DefaultTest(spec.Set)
	}
	return Of(built, test), nil
}

// Of is New for a model that is built.
func Of(m *model.Model, test loss.Test) *Study {
	return &Study{Model: m, built: m, Test: test, Measure: m.Measure, Subject: subject(m),
		Progress: func(string, int, int) {}, Times: report.Times{Gram: m.GramTime.Seconds()},
		full: make([][]float64, len(m.Functions))}
}

// counting is Progress for a count of steps.
func (s *Study) counting(what string) func(done, total int) {
	return func(done, total int) { s.Progress(fmt.Sprintf("%s %d of %d", what, done, total), done, total) }
}

// classes reports whether there are more than two classes.
func (s *Study) classes() bool { return len(s.Model.Set.Levels()) > 2 }

// several reports whether there are several classes or targets.
func (s *Study) several() bool { return len(s.Model.Functions) > 1 }

func (s *Study) decision() fits.Decision {
	if s.Model.Spec.Pairs {
		return fits.Votes(s.Model.Order)
	}
	return fits.Largest(len(s.Model.Set.Levels()))
}

// part is one function of a study.
type part struct {
	study    *Study
	model    *model.Model
	number   int
	solution *solver.Solution
	left     *solver.Solution // given that an example is left out; nil: solution
	exact    Replicates       // of exact fits, for quantiles and intervals
	trained  *trained         // at new inputs; nil: predictions are the bootstrap's
}

func (s *Study) part(k int) *part { return &part{study: s, model: s.Model.Of(k), number: k} }

func (s *Study) parts() (all []*part) {
	for k := range s.Model.Functions {
		all = append(all, s.part(k))
	}
	return all
}

// column is the column of the data that the part predicts.
func (p *part) column() *dataset.Column {
	if len(p.model.Set.Columns) == 1 {
		return &p.model.Set.Columns[0]
	}
	return &p.model.Set.Columns[p.number]
}

func (p *part) labels() bool { return !p.model.Set.AreNumbers() }

// labelled names the labels of the part, -1 and 1 for a class against others.
func (p *part) labelled() *dataset.Column {
	if p.study.classes() {
		return &dataset.Column{}
	}
	return p.column()
}

// labelsOf are the names of the labels that are the signs of predictions.
func (p *part) labelsOf(f []float64) (names []string) {
	for _, v := range f {
		names = append(names, p.labelled().Level(v))
	}
	return names
}

// inUnit are values in the unit of the target.
func (p *part) inUnit(values []float64) []float64 {
	f := p.model.Function
	values = floats.ScaleTo(make([]float64, len(values)), f.Unit, values)
	floats.AddConst(f.Mean, values)
	return values
}

// targets are the targets in the unit of the file, -1 and +1 for labels.
func (p *part) targets() []float64 {
	if p.labels() {
		return p.model.Y
	}
	return p.column().Y
}

// perExample spreads a list over the sites of a part onto the examples.
func perExample[T any](p *part, overSites []T) []T {
	if overSites == nil {
		return nil
	}
	values := make([]T, len(p.model.Site))
	for example, site := range p.model.Site {
		values[example] = overSites[site]
	}
	return values
}

type OnFit = func(r int, weight, f []float64)

// each asks one part after the other, and joins their answers. It returns fits.ErrElsewhere only after all
// have made their fits. plan has the draws of the fits, for the decision between classes.
func (s *Study) each(ctx context.Context, join joining, ask func(p *part, onFit OnFit) (*report.Answer,
	error)) (*report.Answer, error) {
	var answers []*report.Answer
	var elsewhere error
	joint := &fits.Joint{}
	if s.classes() {
		joint.Decision, joint.Of = s.decision(), ClassesOf(s.Model.Set.Columns[0].Y)
	}
	for _, p := range s.parts() {
		var onFit OnFit
		if s.classes() {
			onFit = func(r int, _, f []float64) {
				joint.Add(r, p.number, func(i int) float64 { return f[s.Model.Site[i]] })
			}
		}
		a, err := ask(p, onFit)
		if errors.Is(err, fits.ErrElsewhere) {
			elsewhere, err = err, nil
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	switch {
	case elsewhere != nil:
		return nil, elsewhere
	case !s.several():
		return answers[0], nil
	case !s.classes():
		return joinTargets(s, answers), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return joinClasses(s, answers, joint, join), nil
}

func subject(m *model.Model) report.Subject {
	set := m.Set
	r := report.Subject{
		Data: set.Name, N: set.N(), D: set.D(), Sites: m.Sites(), Merged: m.Merged(),
		Task: set.Task(), Loss: m.Loss.Name(), Kernel: m.Kernel, Standardized: m.Standardize,
		Target: set.TargetNames(), Notes: set.Notes,
	}
	if len(set.Levels()) == 2 {
		r.Labels, r.Positive = report.LabelsOf(&set.Columns[0]), set.Columns[0].Level(1)
	}
	if note := biasNote(m); note != "" && len(set.Levels()) == 2 {
		r.Notes = append(slices.Clone(r.Notes), note)
	}
	if m.NormalizeTarget && set.AreNumbers() && len(set.Columns) == 1 {
		r.TargetMean = &m.Function.Mean
	}
	r.Parameters, _ = loss.ParametersOf(m.Loss)
	r.Model = &report.Model{
		Loss: r.Loss, Parameters: r.Parameters, Kernel: report.Kernel(m.Kernel), Bias: m.Bias,
		Standardize: m.Standardize, NormalizeTarget: m.NormalizeTarget && set.AreNumbers(),
		Chosen: m.Spec.Chosen,
	}
	return r
}

// biasNote says why a classifier has no bias although the default is one; else "".
func biasNote(m *model.Model) string {
	switch {
	case m.Bias || m.Set.AreNumbers():
		return ""
	case m.Form() == model.ScaLAPACK:
		return "no bias: the scalapack engine has none"
	case !model.BiasByDefault(m.Set, m.Loss):
		return "no bias: a posterior mean has none"
	}
	return ""
}

// about is the subject of a part: the model of one of several targets is in units of that.
func (p *part) about() report.Subject {
	s := p.study.Subject
	if len(p.model.Set.Columns) == 1 {
		return s
	}
	f := p.model.Function
	s.Target, s.TargetMean, s.Reading = f.Name, nil, nil
	if p.model.NormalizeTarget {
		s.TargetMean = &f.Mean
	}
	square := f.Unit * f.Unit
	s.Parameters = inUnit(p.model.Loss, s.Parameters, f.Unit)
	for _, v := range []*float64{&s.Kernel.Amplitude, &s.Kernel.Constant, &s.Kernel.Jitter} {
		*v *= square
	}
	own := *s.Model
	own.Parameters, own.Kernel, s.Model = s.Parameters, report.Kernel(s.Kernel), &own
	return s
}

// inUnit are the parameters of a loss for targets of this unit: eps and absolute are of first degree in
// residuals, square and huber of second.
func inUnit(l loss.Loss, p loss.Parameters, unit float64) loss.Parameters {
	switch l.(type) {
	case loss.EpsInsensitive, loss.LeastAbsolute:
		p.C /= unit
	case loss.Huber:
		p.C /= unit * unit
	}
	p.Epsilon, p.Noise = p.Epsilon*unit, p.Noise*unit*unit
	return p
}
