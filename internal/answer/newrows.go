package answer

import (
	"fmt"
	"math"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/solver"
)

// Predictions are mean and variance over resamples of the predictions at new inputs, in the unit of the fit:
// the variability of the trained predictor, without the noise of new observations.
type Predictions struct {
	Mean, Var []float64
}

// At reads a solution of this model at new inputs (M03-48). It works in batches, see Check; before, if set,
// is called before each, and its error ends the work.
func At(m *model.Model, s *solver.Solution, in *dataset.Inputs, before func(done int) error) (*Predictions,
	error) {
	p := &Predictions{Mean: []float64{}, Var: []float64{}}
	if err := checkRoom(m, in.N()); err != nil {
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
	return p, nil
}

// checkPredicted refuses means and variances at new inputs, from number first on, that are not finite.
func checkPredicted(first int, mean, variance []float64) error {
	for i := range mean {
		if s := mean[i] + variance[i]; math.IsNaN(s) || math.IsInf(s, 0) {
			return model.InputError(fmt.Errorf("the prediction for new row %d is beyond the range of "+
				"numbers: its features are too far from the training data", first+i+1))
		}
	}
	return nil
}

// checkRoom refuses predictions at new inputs that would not fit into memory in addition to a solution:
// kernel rows of a block of inputs, products of their size, and some numbers per input.
func checkRoom(m *model.Model, inputs int) error {
	const copies, numbers = 2, 6
	block := int64(m.Sites()) * int64(model.InputsAtATime(inputs, m.Sites()))
	return m.CheckBeside(8*(copies*block+numbers*int64(inputs)),
		fmt.Sprintf("predicting at %d new inputs", inputs))
}
