package model

import (
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/batch"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// NewBatch prepares batch training around a solution of this model, which may be a rough
// one: a residual of 1e-2 does. Of the settings it takes Cross and Batch.
func (m *Model) NewBatch(s *solver.Solution, scheme resample.Scheme,
	settings RetrainSettings) (*batch.Trainer, error) {
	if _, ok := m.Loss.(loss.Proximal); !ok {
		return nil, inputError(fmt.Errorf(
			"batch training needs a loss with a proximal map; the predictor of %q is a posterior mean, which is "+
				"trained one resample at a time", m.Loss.Name()))
	}
	engine, err := s.Engine()
	if err != nil {
		return nil, err
	}
	return m.newBatch(s, engine, scheme, settings, linalg.Responses(engine, settings.Cross))
}

// newBatch is NewBatch with the responses of the new inputs.
func (m *Model) newBatch(s *solver.Solution, engine linalg.Engine, scheme resample.Scheme,
	settings RetrainSettings, responses blas64.General) (*batch.Trainer, error) {
	theory := batch.Theory{Engine: engine, SiteMean: s.SiteMean, Mean: s.Mean, Var: s.Var, Cavity: s.Cavity}
	problem := batch.Problem{Loss: m.Loss.(loss.Proximal), Y: m.Set.Y, Site: m.Site}
	if m.Gram != nil && !m.Bias {
		theory.Kernel = m.Gram
	}
	return batch.New(theory, problem, responses, m.exactTrainer(scheme, settings.Cross), settings.Batch)
}

// exactTrainer makes trainers for the fits that batches leave over. What they need, the
// whole kernel matrix, is made when the first is asked for.
func (m *Model) exactTrainer(scheme resample.Scheme, cross blas64.General) func() (batch.Exact, error) {
	if m.Spread != nil {
		return func() (batch.Exact, error) { return nil, errLeftOver }
	}
	makers := sync.OnceValues(func() (func() (retrain.Trainer, error), error) {
		return m.trainers(m.retraining(scheme, cross), cross)
	})
	return func() (batch.Exact, error) {
		make, err := makers()
		if err != nil {
			return nil, err
		}
		return make()
	}
}

var errLeftOver = inputError(errors.New(
	"a resample that batches do not train to the tolerance needs the whole kernel matrix, which no rank has: " +
		"take --engine lowrank, or --refine none"))
