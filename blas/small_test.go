package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

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
