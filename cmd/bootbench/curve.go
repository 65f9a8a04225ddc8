package main

import (
	"fmt"
	"math"
	"slices"

	"bootbench/bench"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/report"
	"bootbench/resample"
)

// mostCells bounds a grid, and mostHeld the memory of the kernel matrices that its cells share.
const mostCells, mostHeld = 100000, 256 << 20

// growingRatios are the sizes of subsamples of n rows for the extrapolation to more rows: five from a fifth
// of the rows, but at least ten rows or, for fewer than 22, half of the last. Features and targets are scaled
// by all rows, which makes the error of a model of fewer than ten by up to a third too low.
func growingRatios(n int) (ratios []float64) {
	const sizes, last = 5, 0.9
	first := max(0.2, min(10/float64(n), last/2))
	for k := range sizes {
		ratios = append(ratios, first+(last-first)*float64(k)/(sizes-1))
	}
	return ratios
}

// fewRows is the number of rows up to which growing takes fewRowsResamples: fits are quick, and many are
// needed for the standard error over data sets (fits.MostJackknifed), which takes fits without each pair of
// rows.
const fewRows, fewRowsResamples = fits.MostJackknifed, 1000

func runCurve(a *app, o *options, data []string) {
	q := o.question()
	size, growing := standard.DefaultSample, !o.Given("ratio", "scheme", "blocks", "folds")
	if growing { // extrapolate to more rows, by the errors of the examples
		o.scheme, o.ratios = resample.Subsample{}.Name(), nil
		size, q.NoPoints = upTo(3000), false // takes about 20 s on two cores
	}
	o.checkScheme(o.ratios...)
	p := a.read(o, data[0], size)
	if n := p.spec.Set.N(); growing {
		units := n
		if groups := p.spec.Set.Groups; groups != nil {
			units = 1 + slices.Max(groups)
		} else if n <= fewRows && !o.Given("refine") {
			q.Resamples = fewRowsResamples
		}
		if o.ratios = growingRatios(n); units <= fewRows || units < n {
			o.ratios = whole(o.ratios, units)
		}
	}
	path := &answer.Path{}
	for i, ratio := range o.ratios {
		q.Scheme = o.designed(ratio, p.spec.Set)
		q.Label = fmt.Sprintf("ratio %.4g, %d of %d", q.Scheme.Mean(), i+1, len(o.ratios))
		path.Questions = append(path.Questions, q)
	}
	path.Study = a.build(a.ctx, p)
	a.openJournal(p)
	set := path.Model.Set
	doc := &report.Curve{Command: "curve", Subject: path.Subject, Scheme: q.Scheme.Name(),
		TestLoss: path.Test.Name(), Grows: growing}
	if len(set.Columns) > 1 {
		doc.Notes = append(slices.Clone(doc.Notes), "errors are in standard deviations of each target")
	}
	var tasks []bench.Task[report.Answer]
	for i, q := range path.Questions {
		name := fmt.Sprintf("%s, ratio %v", set.Name, q.Scheme.Mean())
		key := estimateKey(&path.Model.Spec, path.Test, q)
		tasks = append(tasks, task(name, key, func() report.Answer {
			return *row(a, path.Study, steps.Must(path.At(a.ctx, i)))
		}))
	}
	deliverRows(a, rowRun[report.Answer]{
		tasks: tasks, together: answer.PathLength, document: doc,
		status: func(e report.Answer) string { return e.Status },
		finish: func(results []report.Answer, complete bool) {
			doc.Time, doc.Results, doc.Status = path.Times, results, completeness(complete)
			for _, e := range results {
				doc.Time.Solve += e.Time.Solve
				doc.AddOf(fmt.Sprintf("ratio %.4g", e.Ratio), &e.Findings)
			}
			if complete && len(path.Model.Spec.Chosen) > 0 && !o.Given("blocks") {
				doc.Headline = headline(a, path.Study, &doc.Findings)
			}
			doc.Add(answer.FewChecks(set)...)
			if growing && complete {
				doc.Growth = answer.Growth(set.N(), results)
			}
			for i := range results {
				if e := &results[i]; o.asked.NoPoints && e.Refined != nil {
					e.Points, e.Refined.Points = nil, nil
				}
			}
		},
	})
}

// headline is the error of the model of all rows, nil if there is none; the findings then say why.
func headline(a *app, s *answer.Study, f *report.Findings) *report.Headline {
	h, err := s.Headline(a.ctx, a.options.asked.Seed, a.options.asked.Level)
	if err != nil && a.ctx.Err() == nil {
		f.Add(report.NotComputed.Check(1, "estimate the model alone", "the error of the model of all rows "+
			"is not known: %v", err))
	}
	if h != nil {
		f.Add(h.Said...)
	}
	return h
}

// whole are the nearest ratios that draw a whole number of rows or groups, and leave at least one out.
func whole(ratios []float64, units int) (nearest []float64) {
	for _, ratio := range ratios {
		drawn := min(max(1, math.Round(ratio*float64(units))), float64(units-1))
		nearest = append(nearest, drawn/float64(units))
	}
	return slices.Compact(nearest)
}

func completeness(complete bool) string {
	if complete {
		return answer.Complete
	}
	return answer.Cancelled
}
