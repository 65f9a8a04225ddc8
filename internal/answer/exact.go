package answer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"runtime"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// From manyExamples on the number of optional resamples, at least fewResamples, makes their standard error a
// tenth of 1/n^1/2, less than that over data sets.
const (
	manyExamples = 20_000
	fewResamples = 64
)

// refine trains on exact resamples around the solution: at the sites, and at new inputs whose kernel rows are
// given. onFit, if set, is called for each. The result is nil if none are wanted, or if optional ones are
// impossible; the findings then say why.
func (p *part) refine(ctx context.Context, q *Question, cross blas64.General, onFit OnFit,
	f *report.Findings) (r *model.Retraining, err error) {
	switch {
	case q.Exact == No || hasWeights(q.Scheme) || !q.singly && p.solution.Status == solver.Cancelled:
		return nil, nil
	case resample.ProbZero(q.Scheme, 1) == 0:
		f.Add(notComputed("no resample leaves an example out: the left-out error is the theory's " +
			"leave-one-out error, and is not refined"))
		return nil, nil
	case q.Exact == IfPossible && loss.TraitsOf(p.model.Loss).Proximal == nil:
		return nil, nil
	}
	settings := model.RefineSettings{Accuracy: q.Accuracy}
	settings.Cross, settings.Resamples, settings.Seed = cross, q.Resamples, q.Seed
	settings.Tests, settings.OnFit = p.study.tests(q.Metrics), onFit
	settings.Progress = p.study.counting("exact resample")
	if n := p.model.Set.N(); q.Exact == IfPossible && n >= manyExamples && q.Resamples > fewResamples {
		settings.Resamples, settings.MaxResamples = fewResamples, q.Resamples
		settings.Accuracy = 0.1 / math.Sqrt(float64(n))
	}
	count := settings.Count(q.Scheme)
	if settings.Accuracy > 0 {
		count = 0
	}
	if err := p.remember(&settings.RetrainSettings, count, "refine", q.Scheme, q.Seed, q.Solve.Tolerance,
		q.Solve.MaxSweeps, q.Theory == No, q.singly); err != nil {
		return nil, err
	}
	if q.singly {
		settings.Resamples = settings.Count(q.Scheme) // whole periods
		r, err = p.retrain(ctx, model.Single, q.Scheme, settings.RetrainSettings)
	} else {
		r, err = model.Refine(ctx, p.model, p.solution, q.Scheme, settings)
	}
	switch {
	case errors.Is(err, fits.ErrElsewhere):
		return nil, err
	case err == nil && r.Resamples < 2:
		return nil, ctx.Err()
	case errors.Is(err, fits.ErrCancelled) || errors.Is(err, context.Canceled):
		return nil, nil
	case err != nil && q.Exact == IfPossible:
		f.Add(notComputed("not refined: %v", err))
		return nil, nil
	case err != nil:
		return nil, err
	}
	addFits(f, r.Averages)
	if left := r.Tests[0]; q.Accuracy > 0 && left.SE > q.Accuracy*left.Error && ctx.Err() == nil {
		f.Add(report.FewResamples.Check(left.SE/left.Error, "take more resamples", "the standard error of "+
			"the left-out error is %.2g of it after %d resamples, where %.2g was asked for",
			left.SE/left.Error, r.Resamples, q.Accuracy))
	}
	return r, nil
}

// remember has the study's memory, if any, keep count fits, 0 if unknown, by their scheme and more.
func (p *part) remember(settings *model.RetrainSettings, count int, command string, scheme resample.Scheme,
	more ...any) (err error) {
	if p.study.Memory != nil {
		key := p.model.Key(scheme, append([]any{p.number, digest(settings.Cross)}, more...)...)
		settings.Memory, err = p.study.Memory(command+"\n"+key, p.model.Sites()+settings.Cross.Rows, count)
	}
	return err
}

