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

// board has a channel from each goroutine to each.
type board [][]chan any

func newBoard(size int) board {
	b := make(board, size)
	for from := range b {
		for range size {
			b[from] = append(b[from], make(chan any, 1))
		}
	}
	return b
}

// exchange returns the values of all ranks.
func (b board) exchange(rank int, v any) []any {
	all := make([]any, len(b))
	for to := range b {
		b[rank][to] <- v
	}
	for from := range b {
		all[from] = <-b[from][rank]
	}
	return all
}

type grid struct {
	board
	rank, rows, cols int
}

func (g *grid) Rank() int               { return g.rank }
func (g *grid) PerNode() int            { return len(g.board) }
func (g *grid) Shape() (rows, cols int) { return g.rows, g.cols }

func (g *grid) Most(value int64) int64 {
	most := value
	for _, v := range g.exchange(g.rank, value) {
		most = max(most, v.(int64))
	}
	return most
}

func (g *grid) End() {}

func (g *grid) Reduce(x []float64) {
	sum := make([]float64, len(x))
	for _, v := range g.exchange(g.rank, x) {
		for i, part := range v.([]float64) {
			sum[i] += part
		}
	}
	g.exchange(g.rank, nil) // all have read
	if g.rank == 0 {
		copy(x, sum)
		return
	}
	for i := range x {
		x[i] = math.NaN() // undefined on other ranks
	}
}

func (g *grid) Broadcast(text []byte, from int) []byte {
	return g.exchange(g.rank, text)[from].([]byte)
}

// indices lists the rows (columns) of n that one of count rank rows has.
func indices(n, block, count, which int) (list []int) {
	for i := range n {
		if i/block%count == which {
			list = append(list, i)
		}
	}
	return list
}

// eachPlace calls f for every element of the lower triangle: its rank and its positions in the matrix,
// row-major, and in the rank's part.
func (g *grid) eachPlace(n, block int, f func(rank, whole, part int)) {
	for rank := range len(g.board) {
		rows := indices(n, block, g.rows, rank/g.cols)
		for c, j := range indices(n, block, g.cols, rank%g.cols) {
			for r, i := range rows {
				if i >= j {
					f(rank, i*n+j, c*max(1, len(rows))+r)
				}
			}
		}
	}
}

// inWhole applies f to the whole lower triangle.
func (g *grid) inWhole(n, block int, a []float64, f func(gblas.Uplo, int, []float64, int) int) int {
	parts := g.exchange(g.rank, slices.Clone(a))
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

// NewServants are rows x cols ranks, goroutines that serve until End.
func NewServants(rows, cols int, source func(text []byte) (linalg.Blocks, error)) *scalapack.Servants {
	b := newBoard(rows * cols)
	for rank := 1; rank < rows*cols; rank++ {
		go func() {
			if err := scalapack.Serve(&grid{b, rank, rows, cols}, source); err != nil {
				panic(err)
			}
		}()
	}
	return scalapack.NewServants(&grid{b, 0, rows, cols})
}
