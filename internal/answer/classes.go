package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
)

// Classes decide between several classes by binary classifiers on one kernel matrix: each class against the
// others, the class of an input being that of the largest field, the first of equals; or each pair of
// classes, by votes.
type Classes struct {
	Set   *dataset.Set // of all classes
	Jobs  []*Job       // of each class against the others
	order []int        // of the classes if pairs vote; nil: each against the others
}

// defaultResamples is the number of resamples if none is given: without resamples a decision has no error.
const defaultResamples = 200

// NewClasses builds the kernel matrix of a specification whose set has several classes.
func NewClasses(ctx context.Context, spec model.Spec) (*Classes, error) {
	first, err := New(ctx, spec, nil)
	if err != nil {
		return nil, err
	}
	c := &Classes{Set: spec.Set, Jobs: []*Job{first}}
	for k := 1; k < len(first.Functions); k++ {
		c.Jobs = append(c.Jobs, Of(first.Model.Of(k), first.Test))
	}
	return c, nil
}

// First implements Machine.
func (c *Classes) First() *Job { return c.Jobs[0] }

// About implements Machine.
func (c *Classes) About() report.Subject {
	s := c.Jobs[0].Subject
	s.Labels, s.Positive, s.Notes = nil, "", c.Set.Notes
	return s
}

// classifier is a classifier of one class against others, with its job's labels.
type classifier struct {
	*Job
	name   string
	weight []float64 // 1 for the examples of a pair of classes, else 0; nil: 1 for all
}

// classifiers are the binary classifiers of the decision.
func (c *Classes) classifiers() (all []classifier) {
	for _, j := range c.Jobs {
		j.Progress, j.Keep = c.Jobs[0].Progress, c.Jobs[0].Keep
	}
	if c.order != nil {
		return c.pairs()
	}
	for k, j := range c.Jobs {
		all = append(all, classifier{j, "class " + c.Set.Levels()[k], nil})
	}
	return all
}

// fields are the predictions of one exact fit of every classifier, or the fields of every class, at the
// examples.
type fields [][]float32

// margin is the field of an example's class minus the largest other one, and class that of the largest field.
func (f fields) margin(example, own int) (margin float64, class int) {
	largest, other := math.Inf(-1), math.Inf(-1)
	for k := range f {
		v := float64(f[k][example])
		if v > largest {
			largest, class = v, k
		}
		if k != own {
			other = math.Max(other, v)
		}
	}
	return float64(f[own][example]) - other, class
}

// errNoneLeftOut refuses schemes with real weights for several classes.
var errNoneLeftOut = model.InputError(errors.New("with real weights no row is left out to judge classes " +
	"by: take another scheme, or --positive LABEL"))

// Estimate estimates the error of the decision by exact resamples, equal for all classifiers: around the
// theory for each class against the others, one by one for pairs.
func (c *Classes) Estimate(ctx context.Context, s Settings) (report.Answer, error) {
	if hasWeights(s.Scheme) {
		return nil, errNoneLeftOut
	}
	r, first := c.report("estimate"), c.Jobs[0]
	s.Refine.Resamples, s.Refine.Optional = max(2, cmp.Or(s.Refine.Resamples, defaultResamples)), false
	if s.Method == AutoMethod && first.Form() == model.Exact && s.NeedsTheory(first.Loss) == "" &&
		float64(len(c.Jobs))*theoryOperations(first.Sites()) > mostBeside {
		s.Method = FitsMethod
	}
	plan := c.drawn(r, s.Scheme, s.Refine.Seed)
	return c.decide(ctx, r, plan, func(k int, b classifier, onFit onFit) (*model.Retraining, error) {
		if b.weight != nil {
			return b.singly(ctx, s.Scheme, plan, fits.Settings{Resamples: s.Refine.Resamples, OnFit: onFit})
		}
		s.Label = "solve " + c.Set.Levels()[k]
		solution, result, warnings, err := b.solveRefined(ctx, s, onFit)
		if err != nil || result == nil {
			return nil, cmp.Or(err, ctx.Err(), errors.New("there are no exact resamples to judge classes by"))
		}
		r.Each[k].Refined = null.Of(result.Tests[0].Error)
		if !b.fitsAlone(s) {
			left, _ := solution.LeftOut(b.Test)
			r.Each[k].Theory = null.Of(left)
		}
		for _, w := range warnings {
			r.Warnings = append(r.Warnings, c.Set.Levels()[k]+": "+w)
		}
		return result, nil
	})
}

