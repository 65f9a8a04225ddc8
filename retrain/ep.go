package retrain

import (
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/gp"
	"bootbench/linalg"
)

// EP is the posterior mean of a Gaussian process with any likelihood, by
// expectation propagation: where ERM takes the minimiser, this takes the mean
// of the posterior exp(-loss) (M03-37..40). An example drawn k times counts k
// times in the likelihood.
//
// Expectation propagation is an approximation; package gp says how good. A
// resample for which it does not converge ends the run with a *FitError. That
// happens with Student-t likelihoods, which may have no fixed point.
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
	return func() (Trainer, error) {
		p, err := p.withDefaults()
		if err != nil {
			return nil, err
		}
		if err := p.checkKernel(e.Kernel, e.Cross); err != nil {
			return nil, err
		}
		trainer, err := gp.NewEP(e.Kernel, e.Likelihood)
		if err != nil {
			return nil, err
		}
		return &epTrainer{
			method: e, trainer: trainer, sites: p.Sites,
			set: gp.WeightedSet{Y: p.Y, Site: p.Site, Weight: make([]float64, len(p.Y))},
		}, nil
	}
}

// epTrainer turns counts into weights.
type epTrainer struct {
	method  EP
	trainer *gp.EP
	set     gp.WeightedSet
	sites   int
}

// Fit is Trainer.Fit.
func (t *epTrainer) Fit(counts []int, f []float64) error {
	for i, k := range counts {
		t.set.Weight[i] = float64(k)
	}
	r, err := t.trainer.Fit(t.set, gp.EPSettings{Tolerance: t.method.Tolerance})
	if err != nil {
		return err
	}
	if err := r.Status.Err(); err != nil {
		return err
	}
	copy(f, r.Mean)
	weigh(t.method.Cross, r.Alpha, f[t.sites:])
	return nil
}
