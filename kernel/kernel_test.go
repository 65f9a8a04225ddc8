package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"bootbench/blas"
	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// general is a rows x cols matrix of zeros.
func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// inputs is the matrix with the given rows.
func inputs(rows ...[]float64) blas64.General {
	x := general(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(row(x, i), r)
	}
	return x
}

// gaussian is a rows x cols matrix of standard normal numbers.
func gaussian(rng *rand.Rand, rows, cols int) blas64.General {
	x := general(rows, cols)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	return x
}

// specs has every kind and every option on d features.
func specs(d int) map[string]Spec {
	each := make([]float64, d)
	for j := range each {
		each[j] = 0.5 + float64(j)
	}
	return map[string]Spec{
		"rbf default":         {},
		"rbf gamma":           {Gamma: 0.3, Amplitude: 2, Constant: 0.5, Jitter: 0.01},
		"rbf one scale":       {LengthScale: []float64{1.7}},
		"rbf each scale":      {LengthScale: each, Jitter: 0.1},
		"matern12":            {Kind: Matern12, LengthScale: each, Constant: 3},
		"matern12 narrow":     {Kind: Matern12, Gamma: 50},
		"matern32":            {Kind: Matern32, LengthScale: []float64{2}, Amplitude: 0.1},
		"matern52":            {Kind: Matern52, Gamma: 0.4},
		"rq":                  {Kind: RationalQuadratic, LengthScale: each, Amplitude: 3},
		"linear":              {Kind: Linear, Amplitude: 0.5, Jitter: 1},
		"poly default":        {Kind: Poly},
		"poly":                {Kind: Poly, Gamma: 0.2, Coef0: 1, Degree: 5, Constant: 1},
		"poly of degree 1":    {Kind: Poly, Degree: 1, Coef0: 2},
		"poly of even degree": {Kind: Poly, Degree: 4},
	}
}

