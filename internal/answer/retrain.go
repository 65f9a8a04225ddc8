package answer

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bootbench/internal/batch"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
)

// Retraining says how averages are taken by retraining.
type Retraining struct {
	retrain.Settings // its Tests are the job's
	Method           refit.RetrainMethod
	Scheme           resample.Scheme
	Seed             uint64
	NoPoints         bool
}

// mostSkipped is the share of the resamples that may be left out where training does not converge.
const mostSkipped = 0.05

// refit are the settings of package refit.
func (r *Retraining) refit(test loss.Test) refit.RetrainSettings {
	settings := r.Settings
	settings.Tests, settings.MaxSkipped = []loss.Test{test}, mostSkipped
	return refit.RetrainSettings{Settings: settings, Seed: r.Seed}
}

// Check refuses a retraining that would not fit into memory.
func (r *Retraining) Check(m *model.Model, test loss.Test) error {
	return refit.CheckRetrain(m, r.Method, r.Scheme, r.refit(test))
}

// Retrain trains on resamples, and averages. What was finished when ctx ends counts.
func (j *Job) Retrain(ctx context.Context, r Retraining) (*report.Retraining, error) {
	if err := j.Fit(); err != nil {
		return nil, err
	}
	settings := r.refit(j.Test)
	settings.Progress = func(done, total int) {
		j.Progress(fmt.Sprintf("retraining %d of %d", done, total), done, total)
	}
	began := time.Now()
	result, err := j.retrain(ctx, r, settings)
	switch {
	case err != nil:
		return nil, err
	case result.Resamples == 0:
		return nil, ctx.Err()
	}
	j.Times.Retrain = time.Since(began).Seconds()
	j.Times.Fits = (result.Stats.Elapsed + result.Setup).Seconds()
	j.Times.Iterations, j.Times.Exact = result.Batch.Iterations, result.Batch.Exact
	return j.retrained(r, result)
}

// retrain makes the fits, and keeps them where they are kept: ErrElsewhere where others make some of them.
func (j *Job) retrain(ctx context.Context, r Retraining, settings refit.RetrainSettings) (*refit.Retraining,
	error) {
	kept, err := j.keepRetrained(&settings, r)
	if err != nil {
		return nil, err
	}
	result, err := refit.Retrain(ctx, j.Model, r.Method, r.Scheme, settings)
	if err != nil || kept == nil {
		return result, err
	}
	if result.Status == retrain.Complete {
		kept.End()
	}
	if kept.Shared() {
		return nil, cmp.Or(ctx.Err(), ErrElsewhere)
	}
	return result, nil
}

// keepRetrained has fits looked up where they are kept, and those that are made kept there.
func (j *Job) keepRetrained(settings *refit.RetrainSettings, r Retraining) (Fits, error) {
	if j.Keep == nil {
		return nil, nil
	}
	period := r.Scheme.Period()
	count := (settings.Resamples + period - 1) / period * period
	kept := j.Keep("retrain\n"+j.Key(r.Scheme, r.Method.String(), r.Seed), j.Sites(), count, j.Set.Name)
	if kept.Missing() {
		return nil, ErrElsewhere
	}
	also := settings.OnFit
	settings.Lookup = kept.Lookup
	settings.OnSkip = func(b int, why error) { kept.Add(b, nil, why) }
	settings.OnFit = func(b int, weight, f []float64) {
		kept.Add(b, f, nil)
		if also != nil {
			also(b, weight, f)
		}
	}
	return kept, nil
}

// draws is what a report says of fits.
func draws(m *model.Model, r *refit.Retraining, seed uint64) report.Draws {
	return report.Draws{Method: r.Method.String(), Training: refit.Training(m, r.Method,
		batch.DefaultTolerance), Status: r.Status.String(), Resamples: r.Resamples, Seed: seed,
		Workers: r.Stats.Workers, Empty: r.Empty, OneClass: r.OneClass, Skipped: len(r.Skipped)}
}

// retrained is what a report says of a retraining.
func (j *Job) retrained(how Retraining, result *refit.Retraining) (*report.Retraining, error) {
	left := result.Tests[0]
	errors, err := j.Errors(left.Error)
	if err != nil {
		return nil, err
	}
	r := &report.Retraining{
		Command: "retrain", Subject: j.Subject, Resampling: Resampling(how.Scheme, j.Set.N()),
		Draws: draws(j.Model, result, how.Seed), Errors: errors, SE: null.Float(left.SE),
		FitS:     result.Stats.FitTime.Seconds() / float64(max(1, result.Stats.Fits)),
		Warnings: allWarnings(j.Model, how.Scheme, result.Warnings...),
		Points: &report.Points{
			Names: j.Set.RowNames, Mean: j.perExample(result.Mean), Variance: j.perExample(result.Variance),
			Error: left.Examples, MeanSE: j.perExample(result.MeanSE), VarianceSE: j.perExample(result.VarianceSE),
			OOBMean: result.OutOfBag,
		},
	}
	r.Ensemble.BaggedError = null.Float(left.BaggedError)
	r.EnsembleSE.BaggedError = null.Float(left.BaggedSE)
	if j.labels() {
		r.Ensemble.VoteError, r.EnsembleSE.VoteError = null.Of(result.VoteError), null.Of(result.VoteErrorSE)
		r.Points.OOBVote, r.Points.Vote = result.OutOfBagVote, j.perExample(result.Vote)
	}
	r.Points.Shift(j.TargetMean)
	r.Points.Target = j.targets()
	r.Quality = j.quality(r.TestError, left.Examples)
	warn(&r.Warnings, r.Quality.Warning(r.TestError))
	requireNumbers(&r.Status, &r.Warnings, r.Points, r.Apparent)
	if how.NoPoints {
		r.Points = nil
	}
	r.Time = j.Times
	return r, nil
}

// PerExample spreads the predictions of an exact fit onto the examples, in units of the target.
func (j *Job) PerExample(f []float64) []float64 {
	values := j.perExample(f[:j.Sites()])
	for i := range values {
		values[i] += j.TargetMean
	}
	return values
}

// Need is the memory that a retraining takes beside the kernel matrix of a model.
func (r *Retraining) Need(m *model.Model, test loss.Test) int64 {
	return refit.NeedToRetrain(m, r.Method, r.Scheme, r.refit(test))
}
