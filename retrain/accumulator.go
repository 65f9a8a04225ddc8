package retrain

import (
	"errors"
	"fmt"
	"time"

	"bootbench/loss"
	"bootbench/resample"
)

// accumulator takes in a sequence of fits and turns it into averages. Its memory does
// not grow with the number of resamples.
type accumulator struct {
	problem  *Problem
	settings *Settings
	done     int // resamples taken in or skipped
	skipped  []*FitError
	empty    int
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
	period := resample.Period(p.Scheme)
	return &averages{
		leftOut: newLeftOut(p, s.Tests, period),
		moments: newGrouped(p.inputs(), period),
		votes:   make([]float64, p.inputs()),
	}
}

func (a *averages) add(counts []int, f []float64) {
	a.leftOut.add(counts, f)
	a.moments.add(f)
	for i, f := range f {
		a.votes[i] += loss.Vote{}.Value(f, 0)
	}
}

// add takes in the next resample and shows it to the callbacks.
func (a *accumulator) add(d *draw) {
	if d.empty {
		a.empty++
	}
	if !d.empty && !d.known {
		a.fits++
	}
	a.fitTime += d.duration
	if a.averages != nil {
		a.averages.add(d.counts, d.f[:a.problem.inputs()])
	}
	if a.settings.OnResample != nil {
		a.settings.OnResample(d.b, d.counts, d.f)
	}
	a.advance()
}

// skip leaves the next resample out, or says why it must not.
func (a *accumulator) skip(d *draw) error {
	failed := &FitError{Resample: d.b, Err: d.err}
	var u *UnconvergedError
	if !errors.As(d.err, &u) || float64(len(a.skipped)+1) > a.settings.MaxSkipped*float64(a.settings.Resamples) {
		if len(a.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", d.err, len(a.skipped), a.done)
		}
		return failed
	}
	a.skipped = append(a.skipped, failed)
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
	return lines
}
