package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// One suite for every backend of the binary. Results are checked by
// multiplying back in plain loops; rounding of the tested orders stays below
// tol times the size of the numbers.
const tol = 1e-12

// leaf is the block of gonum's factorisations.
const leaf = 64

// sizes surround the leaves of the recursions of both backends.
var sizes = []int{0, 1, 2, 3, leaf/2 - 1, leaf / 2, leaf/2 + 1, leaf - 1, leaf, leaf + 1,
	2*leaf - 1, 2 * leaf, 2*leaf + 1, 4*leaf + 3}

func forEach(t *testing.T, f func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int)) {
	for _, b := range backends() {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, n := range sizes {
				for _, pad := range []int{0, 5} {
					name := fmt.Sprintf("backend=%s/uplo=%c/n=%d/pad=%d", b.Name(), uplo, n, pad)
					t.Run(name, func(t *testing.T) {
						bindFor(t, b)
						f(t, b, uplo, n, max(1, n+pad))
					})
				}
			}
		}
	}
}

// bindFor binds b until the test ends.
func bindFor(t testing.TB, b Backend) {
	before := bound
	bind(b)
	t.Cleanup(func() { bind(before) })
}

// untouched marks what no kernel may write.
const untouched = 12345.0

// definite is a well-conditioned positive definite matrix in one triangle of a
// marked array, and in full.
func definite(n, lda int, uplo blas.Uplo, rng *rand.Rand) (stored, full []float64) {
	full = make([]float64, n*n)
	for i := 0; i < n; i++ {
		for j := 0; j <= i; j++ {
			v := rng.NormFloat64() / math.Sqrt(float64(n))
			if i == j {
				v = 3 + rng.Float64()
			}
			full[i*n+j], full[j*n+i] = v, v
		}
	}
	return store(full, n, lda, uplo), full
}

func store(full []float64, n, lda int, uplo blas.Uplo) []float64 {
	stored := make([]float64, max(0, (n-1)*lda+n))
	for k := range stored {
		stored[k] = untouched
	}
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			if inside(uplo, i, j) {
				stored[i*lda+j] = full[i*n+j]
			}
		}
	}
	return stored
}

func inside(uplo blas.Uplo, i, j int) bool {
	return (uplo == blas.Lower) == (j <= i) || i == j
}

// lower reads a triangle as a full lower triangular matrix: L, or U' .
func lower(stored []float64, n, lda int, uplo blas.Uplo) []float64 {
	l := make([]float64, n*n)
	for i := 0; i < n; i++ {
		for j := 0; j <= i; j++ {
			if uplo == blas.Lower {
				l[i*n+j] = stored[i*lda+j]
			} else {
				l[i*n+j] = stored[j*lda+i]
			}
		}
	}
	return l
}

func product(a, b []float64, n int, transA, transB bool) []float64 {
	c := make([]float64, n*n)
	pick := func(m []float64, t bool, i, j int) float64 {
		if t {
			return m[j*n+i]
		}
		return m[i*n+j]
	}
	for i := 0; i < n; i++ {
		for k := 0; k < n; k++ {
			x := pick(a, transA, i, k)
			for j := 0; j < n; j++ {
				c[i*n+j] += x * pick(b, transB, k, j)
			}
		}
	}
	return c
}

func checkOutside(t *testing.T, stored []float64, n, lda int, uplo blas.Uplo) {
	t.Helper()
	for k, v := range stored {
		if i, j := k/lda, k%lda; (j >= n || !inside(uplo, i, j)) && v != untouched {
			t.Fatalf("element (%d, %d) outside of the triangle was written", i, j)
		}
	}
}

func farthest(a, b []float64) float64 {
	worst := 0.0
	for k := range a {
		worst = math.Max(worst, math.Abs(a[k]-b[k]))
	}
	return worst
}

// TestInversion: Potrf, Trtri and Lauum in turn make L, L^-1 and A^-1 of A, and write nothing else; a matrix
// that is singular is refused with the place.
func TestInversion(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		stored, full := definite(n, lda, uplo, rand.New(rand.NewPCG(1, uint64(n))))
		identity, inverse := make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			identity[i*n+i] = 1
		}
		near := func(what string, got, want []float64) {
			if e := farthest(got, want); e > tol {
				t.Errorf("%s is off by %g", what, e)
			}
		}
		if minor := b.Potrf(uplo, n, stored, lda); minor != 0 {
			t.Fatalf("minor %d refused", minor)
		}
		l := lower(stored, n, lda, uplo)
		near("L L'", product(l, l, n, false, true), full)
		if zero := b.Trtri(uplo, n, stored, lda); zero != 0 {
			t.Fatalf("zero %d named", zero)
		}
		near("L^-1 L", product(lower(stored, n, lda, uplo), l, n, false, false), identity)
		b.Lauum(uplo, n, stored, lda)
		half := lower(stored, n, lda, uplo)
		for i := range n {
			for j := range i + 1 {
				inverse[i*n+j], inverse[j*n+i] = half[i*n+j], half[i*n+j]
			}
		}
		near("A^-1 A", product(inverse, full, n, false, false), identity)
		checkOutside(t, stored, n, lda, uplo)
		if n > 0 {
			stored[(n-1)*lda+n-1] = 0
			if zero := b.Trtri(uplo, n, stored, lda); zero != n {
				t.Errorf("zero %d named, want %d", zero, n)
			}
		}
	})
	for _, b := range backends() {
		n := 2 * leaf
		full := make([]float64, n*n) // rank zero after the first row
		full[0] = 1
		if minor := b.Potrf(blas.Lower, n, full, n); minor != 2 {
			t.Errorf("%s: minor %d named, want 2", b.Name(), minor)
		}
	}
}

