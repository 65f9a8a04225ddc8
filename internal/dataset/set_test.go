package dataset

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// Readers of streams as the tests want them.

// readStream reads a training set, or new inputs for train.
func readStream(r io.Reader, f format, name string, train *Encoding, opt Options) (*Set, error) {
	return readFiles(name, []*source{{name: name, format: f, text: newText(r)}}, opt, train)
}

func readInputs(r io.Reader, f format, name string, e *Encoding, opt Options) (*Inputs, error) {
	return readStream(r, f, name, e, e.options(opt))
}

func reader(f format) func(r io.Reader, name string, opt Options) (*Set, error) {
	return func(r io.Reader, name string, opt Options) (*Set, error) {
		return readStream(r, f, name, nil, opt)
	}
}

var readTable, readLIBSVM, readNPY = reader(tableFormat), reader(libsvmFormat), reader(npyFormat)

// readLines reads sparse lines, whatever their number and labels.
func readLines(r io.Reader, name string, opt Options) (*sparse, error) {
	s := &sparse{name: name, opt: opt.complete(), x: linalg.CSR{Start: []int{0}}}
	if err := s.readFile(&source{name: name, text: newText(r)}); err != nil {
		return nil, inFile(name, err)
	}
	if s.zero == nil {
		s.count(1)
	}
	return s, nil
}

// wantError checks that err is an input error whose line contains every part.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	var bad *Error
	if !errors.As(err, &bad) {
		t.Fatalf("error %v (%T) is not an *Error", err, err)
	}
	text := err.Error()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("error %q does not say %q", text, p)
		}
	}
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("error %q is not one line", text)
	}
}

// small is a set of four examples with two features.
func small() *Set {
	return &Set{
		Name: "small", Features: []string{"a", "b"},
		X:       linalg.Matrix{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 10, 2, 20, 3, 30, 4, 40}},
		Columns: []Column{{Name: "t", Y: []float64{0.5, 1.5, 2.5, 3.5}}},
	}
}

// TestNew: a set in memory equals the set of a table of the same numbers, and does not change with its
// matrix.
func TestNew(t *testing.T) {
	x, y := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), []float64{-1, 1}
	s := testutil.Must(New(x, y))(t)
	x.Set(0, 0, 9)
	y[0] = 9
	if !slices.Equal(s.X.Data, []float64{1, 2, 3, 4, 5, 6}) || !slices.Equal(s.Targets(0), []float64{-1,
		1}) || s.AreNumbers() ||
		!slices.Equal(s.Features, []string{"x1", "x2", "x3"}) || s.TargetNames() != "y" {
		t.Errorf("%+v", s)
	}
	if turned, err := New(x.T(), []float64{1, 2, 5}); err != nil || turned.D() != 2 ||
		!turned.AreNumbers() || turned.X.At(2, 1) != 6 {
		t.Errorf("a view: %+v, %v", turned, err)
	}
	for _, c := range []struct {
		x    mat.Matrix
		y    []float64
		says string
	}{
		{nil, nil, "there is no matrix"}, {&mat.Dense{}, nil, "0 x 0"}, {x, []float64{1}, "1 targets for 2"},
		{mat.NewDense(1, 1, nil), []float64{1}, "only one example"},
		{mat.NewDense(2, 1, []float64{0, math.NaN()}), y, `row 2: column "x1": NaN`},
		{x, []float64{1, math.Inf(1)}, `row 2: column "y": +Inf`},
	} {
		_, err := New(c.x, c.y)
		wantError(t, err, c.says)
	}
}

// TestSplit: the two parts of a set are the rows of two lists, copied or moved, and a head is its first rows.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 2; n < 40; n++ {
		x, y := linalg.NewMatrix(n, 2), make([]float64, n)
		for i := range y {
			x.Row(i)[0], x.Row(i)[1], y[i] = float64(i), float64(-i), float64(10*i)
		}
		set := testutil.Must(New(x, y))(t)
		set.Weights, set.Groups = y, make([]int, n)
		order, size := rng.Perm(n), 1+rng.IntN(n-1)
		some, rest := set.Split(order[:size], order[size:])
		for k, row := range order {
			at, i := some, k
			if k >= size {
				at, i = rest, k-size
			}
			v := float64(row)
			if !slices.Equal(at.X.Row(i), []float64{v, -v}) || at.Columns[0].Y[i] != 10*v ||
				at.Weights[i] != 10*v {
				t.Fatalf("%d of %d rows: row %d of %v is %v", size, n, k, order, at.X.Row(i))
			}
		}
		if some.N() != size || rest.N() != n-size || rest.Head(3).N() != min(3, n-size) ||
			!slices.Equal(rest.Head(3).X.Row(0), rest.X.Row(0)) {
			t.Errorf("%d and %d rows, and a head of %d", some.N(), rest.N(), rest.Head(3).N())
		}
	}
}
