package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
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

func TestPotrf(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		stored, full := definite(n, lda, uplo, rand.New(rand.NewPCG(1, uint64(n))))
		if minor := b.Potrf(uplo, n, stored, lda); minor != 0 {
			t.Fatalf("minor %d refused", minor)
		}
		l := lower(stored, n, lda, uplo)
		if e := farthest(product(l, l, n, false, true), full); e > tol {
			t.Errorf("L L' is off by %g", e)
		}
		checkOutside(t, stored, n, lda, uplo)
	})
}

func TestPotrfRefusesSingular(t *testing.T) {
	for _, b := range backends() {
		n := 2 * leaf
		full := make([]float64, n*n) // rank zero after the first row
		full[0] = 1
		if minor := b.Potrf(blas.Lower, n, full, n); minor != 2 {
			t.Errorf("%s: minor %d named, want 2", b.Name(), minor)
		}
	}
}

func TestTrtri(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		stored, _ := definite(n, lda, uplo, rand.New(rand.NewPCG(3, uint64(n))))
		l := lower(stored, n, lda, uplo)
		if zero := b.Trtri(uplo, n, stored, lda); zero != 0 {
			t.Fatalf("zero %d named", zero)
		}
		checkIdentity(t, product(lower(stored, n, lda, uplo), l, n, false, false), n)
		checkOutside(t, stored, n, lda, uplo)
		if n > 0 {
			stored[(n-1)*lda+n-1] = 0
			if zero := b.Trtri(uplo, n, stored, lda); zero != n {
				t.Errorf("zero %d named, want %d", zero, n)
			}
		}
	})
}

func checkIdentity(t *testing.T, a []float64, n int) {
	t.Helper()
	for i := 0; i < n; i++ {
		a[i*n+i]--
	}
	if e := farthest(a, make([]float64, n*n)); e > tol {
		t.Errorf("off the identity by %g", e)
	}
}

func TestInverseOfCholesky(t *testing.T) {
	forEach(t, func(t *testing.T, b Backend, uplo blas.Uplo, n, lda int) {
		stored, full := definite(n, lda, uplo, rand.New(rand.NewPCG(4, uint64(n))))
		b.Potrf(uplo, n, stored, lda)
		b.Trtri(uplo, n, stored, lda)
		b.Lauum(uplo, n, stored, lda)
		half := lower(stored, n, lda, uplo)
		inverse := make([]float64, n*n)
		for i := 0; i < n; i++ {
			for j := 0; j <= i; j++ {
				inverse[i*n+j], inverse[j*n+i] = half[i*n+j], half[i*n+j]
			}
		}
		checkIdentity(t, product(inverse, full, n, false, false), n)
		checkOutside(t, stored, n, lda, uplo)
	})
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
