package model

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See
// solver.Solve for its errors; the solution lives in the kernel matrix's
// scratch triangle until the next solve or full fit (a low-rank one in itself).
func (m *Model) Solve(ctx context.Context, law resample.Law, settings solver.Settings) (*solver.Solution, error) {
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Loss: m.Loss, Law: law,
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

// Cross calls f with the rows that describe new inputs to Solution.Predict, batch
// after batch: rows is P x Width row-major and starts at new input number first.
// They are the kernel with every site, or, from a low-rank matrix, coordinates in
// the basis of its factor. f may overwrite rows. New inputs are in the units of
// the data set; they get no jitter. Inputs that do not fit are an error that wraps
// ErrInput; f's error ends the walk and is returned as it is.
func (m *Model) Cross(x blas64.General, f func(first int, rows []float64) error) error {
	if err := checkNew(x); err != nil {
		return err
	}
	sites, inputs := m.First, m.inputs
	if m.Factor != nil {
		pivots := m.Factor.Pivots()
		sites = make([]int, len(pivots))
		for q, pivot := range pivots {
			sites[q] = m.First[pivot]
		}
		if inputs != nil {
			inputs = inputs.Only(pivots)
		}
	}
	width := max(1, len(sites))
	batch := max(1, min(x.Rows, batchBytes/(8*width)))
	rows := make([]float64, batch*width)
	for first := 0; first < x.Rows; first += batch {
		part := blas64.General{Rows: min(batch, x.Rows-first), Cols: x.Cols, Stride: x.Stride, Data: x.Data[first*x.Stride:]}
		used := blas64.General{Rows: part.Rows, Cols: len(sites), Stride: width, Data: rows[:part.Rows*width]}
		if err := m.crossBatch(inputs, sites, part, used); err != nil {
			return inputError(fmt.Errorf("new inputs from row %d on: %w", first+1, err))
		}
		if m.Factor != nil {
			m.Factor.Coordinates(used.Data)
		}
		if err := f(first, used.Data); err != nil {
			return err
		}
	}
	return nil
}

// CrossAll is the whole P x M matrix of the kernel between new inputs and sites,
// for retraining, after a check that it fits.
func (m *Model) CrossAll(x blas64.General) (blas64.General, error) {
	all := blas64.General{Rows: x.Rows, Cols: m.Sites(), Stride: m.Sites()}
	if err := checkNew(x); err != nil {
		return all, err
	}
	need := 8 * int64(x.Rows) * int64(m.Sites())
	if err := linalg.CheckMemory(need, m.MaxBytes, fmt.Sprintf("the kernel between %d new inputs and %d sites", x.Rows, m.Sites())); err != nil {
		return all, err
	}
	all.Data = make([]float64, x.Rows*m.Sites())
	err := m.Cross(x, func(first int, rows []float64) error {
		part := all.Data[first*m.Sites():]
		if m.Factor != nil {
			m.Factor.Vectors(part, rows)
		} else {
			copy(part, rows)
		}
		return nil
	})
	return all, err
}

func checkNew(x blas64.General) error {
	if err := checkShape(matrixOf(x)); err != nil {
		return inputError(fmt.Errorf("new inputs: %w", err))
	}
	return nil
}

// crossBatch writes the kernel between new inputs and the given sites, inputs
// holding these, into dst.
func (m *Model) crossBatch(inputs *kernel.Inputs, sites []int, x, dst blas64.General) error {
	if inputs == nil {
		return m.takeCross(sites, x, dst)
	}
	if m.transform != nil {
		z, err := m.transform.Apply(matrixOf(x))
		if err != nil {
			return err
		}
		x = blas64.General(z)
	}
	return inputs.Cross(x, dst)
}

// takeCross reads the features of new inputs as their kernel with every example;
// sites are the examples that are wanted.
func (m *Model) takeCross(sites []int, x, dst blas64.General) error {
	if x.Cols != m.Set.N() {
		return fmt.Errorf("%d kernel values for %d examples", x.Cols, m.Set.N())
	}
	amplitude := m.Kernel.Amplitude
	if amplitude == 0 {
		amplitude = 1
	}
	for r := range x.Rows {
		for j, first := range sites {
			k := amplitude*x.Data[r*x.Stride+first] + m.Kernel.Constant
			if math.IsNaN(k) || math.IsInf(k, 0) {
				return fmt.Errorf("kernel of new row %d and example %d is %v", r+1, first+1, k)
			}
			dst.Data[r*dst.Stride+j] = k
		}
	}
	return nil
}
