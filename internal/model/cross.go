package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
)

// A batch of new inputs takes at most batchBytes, unless fewer than fewInputs of them, by which products with
// a large matrix are slow, take that.
const (
	batchBytes = 4 << 20
	fewInputs  = 128
)

// Cross calls f with the rows of new inputs for Solution.Predict, batch after batch: rows is P x InputDim
// row-major and starts at new input number first. They are the kernel with every site, or, for a low-rank
// matrix, coordinates in the basis of its factor. f may overwrite rows. New inputs are in the units of the
// data set and have no jitter. Invalid inputs are an error that wraps ErrInput; an error of f ends Cross and
// is returned.
func (m *Model) Cross(in *dataset.Inputs, f func(first int, rows []float64) error) error {
	return described(m).walk(in, f)
}

// withSites is the kernel with all sites.
func withSites(m *Model) *inputKernel {
	return &inputKernel{spec: m.Kernel, transform: m.transform, inputs: m.inputs, chosen: m.First,
		examples: m.Set.N()}
}

// described is the kernel with the sites that describe a new input: all of them, or the pivots of a factor.
func described(m *Model) *inputKernel {
	k := withSites(m)
	if k.factor = m.Factor(); k.factor == nil {
		return k
	}
	pivots := k.factor.Pivots()
	k.chosen = make([]int, len(pivots))
	for j, pivot := range pivots {
		k.chosen[j] = m.First[pivot]
	}
	if k.inputs != nil {
		k.inputs = m.inputs.Subset(pivots)
	}
	return k
}

// inputKernel is the kernel between new inputs, in units of the data set, and chosen training inputs. If it
// is precomputed, the features of new inputs are its values for all examples.
type inputKernel struct {
	spec      kernel.Spec
	transform *dataset.Standardizer // nil without standardising
	inputs    *kernel.Inputs
	chosen    []int // by number among the examples
	examples  int
	factor    *linalg.LowRankPlusDiag // of the kernel matrix, if the chosen inputs are its pivots
}

// standardized are inputs after a transform, which may be nil.
func standardized(in linalg.Design, transform *dataset.Standardizer) (linalg.Design, error) {
	if transform == nil || in.Sparse != nil {
		return in, nil
	}
	x, err := transform.Apply(in.X)
	return linalg.Design{X: x}, err
}

// walk calls f with the kernel rows of new inputs, batch after batch: with a factor, with their coordinates.
func (k *inputKernel) walk(in *dataset.Inputs, f func(first int, rows []float64) error) error {
	width, rows := max(1, len(k.chosen)), []float64(nil)
	return k.batches(in, width, func(first int, x linalg.Design) (err error) {
		if rows == nil {
			rows = make([]float64, x.N()*width)
		}
		to := blas64.General{Rows: x.N(), Cols: len(k.chosen), Stride: width, Data: rows[:x.N()*width]}
		if k.inputs == nil {
			err = k.take(x.X, to)
		} else {
			err = k.inputs.Cross(x, to)
		}
		if err != nil {
			return InputError(fmt.Errorf("new inputs from row %d on: %w", first+1, err))
		}
		if k.factor != nil {
			k.factor.Coordinates(to.Data)
		}
		return f(first, to.Data)
	})
}

// batches calls f with the standardised features of new inputs, batch after batch, of which each input takes
// width further numbers.
func (k *inputKernel) batches(in *dataset.Inputs, width int, f func(first int, x linalg.Design) error) error {
	const copies = 2 // of features: standardised, and prepared by the kernel
	if err := in.Design().Check(); err != nil {
		return InputError(fmt.Errorf("new inputs: %w", err))
	}
	all := make([]int, in.N())
	for i := range all {
		all[i] = i
	}
	for some := range slices.Chunk(all, InputsAtATime(in.N(), width+copies*in.X.Cols)) {
		part := in.Design()
		if x := &part.X; part.Sparse != nil {
			part = part.Gather(some)
		} else {
			x.Rows, x.Data = len(some), x.Data[some[0]*x.Stride:]
		}
		x, err := standardized(part, k.transform)
		if err != nil {
			return InputError(fmt.Errorf("new inputs from row %d on: %w", some[0]+1, err))
		}
		if err := f(some[0], x); err != nil {
			return err
		}
	}
	return nil
}

