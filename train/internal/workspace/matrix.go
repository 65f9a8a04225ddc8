package workspace

import (
	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"
)

// tile is the side of the blocks that are transposed at a time.
const tile = 64

// ResizeSquare makes *a hold a matrix of order n, undefined, and returns its stride. If *a is too small it is
// released first, and the new array has room for later orders up to most.
func ResizeSquare(a *[]float64, n, most int) (stride int) {
	stride = linalg.PaddedStride(n)
	count := n * stride
	if cap(*a) < count {
		*a = nil
		room := train.Room(n, most)
		*a = make([]float64, max(count, room*linalg.PaddedStride(room)))
	}
	*a = (*a)[:count]
	return stride
}

// GatherUpper copies the upper triangle of K between the listed sites into dst, row-major with the given
// stride. The sites ascend; repetitions are allowed.
func GatherUpper(dst []float64, stride int, k *linalg.Sym, sites []int) {
	raw := k.Raw()
	for p, i := range sites {
		from := raw.Data[i*raw.Stride : i*raw.Stride+raw.N]
		to := dst[p*stride+p : p*stride+len(sites)]
		for q, j := range sites[p:] {
			to[q] = from[j]
		}
	}
}

// TransposeUpper copies the upper triangle of from to the lower one of to, which may be the same matrix: in
// parallel, and in tiles for the cache.
func TransposeUpper(to, from blas64.Symmetric) {
	tiles := (from.N + tile - 1) / tile
	linalg.Parallel(tiles, func(task int) {
		first := (tiles - 1 - task) * tile // long rows first
		end := min(first+tile, from.N)
		for c := 0; c < end; c += tile {
			for i := first; i < end; i++ {
				row := to.Data[i*to.Stride : i*to.Stride+i+1]
				for j := c; j < min(c+tile, i+1); j++ {
					row[j] = from.Data[j*from.Stride+i]
				}
			}
		}
	})
}

// SolveFactored overwrites b with the solution of A x = b, by the Cholesky factor of A in a triangle of a.
func SolveFactored(uplo gonum.Uplo, a []float64, stride int, b []float64) {
	first, second := gonum.NoTrans, gonum.Trans
	if uplo == gonum.Upper {
		first, second = second, first
	}
	blas.Bound().Dtrsv(uplo, first, gonum.NonUnit, len(b), a, stride, b, 1)
	blas.Bound().Dtrsv(uplo, second, gonum.NonUnit, len(b), a, stride, b, 1)
}

// MulInactive writes f = K alpha at the inactive sites, where alpha is 0; f at active ones is undefined. It
// reads each row of the stored triangle once and in order: an active row adds to f of the later sites, an
// inactive row is multiplied by the weights of the later ones.
func MulInactive(f []float64, k *linalg.Sym, active []int, alpha []float64) {
	clear(f)
	bound, next := blas.Bound(), 0 // next: place in active of the first active site >= i
	for i := 0; i < len(f)-1 && len(active) < len(f); i++ {
		later := k.Row(i)[1:]
		if next < len(active) && active[next] == i {
			bound.Daxpy(len(later), alpha[i], later, 1, f[i+1:], 1)
			next++
			continue
		}
		f[i] += bound.Ddot(len(later), later, 1, alpha[i+1:], 1)
	}
}
