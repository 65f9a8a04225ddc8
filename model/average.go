package model

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See
// solver.Solve for its errors; the solution lives in the kernel matrix's
// scratch triangle until the next solve or full fit.
func (m *Model) Solve(ctx context.Context, law resample.Law, settings solver.Settings) (*solver.Solution, error) {
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Gram, Site: m.Site, Y: m.Set.Y, Loss: m.Loss, Law: law,
	}, settings)
}

// Retrain computes the same averages by Monte Carlo, at the sites and at new
// inputs whose kernel rows are given (P x M; the zero value: none).
func (m *Model) Retrain(ctx context.Context, scheme resample.Scheme, cross blas64.General, settings retrain.Settings) (*retrain.Result, error) {
	problem := retrain.Problem{Y: m.Set.Y, Site: m.Site, Sites: m.Sites(), Extra: cross.Rows, Scheme: scheme}
	trainers, err := m.trainers(problem, cross)
	if err != nil {
		return nil, err
	}
	return retrain.Run(ctx, problem, trainers, settings)
}

// batchBytes bounds the kernel rows that are in memory at a time.
const batchBytes = 32 << 20

// Cross calls f with the kernel rows of new inputs, batch after batch: rows is
// P x M row-major and starts at new input number first. f may overwrite rows.
// New inputs are in the units of the data set; they get no jitter. Inputs that do
// not fit are an error that wraps ErrInput; f's error ends the walk and is
// returned as it is.
func (m *Model) Cross(x blas64.General, f func(first int, rows []float64) error) error {
	if err := checkNew(x); err != nil {
		return err
	}
	return m.batches(x.Rows, func(first, count int, rows []float64) error {
		part := blas64.General{Rows: count, Cols: x.Cols, Stride: x.Stride, Data: x.Data[first*x.Stride:]}
		return m.crossBatch(part, rows)
	}, f)
}

// batches hands f the kernel rows of count new inputs, batch after batch, which
// fill computes from new input number first on.
func (m *Model) batches(count int, fill func(first, count int, rows []float64) error, f func(first int, rows []float64) error) error {
	batch := max(1, min(count, batchBytes/(8*m.Sites())))
	rows := make([]float64, batch*m.Sites())
	for first := 0; first < count; first += batch {
		part := min(batch, count-first)
		used := rows[:part*m.Sites()]
		if err := fill(first, part, used); err != nil {
			return inputError(fmt.Errorf("new inputs from row %d on: %w", first+1, err))
		}
		if err := f(first, used); err != nil {
			return err
		}
	}
	return nil
}

// CrossAll is the whole P x M matrix of kernel rows, after a check that it fits.
func (m *Model) CrossAll(x blas64.General) (blas64.General, error) {
	if err := checkNew(x); err != nil {
		return blas64.General{Rows: x.Rows, Cols: m.Sites(), Stride: m.Sites()}, err
	}
	return m.collect(x.Rows, func(f func(first int, rows []float64) error) error { return m.Cross(x, f) })
}

func checkNew(x blas64.General) error {
	if err := checkShape(matrixOf(x)); err != nil {
		return inputError(fmt.Errorf("new inputs: %w", err))
	}
	return nil
}

func (m *Model) crossBatch(x blas64.General, rows []float64) error {
	if m.sparse != nil {
		return m.sparse.Cross(kernel.CSR(*dataset.NewCSR(matrixOf(x))), rows)
	}
	if m.inputs == nil {
		return m.takeCross(x, rows)
	}
	if m.transform != nil {
		z, err := m.transform.Apply(matrixOf(x))
		if err != nil {
			return err
		}
		x = blas64.General(z)
	}
	return m.inputs.Cross(x, blas64.General{Rows: x.Rows, Cols: m.Sites(), Stride: m.Sites(), Data: rows})
}

// takeCross reads the features of new inputs as their kernel with every example.
func (m *Model) takeCross(x blas64.General, rows []float64) error {
	if x.Cols != m.Set.N() {
		return fmt.Errorf("%d kernel values for %d examples", x.Cols, m.Set.N())
	}
	amplitude := m.Kernel.Amplitude
	if amplitude == 0 {
		amplitude = 1
	}
	for r := range x.Rows {
		for j, first := range m.First {
			k := amplitude*x.Data[r*x.Stride+first] + m.Kernel.Constant
			if math.IsNaN(k) || math.IsInf(k, 0) {
				return fmt.Errorf("kernel of new row %d and example %d is %v", r+1, first+1, k)
			}
			rows[r*m.Sites()+j] = k
		}
	}
	return nil
}
