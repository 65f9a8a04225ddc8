package retrain

import (
	"errors"
	"runtime"

	"bootbench/internal/train"
	"bootbench/loss"
	"bootbench/resample"
)

// Problem is what is resampled: N examples on Sites distinct inputs.
type Problem struct {
	// Y are the examples' targets, finite, length N >= 1.
	Y []float64
	// Weights are those of the examples in errors, nil for 1; those of training are the plan's.
	Weights []float64
	// Site maps the examples to their sites.
	Site train.Sites
	// Sites is the number of sites. It may be 0 where Site is nil: then it is N.
	Sites int
	// Extra is the number P >= 0 of new inputs that trainers predict at besides the sites.
	Extra int
	// Plan gives the weights and the targets of each fit.
	Plan resample.Plan
	// OneClass says that targets are labels, and predictors have a bias: then that of a resample of one
	// class has no bound, and the resample predicts that class's label.
	OneClass bool
}

// DefaultResamples is the number of resamples where Settings name none.
const DefaultResamples = 1000

// Settings say how to retrain. The zero value trains DefaultResamples fits
// on all processors and judges them by no test loss.
type Settings struct {
	// Resamples is the number of training sets; 0 means DefaultResamples, and under
	// a plan of longer period the next whole number of periods.
	Resamples int
	// First is the number r of the first fit; the run goes to First + Resamples - 1. The groups of the standard
	// errors count from it: under a plan of longer period they mean something only if it begins one.
	First int
	// Lookup, if set, is asked for the predictions of fit r before it is made: whether they are known from an
	// earlier run of the same problem and trainers, and then it overwrites f with them. A run that recalls
	// everything averages exactly as the one that fitted. Workers call it at the same time.
	Lookup func(r int, f []float64) (known bool, err error)
	// MaxSkipped is the largest share of the resamples, at least 0 and at most 1, that may be left out because
	// their training did not converge (an *UnconvergedError). With 0 the first such one ends the run; with 1
	// all may be left out, and averages over none are NaN. Under a plan of longer period, whose fits belong
	// together, none is.
	MaxSkipped float64
	// Workers is the number of fits, or blocks of fits, that run at a time; 0 means GOMAXPROCS.
	Workers int
	// Tests are the losses by which left-out examples are judged.
	Tests []loss.Test
	// OnFit, if set, sees every fit that is not skipped, in the order of r: the examples'
	// weights and the predictions at the sites and extra inputs. The slices are
	// valid until it returns. It runs on the goroutine that called Run.
	OnFit func(r int, weight, f []float64)
	// OnSkip, if set, is told in the same order of those that are skipped, and why.
	OnSkip func(r int, err error)
	// Progress, if set, is told after each resample how many of how many are
	// done. It runs on the goroutine that called Run.
	Progress func(done, total int)
}

// withDefaults fills in the defaults, for a plan of that period, and refuses negative numbers.
func (s Settings) withDefaults(period int) (Settings, error) {
	if period > 1 {
		s.MaxSkipped = 0
	}
	err := errors.Join(
		train.Default("the number of resamples", &s.Resamples, (DefaultResamples+period-1)/period*period),
		train.Default("the number of workers", &s.Workers, runtime.GOMAXPROCS(0)))
	s.Workers = min(s.Workers, s.Resamples)
	return s, err
}

// inputs is how many predictions a fit makes.
func (p *Problem) inputs() int { return p.Sites + p.Extra }

// withDefaults fills in the number of sites.
func (p Problem) withDefaults() (Problem, error) {
	if p.Site == nil && p.Sites == 0 {
		p.Sites = len(p.Y)
	}
	return p, p.Site.Check(len(p.Y), p.Sites)
}
