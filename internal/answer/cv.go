package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/train"
)

// Validation configures cross-validation: by given folds, else forward in time if the design has blocks, else
// by random folds of examples or groups, stratified by class unless the design has strata.
type Validation struct {
	Design       resample.Design
	Given        []int // fold of each example, numbered from 0; nil: none
	Folds        int
	Single       bool // folds of single examples, or groups, instead
	Repeats      int  // of random folds
	Permutations int  // of the targets, for a p-value
	Seed         uint64
	Method       model.RetrainMethod
	Workers      int
	Metrics      []string
	ErrorsAlone  bool // no probabilities of labels
	// Choose, if set, chooses a model for every fold, as Anew describes; else all have the study's.
	Choose Chooser
	Anew   string
	// Corrects is what the error is corrected for by Choose, in a word.
	Corrects string
	// Again, if set, chooses another model for every permutation: the candidates are no grid.
	Again Chooser

	remembered bool // by the study's memory
}

// tenFolds is ordinary 10-fold cross-validation, of whole groups if a set has them.
func tenFolds(set *dataset.Set) Validation {
	v := Validation{Design: resample.Design{N: set.N(), Group: set.Groups}, Folds: min(10, set.N()),
		Repeats: 1}
	if set.Groups != nil {
		v.Folds = min(10, 1+slices.Max(set.Groups))
	}
	return v
}

// Check refuses impossible folds.
func (v *Validation) Check() error {
	_, err := v.partition(nil)
	return err
}

// checkFields refuses negative numbers, unknown metrics, and parts that are not of each example.
func (v *Validation) checkFields() error {
	if err := checkMetrics(v.Metrics); err != nil {
		return err
	}
	if min(v.Folds, v.Repeats, v.Permutations, v.Design.Block, v.Workers) < 0 {
		return errors.New("the numbers of a cross-validation are 0 or above")
	}
	for _, part := range [][]int{v.Given, v.Design.Group, v.Design.Stratum} {
		if part != nil && (len(part) != v.Design.N || slices.Min(part) < 0) {
			return fmt.Errorf("%d folds, groups or strata for %d examples: one for each is needed, from 0 on",
				len(part), v.Design.N)
		}
	}
	return nil
}

// partition is a scheme of folds with its description, and the number of partitions into them.
type partition struct {
	resample.Sampler
	what    string
	repeats int
}

// partition is the partition of examples of these classes, nil for numbers.
func (v *Validation) partition(class []int) (p partition, err error) {
	d, units, of := v.Design, v.Design.N, "rows"
	if err := v.checkFields(); err != nil {
		return p, model.InputError(err)
	}
	if d.Group != nil {
		units, of = 1+slices.Max(d.Group), "groups"
	}
	p.repeats = 1 // of given folds and blocks, which are always the same
	switch k := v.Folds; {
	case v.Given != nil && slices.Max(v.Given) == 0:
		err = errors.New("ReadOptions.Folds: all rows are in one fold")
	case v.Given != nil:
		p.Sampler = resample.GivenFolds{Folds: 1 + slices.Max(v.Given), Fold: v.Given}
		p.what = "folds of a column"
	case d.Block > 0 && (d.Group != nil || v.Single || k*d.Block >= units):
		err = fmt.Errorf("Folds.Design.Block %d: rows are predicted forward in time, from those before "+
			"them: take Folds.Folds K with K times %[1]d below %d, and no ReadOptions.Groups", d.Block, d.N)
	case d.Block > 0:
		p.Sampler = resample.ForwardChain{Folds: k, Length: d.Block}
		p.what = fmt.Sprintf("blocks of %d rows, each predicted by the rows before it", d.Block)
	case v.Single:
		single := d.Group
		for i := len(single); i < d.N; i++ {
			single = append(single, i)
		}
		p.Sampler, p.what = resample.GivenFolds{Folds: units, Fold: single}, "folds of single "+of
	case k < 2 || k > units:
		err = fmt.Errorf("Folds.Folds %d: there are %d %s to leave out: take 2 to %[2]d, or loo", k, units,
			of)
	default:
		p.what, p.repeats = "random folds of "+of, max(1, v.Repeats)
		if d.Stratum != nil {
			p.what += " within strata"
		} else if class != nil {
			d.Stratum = class
			p.what += " within classes"
		}
		p.Sampler, err = d.Of(resample.KFold{}.Name(), resample.Options{Folds: k})
	}
	if err != nil {
		return p, model.InputError(err)
	}
	if v.Choose != nil {
		p.what += ", " + v.Anew + " without each"
	}
	return p, nil
}

