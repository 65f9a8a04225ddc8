package svm

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// libsvmFile is a file that LIBSVM made; see the README there.
func libsvmFile(t *testing.T, name string) string {
	return string(testutil.Must(os.ReadFile(filepath.Join("testdata", "libsvm", name)))(t))
}

// features reads fields INDEX:VALUE; indices count from 1, and from 0 in files with a precomputed kernel.
func features(t *testing.T, fields []string) (index []int32, value []float64) {
	index, value = make([]int32, len(fields)), make([]float64, len(fields))
	for k, field := range fields {
		if _, err := fmt.Sscanf(field, "%d:%g", &index[k], &value[k]); err != nil {
			t.Fatal(field, err)
		}
		index[k]--
	}
	return index, value
}

// readModel reads what LIBSVM or Write wrote.
func readModel(t *testing.T, text string) *ModelFile {
	m := &ModelFile{X: &linalg.CSR{Start: []int{0}}}
	header, vectors, _ := strings.Cut(text, "SV\n")
	for line := range strings.Lines(header) {
		fmt.Sscanf(line, "kernel_type %s", &m.Kernel)
		fmt.Sscanf(line, "degree %d", &m.Degree)
		fmt.Sscanf(line, "gamma %g", &m.Gamma)
		fmt.Sscanf(line, "coef0 %g", &m.Coef0)
		fmt.Sscanf(line, "rho %g", &m.Bias)
		fmt.Sscanf(line, "label %d %d", &m.Label[0], &m.Label[1])
	}
	m.Bias = -m.Bias
	for line := range strings.Lines(vectors) {
		fields := strings.Fields(line)
		weight := testutil.Must(strconv.ParseFloat(fields[0], 64))(t)
		index, value := features(t, fields[1:])
		if m.Kernel == FilePrecomputed {
			for len(m.Weight) < int(value[0]) {
				m.Weight = append(m.Weight, 0)
			}
			m.Weight[int(value[0])-1] = weight
			continue
		}
		m.Weight = append(m.Weight, weight)
		m.X.Index, m.X.Value = append(m.X.Index, index...), append(m.X.Value, value...)
		m.X.Start = append(m.X.Start, len(m.X.Index))
	}
	return m
}

// decide is f at an input, by the formulas of the format.
func decide(m *ModelFile, index []int32, value []float64) float64 {
	var x [32]float64
	for k, j := range index {
		x[j+1] = value[k]
	}
	f := m.Bias
	for i, w := range m.Weight {
		if m.Kernel == FilePrecomputed {
			f += w * x[i+1]
			continue
		}
		var v [len(x)]float64
		index, value := m.X.Row(i)
		for e, j := range index {
			v[j+1] = value[e]
		}
		product, distance := 0.0, 0.0
		for j := range x {
			product += v[j] * x[j]
			distance += (v[j] - x[j]) * (v[j] - x[j])
		}
		switch m.Kernel {
		case FileLinear:
			f += w * product
		case FilePoly:
			f += w * math.Pow(m.Gamma*product+m.Coef0, float64(m.Degree))
		case FileRBF:
			f += w * math.Exp(-m.Gamma*distance)
		}
	}
	return f
}

// TestModelFilesOfLIBSVM: LIBSVM's own files, read into a ModelFile, have LIBSVM's decision
// values and labels by the formula there, and are written as LIBSVM wrote them, except for
// its probabilities and the number of digits.
func TestModelFilesOfLIBSVM(t *testing.T) {
	for kernel, name := range map[string]string{FileLinear: "linear", FileRBF: "rbf", FilePoly: "poly",
		FilePrecomputed: "precomputed"} {
		text := libsvmFile(t, name+".model")
		m := readModel(t, text)
		if m.Kernel != kernel {
			t.Errorf("%s: kernel %v", name, m.Kernel)
		}
		inputs := "test.svm"
		if kernel == FilePrecomputed {
			inputs = "test.pre"
		}
		answers := strings.Split(libsvmFile(t, name+".out"), "\n")
		for i, line := range strings.Split(strings.TrimSpace(libsvmFile(t, inputs)), "\n") {
			answer := strings.Fields(answers[i])
			want := testutil.Must(strconv.ParseFloat(answer[1], 64))(t)
			index, value := features(t, strings.Fields(line)[1:])
			f, label := decide(m, index, value), m.Label[1]
			if f > 0 {
				label = m.Label[0]
			}
			if !(math.Abs(f-want) <= 1e-12) || fmt.Sprint(label) != answer[0] {
				t.Errorf("%s, input %d: %v and label %d, LIBSVM has %v", name, i+1, f, label, answer)
			}
		}
		var written bytes.Buffer
		testutil.Check(t, m.Write(&written))
		want := strings.Fields(text)
		if at := strings.Index(text, "probA"); at >= 0 {
			want = strings.Fields(text[:at] + text[strings.Index(text, "nr_sv"):])
		}
		got := strings.Fields(written.String())
		if len(got) != len(want) {
			t.Fatalf("%s: wrote %d fields, LIBSVM %d", name, len(got), len(want))
		}
		for k := range want {
			a, err := strconv.ParseFloat(got[k], 64)
			b, _ := strconv.ParseFloat(want[k], 64)
			if err == nil && a == b || got[k] == want[k] {
				continue
			}
			t.Errorf("%s: wrote %s, LIBSVM %s", name, got[k], want[k])
		}
		if err := m.Write(shut{}); err != io.ErrClosedPipe {
			t.Errorf("a failing destination is reported as %v", err)
		}
	}
}

// shut is a writer that fails.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// plainDual is the dual objective of weights of examples each on its own site.
func plainDual(k *linalg.Sym, y, alpha []float64) float64 {
	f, objective := plainField(k, problem(y, nil, nil), alpha), 0.0
	for i, a := range alpha {
		objective += a - a*y[i]*f[i]/2
	}
	return objective
}
