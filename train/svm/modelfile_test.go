package svm

import (
	"bytes"
	"fmt"
	"io"
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
		at := len(m.X.Start) - 1
		for _, field := range fields[1:] { // INDEX:VALUE; 0:NUMBER of an example for a precomputed kernel
			var index int32
			var value float64
			testutil.Must(fmt.Sscanf(field, "%d:%g", &index, &value))(t)
			if m.Kernel == FilePrecomputed {
				at = int(value) - 1
			} else {
				m.X.Index, m.X.Value = append(m.X.Index, index-1), append(m.X.Value, value)
			}
		}
		m.Weight, m.X.Start = append(m.Weight, make([]float64, max(0, at+1-len(m.Weight)))...),
			append(m.X.Start, len(m.X.Index))
		m.Weight[at] = weight
	}
	return m
}

// TestModelFilesOfLIBSVM: LIBSVM's own files, read into a ModelFile, are written as LIBSVM wrote them, except
// for its probabilities and the number of digits.
func TestModelFilesOfLIBSVM(t *testing.T) {
	for kernel, name := range map[string]string{FileLinear: "linear", FileRBF: "rbf", FilePoly: "poly",
		FilePrecomputed: "precomputed"} {
		text := libsvmFile(t, name+".model")
		m := readModel(t, text)
		if m.Kernel != kernel {
			t.Errorf("%s: kernel %v", name, m.Kernel)
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
