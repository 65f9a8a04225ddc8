package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// Columns, blocks with a stride, the diagonal, and the kernel with a part of the inputs are what the
// Gram matrix and Cross say, without the jitter; for every kind, dense and sparse.
func TestColumnsAgreeWithGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	x, z := gaussian(rng, many, 4), gaussian(rng, 5, 4)
	copy(row(x, 7), row(x, 2))
	sites := []int{7, 0, many - 1, 2}
	for name, s := range specs(4) {
		k := mustGram(t, s, x)
		checkColumns(t, "dense "+name, s, mustPrepare(t, s, dense(x)), k, dense(z), sites)
		checkColumns(t, "sparse "+name, s, mustPrepare(t, s, sparseOf(x)), k, sparseOf(z), sites)
	}
}

func checkColumns(t *testing.T, name string, s Spec, in *Inputs, k *linalg.Sym, z linalg.Design,
	sites []int) {
	t.Helper()
	n := in.N()
	columns, diagonal := make([]float64, len(sites)*n), make([]float64, n)
	if err := in.Columns(columns, sites); err != nil {
		t.Fatal(err)
	}
	if err := in.Diagonal(diagonal); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if want := k.At(i, i) - s.Jitter; !near(diagonal[i], want, agree) {
			t.Fatalf("%s: diagonal %d is %v, want %v", name, i, diagonal[i], want)
		}
		for c, site := range sites {
			want := k.At(i, site)
			if i == site {
				want -= s.Jitter
			}
			if got := columns[c*n+i]; !near(got, want, agree) {
				t.Fatalf("%s: column %d at %d is %v, want %v", name, site, i, got, want)
			}
		}
	}
	const stride = 9
	block, cols := slices.Repeat([]float64{-77}, len(sites)*stride), []int{38, 0, 21, 3, 5, 21, 7}
	in.Block(block, stride, sites, cols)
	in.Block(block, stride, nil, cols)
	in.Block(block, stride, sites, nil)
	for r := range sites {
		for c := range stride {
			want := -77.0
			if c < len(cols) {
				want = columns[r*n+cols[c]]
			}
			if got := block[r*stride+c]; !near(got, want, agree) {
				t.Errorf("%s: element (%d, %d) of a block is %v, want %v", name, r, c, got, want)
			}
		}
	}
	all, some := general(5, n), general(5, len(sites))
	if err := in.Cross(z, all); err != nil {
		t.Fatal(err)
	}
	if err := in.Subset(sites).Cross(z, some); err != nil {
		t.Fatal(err)
	}
	for p := range 5 {
		for c, site := range sites {
			if got, want := row(some, p)[c], row(all, p)[site]; !near(got, want, agree) {
				t.Fatalf("%s: kernel of new input %d and %d is %v, want %v", name, p, site, got, want)
			}
		}
	}
}

// TestColumnsNameTheirRows: a column with a covariance that is not finite is an error that names the
// pair; no columns are no work.
func TestColumnsNameTheirRows(t *testing.T) {
	x := blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 1e200, 2}}
	in := mustPrepare(t, Spec{Kind: Linear}, dense(x))
	expectError(t, in.Columns(make([]float64, 3), []int{1}), "rows 2 and 2")
	if err := in.Columns(nil, nil); err != nil {
		t.Error(err)
	}
}
