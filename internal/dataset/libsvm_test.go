package dataset

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// TestReadLIBSVM: lines become a dense set, or a sparse one if there are many features.
func TestReadLIBSVM(t *testing.T) {
	text := "# by hand\n+1 1:0.5 3:-2 # first\r\n\n-1 qid:7 2:1e-3\n1\n-1 \t 4:4   "
	s := testutil.Must(readLIBSVM(strings.NewReader(text), "f.svm", Options{}))(t)
	want := []float64{0.5, 0, -2, 0, 0, 1e-3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}
	if s.N() != 4 || !slices.Equal(s.X.Data, want) || !slices.Equal(s.Targets(0), []float64{1, -1, 1, -1}) ||
		!slices.Equal(s.Features, []string{"x1", "x2", "x3", "x4"}) || s.TargetNames() != "y" ||
		s.AreNumbers() {
		t.Errorf("read %+v", s)
	}
	text = "1 1:1 2000:0.5\n-1 3:0 7:-2 # c\n1 qid:1\n"
	s = testutil.Must(readLIBSVM(strings.NewReader(text), "f.svm", Options{}))(t)
	x := s.Sparse
	if x == nil || s.N() != 3 || s.D() != 2000 || s.Features != nil || s.AreNumbers() ||
		!slices.Equal(x.Start, []int{0, 2, 3, 3}) || !slices.Equal(x.Index, []int32{0, 1999, 6}) ||
		!slices.Equal(x.Value, []float64{1, 0.5, -2}) {
		t.Errorf("read %+v", s)
	}
}

// TestWriteLIBSVM: what is written reads back bit by bit, held either way, even where no example has the last
// feature.
func TestWriteLIBSVM(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 8).Draw(t, "n"), rapid.IntRange(1, 8).Draw(t, "d")
		value := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
			rapid.Float64Range(-1, 1))
		s := &Set{
			X: linalg.Matrix{Rows: n, Cols: d, Stride: d,
				Data: rapid.SliceOfN(value, n*d, n*d).Draw(t, "x")},
			Columns: []Column{{Y: rapid.SliceOfN(value, n, n).Draw(t, "y")}}}
		for _, from := range []*Set{s, {Sparse: linalg.NewCSR(s.X), Columns: s.Columns}} {
			var b bytes.Buffer
			if err := writeLIBSVM(&b, from); err != nil {
				t.Fatal(err)
			}
			lines := testutil.Must(readLines(&b, "f", Options{}))(t)
			if !slices.Equal(lines.x.Dense().Data, s.X.Data) || lines.x.Cols != d ||
				!slices.Equal(lines.labels, s.Targets(0)) {
				t.Fatalf("%v became %v", s.X, lines.x)
			}
		}
	})
	if err := writeLIBSVM(full{}, small()); !errors.Is(err, errBroken) {
		t.Errorf("a failing destination is reported as %v", err)
	}
}
