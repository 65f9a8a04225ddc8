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
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// libsvmFile is a file that LIBSVM made; see the README there.
func libsvmFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "libsvm", name))
	if err != nil {
		t.Fatal(err)
	}
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

// TestModelFilesOfLIBSVM: decision values and labels are those of LIBSVM itself.
// It sums the same few terms, so rounding alone may differ. Where the smaller
// label stands first, Predictor turns the sign.
func TestModelFilesOfLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name, test   string
		kernel       FileKernel
		small, large string
		turned       float64
	}{
		{"linear", "test.svm", FileLinear, "-1", "1", 1}, {"rbf", "test.svm", FileRBF, "-1", "1", 1},
		{"poly", "test.svm", FilePoly, "1", "2", -1}, {"precomputed", "test.pre", FilePrecomputed, "-1", "1", 1},
	} {
		m, err := ReadModelFile(bytes.NewReader(libsvmFile(t, c.name+".model")))
		if err != nil {
			t.Fatal(err)
		}
		if m.Kernel != c.kernel {
			t.Errorf("%s: kernel %v", c.name, m.Kernel)
		}
		beta, bias := m.Predictor()
		answers := bufio.NewScanner(bytes.NewReader(libsvmFile(t, c.name+".out")))
		all := features(t, c.test)
		for i, x := range all {
			answers.Scan()
			want := strings.Fields(answers.Text())
			value, err := strconv.ParseFloat(want[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			f := decide(m, beta, bias, x)
			if math.Abs(f-c.turned*value) > 1e-12 {
				t.Errorf("%s: decision value %d is %v, LIBSVM has %v", c.name, i+1, f, value)
			}
			label := c.small
			if f > 0 {
				label = c.large
			}
			if label != want[0] {
				t.Errorf("%s: label %d is %s, LIBSVM says %s", c.name, i+1, label, want[0])
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
	text := b.String()
	again, err := ReadModelFile(&b)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
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
		weight, bias := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), number), n, n).Draw(t, "weight"), number.Draw(t, "bias")
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
		beta, back := m.Predictor()
		got, want := decide(m, beta, back, x), decide(whole, weight, bias, x)
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

func TestReadModelFileRefuses(t *testing.T) {
	const sound = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.25\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:0.5 3:2\n-1 2:1\n"
	if _, err := ReadModelFile(strings.NewReader(sound)); err != nil {
		t.Fatal(err)
	}
	serial := strings.NewReplacer("rbf\ngamma 0.5", "precomputed", "1:0.5 3:2", "0:3", "2:1", "0:1").Replace(sound)
	if m, err := ReadModelFile(strings.NewReader(serial)); err != nil || m.Serial[0] != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range []struct{ from, to, says string }{
		{sound, "", "line 1: unexpected EOF"},
		{"c_svc", "epsilon_svr", `line 1: svm_type: "epsilon_svr" is not c_svc`},
		{"rbf", "sigmoid", `line 2: kernel_type: "sigmoid" is not one of linear`},
		{"kernel_type rbf\ngamma 0.5", "kernel_type linear\ngamma 1", "gamma is of no use"},
		{"gamma 0.5\n", "", "line 8: the line gamma is missing"},
		{"gamma 0.5", "gamma -1", "gamma -1"},
		{"gamma 0.5", "gamma nan", "line 3: gamma: \"nan\" is not a finite number"},
		{"nr_class 2", "nr_class 3", "line 4: nr_class"},
		{"rho 0.25", "rho 0.25 1 2", "line 6: rho: 3 values, not 1"},
		{"rho 0.25", "rho 0.25\nrho 0.25", "line 7: \"rho\" is given twice"},
		{"rho 0.25", "weight 1", "line 6: weight: not a line of a model file"},
		{"label 1 -1", "label 1 1", "both classes have the label 1"},
		{"nr_sv 1 1", "nr_sv 2 1", "2 and 1 support vectors"},
		{"nr_sv 1 1", "nr_sv 3 -1", "3 and -1 support vectors"},
		{"total_sv 2", "total_sv 3", "line 12: support vector 3 of 3: unexpected EOF"},
		{"total_sv 2", "total_sv 1", "line 11: more than the 1 support vectors"},
		{"total_sv 2", "total_sv 99999999999", "line 5: total_sv"},
		{"1:0.5 3:2", "1:0.5 3", `line 10: "3" is not index:value`},
		{"1:0.5 3:2", "3:0.5 1:2", "line 10: feature index 1 follows 3"},
		{"1:0.5", "0:0.5", "line 10: feature index 0 follows 0"},
		{"1:0.5", "-1:0.5", "line 10: \"-1\" is not a whole number"},
		{"1:0.5", "1:inf", "line 10: \"inf\" is not a finite"},
		{"-1 2:1\n", "\n", "line 11: an empty line"},
		{"-1 2:1\n", "x 2:1\n", "line 11: \"x\""},
	} {
		_, err := ReadModelFile(strings.NewReader(strings.Replace(sound, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v does not say %q", c.to, err, c.says)
		}
	}
	for _, bad := range []string{"0:0", "1:1", "0:1 0:2", "0:a", "0", ""} {
		_, err := ReadModelFile(strings.NewReader(strings.Replace(serial, "0:3", bad, 1)))
		if err == nil || !strings.Contains(err.Error(), "line 9") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
	m, _ := ReadModelFile(strings.NewReader(sound))
	if err := m.Write(shut{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing destination is reported as %v", err)
	}
	m.Coef[0] = math.NaN()
	if err := m.Write(io.Discard); err == nil {
		t.Error("NaN was written")
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

func FuzzModelFile(f *testing.F) {
	for _, name := range []string{"linear", "poly", "rbf", "precomputed"} {
		f.Add(libsvmFile(f, name+".model"))
	}
	f.Add([]byte("SV\n"))
	f.Add([]byte("svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 0\nrho -0\nlabel 0 7\nnr_sv 0 0\nSV\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadModelFile(bytes.NewReader(data))
		if err != nil {
			return
		}
		// Each number kept has at least two bytes in the file.
		if kept := len(m.Coef) + len(m.Index) + len(m.Value) + len(m.Serial); kept > len(data) {
			t.Fatalf("%d numbers of %d bytes", kept, len(data))
		}
		requireModelRoundTrip(t, m)
		m.Predictor()
	})
}
