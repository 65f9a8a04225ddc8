package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// thin is a rows x cols matrix of which about a share is not zero, in both forms.
func thin(rng *rand.Rand, rows, cols int, share float64) (linalg.Design, blas64.General) {
	x := general(rows, cols)
	for i := range x.Data {
		if rng.Float64() < share {
			x.Data[i] = rng.NormFloat64()
		}
	}
	return sparseOf(x), x
}

// sparseOf keeps what is not zero.
func sparseOf(x blas64.General) linalg.Design {
	return linalg.Design{Sparse: linalg.NewCSR(linalg.Matrix(x))}
}

// TestSparseCrossOtherWidth: features that only one side has are zero on the
// other, so the kernel is the one of both matrices filled up with zeros. Gamma is
// given, as its default depends on the width.
func TestSparseCrossOtherWidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ train, fresh int }{{6, 11}, {11, 6}} {
		x, dense := thin(rng, 20, c.train, 0.5)
		z, fresh := thin(rng, 5, c.fresh, 0.5)
		wide := func(from blas64.General) blas64.General {
			to := general(from.Rows, 11)
			for i := range from.Rows {
				copy(row(to, i), row(from, i))
			}
			return to
		}
		for _, s := range []Spec{{Gamma: 0.2}, {Kind: Linear}, {Kind: Poly, Gamma: 0.3, Coef0: 1}} {
			forms := map[string]linalg.Design{"sparse": z, "dense": {X: linalg.Matrix(fresh)}}
			for form, given := range forms {
				dst := general(5, 20)
				if err := mustPrepare(t, s, x).Cross(given, dst); err != nil {
					t.Fatal(err)
				}
				for k, got := range dst.Data {
					want := plain(s, row(wide(fresh), k/20), row(wide(dense), k%20))
					if !near(got, want, agree) {
						t.Fatalf("%v, %d and %d features, %s: %v, plain %v",
							s.Kind, c.train, c.fresh, form, got, want)
					}
				}
			}
		}
		each := Spec{LengthScale: make([]float64, c.train)}
		for j := range each.LengthScale {
			each.LengthScale[j] = 1
		}
		if err := mustPrepare(t, each, x).Cross(z, general(5, 20)); err == nil {
			t.Error("a length scale for each of other features was accepted")
		}
	}
}

// TestSparseDistancesDoNotCancel: two rows far from the origin and close to each
// other. With |x|^2 = 1e12 the products carry an error of 1e-4, far above the
// squared distance 1e-4 itself; summed from the rows it has an error of 1e-10
// (the spacing of float64 at 1e6) relative to the difference 1e-2.
func TestSparseDistancesDoNotCancel(t *testing.T) {
	x := sparseOf(inputs([]float64{1e6, 0, 1}, []float64{1e6 + 0.01, 0, 1}, []float64{0, 2, 0}))
	k := testutil.Must(mustPrepare(t, Spec{Gamma: 5000}, x).Gram(t.Context()))(t)
	if want := math.Exp(-0.5); math.Abs(k.At(0, 1)-want) > 1e-7 {
		t.Errorf("K = %v, want %v", k.At(0, 1), want)
	}
	if k.At(0, 0) != 1 || k.At(2, 2) != 1 {
		t.Errorf("the diagonal is %v, %v, want 1", k.At(0, 0), k.At(2, 2))
	}
}

// TestSparseRefuses: every way in which a sparse matrix can be malformed is refused with its place.
func TestSparseRefuses(t *testing.T) {
	sound := func() linalg.Design {
		return linalg.Design{Sparse: &linalg.CSR{Rows: 2, Cols: 3, Start: []int{0, 2, 3},
			Index: []int32{0, 2, 1}, Value: []float64{1, 2, 3}}}
	}
	if _, err := (Spec{}).Prepare(sound()); err != nil {
		t.Fatal(err)
	}
	for says, spoil := range map[string]func(*linalg.CSR){
		"2 row starts":            func(x *linalg.CSR) { x.Start = x.Start[:2] },
		"0 row starts":            func(x *linalg.CSR) { *x = linalg.CSR{Cols: 1} },
		"row 1 ends before":       func(x *linalg.CSR) { x.Start = []int{0, -1, 3} },
		"of 2 entries has 3":      func(x *linalg.CSR) { x.Start = []int{0, 1, 2} },
		"of 4 entries has 3":      func(x *linalg.CSR) { x.Start = []int{0, 2, 4} },
		"row 1: column 1 after 3": func(x *linalg.CSR) { x.Index = []int32{2, 0, 1} },
		"column 3 after 3":        func(x *linalg.CSR) { x.Index = []int32{2, 2, 1} },
		"row 2: column 4":         func(x *linalg.CSR) { x.Index[2] = 3 },
		"row 2: column 0":         func(x *linalg.CSR) { x.Index[2] = -1 },
		"row 1, feature 3 is NaN": func(x *linalg.CSR) { x.Value[1] = math.NaN() },
		"no features":             func(x *linalg.CSR) { *x = linalg.CSR{Rows: 1, Start: []int{0, 0}} },
		"no inputs":               func(x *linalg.CSR) { *x = linalg.CSR{Cols: 1, Start: []int{0}} },
	} {
		x := sound()
		spoil(x.Sparse)
		_, err := (Spec{}).Prepare(x)
		expectError(t, err, says)
	}
	in := mustPrepare(t, Spec{Kind: Poly, Gamma: 1, Degree: 9}, sound())
	huge := sound()
	huge.Sparse.Value[1] = 1e200
	expectError(t, in.Cross(huge, general(2, 2)), "new row 1 and training row 1 is not finite")
	expectError(t, in.Cross(sound(), general(2, 1)), "2 x 1, not 2 x 2")
	over := mustPrepare(t, Spec{Kind: Linear}, huge)
	_, err := over.Gram(t.Context())
	expectError(t, err, "rows 1 and 1 is not finite")
	expectError(t, over.GramDiagonal(make([]float64, 2)), "row 1 with itself is not finite")
	expectError(t, over.Columns(make([]float64, 2), []int{0}), "rows 1 and 1")
	if err := in.Columns(nil, nil); err != nil { // no columns are no work
		t.Error(err)
	}
}

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
