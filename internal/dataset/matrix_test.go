package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// drawThin is a matrix of few different entries, most of them zero.
func drawThin(t *rapid.T) linalg.Matrix {
	n, d := rapid.IntRange(0, 30).Draw(t, "n"), rapid.IntRange(0, 5).Draw(t, "d")
	value := rapid.SampledFrom([]float64{0, 0, 0, math.Copysign(0, -1), 1, 1 + 0x1p-52})
	return linalg.Matrix{Rows: n, Cols: d, Stride: d, Data: rapid.SliceOfN(value, n*d, n*d).Draw(t, "x")}
}

// distinctByPairs compares every pair of rows.
func distinctByPairs(x linalg.Matrix) (site, first []int) {
	for i := range x.Rows {
		s := slices.IndexFunc(first, func(f int) bool { return slices.Equal(x.Row(i), x.Row(f)) })
		if s < 0 {
			s = len(first)
			first = append(first, i)
		}
		site = append(site, s)
	}
	return site, first
}

// TestSparseSetIsTheDenseOne: every method gives the same answer for sparse and dense inputs.
func TestSparseSetIsTheDenseOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawThin(t)
		dense := &Set{X: x, Columns: []Column{{Y: make([]float64, x.Rows)}}}
		held := &Set{Sparse: linalg.NewCSR(x), Columns: dense.Columns}
		if err := held.Design().Check(); err != nil {
			t.Fatal(err)
		}
		if dense.N() != held.N() || dense.D() != held.D() {
			t.Fatalf("%d x %d became %d x %d", dense.N(), dense.D(), held.N(), held.D())
		}
		wantSite, first := distinctByPairs(x)
		for _, set := range []*Set{dense, held} {
			if site, got := set.Distinct(); !slices.Equal(site, wantSite) || !slices.Equal(got, first) {
				t.Fatalf("got %v, %v; want %v, %v", site, got, wantSite, first)
			}
		}
		rows := rapid.Permutation(first).Draw(t, "rows")
		a, b := dense.Subset(rows), held.Subset(rows)
		if b.X.Rows != 0 || !slices.Equal(a.X.Data, b.Sparse.Dense().Data) {
			t.Fatalf("subsets %v and %v", a.X, b.Sparse)
		}
	})
}

// TestSparseInputs: new inputs are sparse if the training inputs are, and may have features that those lack.
func TestSparseInputs(t *testing.T) {
	train := testutil.Must(readLIBSVM(strings.NewReader("1 1:1 5000:2\n-1 2:1\n"), "train.svm", Options{}))(t)
	path := write(t, "new.svm", []byte("2:1 9:3\n\n1:0.5\n"))
	in, err := train.Encoding().LoadInputs(path, Options{})
	if err != nil || in.N() != 2 || in.Columns != nil || in.Sparse.Cols != 9 || !slices.Equal(in.Sparse.Value,
		[]float64{1, 3, 0.5}) {
		t.Fatalf("read %+v, %v", in, err)
	}
	generated, err := train.Encoding().LoadInputs("synthetic:text,n=3,d=100", Options{})
	if err != nil || generated.N() != 3 || generated.Sparse == nil {
		t.Errorf("generated %+v, %v", generated, err)
	}
	for _, dense := range []string{write(t, "new.csv", []byte("a,b\n1,2\n")), "crabs"} {
		_, err := train.Encoding().LoadInputs(dense, Options{})
		wantError(t, err, dense, "train.svm is sparse")
	}
	if err := writeCSV(full{}, train); err == nil || !strings.Contains(err.Error(), ".svm") {
		t.Errorf("a sparse set as CSV: %v", err)
	}
}

// TestCopies: rows that are copied are found; rows that repeat by chance, by design or in a few of the rows
// are not, nor those whose inputs have several targets.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n, d, times int, feature, target func() float64) *Set {
		y := make([]float64, n*times)
		s := &Set{X: linalg.NewMatrix(n*times, d), Columns: []Column{{Y: y}}}
		for i := range y {
			if row := s.X.Row(i); i < n {
				for j := range row {
					row[j] = feature()
				}
				y[i] = target()
			} else {
				copy(row, s.X.Row(i-n))
				y[i] = y[i-n]
			}
		}
		return s
	}
	coin := func() float64 { return float64(2*rng.IntN(2) - 1) }
	digit := func() float64 { return float64(rng.IntN(4)) }
	apart := draw(60, 2, 2, rng.NormFloat64, rng.NormFloat64)
	for i := range 60 {
		apart.Columns[0].Y[i]++
	}
	record := draw(40, 3, 3, rng.NormFloat64, rng.NormFloat64)
	for i := range record.N() {
		record.X.Row(i)[1] = float64(1000 + i*7%120)
	}
	few := draw(300, 4, 2, rng.NormFloat64, coin).Head(302)
	for name, c := range map[string]struct {
		set    *Set
		copies int
	}{
		"labels": {draw(60, 2, 2, rng.NormFloat64, coin), 60}, "numbers": {draw(40, 1, 3, rng.NormFloat64,
			rng.NormFloat64), 80}, "images": {draw(90, 30, 2, digit, digit), 90},
		"none": {draw(90, 3, 1, rng.NormFloat64, coin), 0}, "design": {draw(300, 3, 1, digit, coin), 0},
		"replicates": {apart, 0}, "few": {few, 0}, "numbered": {record, 80},
	} {
		if site, copies := c.set.Copies(); copies != c.copies || (site != nil) != (copies > 0) {
			t.Errorf("%s: %d copies, want %d", name, copies, c.copies)
		}
	}
}
