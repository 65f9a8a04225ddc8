package fits

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
)

// Problem is what is resampled: N examples on Sites distinct inputs.
type Problem struct {
	// Y are the examples' targets, finite, length N >= 1.
	Y []float64
	// Weights are the examples' weights in errors, nil for 1; the plan has the weights of training.
	Weights []float64
	// Site maps the examples to their sites.
	Site train.Sites
	// Sites is the number of sites; 0 means N if Site is nil.
	Sites int
	// Extra is the number P >= 0 of new inputs of predictions, in addition to the sites.
	Extra int
	// Plan gives the weights and the targets of each fit.
	Plan resample.Plan
	// OneClass: targets are labels, and predictors have a bias. The bias of a resample of one class is
	// unbounded; such a resample predicts its label.
	OneClass bool
}

// DefaultResamples is the default of Settings.Resamples.
const DefaultResamples = 1000

// Settings of retraining. The zero value trains DefaultResamples fits on all processors, without test losses.
type Settings struct {
	// Resamples is the number of training sets; 0 means DefaultResamples, rounded up to whole periods of the
	// plan.
	Resamples int
	// First is the number r of the first fit; the run goes to First + Resamples - 1. The groups of the
	// standard errors count from it: it should begin a period of the plan.
	First int
	// Memory, if set, remembers fits between runs of the same problem and trainers. A run that recalls all
	// fits has exactly the averages of the earlier run.
	Memory Memory
	// MaxSkipped in [0, 1] is the largest fraction of the resamples that may be left out because their
	// training did not converge (an *UnconvergedError). With 0 the first one ends the run; with 1 all may
	// be left out, and averages over none are NaN. Under a plan of period > 1 none is left out.
	MaxSkipped float64
	// Workers is the number of fits, or blocks of fits, that run at a time; 0 means GOMAXPROCS.
	Workers int
	// Tests are the test losses of left-out examples.
	Tests []loss.Test
	// OnFit, if set, is called for every fit that is not skipped, in the order of r, with the examples'
	// weights and the predictions at the sites and extra inputs. The slices are valid until it returns. It
	// runs on the goroutine of Run.
	OnFit func(r int, weight, f []float64)
	// Progress, if set, is called after each resample, on the goroutine of Run.
	Progress func(done, total int)
}

// Memory remembers fits between runs.
type Memory interface {
	// Recall overwrites f with the predictions of fit r if they are known. An *UnconvergedError is the
	// outcome of a fit that was skipped; ErrElsewhere is the one of a fit that another process makes, which
	// no average has. Workers call it concurrently.
	Recall(r int, f []float64) (known bool, err error)
	// Remember is called in the order of r for every fit that this process has: with its predictions, or if
	// it was skipped with the reason.
	Remember(r int, f []float64, skipped error)
	// Close is called at the end of a run, complete or cancelled, and returns the time that the recalled fits
	// took. Its error is the error of the run: ErrElsewhere if another process makes some of the fits.
	Close(complete bool) (time.Duration, error)
}

// ErrElsewhere: another process makes a fit, so that averages are not known yet.
var ErrElsewhere = errors.New("fits are missing that other processes make")

// complete sets the defaults of a problem and its settings, and refuses negative numbers and what is missing.
func complete(ctx context.Context, p Problem, t Trainers, s Settings) (Problem, Settings, error) {
	if ctx == nil || p.Plan == nil || t.New == nil || t.Block < 1 {
		return p, s, errors.New("fits: a context, Problem.Plan and trainers are needed")
	}
	if p.Site == nil && p.Sites == 0 {
		p.Sites = len(p.Y)
	}
	period := p.Plan.Period()
	if period > 1 {
		s.MaxSkipped = 0
	}
	err := cmp.Or(p.Site.Check(len(p.Y), p.Sites),
		train.Default("the number of resamples", &s.Resamples, (DefaultResamples+period-1)/period*period),
		train.Default("the number of workers", &s.Workers, runtime.GOMAXPROCS(0)))
	s.Workers = min(s.Workers, s.Resamples)
	return p, s, err
}

// inputs is the number of predictions of a fit.
func (p *Problem) inputs() int { return p.Sites + p.Extra }
