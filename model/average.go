package model

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/resample"
	"bootbench/solver"
)

// Solve computes the averages over resamples without retraining. See
// solver.Solve for its errors; the solution lives in the kernel matrix's
// scratch triangle until the next solve or full fit (a low-rank one in itself).
// Where Spec.MaxBytes bounds the memory and Settings.MaxBytes is not set, it is what
// the kernel matrix and its engine leave. On ranks (Spec.Grid) ctx must end at the same
// place of the program on all, in Settings.Progress.
//
// Where a low-rank kernel matrix changes the left-out error by more than Spec.RankError
// (see RankError), Auto makes a finer one or takes the exact engine, and solves again;
// earlier solutions of this model are then no longer its. Where neither fits into memory the
// status is TooCoarse.
func (m *Model) Solve(ctx context.Context, law resample.CountDistribution, settings solver.Settings) (*solver.Solution, error) {
	if m.Factor == nil {
		return m.solveOnce(ctx, law, settings)
	}
	return m.solveAccurately(ctx, law, settings)
}

func (m *Model) solveOnce(ctx context.Context, law resample.CountDistribution, settings solver.Settings) (*solver.Solution, error) {
	if settings.MaxBytes == 0 {
		settings.MaxBytes = m.solveRoom()
	}
	return solver.Solve(ctx, solver.Problem{
		Gram: m.Matrix(), Site: m.Site, Y: m.Set.Y, Loss: m.Loss, Law: law,
	}, settings)
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
	sites, inputs := m.described()
	width := max(1, len(sites))
	return batches(x.Rows, width, func(first, count int, rows []float64) error {
		part := blas64.General{Rows: count, Cols: x.Cols, Stride: x.Stride, Data: x.Data[first*x.Stride:]}
		err := m.crossBatch(inputs, sites, part, blas64.General{Rows: count, Cols: len(sites), Stride: width, Data: rows})
		if err == nil && m.Factor != nil {
			m.Factor.Coordinates(rows)
		}
		return err
	}, f)
}

// described are the sites whose kernel with a new input describes it, by their
// first examples, and their inputs: all sites, or the pivots of a factor.
func (m *Model) described() (sites []int, inputs *kernel.Inputs) {
	if m.Factor == nil {
		return m.First, m.inputs
	}
	pivots := m.Factor.Pivots()
	for _, pivot := range pivots {
		sites = append(sites, m.First[pivot])
	}
	if m.inputs != nil {
		inputs = m.inputs.Subset(pivots)
	}
	return sites, inputs
}

// batches hands f the rows of count new inputs, width numbers each, batch after
// batch, which fill computes from new input number first on.
func batches(count, width int, fill func(first, count int, rows []float64) error, f func(first int, rows []float64) error) error {
	batch := max(1, min(count, batchBytes/(8*width)))
	rows := make([]float64, batch*width)
	for first := 0; first < count; first += batch {
		part := min(batch, count-first)
		used := rows[:part*width]
		if err := fill(first, part, used); err != nil {
			return inputError(fmt.Errorf("new inputs from row %d on: %w", first+1, err))
		}
		if err := f(first, used); err != nil {
			return err
		}
	}
	return nil
}

// CrossAll is the whole P x M matrix of the kernel between new inputs and sites,
// for retraining, after a check that it fits.
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

// crossBatch writes the kernel between new inputs and the given sites, inputs
// holding these, into dst.
func (m *Model) crossBatch(inputs *kernel.Inputs, sites []int, x, dst blas64.General) error {
	if m.sparse != nil {
		return m.sparse.Cross(kernel.CSR(*dataset.NewCSR(matrixOf(x))), dst.Data)
	}
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
