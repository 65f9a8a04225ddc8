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
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Residuals is the unit of left-out residuals in intervals at a new input.
type Residuals string

const (
	// PlainResiduals are in units of the target, for homogeneous noise: the default of all but squares.
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
	spread := spreads(variances, unit)
	residual, shift := make([]float64, len(outOfBag)), make([]float64, len(outOfBag))
	for i, mean := range outOfBag {
		residual[i] = (m.Y[i] - mean) / spread(variances[i])
		shift[i] = (mean - s.Mean[m.Site[i]]) / chi[m.Site[i]]
	}
	left, err := observe(residual, scoresOf(m.Set), m.Set.Groups, level)
	if err != nil {
		return nil, err
	}
	intervals := make([]solver.Interval, in.N())
	err = m.EachResponse(engine, in, func(p int, _, g []float64) {
		mean, variance := floats.Dot(g, s.SiteMean), 0.0
		for site, u := range s.SiteVariance {
			variance += g[site] * g[site] * u // M03-48
		}
		at := spread(variance)
		intervals[p] = left.interval(mean, at, func(i int) (float64, float64) {
			return mean + g[m.Site[i]]*shift[i], at
		})
	})
	return intervals, err
}

// spreads is the unit of errors by the variance of predictions, given the variances at left-out examples.
func spreads(variances []float64, unit Residuals) func(variance float64) float64 {
	typical := stat.Mean(variances, nil)
	return func(variance float64) float64 {
		if unit == ScaledResiduals && typical > 0 {
			return math.Sqrt((variance + typical) / typical)
		}
		return 1
	}
}

// observed are the errors of left-out examples, for intervals.
type observed struct {
	error  []float64 // y_i - m_{-i}, in units of the spread there
	scores calibration.Scores
	few    *calibration.GroupErrors // of groups that are too few for quantiles at the level; nil: quantiles
	level  float64
}

// observe has the errors of left-out examples, with their scores and groups. A level is between 0 and 1.
func observe(errors []float64, scores calibration.Scores, group []int, level float64) (*observed, error) {
	if err := calibration.CheckLevel(level); err != nil {
		return nil, model.InputError(err)
	}
	o := &observed{errors, scores, nil, level}
	if group != nil && scores.Check(level) != nil {
		o.few = calibration.NewGroupErrors(errors, scores.Weights, group) // nil for a single group
	}
	return o, nil
}

// interval is the interval where predictions have a mean and a spread, and those without each example.
func (o *observed) interval(mean, spread float64, without func(i int) (mean, spread float64)) (
	at solver.Interval) {
	if o.few != nil {
		low, high := o.few.Interval(o.level)
		return solver.Interval{Low: mean + spread*low, High: mean + spread*high}
	}
	means, residuals := make([]float64, len(o.error)), make([]float64, len(o.error))
	for i, e := range o.error {
		means[i], residuals[i] = without(i)
		residuals[i] *= math.Abs(e)
	}
	at.Low, at.High = o.scores.JackknifePlus(means, residuals, o.level)
	return at
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
		weights = append(weights, calibration.WeightOf(m.Set.Weights, i))
		if m.Set.Groups != nil {
			group = append(group, m.Set.Groups[i])
		}
	}
	spread, scores := spreads(variance, unit), scoresOf(m.Set)
	for i, v := range variance {
		residual[i] /= spread(v)
	}
	scores.Weights = weights
	left, err := observe(residual, scores, group, level)
	if err != nil {
		return nil, err
	}
	intervals := make([]solver.Interval, fits.Cols-m.Sites())
	linalg.Parallel(len(intervals), func(p int) {
		place, all := m.Sites()+p, make([]float64, fits.Rows)
		for b := range all {
			all[b] = fits.Data[b*fits.Stride+place]
		}
		at := spread(stat.PopVariance(all, nil))
		intervals[p] = left.interval(stat.Mean(all, nil), at, func(i int) (float64, float64) {
			return means[i][place], at
		})
	})
	return intervals, nil
}

func rowsOf(data []float64, cols int) blas64.General {
	return blas64.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

const (
	JackknifePlus  = "jackknife+"
	AfterBootstrap = "jackknife+ after bootstrap"
	LeftOutFolds   = "left-out folds"
	StudentsGroups = "Student's t over groups"
)

// trained are the predictions at new inputs of the model that is trained once on all rows by the square loss,
// and its intervals of observations, in units of the target.
type trained struct {
	mean, lower, upper []float64
	method             string
}

// closedForm reports whether observations have intervals from the model of all rows: for the square loss,
// unless rows are in blocks of time, of which no single one can be left out, or unless residuals are scaled
// with a precomputed kernel, of which K(x, x) is unknown.
func (i Intervals) closedForm(m *model.Model, scheme resample.Scheme) bool {
	t := loss.TraitsOf(m.Loss)
	return i.Of == Observation && t.Quadratic && t.Noise > 0 && m.Set.AreNumbers() &&
		(m.Set.Groups != nil || !resample.IsDependent(scheme)) &&
		!(m.Kernel.Kind == kernel.Precomputed && i.Residuals == ScaledResiduals)
}

// jackknifed are the trained model's predictions with the jackknife+ (Barber et al. 2021) over rows, or over
// groups, in the closed form of gp.LeftOut: with R_i the error on row i without its unit, in units of the
// posterior's standard deviation there (Scaled), the ends are the quantiles of
//
//	m_{-i}(x) -+ R_i V_{-i}(x)^1/2,
//
// so that they are wider where the data say less. Groups that are too few for quantiles at the level have
// Student's intervals (calibration.GroupErrors) about m(x), in the same units. Errors are multiplied by
// choice (Study.choose). mean and unit turn predictions of the fit into predictions of the target.
func jackknifed(r *model.Refits, scores calibration.Scores, group []int, in *dataset.Inputs, level float64,
	residuals Residuals, choice, mean, unit float64) (*trained, error) {
	n, scaled, errors := in.N(), residuals != PlainResiduals, slices.Clone(r.Error)
	for i := range errors {
		if errors[i] *= choice; scaled {
			errors[i] /= r.SD[i]
		}
	}
	left, err := observe(errors, scores, group, level)
	if err != nil {
		return nil, err
	}
	t := &trained{make([]float64, n), make([]float64, n), make([]float64, n), JackknifePlus}
	if left.few != nil {
		t.method = StudentsGroups
	}
	return t, r.At(in, func(p int, f, sd float64, means, sds []float64) {
		if !scaled {
			sd = 1
		}
		i := left.interval(f, sd, func(row int) (float64, float64) {
			u := r.Unit[row]
			if !scaled {
				return means[u], 1
			}
			return means[u], sds[u]
		})
		t.mean[p], t.lower[p], t.upper[p] = mean+unit*f, mean+unit*i.Low, mean+unit*i.High
	})
}

// jackknife computes the trained model's predictions at new inputs and their intervals.
func (p *part) jackknife(in *dataset.Inputs, q *Question) (*trained, error) {
	r, release, err := p.model.Refits()
	if err != nil {
		return nil, err
	}
	defer release()
	set, f := p.model.Set, p.model.Function
	return jackknifed(r, scoresOf(set), set.Groups, in, q.Level, q.Intervals.Residuals,
		p.study.choice[p.number], f.Mean, f.Unit)
}
