// Package predict reads a solution of a model at new inputs: mean and variance over resamples, intervals of
// new observations, probabilities of labels.
package predict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/solver"
)

// Predictions are mean and variance over resamples of the predictions at new inputs, in units of the target:
// the variability of the trained predictor, without the noise of new observations.
type Predictions struct {
	Mean, Var []float64
}

// SD are the standard deviations.
func (p *Predictions) SD() []float64 {
	sd := make([]float64, len(p.Var))
	for i, v := range p.Var {
		sd[i] = math.Sqrt(v)
	}
	return sd
}

// Intervals contain a fraction level, between 0 and 1, of the resamples' predictions.
func (p *Predictions) Intervals(level float64) ([]solver.Interval, error) {
	if err := solver.CheckLevel(level); err != nil {
		return nil, err
	}
	intervals := make([]solver.Interval, len(p.Mean))
	for i, mean := range p.Mean {
		intervals[i] = solver.NormalInterval(mean, p.Var[i], level)
	}
	return intervals, nil
}

// At reads a solution of this model at new inputs, in units of the data set (M03-48). It works in batches,
// see Check; before, if set, is called before each, and its error ends the work.
func At(m *model.Model, s *solver.Solution, in *dataset.Inputs, before func(done int) error) (*Predictions,
	error) {
	p := &Predictions{Mean: []float64{}, Var: []float64{}}
	if err := Check(m, in.N()); err != nil {
		return nil, err
	}
	err := m.Cross(in, func(first int, rows []float64) error {
		if before != nil {
			if err := before(first); err != nil {
				return err
			}
		}
		mean, variance, err := s.Predict(rows)
		if err == nil {
			err = checkPredicted(len(p.Mean), mean, variance)
		}
		p.Mean, p.Var = append(p.Mean, mean...), append(p.Var, variance...)
		return err
	})
	if err != nil {
		return nil, err
	}
	floats.AddConst(m.Mean/m.Unit, p.Mean)
	return p, nil
}

// checkPredicted refuses means and variances at new inputs, from number first on, that are not finite.
func checkPredicted(first int, mean, variance []float64) error {
	for i := range mean {
		if s := mean[i] + variance[i]; math.IsNaN(s) || math.IsInf(s, 0) {
			return model.InputError(fmt.Errorf("the prediction for new row %d is beyond the range of numbers: "+
				"its features are too far from the training data", first+i+1))
		}
	}
	return nil
}

// Check refuses predictions at new inputs that would not fit into memory in addition to a solution: kernel
// rows of a block of inputs, products of their size, and some numbers per input.
func Check(m *model.Model, inputs int) error {
	const copies, numbers = 2, 6
	block := int64(m.Sites()) * int64(model.InputsAtATime(inputs, m.Sites()))
	return m.CheckBeside(8*(copies*block+numbers*int64(inputs)),
		fmt.Sprintf("predicting at %d new inputs", inputs))
}
