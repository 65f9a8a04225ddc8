package retrain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"bootbench/internal/batch"
	"bootbench/resample"
)

// Fits trains the fits of p, Settings.Resamples from number First on, and hands them over in order, those
// that failed too; each is valid until the next. When ctx ends, fits in progress end, and those that have
// followed each other without a gap are handed over. The trainers are made before anything is drawn.
//
// While it runs the bound BLAS uses one thread per call, a setting of the whole
// process that is put back at the end.
func Fits(ctx context.Context, p Problem, t Trainers, s Settings) (iter.Seq[*batch.Fit], error) {
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
	all, err := RunPath(ctx, p, t, nil, s)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RunPath is Run for each factor of a path (resample.Path) of the fits of p, whose trainers are Along it.
func RunPath(ctx context.Context, p Problem, t Trainers, factors []float64, s Settings) (results []*Result,
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
	fits, err := Fits(ctx, path, t, along)
	if err != nil {
		return nil, err
	}
	for k := range places {
		places[k] = NewSeries(newAverages(&p, s.Tests), &p, &s)
	}
	start, done := time.Now(), 0
	for f := range fits {
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
		r := one.Result(s.Resamples)
		r.Stats.Workers, r.Stats.Elapsed = s.Workers, time.Since(start)/time.Duration(len(places))
		r.warn()
		results = append(results, r)
	}
	return results, nil
}

// Estimator estimates averages over fits.
type Estimator interface {
	// Add takes in the next fit, its weights and its predictions.
	Add(number int, weight, f []float64)
	// Result fills in the averages over the fits so far.
	Result() *Result
}

// Series are fits that follow each other, and what became of them.
type Series struct {
	Done      int // fits that were taken
	estimator Estimator
	problem   *Problem
	settings  *Settings
	skipped   []*FitError
	kinds     [4]int // by Kind
	fitTime   time.Duration
}

// NewSeries is one without fits. Of the settings it takes MaxSkipped, Resamples, OnFit and OnSkip.
func NewSeries(e Estimator, p *Problem, s *Settings) *Series {
	return &Series{estimator: e, problem: p, settings: s}
}

// Take hands the next fit to the estimator. One that failed it leaves out, or says why it must not.
func (s *Series) Take(f *batch.Fit) error {
	s.Done++
	if f.Err != nil {
		return s.skip(f)
	}
	s.kinds[f.Kind]++
	s.fitTime += f.Time
	s.estimator.Add(f.Number, f.Weight, f.F)
	if s.settings.OnFit != nil {
		s.settings.OnFit(f.Number, f.Weight, f.F[:s.problem.inputs()])
	}
	return nil
}

func (s *Series) skip(f *batch.Fit) error {
	failed := &FitError{Resample: f.Number, Err: f.Err}
	var u *UnconvergedError
	if !errors.As(f.Err, &u) || float64(len(s.skipped)+1) > s.settings.MaxSkipped*float64(s.settings.Resamples) {
		if len(s.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", f.Err, len(s.skipped), s.Done-1)
		}
		return failed
	}
	s.skipped = append(s.skipped, failed)
	if s.settings.OnSkip != nil {
		s.settings.OnSkip(f.Number, f.Err)
	}
	return nil
}

// Result is that of the estimator, of so many fits that were wanted.
func (s *Series) Result(wanted int) *Result {
	r := s.estimator.Result()
	r.Skipped, r.Empty, r.OneClass = s.skipped, s.kinds[batch.Empty], s.kinds[batch.OneClass]
	r.Stats.Fits, r.Stats.FitTime = s.kinds[batch.Trained], s.fitTime
	if s.Done < wanted {
		r.Status = Cancelled
	}
	return r
}
