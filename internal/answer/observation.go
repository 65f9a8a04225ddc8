package answer

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/linalg"
	"bootbench/solver"
)

// Residuals is the unit of left-out residuals in intervals at a new input.
type Residuals string

const (
	// PlainResiduals, the default of losses other than the square loss, are in units of the target, for
	// homogeneous noise.
	PlainResiduals Residuals = "plain"
	// ScaledResiduals, the default of the square loss, are in units of the posterior's standard deviation
	// at the input, for other losses of (V + mean V)^1/2, with V the variance over resamples of the
	// prediction there: intervals are wider at inputs of larger uncertainty.
	ScaledResiduals Residuals = "scaled"
)

// ObservationIntervals contain the targets at new inputs with probability level: the
// jackknife+-after-bootstrap (calibration.JackknifePlus) of the theory. The mean prediction at x over the
// resamples that lack example i, on site s, is
//
//	m_{-i}(x) = m(x) + G(x, s) (m_{-i} - m_s)/chi_s,   G(x, .) = k(x)'(I + diag(d) K)^-1,   (T15)
//
// with m_{-i} the mean at x_i itself, and the residual is |y_i - m_{-i}|. The bounds are infinite where the
// examples are too few for the level (calibration.Scores). Under kfold it is CV+ averaged over
// partitions, with a fold for every example the jackknife+. P inputs cost O(P M^2), like their variances.
// They are in the unit of the fit.
func ObservationIntervals(m *model.Model, s *solver.Solution, in *dataset.Inputs, level float64,
	unit Residuals) ([]solver.Interval, error) {
	outOfBag, variances := leftOutMoments(m, s)
	engine, release, err := s.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	chi, _ := engine.Diag()
	residual, shift := make([]float64, len(outOfBag)), make([]float64, len(outOfBag))
	for i, mean := range outOfBag {
		residual[i] = m.Y[i] - mean
		shift[i] = (mean - s.Mean[m.Site[i]]) / chi[m.Site[i]]
	}
	left, err := observe(m.Set, residual, variances, m.Set.Weights, m.Set.Groups, level, unit)
	if err != nil {
		return nil, err
	}
	intervals := make([]solver.Interval, in.N())
	err = m.EachResponse(engine, in, func(p int, _, g []float64) {
		without, mean := make([]float64, len(shift)), floats.Dot(g, s.SiteMean)
		for i, by := range shift {
			without[i] = mean + g[m.Site[i]]*by
		}
		intervals[p] = left.interval(without, mean, predictionVariance(g, s.SiteVariance))
	})
	return intervals, err
}

// predictionVariance is that over resamples at a new input of response g (M03-48).
func predictionVariance(g, u []float64) (sum float64) {
	for site, v := range u {
		sum += g[site] * g[site] * v
	}
	return sum
}

// observed are the errors of left-out examples, for intervals.
type observed struct {
	error, variance []float64 // y_i - m_{-i}, and the variance over the same resamples
	typical         float64   // mean of variance
	scores          calibration.Scores
	few             *calibration.GroupErrors // of few groups, in units of spread; nil: quantiles
	level           float64
	unit            Residuals
}

// observe has the errors of those examples of a set that were left out, with their weights and groups. It
// refuses a level outside (0, 1).
func observe(set *dataset.Set, errors, variance, weights []float64, group []int, level float64,
	unit Residuals) (*observed, error) {
	if err := calibration.CheckLevel(level); err != nil {
		return nil, model.InputError(err)
	}
	o := &observed{errors, variance, stat.Mean(variance, nil), scoresOf(set), nil, level, unit}
	o.scores.Weights = weights
	in := make([]float64, len(errors))
	for i, e := range errors {
		in[i] = e / o.spread(variance[i])
	}
	o.few = groupErrors(o.scores, in, group, level)
	return o, nil
}

// spread is the unit of errors where predictions have a variance.
func (o *observed) spread(variance float64) float64 {
	if o.unit == ScaledResiduals && o.typical > 0 {
		return math.Sqrt((variance + o.typical) / o.typical)
	}
	return 1
}

