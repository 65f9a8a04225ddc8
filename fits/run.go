package fits

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"

	"bootbench/resample"
)

// Train trains the fits of p, Settings.Resamples from number First on, and yields them in order, failed ones
// included; each is valid until the next. When ctx ends, fits in progress end, and the finished ones before
// the first gap are yielded. The trainers are made before anything is drawn.
//
// Meanwhile BLAS uses one thread per call, a setting of the process that is restored at the end.
func Train(ctx context.Context, p Problem, t Trainers, s Settings) (iter.Seq[*Fit], error) {
	p, s, err := complete(ctx, p, t, s)
	if err != nil {
		return nil, err
	}
	r := &run{problem: &p, settings: &s, trainers: t}
	if t.Outputs == 0 {
		r.trainers.Outputs = p.inputs()
	}
	var workers []Worker
	if t.Wide {
		s.Workers = 1
	}
	for range min(s.Workers, (s.Resamples+t.Block-1)/t.Block) {
		w, err := t.New()
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		workers = append(workers, w)
	}
	return r.fits(ctx, workers), nil
}

// each passes the fits of p to take, in their order, for Progress as those after done of total.
func each(ctx context.Context, p Problem, t Trainers, s Settings, done, total int,
	take func(*Fit) error) error {
	trained, err := Train(ctx, p, t, s)
	if err != nil {
		return err
	}
	for f := range trained {
		if err := take(f); err != nil {
			return err
		}
		if done++; s.Progress != nil {
			s.Progress(done, total)
		}
	}
	return nil
}

// Run averages over the fits of p.
//
// When ctx ends, Run waits for the fits in progress and returns the averages of the finished fits with Status
// Cancelled and no error; Averages.Resamples may be 0. An error means that there is no answer: bad input, a
// failure to make a trainer, or a *FitError.
func Run(ctx context.Context, p Problem, t Trainers, s Settings) (*Averages, error) {
	all, err := RunPath(ctx, p, t, nil, s)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunPath is Run for each factor of a path (resample.Path) of the fits of p; the trainers are Along's.
func RunPath(ctx context.Context, p Problem, t Trainers, factors []float64, s Settings) (results []*Averages,
	err error) {
	if p, s, err = complete(ctx, p, t, s); err != nil {
		return nil, err
	}
	path, along, places := p, s, make([]*series, max(1, len(factors)))
	if along.Resamples *= len(places); factors != nil {
		path.Plan = resample.Path{Plan: p.Plan, Factors: factors}
	}
	for k := range places {
		places[k] = newSeries(newPlain(&p, s.Tests), &p, &s)
	}
	err = each(ctx, path, t, along, 0, along.Resamples, func(f *Fit) error {
		place := places[f.Number%len(places)]
		f.Number /= len(places)
		return place.take(f)
	})
	if err != nil {
		return nil, err
	}
	for _, one := range places {
		r, err := one.close(s.Resamples)
		if err != nil {
			return nil, err
		}
		r.Stats.Elapsed /= time.Duration(len(places))
		results = append(results, r)
	}
	return results, nil
}

// Estimate passes the fits of p to an estimator: Settings.Resamples of them, and then, if more is set, up to
// the number that it returns for the averages so far, until that is no larger. It ends as Run does.
func Estimate(ctx context.Context, p Problem, t Trainers, e Estimator, s Settings,
	more func(*Averages) (resamples int)) (*Averages, error) {
	p, s, err := complete(ctx, p, t, s)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, errors.New("fits: there is no estimator")
	}
	all, wanted, part := newSeries(e, &p, &s), s.Resamples, s
	for all.done < wanted {
		part.First, part.Resamples = s.First+all.done, wanted-all.done
		if err := each(ctx, p, t, part, all.done, wanted, all.take); err != nil {
			return nil, err
		}
		if all.done < wanted || more == nil {
			break
		}
		wanted = max(wanted, more(e.Averages()))
	}
	if t.Wide {
		runtime.GC() // the read-out takes the memory of the block
	}
	return all.close(wanted)
}

// Estimator estimates averages over fits.
type Estimator interface {
	// Add adds the next fit, given its weights and predictions.
	Add(number int, weight, f []float64)
	// Averages returns the averages over the fits so far.
	Averages() *Averages
}

// series is a sequence of fits and their outcomes.
type series struct {
	done      int // fits taken
	began     time.Time
	estimator Estimator
	problem   *Problem
	settings  *Settings
	skipped   []*FitError
	kinds     [4]int // by Kind
	fitTime   time.Duration
}

// newSeries uses MaxSkipped, Resamples, Workers, Memory and OnFit of the settings.
func newSeries(e Estimator, p *Problem, s *Settings) *series {
	return &series{began: time.Now(), estimator: e, problem: p, settings: s}
}

// take passes the next fit to the estimator. It skips a failed one, or returns its error if it must not.
func (s *series) take(f *Fit) error {
	s.done++
	switch {
	case errors.Is(f.Err, ErrElsewhere):
		return nil
	case f.Err != nil:
		return s.skip(f)
	}
	s.kinds[f.Kind]++
	s.fitTime += f.Time
	s.estimator.Add(f.Number, f.Weight, f.F)
	predictions := f.F[:s.problem.inputs()]
	if s.settings.Memory != nil {
		s.settings.Memory.Remember(f.Number, predictions, nil)
	}
	if s.settings.OnFit != nil {
		s.settings.OnFit(f.Number, f.Weight, predictions)
	}
	return nil
}

func (s *series) skip(f *Fit) error {
	failed := &FitError{Resample: f.Number, Err: f.Err}
	var u *UnconvergedError
	if !errors.As(f.Err, &u) ||
		float64(len(s.skipped)+1) > s.settings.MaxSkipped*float64(s.settings.Resamples) {
		if len(s.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", f.Err, len(s.skipped),
				s.done-1)
		}
		return failed
	}
	s.skipped = append(s.skipped, failed)
	if s.settings.Memory != nil {
		s.settings.Memory.Remember(f.Number, nil, f.Err)
	}
	return nil
}

// close closes the memory of a series of that many fits, which is cancelled if it has fewer, and returns its
// averages.
func (s *series) close(wanted int) (*Averages, error) {
	var recalled time.Duration
	if s.settings.Memory != nil {
		var err error
		if recalled, err = s.settings.Memory.Close(s.done >= wanted); err != nil {
			return nil, err
		}
	}
	r := s.estimator.Averages()
	r.Skipped, r.Empty, r.OneClass = s.skipped, s.kinds[Empty], s.kinds[OneClass]
	r.Stats = Stats{Workers: s.settings.Workers, Fits: s.kinds[Trained], FitTime: s.fitTime,
		Elapsed: time.Since(s.began) + recalled}
	if s.done < wanted {
		r.Status = Cancelled
	}
	return r, nil
}
