package answer

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/solver"
)

// At are mean and variance over resamples of the predictions at new inputs, in the unit of the fit, by a
// solution of this model (M03-48): the variability of the trained predictor, without the noise of new
// observations. It works in batches, see Check; before, if set, is called before each, and its error ends the
// work.
func At(m *model.Model, s *solver.Solution, in *dataset.Inputs, before func(done int) error) (*fits.Averages,
	error) {
	if err := checkRoom(m, in.N()); err != nil {
		return nil, err
	}
	at := &fits.Averages{Mean: []float64{}, Variance: []float64{}}
	err := m.Cross(in, func(first int, rows []float64) error {
		if before != nil {
			if err := before(first); err != nil {
				return err
			}
		}
		mean, variance, err := s.Predict(rows)
		for i := range mean {
			if !isNumber(mean[i]+variance[i]) && err == nil {
				err = model.InputError(fmt.Errorf("the prediction for new row %d is beyond the range of "+
					"numbers: its features are too far from the training data", first+i+1))
			}
		}
		at.Mean, at.Variance = append(at.Mean, mean...), append(at.Variance, variance...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return at, nil
}

// checkRoom refuses predictions at new inputs that would not fit into memory in addition to a solution:
// kernel rows of a block of inputs, products of their size, and some numbers per input.
func checkRoom(m *model.Model, inputs int) error {
	const copies, numbers = 2, 6
	block := int64(m.Sites()) * int64(model.InputsAtATime(inputs, m.Sites()))
	return m.CheckBeside(8*(copies*block+numbers*int64(inputs)),
		fmt.Sprintf("predicting at %d new inputs", inputs))
}

// covariances are those over resamples of the predictions at new inputs, R diag(u) R' with the rows R of
// responses (M03-48), in squared units of the target.
func covariances(p *part, in *dataset.Inputs) (blas64.General, error) {
	n, sites, square := in.N(), p.model.Sites(), p.model.Unit*p.model.Unit
	engine, release, err := p.solution.Hold()
	if err != nil {
		return blas64.General{}, err
	}
	defer release()
	plain, weighted := rowsOf(make([]float64, n*sites), sites), rowsOf(make([]float64, n*sites), sites)
	err = p.model.EachResponse(engine, in, func(i int, _, g []float64) {
		copy(plain.Data[i*sites:], g)
		floats.MulTo(weighted.Data[i*sites:][:sites], g, p.solution.SiteVariance)
	})
	c := rowsOf(make([]float64, n*n), n)
	blas64.Gemm(blas.NoTrans, blas.Trans, square, weighted, plain, 0, c)
	return c, err
}
