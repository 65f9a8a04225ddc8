package model

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
)

// notStandardized is the warning for sparse data that were to be standardised.
const notStandardized = "sparse features are taken as they are: to subtract their means would fill the matrix"

// prepareSparse is prepare for sparse inputs, which are never standardised.
func (m *Model) prepareSparse() (err error) {
	if m.Standardize {
		m.Standardize = false
		m.notes = append(m.notes, notStandardized)
	}
	m.sparse, err = m.Kernel.PrepareSparse(kernel.CSR(*m.Set.Sparse.Gather(m.First)))
	return err
}

// CrossInputs is Cross for new inputs as package dataset reads them, dense or
// sparse.
func (m *Model) CrossInputs(in *dataset.Inputs, f func(first int, rows []float64) error) error {
	if in.Sparse == nil {
		return m.Cross(blas64.General(in.X), f)
	}
	if m.sparse == nil {
		return inputError(fmt.Errorf("sparse new inputs for a data set that is not sparse"))
	}
	x := kernel.CSR(*in.Sparse)
	if err := x.Check(); err != nil {
		return inputError(fmt.Errorf("new inputs: %w", err))
	}
	return batches(x.Rows, m.Sites(), func(first, count int, rows []float64) error {
		return m.sparse.Cross(sparseRows(x, first, count), rows)
	}, f)
}

// sparseRows are count rows of x from row first on, a view but for the starts.
func sparseRows(x kernel.CSR, first, count int) kernel.CSR {
	from, end := x.Start[first], x.Start[first+count]
	part := kernel.CSR{Rows: count, Cols: x.Cols, Start: make([]int, count+1), Index: x.Index[from:end], Value: x.Value[from:end]}
	for i := range part.Start {
		part.Start[i] = x.Start[first+i] - from
	}
	return part
}

// CrossAllInputs is CrossAll for new inputs as package dataset reads them.
func (m *Model) CrossAllInputs(in *dataset.Inputs) (blas64.General, error) {
	if in.Sparse == nil {
		return m.CrossAll(blas64.General(in.X))
	}
	return m.collect(in.M(), func(f func(first int, rows []float64) error) error { return m.CrossInputs(in, f) })
}

// collect gathers all batches of count new inputs, after a check that they fit.
func (m *Model) collect(count int, cross func(f func(first int, rows []float64) error) error) (blas64.General, error) {
	all := blas64.General{Rows: count, Cols: m.Sites(), Stride: m.Sites()}
	need := 8 * int64(count) * int64(m.Sites())
	if err := linalg.CheckMemory(need, m.MaxBytes, fmt.Sprintf("the kernel between %d new inputs and %d sites", count, m.Sites())); err != nil {
		return all, err
	}
	all.Data = make([]float64, count*m.Sites())
	err := cross(func(first int, rows []float64) error {
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
