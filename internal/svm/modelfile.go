package svm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// ModelFile is a trained support vector machine as LIBSVM's text format for models
// holds it. Its decision function is
//
//	g(x) = sum_k Coef_k K(x_k, x) - Rho,
//
// over the support vectors x_k. Of a classifier of two classes (svm_type c_svc) g > 0
// means Label[0], otherwise Label[1]; of a regression (epsilon_svr) g is the prediction.
type ModelFile struct {
	Regression bool
	Kernel     FileKernel
	// Degree >= 0 of FilePoly; Gamma >= 0 of FilePoly and FileRBF; Coef0 of
	// FilePoly. Zero for the other kernels.
	Degree       int
	Gamma, Coef0 float64
	// Label holds the labels of the two classes, which differ; without meaning for a
	// regression.
	Label [2]int
	Rho   float64
	// Coef are the weights of the support vectors: the dual variable a_k, with
	// its sign reversed for class Label[1]. The first NSV[0] support vectors
	// belong to Label[0], the other NSV[1] to Label[1]; of a regression these are the
	// positive and the negative weights.
	Coef []float64
	NSV  [2]int
	// Support vector k has the entries Start[k] to Start[k+1]-1: Value in the
	// feature Index, which counts from 0 and ascends. These are the fields of
	// kernel.CSR. Empty for FilePrecomputed.
	Start []int
	Index []int32
	Value []float64
	// Serial holds for FilePrecomputed the numbers (from 0; from 1 in the file)
	// of the support vectors among the training examples, else nil.
	Serial []int
}

// FileKernel is a kernel that model files name.
type FileKernel int

// The kernels of model files, in LIBSVM's notation.
const (
	FileLinear      FileKernel = iota // u'v
	FilePoly                          // (gamma u'v + coef0)^degree
	FileRBF                           // exp(-gamma |u-v|^2)
	FilePrecomputed                   // values brought along
)

// fileKernels are the names in the order of the constants.
func fileKernels() []string { return []string{"linear", "polynomial", "rbf", "precomputed"} }

// String is the name in model files.
func (k FileKernel) String() string {
	if k < FileLinear || k > FilePrecomputed {
		return fmt.Sprintf("FileKernel(%d)", int(k))
	}
	return fileKernels()[k]
}

// SetPredictor takes the predictor f = sum_i w_i K(x_i, x) + bias, of a classifier for labels
// +1 and -1, from the weights w_i = y_i a_i of N training examples. It keeps the examples
// whose weight is not zero, those of class +1 first. Example i has the entries start[i] to
// start[i+1]-1 of index and value, as under ModelFile.Start; for a precomputed
// kernel start, index and value are nil. Kernel and its parameters are left as
// they are. An amplitude A and a constant B of the kernel, for which the format
// has no place, belong into A y_i a_i and bias + B sum_i y_i a_i.
func (m *ModelFile) SetPredictor(weight []float64, bias float64, start []int, index []int32,
	value []float64) error {
	if m.Kernel != FilePrecomputed && len(start) != len(weight)+1 {
		return fmt.Errorf("%d weights, but %d row starts", len(weight), len(start))
	}
	m.Label, m.Rho = [2]int{1, -1}, 0-bias // not -0
	m.Coef, m.NSV = nil, [2]int{}
	m.Start, m.Index, m.Value, m.Serial = nil, nil, nil, nil
	if m.Kernel != FilePrecomputed {
		m.Start = []int{0}
	}
	for class, sign := range []float64{1, -1} {
		for i, w := range weight {
			if !(sign*w > 0) {
				continue
			}
			m.Coef = append(m.Coef, w)
			m.NSV[class]++
			if m.Kernel == FilePrecomputed {
				m.Serial = append(m.Serial, i)
				continue
			}
			first, end := start[i], start[i+1]
			if first < 0 || end < first || end > len(index) || end > len(value) {
				return fmt.Errorf("example %d has the entries %d to %d of %d", i+1, first+1, end, len(index))
			}
			m.Index, m.Value = append(m.Index, index[first:end]...), append(m.Value, value[first:end]...)
			m.Start = append(m.Start, len(m.Index))
		}
	}
	return m.Check()
}