// Retrain estimates the error of the decision by training on every resample.
func (c *Classes) Retrain(ctx context.Context, how Retraining) (report.Answer, error) {
	first := c.Jobs[0]
	if err := model.CheckRetrain(first.Model, how.Method, how.Scheme, how.of(first.Test)); err != nil {
		return nil, err
	}
	r := c.report("retrain")
	plan := c.drawn(r, how.Scheme, how.Seed)
	return c.decide(ctx, r, plan, func(_ int, b classifier, onFit onFit) (*model.Retraining, error) {
		settings := how.of(b.Test)
		settings.OnFit, settings.MaxSkipped = onFit, 0 // the decision needs all classes
		if b.weight != nil {
			return b.singly(ctx, how.Scheme, plan, settings.Settings)
		}
		return how.fits(ctx, b.Job, settings)
	})
}

// drawn is the plan of the resamples of r.
func (c *Classes) drawn(r *report.Classes, scheme resample.Scheme, seed uint64) resample.Resamples {
	r.Resampling = &report.ClassResampling{Resampling: Resampling(scheme, c.Set.N()), Seed: seed}
	return resample.Resamples{Scheme: scheme, Seed: seed, Y: slices.Repeat([]float64{1}, c.Set.N())}
}

// CrossValidate estimates the error of the decision by exact fits without each fold, the same for all.
func (c *Classes) CrossValidate(ctx context.Context, v Validation) (report.Answer, error) {
	return c.validate(ctx, "cv", v)
}

// LeaveOneOut estimates the error of the decision by exact fits without each example.
func (c *Classes) LeaveOneOut(ctx context.Context, _ leaveout.Method, _ bool) (report.Answer, error) {
	return c.validate(ctx, "loo", Validation{Design: resample.Design{N: c.Set.N()}})
}

func (c *Classes) validate(ctx context.Context, command string, v Validation) (report.Answer, error) {
	if v.Design.Stratum == nil && v.Design.Group == nil {
		v.Design.Stratum = ClassOf(c.Set)
	}
	folds, err := v.partition(nil, false)
	if err != nil {
		return nil, err
	}
	r := c.report(command)
	r.Folding = report.Folding{Folds: folds.Period(), Repeats: max(1, v.Repeats), FoldsOf: folds.what}
	plan := resample.Resamples{Scheme: folds.Sampler, Seed: v.Seed, Y: slices.Repeat([]float64{1}, c.Set.N())}
	if v.Choose != nil {
		exact, err := c.fitNested(ctx, v, plan, r.Folds*r.Repeats)
		if err != nil {
			return nil, err
		}
		return r, c.judge(ctx, r, exact, plan)
	}
	return c.decide(ctx, r, plan, func(_ int, b classifier, onFit onFit) (*model.Retraining, error) {
		own := plan
		own.Y = b.Y
		settings := model.RetrainSettings{Plan: own}
		settings.Resamples, settings.Workers, settings.OnFit = r.Folds*r.Repeats, v.Workers, onFit
		if b.weight != nil {
			around := resample.KFold{Folds: min(r.Folds, c.Set.N()), N: c.Set.N()}
			return b.singly(ctx, around, plan, settings.Settings)
		}
		return v.fits(ctx, b.Job, r.Folds, settings)
	})
}

// onFit receives an exact fit.
type onFit = func(b int, weight, f []float64)

// decide estimates the error of the decision by fits of every classifier, which fit makes.
func (c *Classes) decide(ctx context.Context, r *report.Classes, plan resample.Resamples,
	fit func(k int, b classifier, onFit onFit) (*model.Retraining, error)) (report.Answer, error) {
	var exact []fields
	all := c.classifiers()
	err := each(all, func(k int, b classifier) error {
		result, err := fit(k, b, func(r int, _, f []float64) {
			if r == len(exact) {
				exact = append(exact, make(fields, len(all)))
			}
			exact[r][k] = make([]float32, len(b.Site))
			for example, site := range b.Site {
				exact[r][k][example] = float32(f[site])
			}
		})
		if err == nil {
			r.OneClass += result.OneClass
			err = ctx.Err()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, c.judge(ctx, r, exact, plan)
}

// report is the head of an answer.
func (c *Classes) report(command string) *report.Classes {
	r := &report.Classes{Command: command, Subject: c.About(), Classes: c.Set.Levels(),
		TestLoss: loss.ZeroOne{}.Name(), Status: fits.Complete.String(),
		Outcome: report.Outcome{Warnings: append([]string{}, c.Jobs[0].Warnings()...)},
		Each:    make([]report.ClassError, len(c.Set.Levels()))}
	if all := r.Subject.RowsTotal; all > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the error is that of models of %d of the %d rows: those of "+
			"all rows err less; --sample all takes them", c.Set.N(), all))
	}
	if few := FewWarning(c.Set); c.Set.Weights != nil || c.Set.Groups != nil {
		warn(&r.Warnings, few)
	}
	if c.order != nil {
		r.Multiclass = OneAgainstOne
	}
	return r
}

