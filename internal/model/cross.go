package model

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/solver"
)

// batchBytes bounds the kernel rows that are in memory at a time.
const batchBytes = 16 << 20

// Cross calls f with the rows that describe new inputs to Solution.Predict, batch after batch: rows is P x
// Width row-major and starts at new input number first. They are the kernel with every site, or, from a
// low-rank matrix, coordinates in the basis of its factor. f may overwrite rows. New inputs are in the units
// of the data set; they get no jitter. Inputs that do not fit are an error that wraps ErrInput; f's error
// ends the walk and is returned as it is.
func (m *Model) Cross(in *dataset.Inputs, f func(first int, rows []float64) error) error {
	return m.described().walk(in, func(first int, rows []float64) error {
		if m.Factor() != nil {
			m.Factor().Coordinates(rows)
		}
		return f(first, rows)
	})
}

// described is the kernel with the sites that describe a new input: all of them, or the pivots of a factor.
func (m *Model) described() *inputKernel {
	k := &inputKernel{spec: m.Kernel, transform: m.transform, inputs: m.inputs, sparse: m.Set.Sparse != nil,
		chosen: m.First, examples: m.Set.N()}
	if m.Factor() == nil {
		return k
	}
	pivots := m.Factor().Pivots()
	k.chosen = make([]int, len(pivots))
	for j, pivot := range pivots {
		k.chosen[j] = m.First[pivot]
	}
	if k.inputs != nil {
		k.inputs = m.inputs.Subset(pivots)
	}
	return k
}

// inputKernel is the kernel between new inputs, in units of the data set, and chosen training
// inputs. Without these it is precomputed, and new inputs hold it for all examples.
type inputKernel struct {
	spec      kernel.Spec
	transform *dataset.Standardizer // nil without standardising
	inputs    *kernel.Inputs
	sparse    bool  // they are
	chosen    []int // by number among the examples
	examples  int
}

// walk calls f with the kernel rows of new inputs, batch after batch.
func (k *inputKernel) walk(in *dataset.Inputs, f func(first int, rows []float64) error) error {
	if err := k.check(in); err != nil {
		return InputError(fmt.Errorf("new inputs: %w", err))
	}
	width := max(1, len(k.chosen))
	batch := InputsAtATime(in.N(), width)
	rows := make([]float64, batch*width)
	for first := 0; first < in.N(); first += batch {
		count := min(batch, in.N()-first)
		to := blas64.General{Rows: count, Cols: len(k.chosen), Stride: width, Data: rows[:count*width]}
		if err := k.rows(in, first, to); err != nil {
			return InputError(fmt.Errorf("new inputs from row %d on: %w", first+1, err))
		}
		if err := f(first, to.Data); err != nil {
			return err
		}
	}
	return nil
}

// check refuses new inputs that are no matrix, or sparse where the training inputs are not.
func (k *inputKernel) check(in *dataset.Inputs) error {
	if in.Sparse == nil {
		return checkShape(in.X)
	}
	if !k.sparse {
		return errors.New("they are sparse, the data set is not")
	}
	return kernel.CSR(*in.Sparse).Check()
}

// rows writes the kernel rows of new inputs from number first on.
func (k *inputKernel) rows(in *dataset.Inputs, first int, to blas64.General) (err error) {
	if in.Sparse != nil {
		return k.inputs.CrossSparse(sparseRows(kernel.CSR(*in.Sparse), first, to.Rows), to)
	}
	x := dataset.Matrix{Rows: to.Rows, Cols: in.X.Cols, Stride: in.X.Stride, Data: in.X.Data[first*in.X.Stride:]}
	switch {
	case k.inputs == nil:
		return k.take(x, to)
	case k.sparse:
		return k.inputs.CrossSparse(kernel.CSR(*dataset.NewCSR(x)), to)
	}
	if k.transform != nil {
		if x, err = k.transform.Apply(x); err != nil {
			return err
		}
	}
	return k.inputs.Cross(blas64.General(x), to)
}

// Dense are new inputs in the rows of a matrix.
func Dense(x blas64.General) *dataset.Inputs { return &dataset.Inputs{X: dataset.Matrix(x)} }

// take reads the features of new inputs as their kernel with every example.
func (k *inputKernel) take(x dataset.Matrix, dst blas64.General) error {
	if x.Cols != k.examples {
		return fmt.Errorf("%d kernel values for %d examples", x.Cols, k.examples)
	}
	amplitude := cmp.Or(k.spec.Amplitude, 1)
	for r := range x.Rows {
		for j, example := range k.chosen {
			v := amplitude*x.At(r, example) + k.spec.Constant
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("kernel of new row %d and example %d is %v", r+1, example+1, v)
			}
			dst.Data[r*dst.Stride+j] = v
		}
	}
	return nil
}

// InputsAtATime is how many of count new inputs a batch has whose rows are width numbers.
func InputsAtATime(count, width int) int { return max(1, min(count, batchBytes/(8*width))) }

// sparseRows are count rows of x from row first on, a view but for the starts.
func sparseRows(x kernel.CSR, first, count int) kernel.CSR {
	from, end := x.Start[first], x.Start[first+count]
	part := kernel.CSR{Rows: count, Cols: x.Cols, Start: make([]int, count+1), Index: x.Index[from:end],
		Value: x.Value[from:end]}
	for i := range part.Start {
		part.Start[i] = x.Start[first+i] - from
	}
	return part
}

// CrossAll is the whole P x M matrix of the kernel between new inputs and sites,
// for retraining, after a check that it fits.
func (m *Model) CrossAll(in *dataset.Inputs) (blas64.General, error) {
	if err := m.described().check(in); err != nil {
		return blas64.General{}, InputError(fmt.Errorf("new inputs: %w", err))
	}
	all := blas64.General{Rows: in.N(), Cols: m.Sites(), Stride: m.Sites()}
	what := fmt.Sprintf("the kernel between %d new inputs and %d sites", all.Rows, all.Cols)
	if err := m.Forecast().CheckBeside(8*int64(all.Rows)*int64(all.Cols), what); err != nil {
		return all, err
	}
	all.Data = make([]float64, all.Rows*all.Cols)
	return all, m.Cross(in, func(first int, rows []float64) error {
		part := all.Data[first*all.Stride:]
		if m.Factor() != nil {
			m.Factor().Vectors(part, rows)
		} else {
			copy(part, rows)
		}
		return nil
	})
}

// EachResponse calls f for every new input, several at a time, with its kernel k(x) with the
// sites and its response G(x, .) = k(x)'(I + diag(d) K)^-1.
func (m *Model) EachResponse(s *solver.Solution, engine linalg.Engine, in *dataset.Inputs,
	f func(p int, k, g []float64)) error {
	return m.Cross(in, func(first int, rows []float64) error {
		cross := blas64.General{Rows: len(rows) / s.InputDim(), Cols: m.Sites(), Stride: m.Sites(), Data: rows}
		if factor := m.Factor(); factor != nil {
			cross.Data = make([]float64, cross.Rows*cross.Cols)
			factor.Vectors(cross.Data, rows)
		}
		response := linalg.Responses(engine, cross)
		linalg.Parallel(response.Rows, func(p int) {
			f(first+p, cross.Data[p*cross.Stride:][:cross.Cols], response.Data[p*response.Stride:][:response.Cols])
		})
		return nil
	})
}

// PriorVariances are K(x, x) at new inputs.
func (m *Model) PriorVariances(in *dataset.Inputs) ([]float64, error) {
	out := make([]float64, in.N())
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
