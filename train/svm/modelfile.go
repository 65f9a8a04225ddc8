package svm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"bootbench/linalg"
)

// ModelFile is a predictor in LIBSVM's text format for models,
//
//	f(x) = sum_i Weight_i K(x_i, x) + Bias.
//
// In a classifier (svm_type c_svc) f > 0 means Label[0], otherwise Label[1]; in a regression (epsilon_svr) f
// is the prediction. The format has no amplitude A or constant B of a kernel: write A Weight_i and Bias + B
// sum_i Weight_i.
type ModelFile struct {
	Regression bool
	Kernel     string // FileLinear and so on
	Degree     int    // of FilePoly
	Gamma      float64
	Coef0      float64 // of FilePoly
	Label      [2]int
	Weight     []float64 // of the examples, y_i a_i of a classifier; the file omits zeros
	Bias       float64
	// X are the features of the examples. A file of a precomputed kernel has the examples' numbers instead.
	X *linalg.CSR
}

// The kernels of model files, by their names in them.
const (
	FileLinear      = "linear"      // u'v
	FilePoly        = "polynomial"  // (gamma u'v + coef0)^degree
	FileRBF         = "rbf"         // exp(-gamma |u-v|^2)
	FilePrecomputed = "precomputed" // given values
)

// Write writes m in LIBSVM's format, each number in the shortest form that reads back unchanged.
func (m *ModelFile) Write(w io.Writer) error {
	if w == nil || m.X == nil {
		return errors.New("there is no writer, or no features")
	}
	support, positive := m.supportVectors()
	out := bufio.NewWriter(w)
	kind := "c_svc"
	if m.Regression {
		kind = "epsilon_svr"
	}
	fmt.Fprintf(out, "svm_type %s\nkernel_type %s\n", kind, m.Kernel)
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "degree %d\n", m.Degree)
	}
	if m.Kernel == FilePoly || m.Kernel == FileRBF {
		fmt.Fprintf(out, "gamma %v\n", m.Gamma)
	}
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "coef0 %v\n", m.Coef0)
	}
	fmt.Fprintf(out, "nr_class 2\ntotal_sv %d\nrho %v\n", len(support), 0-m.Bias) // not -0
	if !m.Regression {
		fmt.Fprintf(out, "label %d %d\nnr_sv %d %d\n", m.Label[0], m.Label[1], positive,
			len(support)-positive)
	}
	fmt.Fprint(out, "SV\n")
	var line []byte
	for _, i := range support {
		line = strconv.AppendFloat(line[:0], m.Weight[i], 'g', -1, 64)
		if m.Kernel == FilePrecomputed {
			line = fmt.Appendf(line, " 0:%d", i+1)
		} else {
			line = m.X.AppendRow(line, i)
		}
		if _, err := out.Write(append(line, " \n"...)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// supportVectors lists the examples of nonzero weight, the positive weights first.
func (m *ModelFile) supportVectors() (list []int, positive int) {
	for _, sign := range []float64{1, -1} {
		for i, w := range m.Weight {
			if sign*w > 0 {
				list = append(list, i)
			}
		}
		if sign > 0 {
			positive = len(list)
		}
	}
	return list, positive
}
