package fits

import (
	"errors"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// Learner trains one weighted set after another over the M sites of a kernel matrix, for one goroutine. The
// error is bad input, or a set without a solution.
type Learner func(set train.Set) (Learned, error)

// Learned is a predictor that minimises its set's loss.
type Learned struct {
	train.Result
	SVM *svm.Result // of a margin loss
}

// Learners makes a learner for each worker. They only read the kernel matrix.
type Learners func() (Learner, error)

// Square learns by Gaussian-process regression: the square loss (f - y)^2/(2 noise), by one Cholesky
// factorisation of the kernel between the sites of positive weight.
func Square(k *linalg.Sym, noise float64, bias bool) Learners {
	return func() (Learner, error) {
		trainer, err := gp.NewTrainer(k, noise, bias)
		weight, target, f := make([]float64, k.N()), make([]float64, k.N()), make([]float64, k.N())
		return func(set train.Set) (Learned, error) {
			if err := set.Check(k.N(), false); err != nil {
				return Learned{}, err
			}
			set.Site.Merge(set.Y, set.Weight, weight, target)
			err := trainer.Fit(weight, target, f)
			return Learned{Result: trainer.Result}, err
		}, err
	}
}

// Margin learns by the support vector classifier with box w c times the class's weight for an example of
// weight w; for a hard margin, c = +Inf, only w > 0 matters. Learners share a copy of the full rows of k.
func Margin(k *linalg.Sym, c float64, classes loss.ClassWeights, bias bool, tolerance float64) Learners {
	rows := sync.OnceValues(func() (*svm.Rows, error) { return svm.NewRows(k) })
	return func() (Learner, error) {
		shared, err := rows()
		if err != nil {
			return nil, err
		}
		trainer, box := svm.NewTrainer(shared), []float64(nil)
		return func(set train.Set) (Learned, error) {
			box = train.Resize(box, len(set.Weight))
			for i, w := range set.Weight {
				box[i] = svm.Box(c, w, set.Y[i], classes)
			}
			set.Weight, set.Bias = box, bias
			r, err := trainer.Train(set, train.Settings{Tolerance: tolerance})
			if err != nil {
				return Learned{}, err
			}
			return Learned{r.Result, r}, nil
		}, nil
	}
}

// Proximal learns with any convex loss given by its proximal map (T1), on a dense kernel matrix or a low-rank
// factor; Weight is then that of the kernel of the factor, R R' + diag(residual).
func Proximal(k linalg.Kernel, l loss.Proximal, bias bool, tolerance float64) Learners {
	return func() (Learner, error) {
		trainer, err := erm.NewTrainer(k, l)
		return func(set train.Set) (Learned, error) {
			set.Bias = bias
			r, err := trainer.Train(set, train.Settings{Tolerance: tolerance})
			if err != nil {
				return Learned{}, err
			}
			return Learned{Result: r.Result}, nil
		}, err
	}
}

// Posterior learns the posterior mean of a Gaussian process with a likelihood by expectation propagation: the
// mean of exp(-loss) instead of Proximal's minimiser (M03-37..40).
func Posterior(k *linalg.Sym, l gp.Likelihood, tolerance float64) Learners {
	return func() (Learner, error) {
		trainer, err := gp.NewEP(k, l)
		return func(set train.Set) (Learned, error) {
			r, err := trainer.Fit(set, train.Settings{Tolerance: tolerance})
			if err != nil {
				return Learned{}, err
			}
			return Learned{Result: r.Result}, nil
		}, err
	}
}

// Predicting makes trainers on sets with the Site and Stop of all, which predict at the sites and at P new
// inputs, whose kernel with the sites is cross, P x sites.
func Predicting(learners Learners, all train.Set, sites int, cross blas64.General) func() (train.Trainer,
	error) {
	return func() (train.Trainer, error) {
		learn, err := learners()
		return &trainer{learn: learn, all: all, sites: sites, cross: cross}, err
	}
}

// trainer is a Learner that predicts.
type trainer struct {
	learn Learner
	all   train.Set
	sites int
	cross blas64.General
}

// Fit implements train.Trainer. A fit that has not converged, or has no finite optimal bias, as a logistic
// loss on one class, is an *UnconvergedError.
func (t *trainer) Fit(set train.Set, f []float64) error {
	set.Site, set.Stop = t.all.Site, t.all.Stop
	fit, err := t.learn(set)
	switch {
	case errors.Is(err, erm.ErrNoFiniteBias):
		return &UnconvergedError{err}
	case err != nil:
		return err
	case fit.Status == train.Diverged || fit.Status == train.Cancelled:
		return fit.Status.Err()
	case fit.Status != train.Converged:
		return &UnconvergedError{fit.Status.Err()}
	}
	copy(f, fit.F)
	if extra := f[t.sites:]; t.cross.Rows > 0 {
		blas64.Gemv(blas.NoTrans, 1, t.cross, blas64.Vector{N: t.sites, Data: fit.Weight, Inc: 1}, 0,
			blas64.Vector{N: len(extra), Data: extra, Inc: 1})
		floats.AddConst(fit.Bias, extra)
	}
	return nil
}
