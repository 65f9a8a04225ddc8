package model

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
	"bootbench/train/machine"
)

// Fit trains the function of the view once, on all its rows, and, unlike FullFit, returns the weights of the
// predictor, in units of the fit. It uses the dense kernel matrix, and a factor of it, or the low-rank
// factor, on which the predictor is a sum over the pivots. A tolerance (train.Settings) of 0 means the
// default of the loss's trainer; the square loss is solved directly.
func (m *Model) Fit(ctx context.Context, tolerance float64) (*machine.Result, error) {
	of, err := m.LossTrainers(tolerance)
	if err != nil {
		return nil, err
	}
	learn, err := of.Trainer()
	if err != nil {
		return nil, InputError(err)
	}
	fit, err := learn(train.Set{Y: m.Y, Site: m.Site, Weight: weights(m), Stop: train.Until(ctx)})
	if err != nil && loss.TraitsOf(m.Loss).Margin {
		return nil, InputError(err)
	}
	if err == nil && m.TrainedOnFactor() && m.Rank() > 0 {
		atPivots := m.Factor().PivotWeights(fit.Weight) // the same function
		clear(fit.Weight)
		for k, site := range m.Factor().Pivots() {
			fit.Weight[site] = atPivots[k]
		}
	}
	return &fit, err
}

// FullFit trains once on all data and returns the predictor at the sites: as a fit in a block around a
// solution, if there is one, or if that fails, by the loss's trainer. It overwrites the scratch triangle of
// the kernel matrix.
func (m *Model) FullFit(ctx context.Context, around *solver.Solution) ([]float64, error) {
	if around != nil {
		if f, err := fitAround(ctx, m, around); err == nil || ctx.Err() != nil {
			return f, err
		}
	}
	fits, err := FullFits(ctx, []*Model{m})
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// FullFits is FullFit of models that differ only in their targets: for the square loss on a dense matrix by
// one factorisation.
func FullFits(ctx context.Context, same []*Model) (fits [][]float64, err error) {
	m := same[0]
	t := loss.TraitsOf(m.Loss)
	if t.Quadratic && m.Form() == Exact {
		count, targets := []float64(nil), make([][]float64, len(same))
		for k, other := range same {
			count, targets[k] = siteTargets(other)
		}
		return gp.FitFull(m.Gram(), t.Noise, m.Bias, count, targets...)
	}
	what := fmt.Sprintf("one fit to all of %d sites", m.Sites())
	if err := m.CheckBeside(fitBytes(m), what); err != nil {
		return nil, err
	}
	for _, other := range same {
		f, err := fullFit(ctx, other)
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// fullFit is a fit to all data by the engine, or by the loss's trainer: that of a distributed matrix on the
// dense one, if that fits into this machine's memory.
func fullFit(ctx context.Context, m *Model) ([]float64, error) {
	if t := loss.TraitsOf(m.Loss); t.Quadratic {
		count, mean := siteTargets(m)
		f, _, err := gp.FitByEngine(m.Matrix(), t.Noise, count, mean)
		return f, err
	}
	if m.Form() == ScaLAPACK {
		whole := on(m, (*linalg.Sym)(nil))
		what := fmt.Sprintf("the fit to all data, which needs the whole kernel matrix of %d distinct inputs "+
			"for this loss,", m.Sites())
		if err := linalg.CheckMemory(heldBytes(whole), m.MaxBytes, what); err != nil {
			return nil, err
		}
		k, err := wholeMatrix(ctx, whole)
		if err != nil {
			return nil, err
		}
		m = on(m, k)
	}
	one, err := m.Fit(ctx, 0)
	if err != nil {
		return nil, err
	}
	return one.F, one.Status.Err()
}

// trainers makes trainers for the model's loss that predict at all sites and, by cross, at new inputs.
func (m *Model) trainers(ctx context.Context, cross blas64.General) (func() (train.Trainer, error), error) {
	of, err := m.LossTrainers(0)
	if err != nil {
		return nil, err
	}
	return fits.Predicting(of, train.Set{Site: m.Site, Stop: train.Until(ctx)}, m.Sites(), cross), nil
}

// multipliedSites is the largest order, 800 MB, to which a factor is multiplied out for the trainer of
// support vector machines, whose steps change two rows of K where Newton's method on a factor needs all.
const multipliedSites = 10_000

// TrainedOnFactor reports whether trainers work on the low-rank factor, in O(M rank^2) per step: those of a
// loss given by its proximal map. A hard margin, which would be softened only by the residuals, is trained
// with the dense matrix, and so is every support vector machine if that matrix is small.
func (m *Model) TrainedOnFactor() bool {
	t := loss.TraitsOf(m.Loss)
	if t.Proximal == nil || t.Dense || m.Form() != LowRank {
		return false
	}
	small := t.Margin && m.Sites() <= multipliedSites &&
		m.CheckBeside(2*linalg.SymBytes(m.Sites()), "") == nil // with the rows in full of trainers
	return !small
}

// LossTrainers are the trainers of the model's loss, on the factor or on the dense kernel matrix; a
// tolerance of 0 means the default of its trainer.
func (m *Model) LossTrainers(tolerance float64) (of *machine.Trainers, err error) {
	k := linalg.Kernel(m.Factor())
	if !m.TrainedOnFactor() {
		if k, err = m.Dense(); err != nil {
			return nil, err
		}
	}
	if of, err = machine.For(m.Loss, k, m.Bias, train.Settings{Tolerance: tolerance}); err != nil {
		return nil, InputError(err)
	}
	return of, nil
}

// weights are the weights of the examples in the function of the view, 1 without, and 0 beside its rows.
func weights(m *Model) []float64 {
	all := slices.Repeat([]float64{1}, len(m.Y))
	for _, w := range [][]float64{m.Set.Weights, m.Rows} {
		if w != nil {
			floats.Mul(all, w)
		}
	}
	return all
}
