package retrain

import (
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/gp"
	"bootbench/linalg"
	"bootbench/train"
)

// EP is the posterior mean of a Gaussian process with any likelihood, by
// expectation propagation: where ERM takes the minimiser, this takes the mean
// of the posterior exp(-loss) (M03-37..40). An example drawn k times counts k
// times in the likelihood.
//
// Expectation propagation is an approximation; package gp says how good.
type EP struct {
	// Kernel is the kernel matrix over the sites. Trainers only read it.
	Kernel *linalg.Sym
	// Likelihood is p(y | f).
	Likelihood gp.Likelihood
	// Tolerance is that of gp.EPSettings; 0 means gp.DefaultEPTolerance.
	Tolerance float64
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes.
func (e EP) Trainers(p Problem) func() (Trainer, error) {
	return p.weighted(e.Kernel, e.Cross, func(p Problem, weight []float64) (weightedFit, error) {
		trainer, err := gp.NewEP(e.Kernel, e.Likelihood)
		set := train.Set{Y: p.Y, Site: p.Site, Weight: weight}
		return func() (fitted, error) {
			r, err := trainer.Fit(set, gp.EPSettings{Tolerance: e.Tolerance})
			if err != nil {
				return fitted{}, err
			}
			return fitted{r.Mean, r.Alpha, 0}, unconverged(r.Err())
		}, err
	})
}