func digest(cross blas64.General) string {
	sum := sha256.New()
	for row := range cross.Rows {
		binary.Write(sum, binary.LittleEndian, cross.Data[row*cross.Stride:][:cross.Cols])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

var unknown = report.Number(math.NaN())

func newRefined(r *model.Retraining) *report.Refined {
	return &report.Refined{Resamples: r.Resamples, Method: r.Method.String(), OneClass: r.OneClass,
		VarianceRatio: unknown, Replaced: r.Replaced,
		Time: report.RefinedTime{Fits: r.Stats.Elapsed.Seconds(),
			Total: (r.Setup + r.Stats.Elapsed).Seconds(), Iterations: r.Batch.Iterations,
			Exact: r.Batch.Exact}}
}

// refined describes exact resamples, r, with their averages in units of the target, and the probabilities of
// labels, nil if too few resamples leave out examples of both classes.
func refined(p *part, r *model.Retraining, exact *fits.Averages, q *Question) (*report.Refined,
	*Probabilities) {
	left, out := exact.Tests[0], newRefined(r)
	out.RefinedErrors = &report.RefinedErrors{EquivalentResamples: report.Number(left.EquivalentResamples),
		TestError: report.Number(left.Error), SE: report.Number(left.SE), Err632: unknown,
		Err632Plus: unknown, BaggedError: report.Number(left.BaggedError),
		BaggedSE: report.Number(left.BaggedSE)}
	if q.Theory != No {
		ratio, contradictions := fits.Against(p.solution, r.Averages)
		out.VarianceRatio, out.Contradicts = report.Number(ratio), contradictions
	}
	var all *Probabilities
	if p.labels() {
		all = p.probabilities(r.Averages)
	}
	metrics, reliability := p.measure(q.Metrics, exact, all)
	if out.Calibration = reliability; all != nil || !p.labels() {
		out.Metrics = metrics
	}
	return out, all
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

// Retrain trains on every resample. When ctx ends, finished fits count. each, if set, gets every fit.
func (s *Study) Retrain(ctx context.Context, how Retraining, each func(function, r int, f []float64)) (
	*report.Answer, error) {
	if g, ok := how.Scheme.(resample.Generated); ok {
		return s.generating(ctx, "retrain", g, nil, Question{NoPoints: how.NoPoints}, &how, each)
	}
	settings := how.of(s.Test)
	if err := model.CheckRetrain(s.Model, how.Method, how.Scheme, settings); err != nil {
		return nil, err
	}
	if s.classes() {
		settings.MaxSkipped = 0 // the decision needs all classes
	} else if err := s.fitFull(ctx); err != nil {
		return nil, err
	}
	a, err := s.each(ctx, joining{how.Scheme, how.Seed, s.Model.Set.Groups, nil},
		func(p *part, onFit OnFit) (*report.Answer, error) {
			own := settings
			own.Progress, own.OnFit = s.counting("retraining"), func(r int, weight, f []float64) {
				if each != nil {
					each(p.number, r, f)
				}
				if onFit != nil {
					onFit(r, weight, f)
				}
			}
			began, period := time.Now(), how.Scheme.Period()
			err := p.remember(&own, (own.Resamples+period-1)/period*period, "retrain", how.Scheme,
				how.Method.String(), how.Seed)
			if err != nil {
				return nil, err
			}
			result, err := p.retrain(ctx, how.Method, how.Scheme, own)
			switch {
			case err != nil:
				return nil, err
			case result.Resamples == 0:
				return nil, ctx.Err()
			}
			s.Times.Retrain = time.Since(began).Seconds()
			s.Times.Fits = (result.Stats.Elapsed + result.Setup).Seconds()
			s.Times.Iterations, s.Times.Exact = result.Batch.Iterations, result.Batch.Exact
			return retrained(p, &how, result), nil
		})
	if err == nil {
		s.caution(a)
	}
	return a, err
}

// retrain makes the fits of a plan: one by one on the rows of a pair of classes, and on a low-rank factor in
// blocks around the study's solution, if it has one, which costs less than a single fit there.
func (p *part) retrain(ctx context.Context, method model.RetrainMethod, scheme resample.Scheme,
	settings model.RetrainSettings) (*model.Retraining, error) {
	if p.model.Rows != nil {
		method = model.Single
	}
	if s := p.study.Solution; s != nil && p.model.TrainedOnFactor() && method == model.AutoMethod &&
		settings.Plan != nil && p.number == 0 {
		if r, err := model.RetrainAround(ctx, p.model, s, scheme, settings); err == nil || ctx.Err() != nil {
			return r, err
		}
	}
	return model.Retrain(ctx, p.model, method, scheme, settings)
}

// addFits adds to an answer how its fits of a plan were made.
func (p *part) addFits(a *report.Answer, r *model.Retraining, seed uint64) {
	skipped := len(r.Skipped)
	a.Method, a.Status, a.Skipped = r.Method.String(), r.Status.String(), &skipped
	a.Draws = &report.Draws{Training: model.Training(p.model, r.Method), Resamples: r.Resamples, Seed: seed,
		Workers: r.Stats.Workers, Empty: r.Empty, OneClass: r.OneClass}
	addFits(&a.Findings, r.Averages)
}

func retrained(p *part, how *Retraining, result *model.Retraining) *report.Answer {
	r := result.Averages.In(p.model.Function)
	a, left := p.begin("retrain", how.Scheme), &r.Tests[0]
	p.addFits(a, result, how.Seed)
	p.addAverages(a, how.Scheme, r, report.NumberOf(left.SE))
	a.RetrainedErrors = &report.RetrainedErrors{SE: report.Number(left.SE),
		BaggedSE: report.Number(left.BaggedSE),
		FitS:     r.Stats.FitTime.Seconds() / float64(max(1, r.Stats.Fits))}
	if p.labels() {
		a.VoteSE = report.NumberOf(r.VoteErrorSE)
	}
	a.Points = p.allPoints(r)
	requireNumbers(a, a.Apparent)
	if how.NoPoints && !p.study.several() {
		a.Points = nil
	}
	a.Time = p.study.Times
	return a
}
