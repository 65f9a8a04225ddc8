package retrain

import (
	"fmt"
	"time"
)

// record turns a sequence of fits into averages. Its memory does not grow with
// the number of resamples.
type record struct {
	problem  *Problem
	settings *Settings
	done     int
	empty    int
	fitTime  time.Duration
	leftOut  *leftOut
	moments  *moments
}

func newRecord(p *Problem, s *Settings) *record {
	return &record{
		problem: p, settings: s,
		leftOut: newLeftOut(p, s.Tests),
		moments: newMoments(p.Sites + p.Extra),
	}
}

// add takes in the next resample and shows it to the callbacks.
func (r *record) add(d *draw) {
	r.done++
	if d.empty {
		r.empty++
	}
	r.fitTime += d.duration
	r.leftOut.add(d.counts, d.f)
	r.moments.add(d.f)
	if r.settings.Observe != nil {
		r.settings.Observe(d.b, d.counts, d.f)
	}
	if r.settings.Progress != nil {
		r.settings.Progress(r.done, r.settings.Resamples)
	}
}

// result reads the averages off.
func (r *record) result() *Result {
	result := &Result{
		Resamples: r.done,
		Empty:     r.empty,
		Absent:    r.leftOut.totals(),
		Stats:     Stats{Workers: r.settings.Workers, Fits: r.done - r.empty, FitTime: r.fitTime},
	}
	if r.done < r.settings.Resamples {
		result.Status = Cancelled
	}
	for t := range r.settings.Tests {
		result.LeftOut = append(result.LeftOut, r.leftOut.report(t, result.Absent))
	}
	result.Mean, result.MeanSE, result.Var, result.VarSE = r.moments.report()
	result.Warnings = warnings(result)
	return result
}

func warnings(r *Result) []string {
	var lines []string
	never := 0
	for _, absent := range r.Absent {
		if absent == 0 {
			never++
		}
	}
	if never > 0 && len(r.LeftOut) > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d examples were never left out and do not count in the left-out error", never, len(r.Absent)))
	}
	if r.Empty > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d resamples were empty and predict the prior mean 0", r.Empty, r.Resamples))
	}
	return lines
}