// Check reports the first thing wrong with m as a model file.
func (m *ModelFile) Check() error {
	n := len(m.Coef)
	switch {
	case m.Kernel < FileLinear || m.Kernel > FilePrecomputed:
		return fmt.Errorf("the kernel %v is not one of model files", m.Kernel)
	case m.Label[0] == m.Label[1]:
		return fmt.Errorf("both classes have the label %d", m.Label[0])
	case m.Degree < 0 || !(m.Gamma >= 0 && m.Gamma <= math.MaxFloat64) || !isFiniteNumber(m.Coef0) ||
		!isFiniteNumber(m.Rho):
		return fmt.Errorf("degree %d, gamma %v, coef0 %v or rho %v is out of range", m.Degree, m.Gamma, m.Coef0,
			m.Rho)
	case m.NSV[0] < 0 || m.NSV[0] > n || m.NSV[1] != n-m.NSV[0]:
		return fmt.Errorf("%d and %d support vectors of the classes, but %d coefficients", m.NSV[0], m.NSV[1], n)
	}
	for k, c := range m.Coef {
		if !isFiniteNumber(c) {
			return fmt.Errorf("coefficient %d is %v", k+1, c)
		}
	}
	if m.Kernel == FilePrecomputed {
		return m.checkSerial()
	}
	return m.checkVectors()
}

func (m *ModelFile) checkSerial() error {
	if len(m.Serial) != len(m.Coef) || len(m.Start) > 1 || len(m.Index) > 0 {
		return errors.New("with a precomputed kernel each support vector has a number and no features")
	}
	for k, s := range m.Serial {
		if s < 0 {
			return fmt.Errorf("support vector %d is example %d", k+1, s+1)
		}
	}
	return nil
}

func (m *ModelFile) checkVectors() error {
	if len(m.Start) != len(m.Coef)+1 || m.Start[0] != 0 || m.Start[len(m.Coef)] != len(m.Index) ||
		len(m.Index) != len(m.Value) || len(m.Serial) > 0 {
		return fmt.Errorf("%d coefficients, %d starts, %d indices, %d values and %d numbers do not fit",
			len(m.Coef), len(m.Start), len(m.Index), len(m.Value), len(m.Serial))
	}
	for k := range m.Coef {
		if m.Start[k+1] < m.Start[k] || m.Start[k+1] > len(m.Index) {
			return fmt.Errorf("support vector %d ends before it starts", k+1)
		}
		previous := int32(-1)
		for e := m.Start[k]; e < m.Start[k+1]; e++ {
			if m.Index[e] <= previous || !isFiniteNumber(m.Value[e]) {
				return fmt.Errorf("support vector %d: feature %d after %d, with the value %v", k+1, int(m.Index[e])+1,
					int(previous)+1, m.Value[e])
			}
			previous = m.Index[e]
		}
	}
	return nil
}

func isFiniteNumber(v float64) bool { return v-v == 0 }

// Write writes m, after Check, as LIBSVM's tools read it. Every number is in
// the shortest form that reads back to the same float64.
func (m *ModelFile) Write(w io.Writer) error {
	if err := m.Check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	kind := "c_svc"
	if m.Regression {
		kind = "epsilon_svr"
	}
	fmt.Fprintf(out, "svm_type %s\nkernel_type %v\n", kind, m.Kernel)
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "degree %d\n", m.Degree)
	}
	if m.Kernel == FilePoly || m.Kernel == FileRBF {
		fmt.Fprintf(out, "gamma %v\n", m.Gamma)
	}
	if m.Kernel == FilePoly {
		fmt.Fprintf(out, "coef0 %v\n", m.Coef0)
	}
	fmt.Fprintf(out, "nr_class 2\ntotal_sv %d\nrho %v\n", len(m.Coef), m.Rho)
	if !m.Regression {
		fmt.Fprintf(out, "label %d %d\nnr_sv %d %d\n", m.Label[0], m.Label[1], m.NSV[0], m.NSV[1])
	}
	fmt.Fprint(out, "SV\n")
	var line []byte
	for k, c := range m.Coef {
		line = append(strconv.AppendFloat(line[:0], c, 'g', -1, 64), ' ')
		if m.Kernel == FilePrecomputed {
			line = fmt.Appendf(line, "0:%d ", m.Serial[k]+1)
		} else {
			for e := m.Start[k]; e < m.Start[k+1]; e++ {
				line = append(strconv.AppendInt(line, int64(m.Index[e])+1, 10), ':')
				line = append(strconv.AppendFloat(line, m.Value[e], 'g', -1, 64), ' ')
			}
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