// take reads the features of new inputs as their kernel with every example.
func (k *inputKernel) take(x linalg.Matrix, dst blas64.General) error {
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

// InputsAtATime is the number of new inputs in a batch, of count with rows of width numbers.
func InputsAtATime(count, width int) int {
	return max(1, min(count, max(fewInputs, batchBytes/(8*width))))
}

// CrossAll is the P x M kernel matrix between new inputs and sites, for retraining, or an error if it would
// not fit.
func (m *Model) CrossAll(in *dataset.Inputs) (blas64.General, error) {
	if err := in.Design().Check(); err != nil {
		return blas64.General{}, InputError(fmt.Errorf("new inputs: %w", err))
	}
	all := blas64.General{Rows: in.N(), Cols: m.Sites(), Stride: m.Sites()}
	what := fmt.Sprintf("the kernel between %d new inputs and %d sites", all.Rows, all.Cols)
	if err := m.CheckBeside(8*int64(all.Rows)*int64(all.Cols), what); err != nil {
		return all, err
	}
	all.Data = make([]float64, all.Rows*all.Cols)
	k := described(m)
	return all, k.walk(in, func(first int, rows []float64) error {
		copy(all.Data[first*all.Stride:], k.vectors(rows).Data)
		return nil
	})
}

// vectors are the kernel vectors with all sites for the rows of walk.
func (k *inputKernel) vectors(rows []float64) blas64.General {
	width, sites := max(1, len(k.chosen)), len(k.chosen)
	if k.factor != nil {
		sites = k.factor.N()
	}
	all := blas64.General{Rows: len(rows) / width, Cols: sites, Stride: sites, Data: rows}
	if k.factor != nil {
		all.Data = make([]float64, all.Rows*all.Cols)
		k.factor.Vectors(all.Data, rows)
	}
	return all
}

// EachResponse calls f for every new input, several at a time, with its kernel k(x) with the
// sites and its response G(x, .) = k(x)'(I + diag(d) K)^-1.
func (m *Model) EachResponse(engine linalg.Engine, in *dataset.Inputs, f func(p int, k, g []float64)) error {
	return described(m).respond(engine, in, f)
}

// respond is EachResponse.
func (k *inputKernel) respond(engine linalg.Engine, in *dataset.Inputs, f func(p int, k, g []float64)) error {
	return k.walk(in, func(first int, rows []float64) error {
		cross := k.vectors(rows)
		response := linalg.Responses(engine, cross)
		linalg.Parallel(response.Rows, func(p int) {
			f(first+p, cross.Data[p*cross.Stride:][:cross.Cols],
				response.Data[p*response.Stride:][:response.Cols])
		})
		return nil
	})
}

// PriorVariances are K(x, x) at new inputs.
func PriorVariances(m *Model, in *dataset.Inputs) ([]float64, error) {
	return described(m).diagonal(in)
}

// diagonal is K(x, x) at new inputs, without the jitter.
func (k *inputKernel) diagonal(in *dataset.Inputs) ([]float64, error) {
	out := make([]float64, in.N())
	return out, k.batches(in, 1, func(first int, x linalg.Design) error {
		prepared, err := k.spec.Prepare(x)
		if err == nil && prepared.Diagonal(out[first:][:x.N()]) != nil {
			i := slices.IndexFunc(out, func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
			err = fmt.Errorf("kernel %v of new row %d with itself is not finite: its features are too far "+
				"from the training data", k.spec.Kind, i+1)
		}
		return err
	})
}
