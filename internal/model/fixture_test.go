package model_test

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// load reads an embedded or synthetic set.
func load(t testing.TB, path string) *dataset.Set {
	t.Helper()
	set := need.One(dataset.Load(path, dataset.Options{}))(t)
	return set
}

func build(t testing.TB, spec model.Spec) *model.Model {
	t.Helper()
	m := need.One(model.Build(spec))(t)
	return m
}

// grid is regression on inputs most of which repeat.
func grid(t testing.TB, n int) model.Spec {
	t.Helper()
	return model.Spec{
		Set:    load(t, fmt.Sprintf("synthetic:grid,n=%d,d=2", n)),
		Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 2, Constant: 0.5},
		Loss:   loss.Square{Noise: 0.2},
	}
}

// labelsOnly is a training loss for labels. No trainer knows it.
type labelsOnly struct{ square loss.Square }

func (labelsOnly) Name() string { return "labels-only" }

func (l labelsOnly) Value(f, y float64) float64 { return l.square.Value(f, y) }

func (l labelsOnly) Site(y []float64, law resample.CountDistribution) (loss.Site, error) {
	for _, v := range y {
		if v != 1 && v != -1 {
			return nil, fmt.Errorf("%v is not a label", v)
		}
	}
	return l.square.Site(y, law)
}

// zScores are the columns of x minus their mean over their population standard
// deviation, constant columns 0; and the same map applied to further rows.
func zScores(x dataset.Matrix, further ...[]float64) (own, others [][]float64) {
	own, others = make([][]float64, x.Rows), make([][]float64, len(further))
	n := float64(x.Rows)
	for j := range x.Cols {
		mean, squares := 0.0, 0.0
		for i := range x.Rows {
			mean += x.At(i, j) / n
		}
		for i := range x.Rows {
			squares += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		sd := math.Sqrt(squares / n)
		z := func(v float64) float64 {
			if sd < 1e-12*math.Abs(mean) {
				return 0
			}
			return (v - mean) / sd
		}
		for i := range own {
			own[i] = append(own[i], z(x.At(i, j)))
		}
		for i, row := range further {
			others[i] = append(others[i], z(row[j]))
		}
	}
	return own, others
}

// asTheyAre are the rows of x.
func asTheyAre(x dataset.Matrix) [][]float64 {
	rows := make([][]float64, x.Rows)
	for i := range rows {
		rows[i] = x.Row(i)
	}
	return rows
}

// rbf is A exp(-gamma |a-b|^2) + B.
func rbf(k kernel.Spec, a, b []float64) float64 {
	r2 := 0.0
	for j := range a {
		r2 += (a[j] - b[j]) * (a[j] - b[j])
	}
	return k.Amplitude*math.Exp(-k.Gamma*r2) + k.Constant
}

// near fails unless a and b agree to tol, relative to 1 + |b|.
func near(t testing.TB, what string, a, b, tol float64) {
	t.Helper()
	if !(math.Abs(a-b) <= tol*(1+math.Abs(b))) {
		t.Fatalf("%s: %v, want %v", what, a, b)
	}
}

// matrix is rows as BLAS takes them.
func matrix(rows [][]float64) blas64.General {
	m := blas64.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	for _, row := range rows {
		m.Data = append(m.Data, row...)
	}
	return m
}
