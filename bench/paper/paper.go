// Package paper computes what the figures of Malzahn and Opper 2003 ([M03]) and
// Malzahn and Opper 2004 ([M04]) show, from the data and models that they name:
// the analytic theory beside Monte-Carlo retraining.
//
// Retraining runs in blocks of resamples, whose differences tell the standard errors of
// what is no average.
package paper

import (
	"context"
	"fmt"

	"bootbench/model"
)

// Settings of a run. The zero value means the defaults.
type Settings struct {
	// Resamples are the retrainings of a point of a learning curve; moments and
	// densities take MomentsFactor times as many. Rounded up to whole blocks; default
	// DefaultResamples.
	Resamples int
	Seed      uint64 // of the resamples; default 0
	Workers   int    // retrainings at a time; default GOMAXPROCS
	// Progress, if set, is told what is going on.
	Progress func(part string, done, total int)
}

// DefaultResamples is the Resamples of zero Settings.
const DefaultResamples = 1000

// MomentsFactor is how many times the resamples of a curve's point go into moments
// and densities: the default gives twice M03's 5000.
const MomentsFactor = 10

// blockSize is the number of resamples in a block.
const blockSize = 100

func (s Settings) withDefaults() (Settings, error) {
	if s.Resamples < 0 || s.Workers < 0 {
		return s, fmt.Errorf("%w: cannot retrain on %d resamples with %d workers", model.ErrInput, s.Resamples,
			s.Workers)
	}
	if s.Resamples == 0 {
		s.Resamples = DefaultResamples
	}
	return s, nil
}

// run is a computation under way.
type run struct {
	Settings
	ctx context.Context
}

func newRun(ctx context.Context, s Settings) (*run, error) {
	s, err := s.withDefaults()
	return &run{Settings: s, ctx: ctx}, err
}

func (r *run) tell(part string, done, total int) {
	if r.Progress != nil {
		r.Progress(part, done, total)
	}
}
