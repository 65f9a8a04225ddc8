package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Validation configures cross-validation: by given folds, else forward in time if the design has blocks, else
// by random folds of examples or groups, stratified by label unless the design has strata.
type Validation struct {
	Design       resample.Design
	Given        []int // fold of each example, numbered from 0; nil: none
	Folds        int   // 0: one per example, or group
	Repeats      int   // of random folds
	Permutations int   // of the targets, for a p-value
	Seed         uint64
	Method       model.RetrainMethod
	Workers      int
	Metrics      []string
	ErrorsAlone  bool // no probabilities of labels
	// Choose, if set, chooses a model on the training rows of every fold, as Anew describes; else all folds use
	// the job's.
	Choose Chooser
	Anew   string
	// Again, if set, has chosen the job's model, and chooses another for every permutation.
	Again Chooser
}

// tenFolds is ordinary 10-fold cross-validation, of whole groups if a set has them.
func tenFolds(set *dataset.Set) Validation {
	v := Validation{Design: resample.Design{N: set.N(), Group: set.Groups}, Folds: min(10, set.N()), Repeats: 1}
	if set.Groups != nil {
		v.Folds = min(10, 1+slices.Max(set.Groups))
	}
	return v
}

// Check refuses impossible folds.
func (v *Validation) Check() error {
	_, err := v.partition(nil, false)
	return err
}

