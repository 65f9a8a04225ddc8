package fits

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/machine"
)

// Predicting makes trainers on sets with the Site and Stop of all, which predict at the sites and at P new
// inputs, whose kernel with the sites is cross, P x sites.
func Predicting(m *machine.Trainers, all train.Set, sites int, cross blas64.General) func() (train.Trainer,
	error) {
	return func() (train.Trainer, error) {
		learn, err := m.Trainer()
		return &trainer{learn: learn, all: all, sites: sites, cross: cross}, err
	}
}

// trainer is a trainer of a machine, and predicts.
type trainer struct {
	learn machine.Trainer
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