// near reports whether a and b agree to tol, absolute below 1, relative above.
func near(a, b, tol float64) bool {
	return math.Abs(a-b) <= tol*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

// gramOf is the Gram matrix of the rows of x.
func gramOf(s Spec, x blas64.General) (*linalg.Sym, error) {
	in, err := s.Prepare(dense(x))
	if err != nil {
		return nil, err
	}
	return in.Gram(context.Background())
}

// dense are the rows of a matrix.
func dense(x blas64.General) linalg.Design { return linalg.Design{X: linalg.Matrix(x)} }

func mustGram(t testing.TB, s Spec, x blas64.General) *linalg.Sym {
	t.Helper()
	return testutil.Must(gramOf(s, x))(t)
}

func mustPrepare(t testing.TB, s Spec, x linalg.Design) *Inputs {
	t.Helper()
	return testutil.Must(s.Prepare(x))(t)
}

// A covariance of size 1 carries an error of 64 units in the last place from
// the fast squared distance (worst where r^2 is 1/64 of the norms; then
// exp(-r) turns it into a fraction), and a poly of degree 5 multiplies the
// relative error of a product, whose terms may cancel, by 5.
const agree = 1e-12

// TestGramAgreesWithPlain: every kind, dense and sparse, at several sizes, is its formula.
func TestGramAgreesWithPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 3, 8} {
		for _, m := range []int{1, 2, 8, 9, many} {
			if m == many && d < 8 {
				continue // blocks of rows do not depend on d
			}
			wide := gaussian(rng, m, d+2) // inputs are read by their stride
			x := blas64.General{Rows: m, Cols: d, Stride: d + 2, Data: wide.Data[1:]}
			sparse, filled := thin(rng, m, d, 0.3)
			for name, s := range specs(d) {
				for _, pair := range [][2]*linalg.Sym{{mustGram(t, s, x), gramPlain(s, x)},
					{testutil.Must(mustPrepare(t, s, sparse).Gram(t.Context()))(t), gramPlain(s, filled)}} {
					for i := range m {
						for j := i; j < m; j++ {
							if got, want := pair[0].At(i, j), pair[1].At(i, j); !near(got, want, agree) {
								t.Fatalf("%s: K(%d, %d) = %v, plain %v", name, i, j, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// The values were worked out from the formulas: two inputs at distances 3, 4 and 5, so
// that r = 5/L; and products x . x' = 11, x . x = 5.
func TestHandComputedValues(t *testing.T) {
	apart := inputs([]float64{1, 2}, []float64{4, 6})
	angled := inputs([]float64{1, 2}, []float64{3, 4})
	for _, c := range []struct {
		name      string
		spec      Spec
		x         blas64.General
		off, diag float64
	}{
		{"default, r^2 = 25/2", Spec{}, apart, 0.0019304541362277093, 1},
		{"gamma, 25/50", Spec{Gamma: 0.02}, apart, 0.6065306597126334, 1},
		{"L = 5", Spec{LengthScale: []float64{5}}, apart, 0.6065306597126334, 1},
		{"L = 3 and 2, r^2 = 5", Spec{LengthScale: []float64{3, 2}}, apart, 0.0820849986238988, 1},
		{"matern12, r = 1", Spec{Kind: Matern12, LengthScale: []float64{5}}, apart, 0.36787944117144233, 1},
		{"matern32, r = 1", Spec{Kind: Matern32, Gamma: 0.02}, apart, 0.4833577245965077, 1},
		{"matern52, r = 1", Spec{Kind: Matern52, LengthScale: []float64{5}}, apart, 0.5239941088318203, 1},
		{"rq, r = 1", Spec{Kind: RationalQuadratic, Gamma: 0.02}, apart, 2.0 / 3, 1},
		{"linear", Spec{Kind: Linear}, angled, 11, 5},
		{"poly (11/4 + 1)^2, (5/4 + 1)^2", Spec{Kind: Poly, Degree: 2, Coef0: 1}, angled, 14.0625, 5.0625},
		{"poly (11/4)^3, (5/4)^3", Spec{Kind: Poly}, angled, 20.796875, 1.953125},
		{"2 k + 3, 0.25 on the diagonal", Spec{Kind: Linear, Amplitude: 2, Constant: 3, Jitter: 0.25}, angled,
			25, 13.25},
	} {
		k := mustGram(t, c.spec, c.x)
		if !near(k.At(0, 1), c.off, 4e-16) || !near(k.At(0, 0), c.diag, 4e-16) {
			t.Errorf("%s: %.17g and %.17g, want %.17g and %.17g",
				c.name, k.At(0, 1), k.At(0, 0), c.off, c.diag)
		}
	}
}

// Inputs near 1e6 at distances of 1e-9: the products of uncentred inputs would
// give squared distances wrong by 1e-4. Differences are taken of the numbers
// as stored, so they agree with the plain version to rounding; matern12 shows
// r itself, 1 - exp(-r).
func TestNearCopiesFarFromTheOrigin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const m, d = 40, 3
	x := general(m, d)
	for i := 0; i < m; i += 2 {
		for j := 0; j < d; j++ {
			v := 1e6 + rng.NormFloat64()
			row(x, i)[j], row(x, i+1)[j] = v, v+1e-9*(1+float64(j))
		}
	}
	// An outlier of 1e8 length scales makes the products of its near copy useless in spite of centring.
	far := inputs([]float64{0}, []float64{1}, []float64{1e8}, []float64{1e8 + 0.5})
	if k := mustGram(t, Spec{Kind: Matern12, LengthScale: []float64{1}}, far); k.At(2, 3) != math.Exp(-0.5) {
		t.Errorf("%v, want exp(-0.5)", k.At(2, 3))
	}
	for _, s := range []Spec{
		{Kind: Matern12, LengthScale: []float64{1e-6}},
		{Kind: Matern12, LengthScale: []float64{1}},
		{Kind: Matern32, LengthScale: []float64{1e-8}},
		{Kind: Matern52, LengthScale: []float64{1e-9}},
		{LengthScale: []float64{1e-9}},
	} {
		in := mustPrepare(t, s, dense(x))
		k, want := mustGram(t, s, x), gramPlain(s, x)
		cross := general(m, m)
		if err := in.Cross(dense(x), cross); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < m; i += 2 {
			exact := want.At(i, i+1)
			if exact == 1 || exact == 0 {
				t.Fatalf("%v: the pair shows nothing: %v", s, exact)
			}
			for _, got := range []float64{k.At(i, i+1), row(cross, i)[i+1], row(cross, i+1)[i]} {
				if math.Abs(got-exact) > 1e-15 {
					t.Errorf("%v: %v, plain %v", s, got, exact)
				}
			}
		}
	}
}

// TestDuplicatesAndDiagonalAreExact: equal inputs have distance 0 without rounding, however far
// they are from the origin.
func TestDuplicatesAndDiagonalAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	x := gaussian(rng, 30, 5)
	for j := range 5 {
		x.Data[j] += 1e5
	}
	copy(row(x, 17), row(x, 0))
	for name, s := range specs(5) {
		if !s.Kind.radial() {
			continue
		}
		k, unit := mustGram(t, s, x), s.WithDefaults(1).Amplitude+s.Constant
		if got := k.At(0, 17); got != unit {
			t.Errorf("%s: copies have %v, want %v", name, got, unit)
		}
		for i := range 30 {
			if got := k.At(i, i); got != unit+s.Jitter {
				t.Errorf("%s: diagonal %d is %v, want %v", name, i, got, unit+s.Jitter)
			}
		}
	}
}

// TestCrossAgreesWithPlain: the same for kernel vectors, also of a new input that equals a training
// input, and into a matrix with a stride.
func TestCrossAgreesWithPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for _, d := range []int{1, 4} {
		x := gaussian(rng, many, d)
		for _, p := range []int{0, 1, 9, 40} {
			z := gaussian(rng, p, d)
			if p > 3 {
				copy(row(z, 3), row(x, 2))
			}
			for name, s := range specs(d) {
				in := mustPrepare(t, s, dense(x))
				dst := blas64.General{Rows: p, Cols: many, Stride: many + 4,
					Data: make([]float64, p*(many+4))}
				for i := range dst.Data {
					dst.Data[i] = math.NaN() // must be overwritten, not multiplied by zero
				}
				if err := in.Cross(dense(z), dst); err != nil {
					t.Fatal(err)
				}
				for i := range p {
					for j, got := range row(dst, i) {
						if want := plain(s, row(z, i), row(x, j)); !near(got, want, agree) {
							t.Fatalf("%s, d = %d: k(%d, %d) = %v, plain %v", name, d, i, j, got, want)
						}
					}
					if i < p-1 && !math.IsNaN(dst.Data[i*dst.Stride+dst.Cols]) {
						t.Fatal("wrote past the end of a row")
					}
				}
			}
		}
	}
}

// TestComplete: a precomputed matrix becomes A k + B, plus the jitter on its diagonal (small
// integers and powers of two: exact); what overflows and other kinds are refused.
func TestComplete(t *testing.T) {
	k := linalg.NewSym(mat.NewSymDense(2, []float64{2, 1, 1, 3}))
	s := Spec{Kind: Precomputed, Amplitude: 2, Constant: 0.5, Jitter: 0.25}
	if err := s.Complete(k); err != nil {
		t.Fatal(err)
	}
	if k.At(0, 0) != 4.75 || k.At(0, 1) != 2.5 || k.At(1, 1) != 6.75 {
		t.Errorf("got %v %v %v", k.At(0, 0), k.At(0, 1), k.At(1, 1))
	}
	huge := linalg.NewSym(mat.NewSymDense(2, []float64{1, 0, 0, 1e300}))
	expectError(t, Spec{Kind: Precomputed, Amplitude: 1e10}.Complete(huge), "entry (2, 2)")
	expectError(t, Spec{}.Complete(k), "not precomputed")
	expectError(t, Spec{Kind: Precomputed, Jitter: -1}.Complete(k), "jitter")
}

func expectError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, expected one with %q", part)
		return
	}
	if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, expected one line with %q", err, part)
	}
}

// gramPlain is Gram by the formulas, pair by pair: what the fast path must agree
// with.
func gramPlain(s Spec, x blas64.General) *linalg.Sym {
	k := linalg.ZeroSym(x.Rows)
	for i := 0; i < x.Rows; i++ {
		for j := i; j < x.Rows; j++ {
			k.Set(i, j, plain(s, row(x, i), row(x, j)))
		}
	}
	k.AddDiag(s.Jitter)
	return k
}

// plain is A k(x, z) + B by the formula of the kind.
func plain(s Spec, x, z []float64) float64 {
	s = s.WithDefaults(len(x))
	product, r2 := 0.0, 0.0
	for j := range x {
		product += x[j] * z[j]
		t := (x[j] - z[j]) / plainScale(s, j, len(x))
		r2 += t * t
	}
	var k float64
	r := math.Sqrt(r2)
	switch s.Kind {
	case RBF:
		k = math.Exp(-r2 / 2)
	case Matern12:
		k = math.Exp(-r)
	case Matern32:
		k = (1 + math.Sqrt(3)*r) * math.Exp(-math.Sqrt(3)*r)
	case Matern52:
		k = (1 + math.Sqrt(5)*r + 5*r2/3) * math.Exp(-math.Sqrt(5)*r)
	case RationalQuadratic:
		k = math.Pow(1+r2/2, -1)
	case Linear:
		k = product
	case Poly:
		k = math.Pow(s.Gamma*product+s.Coef0, float64(s.Degree))
	}
	return s.Amplitude*k + s.Constant
}

// plainScale is the length scale of feature j out of d.
func plainScale(s Spec, j, d int) float64 {
	switch {
	case len(s.LengthScale) == 1:
		return s.LengthScale[0]
	case len(s.LengthScale) > 1:
		return s.LengthScale[j]
	case s.Gamma > 0:
		return 1 / math.Sqrt(2*s.Gamma)
	}
	return math.Sqrt(float64(d))
}

// BenchmarkGram times a kernel matrix over n inputs in 10 features: inner products, d n^2 flops, and one
// map of each of n^2/2 of them. bytes is the memory of a matrix.
func BenchmarkGram(b *testing.B) {
	const d = 10
	for _, n := range []int{250, 500, 1000, 2000, 4000} {
		x := dense(gaussian(rand.New(rand.NewPCG(1, 1)), n, d))
		for _, kind := range []Kind{RBF, Matern32, Linear, Poly} {
			b.Run(fmt.Sprintf("kind=%v/backend=%s/n=%d", kind, blas.Bound().Name(), n), func(b *testing.B) {
				in := mustPrepare(b, Spec{Kind: kind}, x)
				for b.Loop() {
					if _, err := in.Gram(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(8*float64(n)*float64(n), "bytes")
				b.ReportMetric(d*float64(n)*float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

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