// interval is the interval at a new input, given its predictions without each example, their mean over all
// resamples and its variance.
func (o *observed) interval(without []float64, mean, variance float64) (i solver.Interval) {
	at := o.spread(variance)
	if o.few != nil {
		low, high := o.few.Interval(o.level)
		return solver.Interval{Low: mean + at*low, High: mean + at*high}
	}
	residual := make([]float64, len(o.error))
	for j, e := range o.error {
		residual[j] = math.Abs(e) * at / o.spread(o.variance[j])
	}
	i.Low, i.High = o.scores.JackknifePlus(without, residual, o.level)
	return i
}

// Replicates stores the fits of retraining or refinement (their OnFit), with the examples that each lacks: 8
// (N + M + P) bytes per resample.
type Replicates struct {
	absent, fits []float64
	outputs      int // of a fit
}

// Add adds resample b; the first one resets.
func (r *Replicates) Add(b int, weight, f []float64) {
	if b == 0 {
		r.absent, r.fits, r.outputs = nil, nil, len(f)
	}
	for _, w := range weight {
		lacks := 0.0
		if w == 0 {
			lacks = 1
		}
		r.absent = append(r.absent, lacks)
	}
	r.fits = append(r.fits, f...)
}

// At are the sorted fits at one of their outputs.
func (r *Replicates) At(place int) (values []float64) {
	for ; place < len(r.fits); place += r.outputs {
		values = append(values, r.fits[place])
	}
	slices.Sort(values)
	return values
}

// ReplicateIntervals are ObservationIntervals at the new inputs of the replicates, from means over the
// resamples. Examples that were never left out do not count.
func ReplicateIntervals(m *model.Model, r *Replicates, level float64, unit Residuals) ([]solver.Interval,
	error) {
	n := m.Set.N()
	if len(r.absent) == 0 {
		return nil, model.InputError(errors.New("there are no resamples to take intervals from"))
	}
	absent := rowsOf(r.absent, n)
	fits := rowsOf(r.fits, r.outputs)
	sums := rowsOf(make([]float64, n*fits.Cols), fits.Cols)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, absent, fits, 0, sums)
	var residual, variance, weights []float64
	var group []int
	var means [][]float64 // over the resamples that lack an example, at all points
	for i := range n {
		count, site, squares, mean := 0.0, m.Site[i], 0.0, sums.Data[i*sums.Stride:][:sums.Cols]
		for b := range absent.Rows {
			count += absent.Data[b*n+i]
		}
		if count == 0 {
			continue
		}
		floats.Scale(1/count, mean)
		for b := range absent.Rows {
			squares += absent.Data[b*n+i] * math.Pow(fits.Data[b*fits.Stride+site]-mean[site], 2) / count
		}
		residual, variance = append(residual, m.Y[i]-mean[site]), append(variance, squares)
		means = append(means, mean)
		if m.Set.Weights != nil {
			weights = append(weights, m.Set.Weights[i])
		}
		if m.Set.Groups != nil {
			group = append(group, m.Set.Groups[i])
		}
	}
	left, err := observe(m.Set, residual, variance, weights, group, level, unit)
	if err != nil {
		return nil, err
	}
	intervals := make([]solver.Interval, fits.Cols-m.Sites())
	linalg.Parallel(len(intervals), func(p int) {
		at, without := m.Sites()+p, make([]float64, len(means))
		for i, mean := range means {
			without[i] = mean[at]
		}
		all := make([]float64, fits.Rows)
		blas64.Copy(blas64.Vector{N: fits.Rows, Inc: fits.Stride, Data: fits.Data[at:]},
			blas64.Vector{N: fits.Rows, Inc: 1, Data: all})
		intervals[p] = left.interval(without, stat.Mean(all, nil), stat.PopVariance(all, nil))
	})
	return intervals, nil
}

// rowsOf is data as a matrix of that many columns.
func rowsOf(data []float64, cols int) blas64.General {
	return blas64.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}