// judge computes the errors of left-out decisions from fits of every classifier. For package fits an
// example is right if the margin of its class is above 0.
func (c *Classes) judge(ctx context.Context, r *report.Classes, exact []fields,
	plan resample.Resamples) error {
	if c.order != nil {
		for b, f := range exact {
			exact[b] = votes(c.order, f)
		}
	}
	n, of, weights := c.Set.N(), ClassOf(c.Set), c.Set.Weights
	leftOut, taken := make([][]bool, len(exact)), make([][]float64, n) // how often it is taken for each class
	for i := range taken {
		taken[i] = make([]float64, len(c.Set.Levels()))
	}
	settings := fits.Settings{Resamples: len(exact), Workers: 1, Tests: []loss.Test{loss.ZeroOne{}}}
	settings.Lookup = func(b int, at []float64) (bool, error) {
		for i := range at {
			at[i], _ = exact[b].margin(i, of[i])
		}
		return true, nil
	}
	settings.OnFit = func(b int, weight, _ []float64) {
		leftOut[b] = make([]bool, n)
		for i, w := range weight {
			if leftOut[b][i] = w == 0; w == 0 {
				_, class := exact[b].margin(i, of[i])
				taken[i][class]++
			}
		}
	}
	result, err := fits.Run(ctx, fits.Problem{Y: plan.Y, Weights: weights, Plan: plan},
		fits.Single(func() (train.Trainer, error) { return nil, nil }), settings) // all fits are known
	if err != nil {
		return err
	}
	if r.Resampling != nil {
		r.Resampling.Resamples = len(exact)
	}
	left, best := result.Tests[0], make([]int, n)
	for i, votes := range taken {
		if best[i] = floats.MaxIdx(votes); votes[best[i]] == 0 {
			best[i] = -1
		}
	}
	over, monteCarlo := &calibration.Quality{}, null.Of(left.SE)
	if over.Over(left.Examples, weights, c.Set.Groups); r.Resampling == nil {
		monteCarlo = nil
	}
	r.Quote = report.NewQuote(r.TestLoss, null.Float(left.Error), over, monteCarlo)
	r.ExampleSE = over.ExampleSE
	r.ClassDecisions = decisions(c.Set.Levels(), c.Set.RowNames, best, of, c.probabilities(exact, leftOut))
	r.Points.Error = left.Examples
	c.tabulate(r, left.Examples)
	r.Warnings = append(r.Warnings, result.Warnings...)
	r.Time = c.Jobs[0].Times
	return nil
}

// tabulate computes errors by class, and the baseline.
func (c *Classes) tabulate(r *report.Classes, errors []float64) {
	byClass, sizes := make([][]float64, len(r.Each)), make([]float64, len(r.Each))
	for i, own := range ClassOf(c.Set) {
		sizes[own]++
		if !math.IsNaN(errors[i]) {
			byClass[own] = append(byClass[own], errors[i])
		}
	}
	balanced, largest := 0.0, floats.MaxIdx(sizes)
	for k, name := range c.Set.Levels() {
		mean := null.Float(stat.Mean(byClass[k], nil))
		r.Each[k].Class, r.Each[k].Examples, r.Each[k].Error = name, int(sizes[k]), mean
		balanced += float64(mean) / float64(len(r.Each))
		if sizes[k] < 2 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("there is one example of class %s: it cannot be judged",
				name))
		}
	}
	r.Balanced, r.Constant = null.Float(balanced), c.Set.Levels()[largest]
	r.Baseline = null.Float(1 - sizes[largest]/float64(c.Set.N()))
}

// decisions are the classes, by number, of examples or new inputs, -1 for none, with their probabilities or
// nil; of, if set, are the true classes.
func decisions(classes, names []string, best, of []int, p [][]float64) report.ClassDecisions {
	points := &report.ClassPoints{Names: names, Class: make([]string, len(best)),
		Probability: map[string]null.Floats{}}
	d := report.ClassDecisions{Points: points}
	for k := range p {
		points.Probability[classes[k]] = p[k]
	}
	for i, k := range best {
		if k >= 0 {
			points.Class[i] = classes[k]
		}
	}
	if of == nil {
		return d
	}
	for range classes {
		d.Confusion = append(d.Confusion, make([]int, len(classes)))
	}
	for i, own := range of {
		if points.Target = append(points.Target, classes[own]); best[i] >= 0 {
			d.Confusion[own][best[i]]++
		}
	}
	d.LogLoss, d.Brier = scores(p, of)
	return d
}