// Eigenvalues are compared through what does not need them: trace and sum of
// squares, and with a matrix whose spectrum is known.
func TestEigenvalues(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		stored, full := definite(n, lda, uplo, rand.New(rand.NewPCG(5, uint64(n))))
		w := make([]float64, n)
		if !b.Eigenvalues(uplo, n, stored, lda, w) {
			t.Fatal("no convergence")
		}
		trace, squares := 0.0, 0.0
		for i := 0; i < n; i++ {
			trace += full[i*n+i] - w[i]
			squares -= w[i] * w[i]
			if i > 0 && w[i] < w[i-1] {
				t.Errorf("eigenvalue %d out of order", i)
			}
		}
		for _, v := range full {
			squares += v * v
		}
		if math.Abs(trace) > tol*100 || math.Abs(squares) > tol*1000 {
			t.Errorf("trace off by %g, squares by %g", trace, squares)
		}
	})
	for _, b := range backends() { // second differences: 2 - 2 cos(k pi/(n+1))
		n := 50
		a, w := make([]float64, n*n), make([]float64, n)
		for i := 0; i < n; i++ {
			a[i*n+i] = 2
			if i > 0 {
				a[i*n+i-1] = -1
			}
		}
		b.Eigenvalues(blas.Lower, n, a, n, w)
		for k, got := range w {
			if want := 2 - 2*math.Cos(float64(k+1)*math.Pi/float64(n+1)); math.Abs(got-want) > tol {
				t.Errorf("%s: eigenvalue %d is %v, want %v", b.Name(), k, got, want)
			}
		}
	}
}

func TestThreads(t *testing.T) {
	for _, b := range backends() {
		before := b.Threads()
		if before < 1 {
			t.Errorf("%s: %d threads", b.Name(), before)
		}
		b.SetThreads(1)
		if got := b.Threads(); b.Name() == "openblas" && got != 1 {
			t.Errorf("%s: %d threads after SetThreads(1)", b.Name(), got)
		}
		b.SetThreads(before)
	}
}

// smallOrders surround the tiles, of 4 or 8 rows and 12, 24 or 48 columns.
var smallOrders = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 31, 33, 47, 48, 49, 71,
	72, 73, 95, 97, 145, 200}

// gaussianTriangle is a smooth kernel matrix in an upper triangle, and site weights.
func gaussianTriangle(n int, rng *rand.Rand) (k blas64.Symmetric, root []float64) {
	k = blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n + 3, Data: make([]float64, n*(n+3))}
	x := make([]float64, n)
	root = make([]float64, n)
	for i := range x {
		x[i], root[i] = rng.NormFloat64(), math.Exp(rng.NormFloat64())
	}
	for i := range n {
		for j := range n {
			k.Data[i*k.Stride+j] = untouched
			if j >= i {
				k.Data[i*k.Stride+j] = math.Exp(-(x[i] - x[j]) * (x[i] - x[j]))
			}
		}
	}
	return k, root
}

// TestSmall: the kernels for small orders find what Potrf, Trtri and Lauum of gonum find in B, except
// rounding, which its condition, below 1e5 here, multiplies; and write nothing else.
func TestSmall(t *testing.T) {
	for _, n := range smallOrders {
		for _, single := range []bool{false, true} {
			t.Run(fmt.Sprintf("n=%d/single=%t", n, single), func(t *testing.T) {
				memory := make([]float64, SmallWork(n))
				if len(memory) == 0 {
					t.Skip("no such kernels")
				}
				for i := range memory {
					memory[i] = math.NaN() // left behind by whoever
				}
				rng := rand.New(rand.NewPCG(uint64(n), 3))
				k, root := gaussianTriangle(n, rng)
				s := NewSmall(n, memory)
				if minor := s.Invert(k, root, single); minor != 0 {
					t.Fatalf("minor %d", minor)
				}
				checkSmall(t, s, k, root, map[bool]float64{false: 1e-11, true: 1e-2}[single])
			})
		}
	}
}

