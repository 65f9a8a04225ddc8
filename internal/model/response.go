package model

import (
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/solver"
)

// EachResponse calls f for every new input, several at a time, with its kernel k(x) with the
// sites and its response G(x, .) = k(x)'(I + diag(d) K)^-1.
func (m *Model) EachResponse(s *solver.Solution, engine linalg.Engine, in *dataset.Inputs,
	f func(p int, k, g []float64)) error {
	return m.CrossInputs(in, func(first int, rows []float64) error {
		cross := m.kernelRows(rows, s.InputDim())
		response := linalg.Responses(engine, cross)
		linalg.Parallel(response.Rows, func(p int) {
			f(first+p, cross.Data[p*cross.Stride:][:cross.Cols], response.Data[p*response.Stride:][:response.Cols])
		})
		return nil
	})
}

// kernelRows are the kernel of new inputs with all sites, from the rows of Cross.
func (m *Model) kernelRows(rows []float64, width int) blas64.General {
	all := blas64.General{Rows: len(rows) / width, Cols: m.Sites(), Stride: m.Sites(), Data: rows}
	if m.Factor() != nil {
		all.Data = make([]float64, all.Rows*all.Cols)
		m.Factor().Vectors(all.Data, rows)
	}
	return all
}

// PriorVariances are K(x, x) at new inputs.
func (m *Model) PriorVariances(in *dataset.Inputs) ([]float64, error) {
	out := make([]float64, in.M())
	if in.Sparse != nil {
		x, err := m.Kernel.PrepareSparse(kernel.CSR(*in.Sparse))
		if err != nil {
			return nil, err
		}
		return out, x.Diagonal(out)
	}
	z := in.X
	if m.transform != nil {
		var err error
		if z, err = m.transform.Apply(z); err != nil {
			return nil, err
		}
	}
	x, err := m.Kernel.Prepare(blas64.General(z))
	if err != nil {
		return nil, err
	}
	return out, x.Diagonal(out)
}
