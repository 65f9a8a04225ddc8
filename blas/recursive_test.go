package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// recursiveOrders surround the leaves of both backends and the order at which
// OpenBLAS's grow.
var recursiveOrders = []int{31, 32, 33, 63, 64, 65, 96, 97, 129, 200, 600, 601, 700}

// TestRecursionIsPlain holds the recursions to gonum's LAPACK, on
// both triangles, in matrices whose other triangle is NaN: what is not read
// cannot spoil the answer.
func TestRecursionIsPlain(t *testing.T) {
	for _, b := range backends() {
		for _, uplo := range []blas.Uplo{blas.Lower, blas.Upper} {
			for _, n := range recursiveOrders {
				t.Run(fmt.Sprintf("backend=%s/uplo=%c/n=%d", b.Name(), uplo, n), func(t *testing.T) {
					bindFor(t, b)
					fast, lda := nanOutside(n, uplo)
					slow := append([]float64(nil), fast...)
					own := tileKernels
					same := func(what string) {
						t.Helper()
						if e := farthestOrNaN(fast, slow); e > tol {
							t.Fatalf("%s: %g from the plain one", what, e)
						}
					}
					if minor := b.Potrf(uplo, n, fast, lda) + own.potrf(uplo, n, slow, lda); minor != 0 {
						t.Fatal("broke down")
					}
					same("potrf")
					b.Trtri(uplo, n, fast, lda)
					own.trtri(uplo, n, slow, lda)
					same("trtri")
					b.Lauum(uplo, n, fast, lda)
					own.lauum(uplo, n, slow, lda)
					same("lauum")
				})
			}
		}
	}
}

// nanOutside is a well-conditioned positive definite matrix in one triangle, NaN
// elsewhere.
func nanOutside(n int, uplo blas.Uplo) (a []float64, lda int) {
	lda = n + 3
	a, _ = definite(n, lda, uplo, rand.New(rand.NewPCG(8, uint64(n))))
	for k, v := range a {
		if v == untouched {
			a[k] = math.NaN()
		}
	}
	return a, lda
}

// farthestOrNaN is farthest, but infinite where only one is NaN.
func farthestOrNaN(a, b []float64) float64 {
	worst := 0.0
	for k := range a {
		if math.IsNaN(a[k]) != math.IsNaN(b[k]) {
			return math.Inf(1)
		}
		if d := math.Abs(a[k] - b[k]); d > worst {
			worst = d
		}
	}
	return worst
}

// TestPotrfOfNearlySingular factorises smooth kernels whose smallest eigenvalues
// are the jitter. What L L' misses of A is rounding: a few units of the largest
// element, 1 plus the jitter, whatever the condition; plain LAPACK leaves 2e-15.
// (Leaves applied by their inverse regardless of condition leave 5e-14, and call
// the matrix indefinite at a jitter of 1e-13.)
func TestPotrfOfNearlySingular(t *testing.T) {
	for _, b := range backends() {
		for _, n := range []int{300, 610} {
			for _, jitter := range []float64{1e-4, 1e-8, 1e-12} {
				if n > 300 && jitter > 1e-12 {
					continue // the large leaf: the hardest will do
				}
				bindFor(t, b)
				a := smoothKernel(n, jitter)
				l := append([]float64(nil), a...)
				if minor := b.Potrf(blas.Lower, n, l, n); minor != 0 {
					t.Errorf("%s, n = %d, jitter %g: minor %d refused", b.Name(), n, jitter, minor)
					continue
				}
				if e := leftOver(a, l, n); e > 2e-14 {
					t.Errorf("%s, n = %d, jitter %g: L L' is off by %g", b.Name(), n, jitter, e)
				}
			}
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
				sound, lda := nanOutside(n, uplo)
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
							if minor := b.Potrf(uplo, n, a, lda); minor != bad+1 {
								t.Errorf("%s, uplo %c, n = %d: %v in row %d, minor %d named", b.Name(), uplo, n, v, bad+1, minor)
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