func checkSmall(t *testing.T, s *Small, k blas64.Symmetric, root []float64, tol float64) {
	n, plain := k.N, pureGo{}
	lda := max(1, n)
	b := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			b[i*n+j] = root[i] * root[j] * k.Data[j*k.Stride+i]
		}
		b[i*n+i]++
	}
	near := func(what string, i int, got, want, scale float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*scale) {
			t.Fatalf("%s of row %d is %g, want %g", what, i, got, want)
		}
	}
	plain.Potrf(blas.Lower, n, b, lda)
	for i := range n {
		above := 0.0
		for _, v := range b[i*n : i*n+i] {
			above += v * v
		}
		near("pivot", i, s.Pivots[i], b[i*n+i], b[i*n+i])
		near("sum above", i, s.Above[i], above, 1+above)
	}
	plain.Trtri(blas.Lower, n, b, lda)
	for j := range n {
		below := 0.0
		for i := j + 1; i < n; i++ {
			below += b[i*n+j] * b[i*n+j]
		}
		near("sum below", j, s.Below[j], below, 1)
	}
	plain.Lauum(blas.Lower, n, b, lda)
	g := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n + 1, Data: make([]float64, n*(n+1))}
	for i := range g.Data {
		g.Data[i] = untouched
	}
	scale := make([]float64, n)
	for i := range scale {
		scale[i] = 1 + float64(i)
	}
	s.OffDiagonal(scale, g)
	for i := range n {
		for j := range n + 1 {
			got := g.Data[i*g.Stride+j]
			if j >= i {
				near("outside", i, got, untouched, 0)
				continue
			}
			near("element", i, got/scale[i]/scale[j], -b[i*n+j], 1)
		}
	}
}

// TestSmallMinor: a pivot that is not positive, or not a number, is named.
func TestSmallMinor(t *testing.T) {
	for _, n := range []int{1, 9, 40} {
		memory := make([]float64, SmallWork(n))
		if len(memory) == 0 {
			t.Skip("no such kernels")
		}
		for _, bad := range []float64{-3, math.NaN(), math.Inf(1)} {
			for _, single := range []bool{false, true} {
				for at := range n {
					k := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: make([]float64, n*n)}
					root := make([]float64, n)
					for i := range root {
						root[i], k.Data[i*n+i] = 1, 1
					}
					k.Data[at*n+at] = bad
					if minor := NewSmall(n, memory).Invert(k, root, single); minor != at+1 {
						t.Fatalf("n = %d, %v at %d, single %t: minor %d", n, bad, at, single, minor)
					}
				}
			}
		}
	}
}

// TestPotrfOfNearlySingular factorises smooth kernels whose smallest eigenvalues are the jitter. What L L'
// misses of A is rounding: a few units of the largest element, 1 plus the jitter, whatever the condition;
// plain LAPACK leaves 2e-15, and 8e-7 in single precision at a condition of 3e7, half of the most that it can
// carry. (Leaves applied by their inverse regardless of condition leave 5e-14, and call the matrix indefinite
// at a jitter of 1e-13; leaves in float32 do so under the bound for float64.)
func TestPotrfOfNearlySingular(t *testing.T) {
	for _, b := range backends() {
		bindFor(t, b)
		check := func(n int, jitter, limit float64, factor func(a []float64) (l []float64, minor int)) {
			t.Helper()
			a := smoothKernel(n, jitter)
			if l, minor := factor(a); minor != 0 {
				t.Errorf("%s, n = %d, jitter %g: minor %d refused", b.Name(), n, jitter, minor)
			} else if e := leftOver(a, l, n); e > limit {
				t.Errorf("%s, n = %d, jitter %g: L L' is off by %g", b.Name(), n, jitter, e)
			}
		}
		double := func(a []float64) ([]float64, int) {
			l, n := slices.Clone(a), int(math.Sqrt(float64(len(a))))
			return l, b.Potrf(blas.Lower, n, l, n)
		}
		for _, jitter := range []float64{1e-4, 1e-8, 1e-12} {
			check(300, jitter, 2e-14, double)
		}
		check(610, 1e-12, 2e-14, double) // the large leaf: the hardest will do
		if s, ok := b.(Single); ok {
			check(300, 1e-5, 4e-6, func(a []float64) ([]float64, int) {
				single, l := make([]float32, len(a)), make([]float64, len(a))
				for i, v := range a {
					single[i] = float32(v)
					a[i] = float64(single[i])
				}
				minor := s.Potrf32(blas.Lower, 300, single, 300)
				for i, v := range single {
					l[i] = float64(v)
				}
				return l, minor
			})
		}
	}
}