// checkFields refuses negative numbers, unknown metrics, and parts that are not of each example.
func (v *Validation) checkFields() error {
	known := slices.Concat([]string{AllMetrics}, calibration.NumberMetrics, calibration.LabelMetrics)
	for _, m := range v.Metrics {
		if !slices.Contains(known, m) {
			return fmt.Errorf("there is no metric %q, but %s", m, strings.Join(known, ", "))
		}
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

// partition is a scheme of folds with its description.
type partition struct {
	resample.Sampler
	what string
}

// partition is the partition of targets y.
func (v *Validation) partition(y []float64, labels bool) (p partition, err error) {
	d, units, of := v.Design, v.Design.N, "examples"
	if err := v.checkFields(); err != nil {
		return p, model.InputError(err)
	}
	if d.Group != nil {
		units, of = 1+slices.Max(d.Group), "groups"
	}
	switch k := v.Folds; {
	case v.Given != nil && slices.Max(v.Given) == 0:
		err = errors.New("--fold-column: all rows are in one fold")
	case v.Given != nil:
		p = partition{resample.GivenFolds{Folds: 1 + slices.Max(v.Given), Fold: v.Given}, "folds of a column"}
	case d.Block > 0 && (d.Group != nil || k == 0 || k*d.Block >= units):
		err = fmt.Errorf("--blocks %d: rows are predicted forward in time, from those before them: take --folds K "+
			"with K times %[1]d below %d, and no --groups", d.Block, d.N)
	case d.Block > 0:
		p = partition{resample.ForwardChain{Folds: k, Length: d.Block},
			fmt.Sprintf("blocks of %d rows, each predicted by the rows before it", d.Block)}
	case k == 0:
		single := d.Group
		for i := len(single); i < d.N; i++ {
			single = append(single, i)
		}
		p = partition{resample.GivenFolds{Folds: units, Fold: single}, "folds of single " + of}
	case k < 2 || k > units:
		err = fmt.Errorf("--folds %d: there are %d %s to leave out: take 2 to %[2]d, or loo", k, units, of)
	default:
		p.what = "random folds of " + of
		if d.Stratum != nil {
			p.what += " within strata"
		} else if labels {
			d.Stratum = ClassesOf(y)
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

// ClassesOf numbers the labels -1 and +1.
func ClassesOf(y []float64) []int {
	class := make([]int, len(y))
	for i, label := range y {
		if label > 0 {
			class[i] = 1
		}
	}
	return class
}

// CrossValidate implements Machine: it trains exactly without each fold, and computes the errors there. When
// ctx ends, finished fits count.
func (j *Job) CrossValidate(ctx context.Context, v Validation) (report.Answer, error) {
	return j.validate(ctx, v)
}

func (j *Job) validate(ctx context.Context, v Validation) (*report.CrossValidation, error) {
	folds, settings, err := v.plan(j)
	if err != nil {
		return nil, err
	}
	permuted := resample.Permuted{Y: j.Y, Within: v.Design.Stratum, Group: v.Design.Group,
		Labels: j.labels(), Seed: v.Seed, Fits: settings.Resamples}
	arrangements := math.Inf(1)
	if v.Permutations > 0 {
		arrangements = permuted.Arrangements()
	}
	if arrangements < 2 {
		return nil, model.InputError(fmt.Errorf("--permutations change nothing: the targets of all %s that "+
			"change places are the same", permuted.What()))
	}
	result, err := v.fits(ctx, j, folds.Period(), settings)
	switch {
	case err != nil:
		return nil, err
	case result.Resamples == 0:
		return nil, ctx.Err()
	}
	r := v.report(j, folds, result)
	if v.Permutations > 0 && result.Status == fits.Complete {
		what := permuted.What()
		if arrangements < enoughArrangements {
			warn(&r.Warnings, fmt.Sprintf("there are only %.0f arrangements of %s: the p-value cannot be "+
				"below %.2g", arrangements, what, 1/arrangements))
		}
		if v.Again != nil && v.Choose == nil {
			what += ", the model chosen again for each"
			err = v.permuteChoices(ctx, j, permuted, r)
		} else {
			err = v.permute(ctx, j, permuted, settings, r)
		}
		r.NullHypothesis = fmt.Sprintf("targets do not depend on features: %d permutations of %s",
			r.Permutations, what)
	}
	r.Time = j.Times
	return r, err
}

// plan returns the folds, and the settings of the fits without each.
func (v *Validation) plan(j *Job) (folds partition, s model.RetrainSettings, err error) {
	if folds, err = v.partition(j.Y, j.labels()); err != nil {
		return folds, s, err
	}
	switch folds.Sampler.(type) {
	case resample.GivenFolds, resample.ForwardChain: // always the same
		v.Repeats = 1
	}
	v.Repeats = max(1, v.Repeats)
	s.Plan = resample.Resamples{Scheme: folds.Sampler, Seed: v.Seed, Y: j.Y}
	s.Tests = append([]loss.Test{j.Test}, j.refinedTests(Settings{Metrics: v.Metrics})...)
	s.Resamples, s.Workers, s.Progress = folds.Period()*v.Repeats, v.Workers, j.counting("fold")
	return folds, s, nil
}

// CrossValidatePath cross-validates models along a path of C: jobs on one kernel matrix, with the first one's
// loss times the factors. Along the path every fit starts from the last.
func CrossValidatePath(ctx context.Context, jobs []*Job, factors []float64,
	v Validation) ([]*report.CrossValidation, error) {
	folds, settings, err := v.plan(jobs[0])
	if err != nil {
		return nil, err
	}
	around := resample.KFold{Folds: folds.Period(), N: jobs[0].Set.N()}
	results, err := model.RetrainPath(ctx, jobs[0].Model, around, factors, settings)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	reports := make([]*report.CrossValidation, len(jobs))
	for k, j := range jobs {
		j.Times.Retrain += results[k].Stats.Elapsed.Seconds()
		reports[k] = v.report(j, folds, &model.Retraining{Result: results[k], Method: model.Single})
	}
	return reports, nil
}

// fits makes the fits of a plan. Blocks are trained around the theory of as many folds.
func (v *Validation) fits(ctx context.Context, j *Job, folds int, s model.RetrainSettings) (
	result *model.Retraining, err error) {
	if v.Choose != nil {
		result = &model.Retraining{Method: model.Single}
		result.Result, err = v.fitNested(ctx, j, s)
	} else {
		method, n, k := v.Method, j.Set.N(), 1/float64(folds)
		// in n^3 operations: those of fits to the other folds minus those of downdates; the inverse takes one
		saved := float64(s.Resamples) * (math.Pow(1-k, 3) - math.Pow(k, 3)) / 3
		if method == model.AutoMethod && model.CanDowndate(j.Model) && saved > 1 {
			method = model.Downdate
		}
		around := resample.KFold{Folds: min(n, folds), N: n}
		s.Workers = cmp.Or(s.Workers, runtime.GOMAXPROCS(0))
		if err := model.CheckRetrain(j.Model, method, around, s); err != nil {
			return nil, err
		}
		result, err = model.Retrain(ctx, j.Model, method, around, s)
	}
	if err != nil {
		return nil, err
	}
	j.Times.Retrain += (result.Stats.Elapsed + result.Setup).Seconds()
	j.Times.Iterations += result.Batch.Iterations
	j.Times.Exact += result.Batch.Exact
	return result, nil
}

// report is the document of the fits without each fold.
func (v *Validation) report(j *Job, folds partition, result *model.Retraining) *report.CrossValidation {
	left, predicted := result.Tests[0], result.OutOfBag
	r := &report.CrossValidation{
		Command: "cv", Subject: j.Subject, TestLoss: left.Test.Name(),
		Folding: report.Folding{Folds: folds.Period(), Repeats: v.Repeats, FoldsOf: folds.what},
		Draws:   draws(j.Model, result, v.Seed), RepeatsSE: null.Float(left.SE),
		Outcome: report.Outcome{Warnings: append(append([]string{}, j.Warnings()...), result.Warnings...)},
	}
	mean := null.Float(left.Error)
	if r.Quality = j.quality(mean, left.Examples, predicted); r.Quality != nil {
		r.Quality.Over(left.Examples, j.Set.Weights, v.Design.Group)
	}
	r.Quote, r.ErrorSEOver = report.NewQuote(r.TestLoss, mean, r.Quality, nil), "examples"
	if v.Design.Group != nil {
		r.ErrorSEOver = "groups"
	}
	warn(&r.Warnings, r.Quality.Warning(r.Error))
	warn(&r.Warnings, FewWarning(j.Set))
	expected := func(test loss.Test) []float64 { return result.Test(test.Name()).Examples }
	points := &report.Points{Names: j.Set.RowNames, Mean: predicted, Error: left.Examples}
	var probabilities *predict.Probabilities
	if j.labels() && !v.ErrorsAlone {
		if p, err := predict.RefinedProbabilities(j.Model, result.Result); err == nil {
			probabilities, points.Probability = p, p.LeftOut
		}
		for _, f := range predicted {
			points.Class = append(points.Class, j.Subject.Labels.Name(f))
		}
	}
	r.Metrics, r.Calibration = j.judge(Settings{Metrics: v.Metrics}, predicted, probabilities, expected)
	points.Shift(j.shift())
	points.Target = j.targets()
	requireNumbers(&r.Status, &r.Warnings, nil, r.Error)
	r.Points, r.Time = points, j.Times
	return r
}

// enoughArrangements are the fewest of which one of twenty is a p-value of 0.05.
const enoughArrangements = 20

// permuteChoices is permute for a model that was chosen on the targets: the choice is part of what is
// compared, and is repeated on the targets of every permutation.
func (v Validation) permuteChoices(ctx context.Context, j *Job, plan resample.Permuted,
	r *report.CrossValidation) error {
	permutations, mutex, done := v.Permutations, sync.Mutex{}, 0
	v.Permutations, v.Metrics, v.ErrorsAlone, v.Workers = 0, nil, true, 1
	found, failed := make([]float64, permutations), make([]error, permutations)
	blas.SingleThreaded(func() {
		linalg.Parallel(permutations, func(p int) {
			found[p] = math.NaN()
			if ctx.Err() != nil {
				return
			}
			spec, err := v.Again(ctx, withTargets(j.Set, plan.Targets(p)))
			if err != nil {
				failed[p] = err
				return
			}
			other, err := New(ctx, spec, j.Test)
			if err != nil {
				failed[p] = err
				return
			}
			one, err := other.validate(ctx, v)
			if failed[p] = err; err == nil {
				found[p] = float64(one.Error)
			}
			mutex.Lock()
			defer mutex.Unlock()
			done++
			j.Progress(fmt.Sprintf("permutation %d of %d", done, permutations), done, permutations)
		})
	})
	if err := cmp.Or(failed...); err != nil && ctx.Err() == nil {
		return err
	}
	setPValue(r, slices.DeleteFunc(found, math.IsNaN))
	if ctx.Err() != nil {
		r.Status = fits.Cancelled.String()
	}
	return nil
}

// permute adds the p-value of no relation between inputs and targets, by fits of one model to permuted
// targets and the same folds.
func (v *Validation) permute(ctx context.Context, j *Job, plan resample.Permuted,
	settings model.RetrainSettings, r *report.CrossValidation) error {
	fits := settings.Resamples
	plan.Of = func(y []float64) resample.Plan {
		folds, _ := v.partition(y, j.labels()) // no error for the targets, hence none here
		return resample.Resamples{Scheme: folds.Sampler, Seed: v.Seed, Y: y}
	}
	settings.Plan, settings.Resamples, settings.Tests = &plan, fits*v.Permutations, nil
	settings.Progress = func(done, total int) {
		j.Progress(fmt.Sprintf("permutation %d of %d", (done+fits-1)/fits, v.Permutations), done, total)
	}
	site := func(i int) int { return j.Site[i] }
	if v.Choose != nil {
		site = func(i int) int { return i }
	}
	sum, count, y := make([]float64, v.Permutations), make([]float64, v.Permutations), []float64(nil)
	settings.OnFit = func(b int, weight, f []float64) {
		p := b / fits
		if b%fits == 0 {
			y = plan.Targets(p)
		}
		first, end := resample.Judged(plan.Of(y), b%fits, len(y))
		for i := first; i < end; i++ {
			if weight[i] == 0 {
				w := calibration.WeightOf(j.Set.Weights, i)
				sum[p] += w * j.Test.Value(f[site(i)], y[i])
				count[p] += w
			}
		}
	}
	result, err := v.fits(ctx, j, r.Folds, settings)
	if err != nil {
		return err
	}
	r.Status = result.Status.String()
	setPValue(r, floats.DivTo(sum, sum, count)[:result.Resamples/fits])
	return nil
}

// setPValue sets the p-value (1 + #)/(1 + P), # the number of P permutations of the targets with at most the
// same error (Ojala and Garriga 2010).
func setPValue(r *report.CrossValidation, errors []float64) {
	if r.Permutations = len(errors); r.Permutations == 0 {
		return
	}
	asGood := 0
	for _, e := range errors {
		if e <= float64(r.Error)*(1+tieTolerance) {
			asGood++
		}
	}
	r.PValue = null.Of(float64(1+asGood) / float64(1+r.Permutations))
}

// tieTolerance is the relative difference of equal errors: the order of summation differs.
const tieTolerance = 1e-12
