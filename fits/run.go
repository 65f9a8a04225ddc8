package fits

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"bootbench/resample"
)

// Train trains the fits of p, Settings.Resamples from number First on, and yields them in order, failed ones
// included; each is valid until the next. When ctx ends, fits in progress end, and the finished ones before
// the first gap are yielded. The trainers are made before anything is drawn.
//
// Meanwhile BLAS uses one thread per call, a setting of the process that is restored at the end.
func Train(ctx context.Context, p Problem, t Trainers, s Settings) (iter.Seq[*Fit], error) {
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

// RunPath is Run for each factor of a path (resample.Path) of the fits of p; the trainers are those of Along.
func RunPath(ctx context.Context, p Problem, t Trainers, factors []float64, s Settings) (results []*Averages,
	err error) {
	if p, err = p.withDefaults(); err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(p.Plan.Period()); err != nil {
		return nil, err
	}
	path, along, places := p, s, make([]*Series, max(1, len(factors)))
	if along.Resamples *= len(places); factors != nil {
		path.Plan = resample.Path{Plan: p.Plan, Factors: factors}
	}
	trained, err := Train(ctx, path, t, along)
	if err != nil {
		return nil, err
	}
	for k := range places {
		places[k] = NewSeries(newPlain(&p, s.Tests), &p, &s)
	}
	start, done := time.Now(), 0
	for f := range trained {
		place := f.Number % len(places)
		f.Number /= len(places)
		if err := places[place].Take(f); err != nil {
			return nil, err
		}
		if done++; s.Progress != nil {
			s.Progress(done, along.Resamples)
		}
	}
	for _, one := range places {
		if err := one.Close(s.Resamples); err != nil {
			return nil, err
		}
		r := one.Averages(s.Resamples)
		r.Stats.Workers, r.Stats.Elapsed = s.Workers, time.Since(start)/time.Duration(len(places))
		results = append(results, r)
	}
	return results, nil
}

// Estimator estimates averages over fits.
type Estimator interface {
	// Add adds the next fit, given its weights and predictions.
	Add(number int, weight, f []float64)
	// Averages returns the averages over the fits so far.
	Averages() *Averages
}

// Series is a sequence of fits and their outcomes.
type Series struct {
	Done      int // fits taken
	estimator Estimator
	problem   *Problem
	settings  *Settings
	skipped   []*FitError
	kinds     [4]int // by Kind
	fitTime   time.Duration
}

// NewSeries returns an empty Series. It uses MaxSkipped, Resamples, Memory and OnFit of the settings.
func NewSeries(e Estimator, p *Problem, s *Settings) *Series {
	return &Series{estimator: e, problem: p, settings: s}
}

// Take passes the next fit to the estimator. It skips a failed one, or returns its error if it must not.
func (s *Series) Take(f *Fit) error {
	s.Done++
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

// Close closes the memory of a series of that many fits, which is cancelled if it has fewer.
func (s *Series) Close(wanted int) error {
	if s.settings.Memory == nil {
		return nil
	}
	return s.settings.Memory.Close(s.Done >= wanted)
}

func (s *Series) skip(f *Fit) error {
	failed := &FitError{Resample: f.Number, Err: f.Err}
	var u *UnconvergedError
	if !errors.As(f.Err, &u) ||
		float64(len(s.skipped)+1) > s.settings.MaxSkipped*float64(s.settings.Resamples) {
		if len(s.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", f.Err, len(s.skipped),
				s.Done-1)
		}
		return failed
	}
	s.skipped = append(s.skipped, failed)
	if s.settings.Memory != nil {
		s.settings.Memory.Remember(f.Number, nil, f.Err)
	}
	return nil
}

// Averages is what the estimator says so far; wanted is the requested number of fits.
func (s *Series) Averages(wanted int) *Averages {
	r := s.estimator.Averages()
	r.Skipped, r.Empty, r.OneClass = s.skipped, s.kinds[Empty], s.kinds[OneClass]
	r.Stats.Fits, r.Stats.FitTime = s.kinds[Trained], s.fitTime
	if s.Done < wanted {
		r.Status = Cancelled
	}
	return r
}
