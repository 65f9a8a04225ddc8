package retrain

import (
	"errors"
	"fmt"
	"time"

	"bootbench/resample"
)

// record turns a sequence of fits into averages. Its memory does not grow with
// the number of resamples.
type record struct {
	problem  *Problem
	settings *Settings
	done     int // resamples taken in or skipped
	skipped  []*FitError
	empty    int
	fits     int
	fitTime  time.Duration
	leftOut  *leftOut
	moments  *grouped
	positive []int // per site and extra input, the resamples that predict more than 0
}

func newRecord(p *Problem, s *Settings) *record {
	period := resample.Period(p.Scheme)
	return &record{
		problem: p, settings: s,
		leftOut:  newLeftOut(p, s.Tests, period),
		moments:  newGrouped(p.Sites+p.Extra, period),
		positive: make([]int, p.Sites+p.Extra),
	}
}

// add takes in the next resample and shows it to the callbacks.
func (r *record) add(d *draw) {
	if d.empty {
		r.empty++
	}
	if !d.empty && !d.known {
		r.fits++
	}
	r.fitTime += d.duration
	r.leftOut.add(d.counts, d.f)
	r.moments.add(d.f)
	for i, f := range d.f {
		if f > 0 {
			r.positive[i]++
		}
	}
	if r.settings.OnResample != nil {
		r.settings.OnResample(d.b, d.counts, d.f)
	}
	r.pass()
}

// skip leaves the next resample out, or says why it must not.
func (r *record) skip(d *draw) error {
	failed := &FitError{Resample: d.b, Err: d.err}
	var u *UnconvergedError
	if !errors.As(d.err, &u) || float64(len(r.skipped)+1) > r.settings.MaxSkipped*float64(r.settings.Resamples) {
		if len(r.skipped) > 0 {
			failed.Err = fmt.Errorf("%w; %d of %d resamples before it were skipped", d.err, len(r.skipped), r.done)
		}
		return failed
	}
	r.skipped = append(r.skipped, failed)
	r.pass()
	return nil
}

// pass goes on to the next resample.
func (r *record) pass() {
	r.done++
	if r.settings.Progress != nil {
		r.settings.Progress(r.done, r.settings.Resamples)
	}
}

// result reads the averages off.
func (r *record) result() *Result {
	result := &Result{
		Resamples: r.done - len(r.skipped),
		Skipped:   r.skipped,
		Empty:     r.empty,
		Absent:    r.leftOut.totals(),
		Stats:     Stats{Workers: r.settings.Workers, Fits: r.fits, FitTime: r.fitTime},
	}
	if r.done < r.settings.Resamples {
		result.Status = Cancelled
	}
	result.LeftOut, result.OutOfBag = r.leftOut.errors(), r.leftOut.outOfBag()
	for i, positive := range r.positive {
		a := r.moments.average(i)
		result.Mean, result.MeanSE = append(result.Mean, a.mean), append(result.MeanSE, a.meanSE)
		result.Var, result.VarSE = append(result.Var, a.variance), append(result.VarSE, a.varianceSE)
		result.Vote = append(result.Vote, float64(positive)/float64(result.Resamples))
	}
	result.Warnings = r.warnings(result)
	return result
}

func (rec *record) warnings(r *Result) []string {
	var lines []string
	if period := rec.leftOut.period; r.Resamples%period != 0 {
		lines = append(lines, fmt.Sprintf("%d resamples are no whole number of partitions into %d folds: the last one counts in part", r.Resamples, period))
	}
	never := 0
	for _, absent := range r.Absent {
		if absent == 0 {
			never++
		}
	}
	if never > 0 && len(r.LeftOut) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d examples were never left out and do not count in the left-out error", never, len(r.Absent)))
	}
	if skipped := len(r.Skipped); skipped > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d resamples are not in the averages, for their training did not converge (the first: %v)", skipped, rec.done, r.Skipped[0]))
	}
	if r.Empty > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d resamples were empty and predict the prior mean 0", r.Empty, r.Resamples))
	}
	return lines
}
