package model

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/batch"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// RetrainBatch is Retrain with all resamples trained together, around a solution of this
// model (see package batch): the same draws, and the same fits within
// batch.Settings.Tolerance. cross is that of Retrain.
func (m *Model) RetrainBatch(ctx context.Context, s *solver.Solution, scheme resample.Scheme, cross blas64.General, settings retrain.Settings, how batch.Settings) (*retrain.Result, batch.Stats, error) {
	trainer, err := m.NewBatch(s, scheme, cross, how)
	if err != nil {
		return nil, batch.Stats{}, err
	}
	result, err := retrain.RunBlocks(ctx, m.retraining(scheme, cross), func() (retrain.BlockTrainer, error) { return trainer.NewBlock(), nil }, settings)
	return result, trainer.Stats(), err
}

// NewBatch prepares batch training around a solution of this model.
func (m *Model) NewBatch(s *solver.Solution, scheme resample.Scheme, cross blas64.General, how batch.Settings) (*batch.Trainer, error) {
	proximal, ok := m.Loss.(loss.Proximal)
	if !ok {
		return nil, inputError(fmt.Errorf("batch training needs a loss with a proximal map, which %q is not: its predictor is a posterior mean", m.Loss.Name()))
	}
	exact, err := m.trainers(m.retraining(scheme, cross), cross)
	if err != nil {
		return nil, err
	}
	theory := batch.Theory{Engine: s.Engine(), SiteMean: s.SiteMean, Mean: s.Mean, Var: s.Var, Cavity: s.Cavity}
	return batch.New(theory, batch.Problem{Loss: proximal, Y: m.Set.Y, Site: m.Site}, responses(s, cross),
		func() (batch.Exact, error) { return exact() }, how)
}

// retraining is what retraining under a scheme resamples.
func (m *Model) retraining(scheme resample.Scheme, cross blas64.General) retrain.Problem {
	return retrain.Problem{Y: m.Set.Y, Site: m.Site, Sites: m.Sites(), Extra: cross.Rows, Scheme: scheme}
}

// responses is k(x)'(I + diag(d)K)^-1 = k(x)' - k(x)'diag(d)G for the new inputs of cross,
// P x M: it takes g to the mean predictor there (M03-48), and xi of a resample to its fit.
func responses(s *solver.Solution, cross blas64.General) blas64.General {
	if cross.Rows == 0 {
		return blas64.General{}
	}
	shape := func() blas64.General {
		return blas64.General{Rows: cross.Rows, Cols: cross.Cols, Stride: cross.Cols, Data: make([]float64, cross.Rows*cross.Cols)}
	}
	weighted, out := shape(), shape()
	for p := range cross.Rows {
		for i, k := range cross.Data[p*cross.Stride : p*cross.Stride+cross.Cols] {
			weighted.Data[p*cross.Cols+i] = k * s.SitePrecision[i]
		}
	}
	s.Engine().MulRows(out, weighted)
	for p := range cross.Rows {
		for i, k := range cross.Data[p*cross.Stride : p*cross.Stride+cross.Cols] {
			out.Data[p*cross.Cols+i] = k - out.Data[p*cross.Cols+i]
		}
	}
	return out
}
