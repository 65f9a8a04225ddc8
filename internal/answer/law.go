package answer

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// quantiles adds quantiles over resamples to the theory's points and the refined ones; shift is the targets'
// mean, to be added to both.
func quantiles(p *report.Points, refined *report.Refined, levels []float64, place func(int) int,
	law func(int) loss.Distribution, exact *predict.Replicates, shift float64) {
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
	if refined == nil || refined.Points == nil {
		return
	}
	refined.Points.QuantileLevels = levels
	refined.Points.Quantiles = lists(func(point int) func(q float64) float64 {
		values := exact.At(place(point), shift)
		return func(q float64) float64 { return stat.Quantile(q, stat.Empirical, values, nil) }
	})
}

// checkCovariances refuses requested covariances that would not fit into memory.
func (s *Settings) checkCovariances(m *model.Model, points int) error {
	if !s.Covariances {
		return nil
	}
	return linalg.CheckMemory(16*int64(points)*int64(points), m.MaxBytes,
		fmt.Sprintf("the covariances of %d predictions", points))
}

// covariances are those over resamples of the predictions at the examples or, if given, new inputs.
func covariances(j *Job, s *solver.Solution, in *dataset.Inputs) (blas64.General, error) {
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