// probabilities are those of the classes for every left-out example: for each class by a curve fitted to its
// left-out fields without the example, divided by their sum; nil if a class has too few examples.
func (c *Classes) probabilities(exact []fields, leftOut [][]bool) [][]float64 {
	all, n := make([][]float64, len(c.Jobs)), c.Set.N()
	for k, j := range c.Jobs {
		mean, square := make([]float64, n), make([]float64, n)
		for i := range n {
			count := 0.0
			for b := range leftOut {
				if leftOut[b][i] {
					v := float64(exact[b][k][i])
					mean[i] += v
					square[i] += (v - j.Y[i]) * (v - j.Y[i])
					count++
				}
			}
			mean[i] /= count
			square[i] /= count
		}
		p, err := predict.LeftOutProbabilities(j.Y, j.Set.Weights, mean, square)
		if err != nil || p.LeftOut == nil {
			return nil
		}
		all[k] = p.LeftOut
	}
	return normalised(all)
}

// normalised divides probabilities of classes by their sum.
func normalised(all [][]float64) [][]float64 {
	total := make([]float64, len(all[0]))
	for _, p := range all {
		floats.Add(total, p)
	}
	for _, p := range all {
		floats.Div(p, total)
	}
	return all
}

// scores are the mean of -log of the true class's probability, and the mean over examples of the sum over
// classes of squared differences (Brier 1950), over examples with probabilities; nil without.
func scores(p [][]float64, of []int) (logLoss, brier *null.Float) {
	if p == nil {
		return nil, nil
	}
	l, b, count := 0.0, 0.0, 0.0
	for i, own := range of {
		if math.IsNaN(p[own][i]) {
			continue
		}
		l -= math.Log(p[own][i])
		for k := range p {
			off := p[k][i]
			if k == own {
				off--
			}
			b += off * off
		}
		count++
	}
	return null.Of(l / count), null.Of(b / count)
}

// Train implements Machine. Classifiers of all examples include the calibration of probabilities.
func (c *Classes) Train(ctx context.Context) (*model.Predictor, error) {
	var all []*model.Predictor
	for _, b := range c.classifiers() {
		p, err := b.train(ctx)
		if err == nil && c.order == nil {
			_, err = b.AddLeftOut(ctx, p)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
		all = append(all, p)
	}
	all[0].Others, all[0].Pairs, all[0].Encoding = all[1:], c.order, c.Set.Encoding()
	return all[0], nil
}

// train trains the classifier on the examples of its classes.
func (b *classifier) train(ctx context.Context) (*model.Predictor, error) {
	weight := b.weight
	if given := b.Set.Weights; given != nil && weight != nil {
		weight = floats.MulTo(make([]float64, len(weight)), weight, given)
	}
	return trainWeighted(ctx, b.Model, weight)
}

// Predict implements Machine.
func (c *Classes) Predict(ctx context.Context, in *dataset.Inputs, s Settings) (report.Answer, error) {
	return trainedAt(ctx, c, in, s)
}

// PredictClasses is the answer of a model of several classes at new inputs.
func PredictClasses(p *model.Predictor, in *dataset.Inputs) (*report.ClassPrediction, error) {
	e, n, curves := p.Encoding, in.N(), p.Pairs == nil
	target := e.Targets[0]
	if len(target.Levels) <= 2 {
		return nil, model.InputError(errors.New("the model is not of several classes: Predict of it answers"))
	}
	r := &report.ClassPrediction{AtInputs: atInputs(in), Classes: target.Levels,
		Outcome: report.Outcome{Warnings: append([]string{}, in.Notes...)},
		TrainedOn: report.TrainedOn{Data: e.Name, N: p.Training.Examples,
			D: e.Features, Task: predicted(e).Task(), Target: target.Name, Loss: p.Loss, Kernel: p.Kernel}}
	var f, probabilities [][]float64
	for _, one := range p.All() {
		field, err := one.Predict(in)
		if err != nil {
			return nil, err
		}
		f = append(f, field)
		r.SupportVectors += len(one.Weight)
		curves = curves && one.LeftOut != nil
	}
	if p.Pairs != nil {
		f = votes(p.Pairs, f)
	}
	best := make([]int, n)
	for k := range f {
		for i, v := range f[k] {
			if v > f[best[i]][i] {
				best[i] = k
			}
		}
	}
	if curves {
		for k, one := range p.All() {
			for i, v := range f[k] {
				f[k][i] = one.LeftOut.Curve.Probability(v)
			}
		}
		probabilities = normalised(f)
	}
	var of []int
	if in.Columns != nil {
		of = ClassOf(in)
	}
	if r.ClassDecisions = decisions(target.Levels, in.RowNames, best, of, probabilities); of == nil {
		return r, nil
	}
	for i, own := range of {
		wrong := 0.0
		if own != best[i] {
			wrong = 1
		}
		r.Points.Error = append(r.Points.Error, wrong)
	}
	r.TestLoss, r.TestError = loss.ZeroOne{}.Name(), null.Of(stat.Mean(r.Points.Error, nil))
	return r, nil
}
