package answer

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// fits collects the predictions of exact resamples, one resample after the other.
type fits struct {
	wanted bool
	all    []float64
	width  int // predictions of one
}

func (f *fits) add(b int, _, fit []float64) {
	if b == 0 { // the first begins anew
		f.all, f.width = nil, len(fit)
	}
	if f.wanted {
		f.all = append(f.all, fit...)
	}
}

// at are the fits at a place among the predictions, in rising order.
func (f *fits) at(place int, shift float64) (values []float64) {
	for ; place < len(f.all); place += f.width {
		values = append(values, f.all[place]+shift)
	}
	slices.Sort(values)
	return values
}

// quantiles adds quantiles over resamples to points whose law is the theory's, and to the refined ones beside
// them; shift is the targets' mean, which both lack.
func quantiles(p *report.Points, refined *report.Refined, levels []float64, place func(int) int,
	law func(int) loss.Distribution, collected *fits, shift float64) {
	lists := func(of func(point int) func(q float64) float64) []null.Floats {
		lists := make([]null.Floats, len(levels))
		for k := range lists {
			lists[k] = make([]float64, len(p.Mean))
		}
		linalg.Parallel(len(p.Mean), func(point int) {
			quantile := of(point)
			for k, q := range levels {
				lists[k][point] = quantile(q)
			}
		})
		return lists
	}
	p.QuantileLevels, p.Quantiles = levels, lists(func(point int) func(q float64) float64 {
		at := law(point)
		return func(q float64) float64 { return at.Quantile(q) + shift }
	})
	if refined == nil || refined.Points == nil || len(collected.all) == 0 {
		return
	}
	refined.Points.QuantileLevels = levels
	refined.Points.Quantiles = lists(func(point int) func(q float64) float64 {
		values := collected.at(place(point), shift)
		return func(q float64) float64 { return stat.Quantile(q, stat.Empirical, values, nil) }
	})
}

// covariances are those over resamples of the predictions at the examples or, if there are some, new inputs.
func (j *Job) covariances(s *solver.Solution, in *dataset.Inputs) (blas64.General, error) {
	c, err := predict.Covariances(j.Model, s, in)
	if in != nil || err != nil {
		return c, err
	}
	n := j.Set.N()
	out := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, 0, n*n)}
	for _, site := range j.Site {
		out.Data = append(out.Data, j.perExample(c.Data[site*c.Stride:][:c.Cols])...)
	}
	return out, nil
}
