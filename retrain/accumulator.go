package retrain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bootbench/batch"
	"bootbench/loss"
)

// accumulator takes in a sequence of fits and turns it into averages. Its memory does
// not grow with the number of resamples.
type accumulator struct {
	problem  *Problem
	settings *Settings
	done     int // resamples taken in or skipped
	skipped  []*FitError
	empty    int
	oneClass int
	fits     int
	fitTime  time.Duration
	elapsed  time.Duration // of the whole run
	averages *averages     // nil: none are wanted
}

// averages are those of an accumulator.
type averages struct {
	leftOut *leftOut
	moments *grouped
	votes   []float64 // per site and extra input, the resamples that predict more than 0, ties half
}

// NumbersPerInput and NumbersPerExample are about how many numbers the averages hold of a site or
// new input, and of an example that so many tests judge.
const NumbersPerInput = 12

func NumbersPerExample(tests int) int64 { return groups * int64(3+tests) }

func newAverages(p *Problem, s *Settings) *averages {
	period := p.Plan.Period()
	return &averages{
		leftOut: newLeftOut(p, s.Tests, period),
		moments: newGrouped(p.inputs(), period),
		votes:   make([]float64, p.inputs()),
	}
}

func (a *averages) add(weight, f []float64) {
	a.leftOut.add(weight, f)
	a.moments.add(f)
	for i, f := range f {
		a.votes[i] += loss.Vote{}.Value(f, 0)
	}
}

// addBlock takes in the resamples of a block up to the first whose training was cancelled, and reports
// whether there was none.
func (a *accumulator) addBlock(b *block) (more bool, err error) {
	share := b.duration / time.Duration(len(b.fits))
	for i := range b.fits {
		f := &b.fits[i]
		switch {
		case errors.Is(f.Err, context.Canceled) || errors.Is(f.Err, context.DeadlineExceeded):
			return false, nil
		case f.Err != nil:
			if err := a.skip(f); err != nil {
				return false, err
			}
		default:
			a.add(f, b.kind[i], share)
		}
	}
	return true, nil
}

// add takes in the next resample and shows it to the callbacks.
func (a *accumulator) add(f *batch.Fit, k kind, duration time.Duration) {
	switch k {
	case trained:
		a.fits++
	case empty:
		a.empty++
	case oneClass:
		a.oneClass++
	}
	a.fitTime += duration
	if a.averages != nil {
		a.averages.add(f.Weight, f.F[:a.problem.inputs()])
	}
	if a.settings.OnFit != nil {
		a.settings.OnFit(f.Number, f.Weight, f.F)
	}
	a.advance()
}

// skip leaves the next resample out, or says why it must not.
func (a *accumulator) skip(f *batch.Fit) error {
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
	a.advance()
	return nil
}

// advance goes on to the next resample.
func (a *accumulator) advance() {
	a.done++
	if a.settings.Progress != nil {
		a.settings.Progress(a.done, a.settings.Resamples)
	}
}

// status says whether all resamples were done.
func (a *accumulator) status() Status {
	if a.done < a.settings.Resamples {
		return Cancelled
	}
	return Complete
}

// result reads the averages off.
func (a *accumulator) result() *Result {
	result := &Result{
		Resamples: a.done - len(a.skipped),
		Skipped:   a.skipped,
		Empty:     a.empty,
		OneClass:  a.oneClass,
		Absent:    a.averages.leftOut.totals(),
		Status:    a.status(),
		Stats:     Stats{Workers: a.settings.Workers, Fits: a.fits, FitTime: a.fitTime, Elapsed: a.elapsed},
	}
	result.LeftOut, result.OutOfBag = a.averages.leftOut.errors(), a.averages.leftOut.outOfBag()
	for i, votes := range a.averages.votes {
		at := a.averages.moments.average(i)
		result.Mean, result.MeanSE = append(result.Mean, at.mean), append(result.MeanSE, at.meanSE)
		result.Var, result.VarSE = append(result.Var, at.variance), append(result.VarSE, at.varianceSE)
		result.Vote = append(result.Vote, votes/float64(result.Resamples))
	}
	result.Warnings = a.warnings(result)
	return result
}

func (a *accumulator) warnings(r *Result) []string {
	var lines []string
	if period := a.averages.leftOut.period; r.Resamples%period != 0 {
		lines = append(lines, fmt.Sprintf(
			"%d resamples are no whole number of partitions into %d folds: the last one counts in part", r.Resamples,
			period))
	}
	never := 0
	for _, absent := range r.Absent {
		if absent == 0 {
			never++
		}
	}
	if never > 0 && len(r.LeftOut) > 0 {
		lines = append(lines, fmt.Sprintf(
			"%d of %d examples were never left out and do not count in the left-out error", never, len(r.Absent)))
	}
	if skipped := len(r.Skipped); skipped > 0 {
		lines = append(lines, fmt.Sprintf(
			"%d of %d resamples are not in the averages, for their training did not converge (the first: %v)", skipped,
			a.done, r.Skipped[0]))
	}
	if r.Empty > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d resamples were empty and predict the prior mean 0", r.Empty,
			r.Resamples))
	}
	if r.OneClass > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d resamples were of one class and predict its label", r.OneClass,
			r.Resamples))
	}
	return lines
}