func (v *Validation) folds(set *dataset.Set) (partition, error) {
	if set.AreNumbers() {
		return v.partition(nil)
	}
	return v.partition(ClassesOf(set.Columns[0].Y))
}

func (v *Validation) settings(p *part, folds partition) model.RetrainSettings {
	s := model.RetrainSettings{Plan: resample.Resamples{Scheme: folds.Sampler, Seed: v.Seed, Y: p.model.Y}}
	s.Tests, s.Workers = p.study.tests(v.Metrics), v.Workers
	s.Resamples, s.Progress = folds.Period()*folds.repeats, p.study.counting("fold")
	return s
}

// CrossValidate has the errors of exact fits without each fold. When ctx ends, finished fits count.
func (s *Study) CrossValidate(ctx context.Context, v Validation) (*report.Answer, error) {
	return validate(ctx, s, "cv", v)
}

// Validate is CrossValidate with the interval of the error of the model of all rows, unless rows are in
// blocks of time, and with the study's measure.
func (s *Study) Validate(ctx context.Context, v Validation, level float64) (*report.Answer, error) {
	kept := v
	kept.remembered = true
	a, err := s.CrossValidate(ctx, kept)
	if err != nil {
		return nil, err
	}
	if v.Design.Block == 0 {
		s.AddInterval(ctx, a, v, level)
	}
	s.addMeasure(ctx, a, v.Seed, level)
	return a, nil
}

func validate(ctx context.Context, s *Study, command string, v Validation) (*report.Answer, error) {
	folds, err := v.folds(s.Model.Set)
	if err != nil {
		return nil, err
	}
	if moved := v.shuffle(&s.Model.Set.Columns[0]); v.Permutations > 0 && moved.Arrangements() < 2 {
		return nil, model.InputError(fmt.Errorf("Folds.Permutations change nothing: the targets of all "+
			"%s that change places are the same", moved.What()))
	}
	known, join := &sync.Map{}, joining{folds.Sampler, v.Seed, v.Design.Group, v.Metrics}
	a, err := s.each(ctx, join, func(p *part, onFit OnFit) (*report.Answer, error) {
		own := v.settings(p, folds)
		own.OnFit = onFit
		if v.remembered {
			scheme := resample.KFold{Folds: min(s.Model.Set.N(), folds.Period()), N: s.Model.Set.N()}
			err := p.remember(&own, own.Resamples, command, scheme, v.Given, v.Design, v.Single, v.Seed,
				v.Method.String(), v.Anew)
			if err != nil {
				return nil, err
			}
		}
		result, err := v.fits(ctx, p, folds.Period(), own, known)
		switch {
		case err != nil:
			return nil, err
		case result.Resamples == 0:
			return nil, ctx.Err()
		}
		a := v.report(p, folds, result)
		a.Command = command
		return a, nil
	})
	if err != nil {
		return nil, err
	}
	if s.caution(a); v.Permutations == 0 || a.Status != Complete {
		return a, nil
	}
	err = permute(ctx, s, v, a)
	a.Time = s.Times
	return a, err
}

