package answer

import (
	"slices"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// Methods of intervals of observations.
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

// jackknife computes the trained model's predictions at new inputs and their intervals, nil if the question
// has others.
func (p *part) jackknife(in *dataset.Inputs, q *Question) (*trained, error) {
	if !q.Intervals.closedForm(p.model, q.Scheme) {
		return nil, nil
	}
	r, release, err := p.model.Refits()
	if err != nil {
		return nil, err
	}
	defer release()
	set, f := p.model.Set, p.model.Function
	return jackknifed(r, scoresOf(set), set.Groups, in, q.Level, q.Intervals.Residuals,
		p.study.choice[p.number], f.Mean, f.Unit)
}

// hasFewGroups reports whether there are groups, too few for quantiles at a level.
func (p *part) hasFewGroups(level float64) bool {
	return p.model.Set.Groups != nil && scoresOf(p.model.Set).Check(level) != nil
}
