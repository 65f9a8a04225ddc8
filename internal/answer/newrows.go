package answer

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
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
func covariances(p *part, in *dataset.Inputs) (*report.Covariance, error) {
	n, sites, square := in.N(), p.model.Sites(), p.model.Unit*p.model.Unit
	engine, release, err := p.solution.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	plain, weighted := rowsOf(make([]float64, n*sites), sites), rowsOf(make([]float64, n*sites), sites)
	err = p.model.EachResponse(engine, in, func(i int, _, g []float64) {
		copy(plain.Data[i*sites:], g)
		floats.MulTo(weighted.Data[i*sites:][:sites], g, p.solution.SiteVariance)
	})
	c := rowsOf(make([]float64, n*n), n)
	blas64.Gemm(blas.NoTrans, blas.Trans, square, weighted, plain, 0, c)
	return &report.Covariance{Matrix: c}, err
}

// addCovariance adds the covariances of the part, and the posterior's variances, if they are wanted.
func (p *part) addCovariance(a *report.Answer, in *dataset.Inputs, q *Question) (err error) {
	if !q.Covariances {
		return nil
	}
	if a.Covariance, err = covariances(p, in); err != nil || !hasPosterior(p.model) ||
		p.model.Kernel.Kind == kernel.Precomputed || a.Points == nil {
		return err
	}
	a.Points.Posterior, err = posteriorVariances(p.model, p.solution, in)
	floats.Scale(p.model.Unit*p.model.Unit, a.Points.Posterior)
	return err
}

// hasPosterior reports whether the loss is minus the log likelihood of a Gaussian process.
func hasPosterior(m *model.Model) bool {
	_, likelihood := m.Loss.(loss.Likelihood)
	return likelihood || loss.TraitsOf(m.Loss).Quadratic
}

// posteriorVariances are the averages over resamples of the posterior's variance of f at new inputs x,
//
//	G(x, x) = K(x, x) - k(x)'(I + diag(d) K)^-1 diag(d) k(x)   (M03-33),
//
// plus linalg.BiasVariance with a bias; at least the leastPosterior part of K(x, x).
func posteriorVariances(m *model.Model, s *solver.Solution, in *dataset.Inputs) ([]float64, error) {
	out := make([]float64, in.N())
	prior, err := model.PriorVariances(m, in)
	if err != nil {
		return nil, model.InputError(err)
	}
	engine, release, err := s.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	return out, m.EachResponse(engine, in, func(i int, k, g []float64) {
		chi := prior[i] + linalg.BiasVariance(engine, k)
		for site, d := range s.SitePrecision {
			chi -= g[site] * d * k[site]
		}
		out[i] = math.Max(chi, prior[i]*leastPosterior)
	})
}

// leastPosterior is the least posterior variance, relative to the prior's, above rounding.
const leastPosterior = 1e-12
