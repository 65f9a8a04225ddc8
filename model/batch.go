package model

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/batch"
	"bootbench/dataset"
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
			"batch training needs a loss with a proximal map; the predictor of %q is a posterior mean, which is trained one resample at a time", m.Loss.Name()))
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
	if m.team != nil {
		return nil, errOwnResamples
	}
	theory := batch.Theory{Engine: engine, SiteMean: s.SiteMean, Mean: s.Mean, Var: s.Var, Cavity: s.Cavity}
	problem := batch.Problem{Loss: m.Loss.(loss.Proximal), Y: m.Set.Y, Site: m.Site}
	if m.Bias && m.Set.Task == dataset.Classification {
		problem.Leave = m.ofOneClass
	}
	return batch.New(theory, problem, responses, m.exactTrainer(scheme, settings.Cross), m.boundedBlocks(settings))
}

// ofOneClass reports whether a resample has examples of one class only: then the best bias is not the only
// one, or not finite.
func (m *Model) ofOneClass(counts []int) bool {
	var drawn [2]bool
	for i, k := range counts {
		if k > 0 {
			drawn[int(m.Set.Y[i]+1)/2] = true
		}
	}
	return drawn[0] != drawn[1]
}

// leastBlock is the memory that a block of resamples may always take.
const leastBlock = 8 << 20

// boundedBlocks are the settings of batches whose blocks take, all workers together, at
// most half of a kernel matrix that is held whole (at 3000 sites blocks of 52 resamples, whose fits take
// 1.2 times as long as in blocks of 128; of 32, 1.5 times), half of what Spec.MaxBytes leaves
// beside the matrix, its engine and the copy of G in single precision, and never more than by default, all
// ranks together.
func (m *Model) boundedBlocks(settings RetrainSettings) batch.Settings {
	how := settings.Batch
	if how.MaxBytes != 0 {
		return how
	}
	workers := settings.Workers
	switch {
	case m.onRanks():
		workers = 1
	case workers == 0:
		workers = runtime.GOMAXPROCS(0)
	}
	// resamples of a block are as many as in one process
	how.MaxBytes = batch.DefaultMaxBytes / int64(m.members())
	copied := m.copyBytes()
	if copied > 0 {
		how.MaxBytes = min(how.MaxBytes, max(leastBlock, copied/int64(workers)))
	}
	if m.MaxBytes > 0 {
		how.MaxBytes = max(1, min(how.MaxBytes, (m.MaxBytes-m.heldBytes()-copied)/int64(2*workers)))
	}
	return how
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

var errOwnResamples = inputError(errors.New(
	"ranks that share a low-rank factor train no resamples together: take --refine none, or one process"))

var errLeftOver = inputError(errors.New(
	"a resample that batches do not train to the tolerance needs the whole kernel matrix, which ranks do not have: take --engine lowrank, or --refine none"))