func smoothKernel(n int, jitter float64) []float64 {
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	x, y, a := make([]float64, n), make([]float64, n), make([]float64, n*n)
	for i := range n {
		x[i], y[i] = rng.Float64(), rng.Float64()
		for j := range i + 1 {
			a[i*n+j] = math.Exp(-(x[i]-x[j])*(x[i]-x[j]) - (y[i]-y[j])*(y[i]-y[j]))
		}
		a[i*n+i] += jitter
	}
	return a
}

// leftOver is the largest element of A - L L' in the lower triangle.
func leftOver(a, l []float64, n int) float64 {
	worst := 0.0
	for i := range n {
		for j := range i + 1 {
			rest := a[i*n+j]
			for k, v := range l[j*n : j*n+j+1] {
				rest -= l[i*n+k] * v
			}
			worst = math.Max(worst, math.Abs(rest))
		}
	}
	return worst
}

// TestPotrfNamesMinorInAnyLeaf spoils one element, on the diagonal or beside it,
// in turn in leaves of either size.
func TestPotrfNamesMinorInAnyLeaf(t *testing.T) {
	for _, b := range backends() {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, n := range []int{200, 620} {
				bindFor(t, b)
				lda := n + 3
				sound, _ := definite(n, lda, uplo, rand.New(rand.NewPCG(8, uint64(n))))
				a := make([]float64, len(sound))
				for _, bad := range []int{1, 31, 32, 63, 64, 65, n / 2, n - 1} {
					for _, beside := range []int{0, 1} {
						for _, v := range []float64{math.NaN(), math.Inf(1), 1e3} {
							if beside == 0 && v > 0 {
								v = -v
							}
							copy(a, sound)
							if uplo == blas.Lower {
								a[bad*lda+bad-beside] = v
							} else {
								a[(bad-beside)*lda+bad] = v
							}
							minors := []int{bad + 1}
							if s, ok := b.(Single); ok {
								single := make([]float32, len(a))
								for k, element := range a {
									single[k] = float32(element)
								}
								minors = append(minors, s.Potrf32(uplo, n, single, lda))
							}
							minors = append(minors, b.Potrf(uplo, n, a, lda))
							if slices.Min(minors) != bad+1 || slices.Max(minors) != bad+1 {
								t.Errorf("%s, uplo %c, n = %d: %v in row %d, minors %d named",
									b.Name(), uplo, n, v, bad+1, minors[1:])
							}
						}
					}
				}
			}
		}
	}
}

// TestConcurrentFactorisations runs inversions of different matrices side by side:
// none may get at the scratch of another.
func TestConcurrentFactorisations(t *testing.T) {
	invert := func(b Backend, n int) []float64 {
		a, _ := definite(n, n, blas.Lower, rand.New(rand.NewPCG(10, uint64(n))))
		b.Potrf(blas.Lower, n, a, n)
		b.Trtri(blas.Lower, n, a, n)
		b.Lauum(blas.Lower, n, a, n)
		return a
	}
	for _, b := range backends() {
		bindFor(t, b)
		orders := []int{70, 100, 130, 160, 190, 220}
		together, wait := make([][]float64, len(orders)), sync.WaitGroup{}
		for i, n := range orders {
			wait.Add(1)
			go func() {
				defer wait.Done()
				together[i] = invert(b, n)
			}()
		}
		wait.Wait()
		for i, n := range orders {
			if e := farthest(together[i], invert(b, n)); e > tol {
				t.Errorf("%s, n = %d: %g from the same work alone", b.Name(), n, e)
			}
		}
	}
}

// TestSinglePrecision: the kernels in single precision do to a matrix what those
// in double do, up to rounding of well-conditioned float32, and touch nothing
// else.
func TestSinglePrecision(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		s, ok := b.(Single)
		if !ok {
			t.Skip("no single precision")
		}
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		double, _ := definite(n, lda, uplo, rng)
		single := make([]float32, len(double))
		for i, v := range double {
			single[i] = float32(v)
		}
		same := func(after string) {
			t.Helper()
			for i, v := range double {
				if math.Abs(float64(single[i])-v) > 1e-5 && v != untouched ||
					v == untouched && single[i] != untouched {
					t.Fatalf("%s: %g in single precision, %g in double", after, single[i], v)
				}
			}
		}
		if b.Potrf(uplo, n, double, lda)+s.Potrf32(uplo, n, single, lda) != 0 {
			t.Fatal("broke down")
		}
		same("potrf")
		if b.Trtri(uplo, n, double, lda)+s.Trtri32(uplo, n, single, lda) != 0 {
			t.Fatal("broke down")
		}
		same("trtri")
		b.Lauum(uplo, n, double, lda)
		s.Lauum32(uplo, n, single, lda)
		same("lauum")
	})
}
