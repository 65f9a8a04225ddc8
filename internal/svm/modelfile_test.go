package svm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "bootbench/internal/fixedseed"
	"bootbench/internal/need"
)

// libsvmFile is a file that LIBSVM made; see the README there.
func libsvmFile(t testing.TB, name string) []byte {
	t.Helper()
	data := need.One(os.ReadFile(filepath.Join("testdata", "libsvm", name)))(t)
	return data
}

// features reads the lines of test.svm or test.pre as maps from index to value.
func features(t testing.TB, name string) []map[int]float64 {
	t.Helper()
	var all []map[int]float64
	for line := range strings.Lines(string(libsvmFile(t, name))) {
		x := map[int]float64{}
		for _, field := range strings.Fields(line)[1:] {
			var index int
			var value float64
			if _, err := fmt.Sscanf(field, "%d:%g", &index, &value); err != nil {
				t.Fatal(err)
			}
			x[index] = value
		}
		all = append(all, x)
	}
	return all
}

// decide is the decision function by the formulas of the format.
func decide(m *ModelFile, beta []float64, bias float64, x map[int]float64) float64 {
	f := bias
	for k, b := range beta {
		if m.Kernel == FilePrecomputed {
			f += b * x[m.Serial[k]+1]
			continue
		}
		product, distance := 0.0, 0.0
		v := map[int]float64{}
		for e := m.Start[k]; e < m.Start[k+1]; e++ {
			v[int(m.Index[e])+1] = m.Value[e]
		}
		for j := 1; j <= 6; j++ {
			product += v[j] * x[j]
			distance += (v[j] - x[j]) * (v[j] - x[j])
		}
		switch m.Kernel {
		case FileLinear:
			f += b * product
		case FilePoly:
			f += b * math.Pow(m.Gamma*product+m.Coef0, float64(m.Degree))
		case FileRBF:
			f += b * math.Exp(-m.Gamma*distance)
		}
	}
	return f
}

// readModel reads what LIBSVM or Write wrote, by the lines of the format, without
// checks; the probabilities (probA, probB) that the format may hold are skipped.
func readModel(t interface{ Fatalf(string, ...any) }, text string) *ModelFile {
	m := &ModelFile{}
	header, vectors, _ := strings.Cut(text, "SV\n")
	for line := range strings.Lines(header) {
		key, values, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch key {
		case "kernel_type":
			m.Kernel = FileKernel(slices.Index(fileKernels(), values))
		case "degree":
			_, err = fmt.Sscan(values, &m.Degree)
		case "gamma":
			_, err = fmt.Sscan(values, &m.Gamma)
		case "coef0":
			_, err = fmt.Sscan(values, &m.Coef0)
		case "rho":
			_, err = fmt.Sscan(values, &m.Rho)
		case "label":
			_, err = fmt.Sscan(values, &m.Label[0], &m.Label[1])
		case "nr_sv":
			_, err = fmt.Sscan(values, &m.NSV[0], &m.NSV[1])
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if m.Kernel != FilePrecomputed {
		m.Start = []int{0}
	}
	for line := range strings.Lines(vectors) {
		fields := strings.Fields(line)
		coef, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		m.Coef = append(m.Coef, coef)
		for _, field := range fields[1:] {
			var index int
			var value float64
			if _, err := fmt.Sscanf(field, "%d:%g", &index, &value); err != nil {
				t.Fatalf("%s: %v", field, err)
			}
			if m.Kernel == FilePrecomputed {
				m.Serial = append(m.Serial, int(value)-1)
			} else {
				m.Index, m.Value = append(m.Index, int32(index-1)), append(m.Value, value)
			}
		}
		if m.Kernel != FilePrecomputed {
			m.Start = append(m.Start, len(m.Index))
		}
	}
	return m
}

// TestModelFilesOfLIBSVM: the fields mean what they mean to LIBSVM, for its own files:
// decision values and labels by the formula under ModelFile are those of LIBSVM. It
// sums the same few terms, so rounding alone may differ. Written, its models read back.
func TestModelFilesOfLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name, test string
		kernel     FileKernel
	}{
		{"linear", "test.svm", FileLinear}, {"rbf", "test.svm", FileRBF}, {"poly", "test.svm", FilePoly},
		{"precomputed", "test.pre", FilePrecomputed},
	} {
		m := readModel(t, string(libsvmFile(t, c.name+".model")))
		if m.Kernel != c.kernel {
			t.Errorf("%s: kernel %v", c.name, m.Kernel)
		}
		answers := bufio.NewScanner(bytes.NewReader(libsvmFile(t, c.name+".out")))
		all := features(t, c.test)
		for i, x := range all {
			answers.Scan()
			want := strings.Fields(answers.Text())
			value := need.One(strconv.ParseFloat(want[1], 64))(t)
			g := decide(m, m.Coef, -m.Rho, x)
			if math.Abs(g-value) > 1e-12 {
				t.Errorf("%s: decision value %d is %v, LIBSVM has %v", c.name, i+1, g, value)
			}
			label := m.Label[1]
			if g > 0 {
				label = m.Label[0]
			}
			if fmt.Sprint(label) != want[0] {
				t.Errorf("%s: label %d is %d, LIBSVM says %s", c.name, i+1, label, want[0])
			}
		}
		if len(all) != 20 {
			t.Errorf("%d new inputs, not 20", len(all))
		}
		requireModelRoundTrip(t, m)
	}
}

