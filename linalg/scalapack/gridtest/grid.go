// Package gridtest has a scalapack.Grid of goroutines in one process, for tests. A factorisation gathers the
// matrix on every rank, uses the backend's, and keeps this rank's part.
package gridtest

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
)

// grid is one rank; channels[from][to] joins two.
type grid struct {
	channels         [][]chan any
	rank, rows, cols int
}

// NewServants are rows x cols ranks, goroutines that serve until End.
func NewServants(rows, cols int, source func(text []byte) (linalg.Blocks, error)) *scalapack.Servants {
	channels := make([][]chan any, rows*cols)
	for from := range channels {
		for range channels {
			channels[from] = append(channels[from], make(chan any, 1))
		}
	}
	for rank := 1; rank < rows*cols; rank++ {
		go scalapack.Serve(&grid{channels, rank, rows, cols}, source)
	}
	return scalapack.NewServants(&grid{channels, 0, rows, cols})
}

// exchange returns the values of all ranks.
func (g *grid) exchange(v any) []any {
	all := make([]any, len(g.channels))
	for to := range all {
		g.channels[g.rank][to] <- v
	}
	for from := range all {
		all[from] = <-g.channels[from][g.rank]
	}
	return all
}

func (g *grid) Rank() int               { return g.rank }
func (g *grid) PerNode() int            { return len(g.channels) }
func (g *grid) Shape() (rows, cols int) { return g.rows, g.cols }
func (g *grid) End()                    {}

func (g *grid) Most(value int64) int64 {
	for _, v := range g.exchange(value) {
		value = max(value, v.(int64))
	}
	return value
}

func (g *grid) Reduce(x []float64) {
	sum := make([]float64, len(x))
	for _, v := range g.exchange(x) {
		for i, part := range v.([]float64) {
			sum[i] += part
		}
	}
	g.exchange(nil) // all have read
	for i := range x {
		if x[i] = math.NaN(); g.rank == 0 { // undefined on other ranks
			x[i] = sum[i]
		}
	}
}

func (g *grid) Broadcast(text []byte, from int) []byte { return g.exchange(text)[from].([]byte) }

// eachPlace calls f for every element of the lower triangle: its rank and its positions in the matrix,
// row-major, and in the rank's part, column-major.
func (g *grid) eachPlace(n, block int, f func(rank, whole, part int)) {
	length := make([]int, len(g.channels)) // of the parts so far
	for j := range n {
		for i := range n {
			rank := i/block%g.rows*g.cols + j/block%g.cols
			if i >= j {
				f(rank, i*n+j, length[rank])
			}
			length[rank]++
		}
	}
}

// inWhole applies f to the whole lower triangle.
func (g *grid) inWhole(n, block int, a []float64, f func(gblas.Uplo, int, []float64, int) int) int {
	parts := g.exchange(slices.Clone(a))
	whole := make([]float64, n*n)
	g.eachPlace(n, block, func(rank, w, p int) { whole[w] = parts[rank].([]float64)[p] })
	result := f(gblas.Lower, n, whole, n)
	g.eachPlace(n, block, func(rank, w, p int) {
		if rank == g.rank {
			a[p] = whole[w]
		}
	})
	return result
}

func (g *grid) Potrf(n, block int, a []float64, _ int) int {
	return g.inWhole(n, block, a, blas.Bound().Potrf)
}

func (g *grid) Trtri(n, block int, a []float64, _ int) int {
	return g.inWhole(n, block, a, blas.Bound().Trtri)
}

func (g *grid) Lauum(n, block int, a []float64, _ int) {
	g.inWhole(n, block, a, func(uplo gblas.Uplo, n int, a []float64, lda int) int {
		blas.Bound().Lauum(uplo, n, a, lda)
		return 0
	})
}
