package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// predictor trains, writes a model file and reads it.
func predictor(t testing.TB, spec model.Spec, tolerance float64) (*model.Model, *train.Result,
	*model.Predictor, []byte) {
	t.Helper()
	m := build(t, spec)
	fit := testutil.Must(m.Fit(t.Context(), tolerance))(t)
	p := testutil.Must(m.Predictor(&fit.Result))(t)
	var file bytes.Buffer
	testutil.Check(t, p.Write(&file))
	back := testutil.Must(model.ReadPredictor(bytes.NewReader(file.Bytes())))(t)
	return m, &fit.Result, back, file.Bytes()
}

// TestPredictor: over losses and kernels, a model file predicts at the training inputs what
// the trainer did, and at new ones what the same weights give in the kernel that retraining
// uses. The sums run in another order, and the kernel over fewer sites is centred elsewhere:
// their rounding is some 1e-15 of the sum of the terms' sizes. New inputs of a precomputed kernel are their
// kernel with every example.
func TestPredictor(t *testing.T) {
	numbers, labels := load(t, "synthetic:friedman1,n=40"), load(t, "crabs").Subset(every(200, 4))
	text := load(t, "synthetic:text,n=60,d=2000")
	rbf := kernel.Spec{Gamma: 0.3, Amplitude: 2, Constant: 0.5}
	for i, c := range []struct {
		set    *dataset.Set
		loss   loss.Loss
		kernel kernel.Spec
		bias   bool
	}{
		{numbers, loss.Square{Noise: 0.5}, rbf, false},
		{numbers, loss.Huber{C: 3, Epsilon: 0.5}, kernel.Spec{Kind: kernel.Matern32, LengthScale: []float64{1,
			2, 3, 1, 2, 3, 1, 2, 3, 4}}, false},
		{numbers, loss.EpsInsensitive{C: 3, Epsilon: 0.5}, kernel.Spec{Kind: kernel.Matern12}, false},
		{numbers, loss.LeastAbsolute{C: 2}, kernel.Spec{Kind: kernel.Linear}, false},
		{labels, loss.Square{Noise: 0.5}, kernel.Spec{Kind: kernel.Matern52}, true},
		{labels, loss.HardMargin{}, rbf, true},
		{labels, loss.Hinge{C: 2}, rbf, true},
		{labels, loss.Hinge{C: 2}, kernel.Spec{Kind: kernel.Poly, Degree: 2, Coef0: 1}, false},
		{labels, loss.SquaredHinge{C: 2}, rbf, false},
		{labels, loss.Logistic{C: 2}, kernel.Spec{}, false},
		{labels, loss.Probit{}, rbf, false},
		{labels, loss.Logit{}, rbf, false},
		{text, loss.Hinge{C: 1}, kernel.Spec{Kind: kernel.Linear, Constant: 1}, true},
		{text, loss.Logistic{C: 1}, kernel.Spec{Gamma: 0.5}, true},
		{matrixSet(8, 1, 0.4), loss.HardMargin{}, kernel.Spec{Kind: kernel.Precomputed, Constant: 1}, false},
	} {
		name := fmt.Sprintf("%d %s %v", i, c.loss.Name(), c.kernel.Kind)
		dense := c.set.Sparse == nil && c.kernel.Kind != kernel.Precomputed
		spec := model.Spec{Set: c.set, Kernel: c.kernel, Loss: c.loss, Standardize: dense,
			NormalizeTarget: true, Bias: c.bias}
		m, fit, p, _ := predictor(t, spec, 0)
		testutil.Check(t, fit.Status.Err())
		size := math.Abs(p.Bias) + math.Abs(p.TargetMean) + floats.Norm(fit.Weight, 1)*slices.Max(
			linalg.Diagonal(m.K))
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-12*size) {
				t.Errorf("%s, %s: %v, want %v (terms of size %g)", name, what, got, want, size)
			}
		}
		f := testutil.Must(p.Predict(c.set))(t)
		for example, site := range m.Site {
			near(fmt.Sprint("example ", example+1), f[example], fit.F[site]+m.Mean)
		}
		if !dense {
			continue
		}
		fresh := linalg.NewMatrix(3, c.set.D())
		for j := range fresh.Data {
			fresh.Data[j] = c.set.X.Data[j] * (1 + 0.3*math.Sin(float64(j)))
		}
		f = testutil.Must(p.Predict(&dataset.Inputs{X: fresh}))(t)
		cross := testutil.Must(m.CrossAll(&dataset.Inputs{X: fresh}))(t)
		for q := range f {
			k := cross.Data[q*cross.Stride:][:cross.Cols]
			near(fmt.Sprint("new input ", q+1), f[q], fit.Bias+m.Mean+floats.Dot(fit.Weight, k))
		}
	}
}

