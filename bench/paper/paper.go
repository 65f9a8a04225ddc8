// Package paper computes what the figures of Malzahn and Opper 2003 ([M03]) and
// Malzahn and Opper 2004 ([M04]) show, from the data and models that they name:
// the analytic theory beside Monte-Carlo retraining.
//
// Retraining runs in blocks of resamples. Finished blocks go into a Store and
// come back from it, so that a run that was stopped, or one that asks for more
// resamples, does not draw them again.
package paper

import (
	"context"
	"fmt"

	"bootbench/model"
)

// Settings of a run. The zero value means the defaults.
type Settings struct {
	// Resamples are the retrainings of a point of a learning curve; moments and
	// laws take LawFactor times as many. Rounded up to whole blocks; default
	// DefaultResamples.
	Resamples int
	Seed      uint64 // of the resamples; default 0
	Workers   int    // retrainings at a time; default GOMAXPROCS
	Store     Store  // default: nothing is kept
	// Progress, if set, is told what is going on.
	Progress func(part string, done, total int)
}

// DefaultResamples is the Resamples of zero Settings.
const DefaultResamples = 500

// LawFactor is how many times the resamples of a curve's point go into moments
// and laws: 10 times give M03's 5000 at the default.
const LawFactor = 10

// blockSize is the number of resamples in a block.
const blockSize = 100

// Store keeps finished blocks under a key that names everything they depend on.
type Store interface {
	// Load fills into, a pointer, with what was saved under the key, if anything.
	Load(key string, into any) (found bool, err error)
	// Save keeps value under the key.
	Save(key string, value any) error
}

func (s Settings) withDefaults() (Settings, error) {
	if s.Resamples < 0 || s.Workers < 0 {
		return s, fmt.Errorf("%w: cannot retrain on %d resamples with %d workers", model.ErrInput, s.Resamples, s.Workers)
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
