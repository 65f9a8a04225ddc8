package answer

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// Retraining configures averages by retraining.
type Retraining struct {
	model.RetrainSettings // its Tests and MaxSkipped are the job's
	Method                model.RetrainMethod
	Scheme                resample.Scheme
	NoPoints              bool
}

// mostSkipped is the largest fraction of resamples left out because training did not converge.
const mostSkipped = 0.05

// of are the settings for a test loss.
func (how *Retraining) of(test loss.Test) model.RetrainSettings {
	settings := how.RetrainSettings
	settings.Tests, settings.MaxSkipped = []loss.Test{test}, mostSkipped
	settings.Workers = min(cmp.Or(settings.Workers, runtime.GOMAXPROCS(0)), settings.Resamples)
	return settings
}

// Need is the memory of a retraining without the kernel matrix.
func (how *Retraining) Need(m *model.Model, test loss.Test) int64 {
	return model.NeedToRetrain(m, how.Method, how.Scheme, how.of(test))
}

// Retrain implements Machine: it trains on resamples, and averages. When ctx ends, finished fits count.
func (j *Job) Retrain(ctx context.Context, r Retraining) (report.Answer, error) {
	settings := r.of(j.Test)
	if err := model.CheckRetrain(j.Model, r.Method, r.Scheme, settings); err != nil {
		return nil, err
	}
	began := time.Now()
	var err error
	if j.full, err = j.FullFit(ctx); err != nil {
		return nil, err
	}
	j.Times.Fit += time.Since(began).Seconds()
	settings.Progress = j.counting("retraining")
	began = time.Now()
	result, err := r.fits(ctx, j, settings)
	switch {
	case err != nil:
		return nil, err
	case result.Resamples == 0:
		return nil, ctx.Err()
	}
	j.Times.Retrain = time.Since(began).Seconds()
	j.Times.Fits = (result.Stats.Elapsed + result.Setup).Seconds()
	j.Times.Iterations, j.Times.Exact = result.Batch.Iterations, result.Batch.Exact
	return r.report(j, result), nil
}

// fits makes the fits and stores them with Keep; the error is ErrElsewhere if other processes make some.
func (how *Retraining) fits(ctx context.Context, j *Job, settings model.RetrainSettings) (*model.Retraining,
	error) {
	end := func(bool) error { return nil }
	if j.Keep != nil {
		period := how.Scheme.Period()
		var err error
		if _, end, err = j.Keep("retrain\n"+j.Key(how.Scheme, how.Method.String(), how.Seed), j.Sites(),
			(settings.Resamples+period-1)/period*period, j.Set.Name, &settings.Settings); err != nil {
			return nil, err
		}
	}
	result, err := model.Retrain(ctx, j.Model, how.Method, how.Scheme, settings)
	if err == nil {
		err = end(result.Status == fits.Complete)
	}
	return result, err
}

// draws describes the fits of a report.
func draws(m *model.Model, r *model.Retraining, seed uint64) report.Draws {
	return report.Draws{Method: r.Method.String(), Training: model.Training(m, r.Method),
		Status: r.Status.String(), Resamples: r.Resamples, Seed: seed,
		Workers: r.Stats.Workers, Empty: r.Empty, OneClass: r.OneClass, Skipped: len(r.Skipped)}
}

// report is the document of the fits.
func (how *Retraining) report(j *Job, result *model.Retraining) *report.Retraining {
	left := result.Tests[0]
	r := &report.Retraining{
		Command: "retrain", Subject: j.Subject, Resampling: Resampling(how.Scheme, j.Set.N()),
		Draws: draws(j.Model, result, how.Seed), Errors: j.errors(left.Error), SE: null.Float(left.SE),
		FitS:    result.Stats.FitTime.Seconds() / float64(max(1, result.Stats.Fits)),
		Outcome: outcome(j.Model, how.Scheme, result.Warnings...),
		Points:  j.averages(result),
	}
	r.Ensemble.BaggedError = null.Float(left.BaggedError)
	r.EnsembleSE.BaggedError = null.Float(left.BaggedSE)
	if j.labels() {
		r.Ensemble.VoteError, r.EnsembleSE.VoteError = null.Of(result.VoteError), null.Of(result.VoteErrorSE)
		r.Points.OOBVote = result.OutOfBagVote
	}
	r.Points.Names, r.Points.OOBMean, r.Points.Target = j.Set.RowNames, result.OutOfBag, j.targets()
	r.Points.Shift(j.shift())
	r.Quality = j.quality(r.TestError, left.Examples, result.OutOfBag)
	r.Quote = report.NewQuote(r.TestLoss, r.TestError, r.Quality, &r.SE)
	warn(&r.Warnings, r.Quality.Warning(r.TestError))
	requireNumbers(&r.Status, &r.Warnings, r.Points, r.Apparent)
	if how.NoPoints {
		r.Points = nil
	}
	r.Time = j.Times
	return r
}

// averages are those over resamples of the predictions at the examples, without the targets' mean.
func (j *Job) averages(r *model.Retraining) *report.Points {
	p := &report.Points{Mean: j.perExample(r.Mean), Variance: j.perExample(r.Variance),
		Error: r.Tests[0].Examples, MeanSE: j.perExample(r.MeanSE), VarianceSE: j.perExample(r.VarianceSE)}
	if j.labels() {
		p.Vote = j.perExample(r.Vote)
	}
	return p
}

// PerExample spreads the predictions of an exact fit onto the examples, in units of the target.
func (j *Job) PerExample(f []float64) []float64 {
	values := j.perExample(f[:j.Sites()])
	floats.AddConst(j.shift(), values)
	return values
}