// TestModelFileDamage: cut short anywhere, with anything after it, or with any one bit
// turned, a model file is refused; laid out anew it is not. What is no model file is read only as far as that
// takes.
func TestModelFileDamage(t *testing.T) {
	_, _, p, file := predictor(t, model.Spec{Set: threePoints(t), Loss: loss.Square{Noise: 1},
		Standardize: true}, 0)
	read := func(content []byte) error {
		_, err := model.ReadPredictor(bytes.NewReader(content))
		return err
	}
	for size := range len(file) - 1 { // without its last line end it is whole
		if read(file[:size]) == nil {
			t.Fatalf("%d bytes of %d pass", size, len(file))
		}
	}
	step := 1
	if testing.Short() {
		step = 7 // every bit of a byte, in one byte or another
	}
	for bit := 0; bit < 8*len(file); bit += step {
		damaged := bytes.Clone(file)
		damaged[bit/8] ^= 1 << (bit % 8)
		if read(damaged) == nil {
			t.Fatalf("bit %d of byte %d turned: it passes", bit%8, bit/8)
		}
	}
	for text, want := range map[string]string{
		"":                             "is no model file",
		"a,b\n1,2\n":                   "is no model file",
		"svm_type c_svc\n":             "LIBSVM",
		string(file) + "x":             "cut short or damaged",
		string(file[:len(file)/2]):     "cut short or damaged",
		`{"format":"bootbench model"}`: "version 0",
		strings.Replace(string(file), `"schema":3`, `"schema":2`, 1): "version 2, and this program reads " +
			"version 3: train it again with this version",
		strings.Replace(string(file), `"target_mean":0`, `"target_mean":1`, 1):     "checksum",
		strings.Replace(string(file), `{"format"`, `{"note":"edited","format"`, 1): "checksum",
	} {
		fails(t, fmt.Sprintf("%.60q, want %q", text, want), read([]byte(text)), nil, want)
	}
	var indented bytes.Buffer
	testutil.Check(t, json.Indent(&indented, file, "", "  "))
	testutil.Check(t, read(indented.Bytes()))
	for _, text := range []string{"\x00", " ", "{", "svm_type c_svc\n", "1,2\n"} {
		endless := &counted{text: text}
		refused(model.ReadPredictor(endless))(t, text+" without end", model.ErrInput, "")
		if endless.bytes > 1<<16 {
			t.Errorf("%q without end: %d bytes are read", text, endless.bytes)
		}
	}
	p.Bias = math.NaN()
	fails(t, "a model with NaN is written", p.Write(&bytes.Buffer{}), nil, "")
	refused((&model.Predictor{}).Predict(&dataset.Inputs{}))(t, "the zero predictor predicts", nil, "")
}

// threePoints is a set whose model file is short.
func threePoints(t testing.TB) *dataset.Set {
	return testutil.Must(dataset.New(mat.NewDense(3, 1, []float64{1, 2, 4}), []float64{1, 3, 2}))(t)
}

// FuzzModelFile: under a true checksum and without one, anything is refused as bad input, or is a predictor
// that predicts or refuses, and is written as it was read.
func FuzzModelFile(f *testing.F) {
	train := threePoints(f)
	_, _, _, file := predictor(f, model.Spec{Set: train, Loss: loss.Square{Noise: 1}}, 0)
	_, body, _ := strings.Cut(strings.TrimSuffix(string(file), "}\n"), `"model":`)
	f.Add([]byte(body))
	f.Add(file)
	f.Add([]byte(strings.Replace(body, `"rows":3`, `"rows":1000000000000`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, model.SealModel(data)} {
			p, err := model.ReadPredictor(bytes.NewReader(file))
			if err != nil {
				if !errors.Is(err, model.ErrInput) {
					t.Fatalf("%v is not ErrInput", err)
				}
				continue
			}
			var once, again bytes.Buffer
			testutil.Check(t, p.Write(&once))
			read := testutil.Must(model.ReadPredictor(bytes.NewReader(once.Bytes())))(t)
			testutil.Check(t, read.Write(&again))
			if !bytes.Equal(once.Bytes(), again.Bytes()) {
				t.Fatalf("%s is written again as %s", once.Bytes(), again.Bytes())
			}
			_, _ = p.Predict(&dataset.Inputs{X: train.X})
		}
	})
}

