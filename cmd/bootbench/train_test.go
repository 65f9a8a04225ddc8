package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/svm"
)

// TestTrain: what the model file says of the training data, with a kernel that is
// worked out here, meets the Kuhn-Tucker conditions of the soft margin; so no
// classifier is better. LIBSVM, where it is installed, predicts the same from it.
func TestTrain(t *testing.T) {
	const n, cost, tolerance = 80, 2.0, 2e-3 // that of the training is 1e-3
	rng := rand.New(rand.NewPCG(5, 5))
	x, y := make([][]float64, n), make([]float64, n)
	table, lines := "a,b,c,y\n", ""
	for i := range x {
		// zeros, which are left out of the file
		x[i] = []float64{rng.NormFloat64(), 3 * rng.NormFloat64(), float64(rng.IntN(2))}
		y[i] = -1
		if x[i][0]*x[i][1]+x[i][2]+rng.NormFloat64() > 0.5 {
			y[i] = 1
		}
		table += fmt.Sprintf("%v,%v,%v,%v\n", x[i][0], x[i][1], x[i][2], 3+y[i]) // labels 2 and 4
		lines += fmt.Sprintf("%v 1:%v 2:%v 3:%v\n", 3+y[i], x[i][0], x[i][1], x[i][2])
	}
	dir := t.TempDir()
	data, sparse := filepath.Join(dir, "d.csv"), filepath.Join(dir, "d.svm")
	for path, text := range map[string]string{data: table, sparse: lines} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	square := func(u, v []float64) (d float64) {
		for j := range u {
			d += (u[j] - v[j]) * (u[j] - v[j])
		}
		return d
	}
	dot := func(u, v []float64) (d float64) {
		for j := range u {
			d += u[j] * v[j]
		}
		return d
	}
	for _, c := range []struct {
		name, data string
		amplitude  float64
		flags      []string
		k          func(u, v []float64) float64
	}{
		{"rbf", data, 1.5, []string{"--gamma", "0.3", "--amplitude", "1.5", "--constant", "0.4"},
			func(u, v []float64) float64 { return math.Exp(-0.3 * square(u, v)) }},
		{"length scale", sparse, 1, []string{"--length-scale", "2"},
			func(u, v []float64) float64 { return math.Exp(-square(u, v) / 8) }},
		{"linear", data, 1, []string{"--kernel", "linear", "--no-bias", "--constant", "0.4"}, dot},
		{"poly", data, 2, []string{"--kernel", "poly", "--degree", "2", "--gamma", "0.5", "--coef0", "1",
			"--amplitude", "2"}, func(u, v []float64) float64 { return math.Pow(0.5*dot(u, v)+1, 2) }},
	} {
		path := filepath.Join(dir, c.name+".model")
		args := append([]string{"train", c.data, "--loss", "hinge", "--C", fmt.Sprint(cost), "--no-standardize",
			"--model", path, "--json", "-"}, c.flags...)
		told := document[struct {
			SupportVectors int     `json:"support_vectors"`
			ApparentError  float64 `json:"apparent_error"`
			Labels         [2]int
		}](t, must(t, args...))
		m := readModel(t, path)
		if m.Label != [2]int{4, 2} || told.Labels != m.Label || len(m.Weight) != told.SupportVectors ||
			len(m.Weight) == 0 {
			t.Errorf("%s: labels %v, %d support vectors; told %+v", c.name, m.Label, len(m.Weight), told)
		}
		// The weights y_i a_i of the examples that are support vectors, by input.
		weight := make([]float64, n)
		sum := 0.0
		for k, coef := range m.Weight {
			v := make([]float64, 3)
			for e := m.Start[k]; e < m.Start[k+1]; e++ {
				v[m.Index[e]] = m.Value[e]
			}
			for i := range x {
				if square(x[i], v) == 0 {
					weight[i] = coef / c.amplitude
				}
			}
			sum += coef
		}
		if biased := c.name != "linear"; biased && math.Abs(sum) > 1e-9 {
			t.Errorf("%s: weights sum to %g", c.name, sum)
		}
		wrong := 0.0
		for i := range x {
			f := m.Bias
			for j, w := range weight {
				f += c.amplitude * w * c.k(x[i], x[j])
			}
			a := y[i] * weight[i]
			lack := 1 - y[i]*f
			if a < -1e-12 || a > cost+1e-9 || a < cost-1e-9 && lack > tolerance || a > 1e-9 && lack < -tolerance {
				t.Errorf("%s: example %d has weight %g and margin %g", c.name, i+1, a, y[i]*f)
			}
			if y[i]*f <= 0 {
				wrong++
			}
		}
		if c.name == "linear" && (m.Bias == 0 || math.Abs(m.Bias-0.4*sum) > 1e-9) {
			t.Errorf("bias %g, the constant adds %g", m.Bias, 0.4*sum)
		}
		if math.Abs(told.ApparentError-wrong/n) > 1e-12 {
			t.Errorf("%s: apparent error %v, counted %v", c.name, told.ApparentError, wrong/n)
		}
		predict, err := exec.LookPath("svm-predict")
		if err != nil {
			continue
		}
		out, err := exec.Command(predict, sparse, path, filepath.Join(dir, "out")).CombinedOutput()
		if want := fmt.Sprintf("(%d/%d)", n-int(wrong), n); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: LIBSVM says %q, %v, want %s right", c.name, out, err, want)
		}
	}
}

// readModel reads labels, bias and support vectors of a model file of LIBSVM.
func readModel(t *testing.T, path string) (m svm.ModelFile) {
	t.Helper()
	text := need.One(os.ReadFile(path))(t)
	header, vectors, _ := strings.Cut(string(text), "SV\n")
	for line := range strings.Lines(header) {
		fmt.Sscanf(line, "rho %g", &m.Bias)
		fmt.Sscanf(line, "label %d %d", &m.Label[0], &m.Label[1])
	}
	m.Bias = -m.Bias
	m.Start = []int{0}
	for line := range strings.Lines(vectors) {
		coef, features, _ := strings.Cut(line, " ")
		number := need.One(strconv.ParseFloat(coef, 64))(t)
		m.Weight = append(m.Weight, number)
		for field := range strings.FieldsSeq(features) {
			var index int32
			var value float64
			if _, err := fmt.Sscanf(field, "%d:%g", &index, &value); err != nil {
				t.Fatal(err)
			}
			m.Index, m.Value = append(m.Index, index-1), append(m.Value, value)
		}
		m.Start = append(m.Start, len(m.Index))
	}
	return m
}
