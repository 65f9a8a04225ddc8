package blas

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
)

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
							if minor := b.Potrf(uplo, n, a, lda); minor != bad+1 {
								t.Errorf("%s, uplo %c, n = %d: %v in row %d, minor %d named",
									b.Name(), uplo, n, v, bad+1, minor)
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
