package retrain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"bootbench/internal/train"
	"bootbench/loss"
	"bootbench/resample"
)

// Fits trains the fits of p, Settings.Resamples from number First on, and hands them over in order, those
// that failed too; each is valid until the next. When ctx ends, fits in progress end, and those that have
// followed each other without a gap are handed over. The trainers are made before anything is drawn.
//
// While it runs the bound BLAS uses one thread per call, a setting of the whole
// process that is put back at the end.
func Fits(ctx context.Context, p Problem, t Trainers, s Settings) (iter.Seq[*Fit], error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(p.Plan.Period()); err != nil {
		return nil, err
	}
	r := &run{problem: &p, settings: &s, trainers: t}
	if t.Outputs == 0 {
		r.trainers.Outputs = p.inputs()
	}
	var workers []Worker
	for range min(s.Workers, (s.Resamples+t.Block-1)/t.Block) {
		w, err := t.New()
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		workers = append(workers, w)
	}
	return r.fits(ctx, workers), nil
}

// Run averages over the fits of p.
//
// When ctx ends, Run waits for the fits in progress and returns what is then finished with Status Cancelled
// and no error; Result.Resamples may be 0. An error means that there is no answer: bad input, a trainer that
// could not be made, or a *FitError.
func Run(ctx context.Context, p Problem, t Trainers, s Settings) (*Result, error) {
	all, err := runPath(ctx, p, t, nil, s)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunPath is Run for each factor of a path (resample.Path) of the fits of p.
func RunPath(ctx context.Context, p Problem, newTrainer func() (train.Trainer, error), factors []float64,
	s Settings) ([]*Result, error) {
	return runPath(ctx, p, Along(newTrainer, factors), factors, s)
}

// runPath averages over the fits that have the same place in their paths; no factors: all have.
func runPath(ctx context.Context, p Problem, t Trainers, factors []float64, s Settings) (results []*Result,
	err error) {
	if p, err = p.withDefaults(); err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(p.Plan.Period()); err != nil {
		return nil, err
	}
	path, along, length := p, s, max(1, len(factors))
	if along.Resamples *= length; factors != nil {
		path.Plan = resample.Path{Plan: p.Plan, Factors: factors}
	}
	fits, err := Fits(ctx, path, t, along)
	if err != nil {
		return nil, err
	}
	start, done, places := time.Now(), 0, make([]*averages, length)
	for k := range places {
		places[k] = newAverages(&p, &s)
	}
	for f := range fits {
		a := places[f.Number%length]
		if f.Number /= length; f.Err == nil {
			a.add(f)
		} else if err := a.skip(f); err != nil {
			return nil, err
		}
		a.done++
		if done++; s.Progress != nil {
			s.Progress(done, along.Resamples)
		}
	}
	for _, a := range places {
		a.stats.Elapsed = time.Since(start) / time.Duration(length)
		results = append(results, a.result())
	}
	return results, nil
}

// averages takes in a sequence of fits. Its memory does not grow with their number.
type averages struct {
	settings *Settings
	leftOut  *leftOut
	moments  *grouped
	votes    []float64 // per site and extra input, the fits that predict more than 0, ties half
	done     int       // fits taken in or skipped
	skipped  []*FitError
	kinds    [4]int // by Kind
	stats    Stats
}

// NumbersPerInput and NumbersPerExample are about how many numbers the averages hold of a site or
// new input, and of an example that so many tests judge.
const NumbersPerInput = 12

func NumbersPerExample(tests int) int64 { return groups * int64(3+tests) }

func newAverages(p *Problem, s *Settings) *averages {
	period := p.Plan.Period()
	return &averages{settings: s, leftOut: newLeftOut(p, s.Tests, period), moments: newGrouped(p.inputs(),
		period),
		votes: make([]float64, p.inputs()), stats: Stats{Workers: s.Workers}}
}

func (a *averages) add(f *Fit) {
	at := f.F[:len(a.votes)]
	a.kinds[f.Kind]++
	a.stats.FitTime += f.Time
	a.leftOut.add(f.Number, f.Weight, at)
	a.moments.add(at)
	for i, f := range at {
		a.votes[i] += loss.Vote{}.Value(f, 0)
	}
	if a.settings.OnFit != nil {
		a.settings.OnFit(f.Number, f.Weight, f.F)
	}
}

// skip leaves a fit out, or says why it must not.
func (a *averages) skip(f *Fit) error {
	failed := &FitError{Resample: f.Number, Err: f.Err}
	var u *UnconvergedError
	if !errors.As(f.Err, &u) || float64(len(a.skipped)+1) > a.settings.MaxSkipped*float64(a.settings.Resamples) {
		if len(a.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", f.Err, len(a.skipped), a.done)
		}
		return failed
	}
	a.skipped = append(a.skipped, failed)
	if a.settings.OnSkip != nil {
		a.settings.OnSkip(f.Number, f.Err)
	}
	return nil
}

// result reads the averages off.
func (a *averages) result() *Result {
	a.stats.Fits = a.kinds[Trained]
	r := &Result{Resamples: a.done - len(a.skipped), Skipped: a.skipped, Empty: a.kinds[Empty],
		OneClass: a.kinds[OneClass], Absent: a.leftOut.totals(), LeftOut: a.leftOut.errors(),
		OutOfBag: a.leftOut.outOfBag(), Stats: a.stats}
	if a.done < a.settings.Resamples {
		r.Status = Cancelled
	}
	for i, votes := range a.votes {
		at := a.moments.average(i)
		r.Mean, r.MeanSE = append(r.Mean, at.mean), append(r.MeanSE, at.meanSE)
		r.Var, r.VarSE = append(r.Var, at.variance), append(r.VarSE, at.varianceSE)
		r.Vote = append(r.Vote, votes/float64(r.Resamples))
	}
	a.warn(r)
	return r
}

func (a *averages) warn(r *Result) {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if period := a.leftOut.period; r.Resamples%period != 0 {
		warn("%d resamples are no whole number of partitions into %d folds: the last one counts in part",
			r.Resamples, period)
	}
	never := 0
	for _, absent := range r.Absent {
		if absent == 0 {
			never++
		}
	}
	if never > 0 && len(r.LeftOut) > 0 {
		warn("%d of %d examples were never left out and do not count in the left-out error", never, len(r.Absent))
	}
	if skipped := len(r.Skipped); skipped > 0 {
		warn("%d of %d resamples are not in the averages, for their training did not converge (the first: %v)",
			skipped, a.done, r.Skipped[0])
	}
	if r.Empty > 0 {
		warn("%d of %d resamples were empty and predict the prior mean 0", r.Empty, r.Resamples)
	}
	if r.OneClass > 0 {
		warn("%d of %d resamples were of one class and predict its label", r.OneClass, r.Resamples)
	}
}