// counted repeats a text without end and counts its bytes.
type counted struct {
	text  string
	bytes int
}

func (c *counted) Read(p []byte) (n int, err error) {
	for i := range p {
		p[i] = c.text[(c.bytes+i)%len(c.text)]
	}
	c.bytes += len(p)
	return len(p), nil
}

// TestModelFileMisfits: models under a true checksum that do not fit together are refused.
func TestModelFileMisfits(t *testing.T) {
	_, _, _, file := predictor(t, model.Spec{Set: threePoints(t), Loss: loss.Square{Noise: 1},
		Standardize: true}, 0)
	_, good, _ := strings.Cut(strings.TrimSuffix(string(file), "}\n"), `"model":`)
	testutil.Must(model.ReadPredictor(bytes.NewReader(model.SealModel([]byte(good)))))(t)
	weights := regexp.MustCompile(`"weight":\[[^,]*,`)
	for name, bad := range map[string]string{
		"nothing":         "null",
		"a list":          "[]",
		"no encoding":     "{}",
		"unknown key":     strings.Replace(good, `"bias"`, `"slope":1,"bias"`, 1),
		"beyond numbers":  strings.Replace(good, `"bias":0`, `"bias":1e999`, 1),
		"one weight less": weights.ReplaceAllString(good, `"weight":[`),
		"no weights":      regexp.MustCompile(`"weight":\[[^]]*\]`).ReplaceAllString(good, `"weight":[]`),
		"kernel":          strings.Replace(good, `"kind":"rbf"`, `"kind":"sinc"`, 1),
		"gamma":           regexp.MustCompile(`"gamma":[^,]*`).ReplaceAllString(good, `"gamma":-1`),
		"features":        strings.Replace(good, `"features":1`, `"features":2`, 1),
		"scales":          strings.Replace(good, `"sd":[`, `"sd":[1,`, 1),
		"no support":      regexp.MustCompile(`"support":\{[^}]*\}`).ReplaceAllString(good, `"support":{}`),
		"precomputed":     strings.Replace(good, `"kind":"rbf"`, `"kind":"precomputed"`, 1),
		"sparse": regexp.MustCompile(`"support":\{[^}]*\}`).ReplaceAllString(good,
			`"support":{"sparse":{"rows":3,"cols":1,"start":[0,9,1,1],"index":[0],"value":[1]}}`),
	} {
		if bad == good {
			t.Fatalf("%s: nothing is changed", name)
		}
		refused(model.ReadPredictor(bytes.NewReader(model.SealModel([]byte(bad)))))(t, name, model.ErrInput,
			"")
	}
}

// TestPredictorOnFactor: a model trained on a low-rank factor is a sum over the pivots, which it predicts as
// its trainer does: their residual is 0. (Support vectors are the dense matrix's.) With a rank that is
// full within rounding it is the model of the whole matrix.
func TestPredictorOnFactor(t *testing.T) {
	numbers, labels := load(t, "synthetic:friedman1,n=120"), load(t, "crabs")
	for _, spec := range []model.Spec{model.NewSpec(numbers, loss.Square{Noise: 1}), model.NewSpec(numbers,
		loss.Huber{C: 2, Epsilon: 1}), model.NewSpec(labels, loss.Hinge{C: 2}), model.NewSpec(labels,
		loss.Logistic{C: 2})} {
		_, _, whole, _ := predictor(t, spec, 0)
		name := spec.Loss.Name()
		for _, limit := range []model.Spec{{MaxRank: 10}, {RankTol: 1e-13}} {
			spec.Storage, spec.MaxRank, spec.RankTol = model.LowRank, limit.MaxRank, limit.RankTol
			m, fit, p, _ := predictor(t, spec, 0)
			f, want := testutil.Must(p.Predict(m.Set))(t), testutil.Must(whole.Predict(m.Set))(t)
			if name != "hinge" && len(p.Weight) != m.Rank() {
				t.Errorf("%s: %d weights of rank %d", name, len(p.Weight), m.Rank())
			}
			for _, site := range m.Factor().Pivots() {
				i := m.First[site]
				near(t, name+" at a pivot", f[i], fit.F[site]+m.Mean, 1e-5)
				if limit.RankTol > 0 {
					near(t, name+" of full rank", f[i], want[i], 1e-3)
				}
			}
		}
	}
}