// fits makes the fits of a plan. Blocks are trained around the theory of as many folds.
func (v *Validation) fits(ctx context.Context, p *part, folds int, settings model.RetrainSettings,
	known *sync.Map) (result *model.Retraining, err error) {
	if v.Choose != nil { // for each fit
		problem := fits.Problem{Y: p.model.Y, Weights: p.model.Set.Weights, Site: p.model.Site,
			Sites: p.model.Sites(), Plan: settings.Plan, OneClass: p.labels()}
		result = &model.Retraining{Method: model.Single}
		result.Averages, err = fits.Run(ctx, problem, fits.Single(func() (train.Trainer, error) {
			return nested{ctx, p, v.Choose, known}, nil
		}), settings.Settings)
	} else {
		method, n := v.Method, p.model.Set.N()
		around := resample.KFold{Folds: min(n, folds), N: n}
		if method == model.AutoMethod &&
			model.Cheapest(ctx, p.model, around, settings.Plan, settings.Resamples, true) == model.Downdate {
			method = model.Downdate
		}
		settings.Workers = cmp.Or(settings.Workers, runtime.GOMAXPROCS(0))
		if err := model.CheckRetrain(p.model, method, around, settings); err != nil {
			return nil, err
		}
		result, err = p.retrain(ctx, method, around, settings)
	}
	if err != nil {
		return nil, err
	}
	p.study.Times.Retrain += (result.Stats.Elapsed + result.Setup).Seconds()
	p.study.Times.Iterations += result.Batch.Iterations
	p.study.Times.Exact += result.Batch.Exact
	return result, nil
}

func (v *Validation) report(p *part, folds partition, result *model.Retraining) *report.Answer {
	r, set := result.Averages.In(p.model.Function), p.model.Set
	left := &r.Tests[0]
	a := &report.Answer{Command: "cv", Subject: p.about(), TestLoss: left.Test.Name(), Folds: folds.Period(),
		Validation: &report.Validation{Repeats: folds.repeats, FoldsOf: folds.what, ErrorSEOver: "examples",
			RepeatsSE: report.Number(left.SE)}}
	if v.Design.Group != nil {
		a.ErrorSEOver = "groups"
	}
	a.Remark(p.model.Warnings()...)
	if p.addFits(a, result, v.Seed); v.Design.Block > 0 {
		a.Drop([]string{report.FewResamples.Code}) // nothing predicts the first rows, however many the folds
		if v.Corrects != CorrectsChoice {
			a.Add(chosenBy("those after each block", p.model.Chosen,
				"choose again before each block: Folds.Choose")...)
		}
	}
	p.judge(a, left, r.OutOfBag, nil, v.Design.Group)
	a.Examples.Weights = set.Weights
	points := &report.Points{Names: set.RowNames, Mean: r.OutOfBag, Error: left.Examples}
	var probabilities *Probabilities
	if p.labels() && !v.ErrorsAlone {
		points.Class = p.labelsOf(r.OutOfBag)
		if probabilities = p.probabilities(result.Averages); probabilities != nil {
			points.Probability.Positive = probabilities.LeftOut
			p.decide(points.Class, probabilities.LeftOut)
		}
	}
	a.Metrics, a.Calibration = p.measure(v.Metrics, r, probabilities)
	points.Target.Numbers = p.targets()
	requireNumbers(a, a.Error)
	a.Points, a.Time = points, p.study.Times
	return a
}

// level is the class whose examples have the label +1.
func (p *part) level() int {
	if p.study.classes() {
		return p.number
	}
	return 1
}

func ClassesOf(y []float64) []int {
	class := make([]int, len(y))
	for i, v := range y {
		class[i] = int(v)
	}
	return class
}

// fewInClass is the number of rows of a class below which draws are within classes, so that none lacks it.
const fewInClass = 30

// SmallClass returns the classes as strata if there is such a class, with its name and number of rows.
func SmallClass(set *dataset.Set) (strata []int, class string, rows int) {
	for class, rows := range classSizes(set) {
		if rows >= 2 && rows < fewInClass { // a single row would be in every resample
			return ClassesOf(set.Columns[0].Y), set.Levels()[class], rows
		}
	}
	return nil, "", 0
}

// tieTolerance is the relative difference of equal errors: the order of summation differs.
const tieTolerance = 1e-12
