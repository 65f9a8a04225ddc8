package model

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/train"
)

// NewBatch prepares batch training around a solution of this model; a residual of 1e-2 suffices. It uses
// Cross and Batch of the settings. responses, P x M, map the forces to the predictions at the new inputs.
func NewBatch(ctx context.Context, m *Model, s *solver.Solution, settings RetrainSettings) (t *fits.Blocks,
	responses blas64.General, err error) {
	l := loss.TraitsOf(m.Loss).Proximal
	if l == nil {
		return nil, responses, InputError(fmt.Errorf(
			"batch training needs a loss with a proximal map; the predictor of %q is a posterior mean, "+
				"which is trained one resample at a time", m.Loss.Name()))
	}
	engine, err := s.Engine()
	if err != nil {
		return nil, responses, err
	}
	theory := fits.Theory{Engine: engine, SiteMean: s.SiteMean, Mean: s.Mean, Var: s.Var, Cavity: s.Cavity}
	if m.Gram() != nil && !m.Bias {
		theory.Kernel = m.Gram()
	}
	responses = linalg.Responses(engine, settings.Cross)
	t, err = fits.NewBlocks(theory, fits.BlockProblem{Loss: l, N: m.Set.N(), Site: m.Site}, responses,
		exactTrainer(ctx, m, settings.Cross), settings.Batch)
	return t, responses, err
}

// FitAll is the predictor at the sites trained on all examples, as a fit around a solution.
func FitAll(ctx context.Context, m *Model, s *solver.Solution) ([]float64, error) {
	trainer, _, err := NewBatch(ctx, m, s, RetrainSettings{})
	if err != nil {
		return nil, err
	}
	all := []fits.Fit{{Weight: m.weights(), Target: m.Y, F: make([]float64, trainer.Outputs())}}
	trainer.NewBlock()(ctx, all)
	return all[0].F, all[0].Err
}

// exactTrainer makes trainers for fits that do not converge in blocks. Their dense kernel matrix is made at
// the first use.
func exactTrainer(ctx context.Context, m *Model, cross blas64.General) func() (train.Trainer, error) {
	maker := sync.OnceValues(func() (func() (train.Trainer, error), error) {
		if m.Form() == ScaLAPACK {
			return nil, errLeftOver
		}
		return m.Trainers(ctx, cross)
	})
	return func() (train.Trainer, error) {
		newTrainer, err := maker()
		if err != nil {
			return nil, err
		}
		return newTrainer()
	}
}

var errLeftOver = InputError(errors.New(
	"a resample that batches do not train to the tolerance needs the whole kernel matrix, which no rank " +
		"has: take --engine lowrank, or --refine none"))