// requireModelRoundTrip: what is written reads back bit by bit.
func requireModelRoundTrip(t interface{ Fatalf(string, ...any) }, m *ModelFile) {
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatalf("%v", err)
	}
	again := readModel(t, b.String())
	if !reflect.DeepEqual(m, again) {
		t.Fatalf("%+v became %+v", m, again)
	}
}

// TestModelFileOfPredictor: a predictor put into a model file comes back, its
// decision values with it, up to the order of summation.
func TestModelFileOfPredictor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &ModelFile{Kernel: FileKernel(rapid.IntRange(0, 3).Draw(t, "kernel"))}
		if m.Kernel == FilePoly {
			m.Degree, m.Coef0 = rapid.IntRange(1, 4).Draw(t, "degree"), rapid.Float64Range(0, 2).Draw(t, "coef0")
		}
		if m.Kernel == FilePoly || m.Kernel == FileRBF {
			m.Gamma = rapid.Float64Range(0, 2).Draw(t, "gamma")
		}
		n := rapid.IntRange(1, 8).Draw(t, "n")
		number := rapid.Float64Range(-2, 2)
		weight, bias := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), number), n, n).Draw(t, "weight"),
			number.Draw(t, "bias")
		whole := &ModelFile{Kernel: m.Kernel, Degree: m.Degree, Gamma: m.Gamma, Coef0: m.Coef0}
		if m.Kernel != FilePrecomputed {
			whole.Start = []int{0}
		}
		for i := range n {
			if m.Kernel == FilePrecomputed {
				whole.Serial = append(whole.Serial, i)
				continue
			}
			for j := range int32(6) {
				if rapid.Bool().Draw(t, "there") {
					whole.Index, whole.Value = append(whole.Index, j), append(whole.Value, number.Draw(t, "x"))
				}
			}
			whole.Start = append(whole.Start, len(whole.Index))
		}
		if err := m.SetPredictor(weight, bias, whole.Start, whole.Index, whole.Value); err != nil {
			t.Fatal(err)
		}
		requireModelRoundTrip(t, m)
		x := map[int]float64{}
		for j := 1; j <= 8; j++ {
			x[j] = number.Draw(t, "z")
		}
		got, want := decide(m, m.Coef, -m.Rho, x), decide(whole, weight, bias, x)
		if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) { // |f| can reach 8*2*(2*24+2)^4 = 1e8
			t.Fatalf("decision value %v became %v", want, got)
		}
		for k, c := range m.Coef {
			if (c > 0) != (k < m.NSV[0]) || c == 0 {
				t.Fatalf("coefficients %v with %v of each class", m.Coef, m.NSV)
			}
		}
	})
}

// TestModelFileRefuses: a destination that fails is reported, and what is no model is
// not written.
func TestModelFileRefuses(t *testing.T) {
	sound := func() *ModelFile {
		return &ModelFile{Kernel: FileRBF, Gamma: 0.5, Rho: 0.25, Label: [2]int{1, -1}, NSV: [2]int{1, 1},
			Coef: []float64{1, -1}, Start: []int{0, 2, 3}, Index: []int32{0, 2, 1}, Value: []float64{0.5, 2, 1}}
	}
	serial := func(m *ModelFile) {
		m.Kernel, m.Gamma, m.Start, m.Index, m.Value, m.Serial = FilePrecomputed, 0, nil, nil, nil, []int{2, 0}
	}
	m := sound()
	if err := m.Write(shut{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing destination is reported as %v", err)
	}
	for _, c := range []struct {
		spoil func(m *ModelFile)
		says  string
	}{
		{func(m *ModelFile) { m.Kernel = 7 }, "FileKernel(7)"},
		{func(m *ModelFile) { m.Gamma = -1 }, "gamma -1"},
		{func(m *ModelFile) { m.Label[1] = 1 }, "both classes have the label 1"},
		{func(m *ModelFile) { m.NSV[0] = 2 }, "2 and 1 support vectors"},
		{func(m *ModelFile) { m.NSV = [2]int{3, -1} }, "3 and -1 support vectors"},
		{func(m *ModelFile) { m.Coef[0] = math.NaN() }, "coefficient 1 is NaN"},
		{func(m *ModelFile) { m.Index[1] = 0 }, "feature 1 after 1"},
		{func(m *ModelFile) { m.Value[2] = math.Inf(1) }, "the value +Inf"},
		{func(m *ModelFile) { m.Start[1] = 4 }, "ends before it starts"},
		{func(m *ModelFile) { m.Start = m.Start[:2] }, "do not fit"},
		{func(m *ModelFile) { serial(m); m.Serial[0] = -1 }, "support vector 1 is example 0"},
		{func(m *ModelFile) { serial(m); m.Serial = m.Serial[:1] }, "each support vector has a number"},
	} {
		m := sound()
		c.spoil(m)
		if err := m.Write(io.Discard); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v does not say %q", err, c.says)
		}
	}
	if err := m.SetPredictor([]float64{1, 2}, 0, []int{0, 1}, []int32{0}, []float64{1}); err == nil {
		t.Error("two weights for one example were accepted")
	}
	if err := m.SetPredictor([]float64{1, 2}, 0, []int{0, 1, 5}, []int32{0}, []float64{1}); err == nil {
		t.Error("entries that are not there were accepted")
	}
}

// shut is a destination that takes nothing.
type shut struct{}

func (shut) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
