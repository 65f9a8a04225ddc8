package scalapack

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/internal/core"
)

// BlockCyclic is a Kernel whose ranks each compute their part when it is needed, from data that all have: K
// is neither stored nor sent. It holds this rank's part of the lower triangle of its engine, so that only one
// engine may be in use at a time.
//
// Exported methods are for rank 0 and order the servants to do their part. The others run on all ranks.
type BlockCyclic struct {
	grid       Grid
	source     linalg.Blocks
	n, block   int
	diag       []float64 // K_ii
	rows, cols []int     // of the matrix that are in this rank's part, ascending
	below      []int     // for each column of the part: its first row below the diagonal
	stride     int
	part       []float64 // this rank's part, column-major; zero above the diagonal
	checked    bool
	servants   *Servants // nil on a servant
	engine     *engine   // the newest
}

const (
	DefaultBlock = 128           // edge of the blocks
	maxNumbers   = math.MaxInt32 // of a part, which ScaLAPACK's 32-bit integers can address
	fillColumns  = 256           // of a part, which are computed at a time
	nowhere      = math.MaxInt64 // the position of no element
)

// blockCyclicBytes is Servants.Bytes.
func blockCyclicBytes(g Grid, n, block int) int64 {
	rows, cols := ownedRows(g, 0, n, cmp.Or(block, DefaultBlock))
	r, c := int64(len(rows)), int64(len(cols))
	return 8 * (r*c + 8*int64(n) + core.Lanes*r + 2*c)
}

// ownedRows lists the rows and columns of a rank's part. That of rank 0 is the largest.
func ownedRows(g Grid, rank, n, block int) (rows, cols []int) {
	height, width := g.Shape()
	return ownedIndices(n, block, height, rank/width), ownedIndices(n, block, width, rank%width)
}

// ownedIndices lists the rows (columns) of rank row (column) number which of count.
func ownedIndices(n, block, count, which int) (list []int) {
	for first := which * block; first < n; first += count * block {
		for i := first; i < min(n, first+block); i++ {
			list = append(list, i)
		}
	}
	return list
}

// newBlockCyclic is this rank's part of Servants.Matrix; failed is the error of its source.
func newBlockCyclic(g Grid, source linalg.Blocks, failed error, block int, besides, limit int64) (
	*BlockCyclic, error) {
	if err := agree(g, failed, nil); err != nil {
		return nil, err
	}
	block = cmp.Or(block, DefaultBlock)
	n := source.N()
	if block < 1 {
		return nil, fmt.Errorf("blocks of %d x %d", block, block)
	}
	if err := agree(g, checkParts(g, n, block, besides, limit), linalg.ErrMemory); err != nil {
		return nil, err
	}
	k := &BlockCyclic{grid: g, source: source, n: n, block: block}
	k.rows, k.cols = ownedRows(g, g.Rank(), n, block)
	k.stride, k.diag, k.below = max(1, len(k.rows)), make([]float64, n), make([]int, len(k.cols))
	k.part = make([]float64, max(1, k.stride*len(k.cols))) // not empty: libraries may want its address
	if err := agree(g, source.GramDiagonal(k.diag), nil); err != nil {
		return nil, err
	}
	for c, j := range k.cols {
		k.below[c] = sort.SearchInts(k.rows, j+1)
	}
	return k, nil
}

func checkParts(g Grid, n, block int, besides, limit int64) error {
	rows, cols := ownedRows(g, 0, n, block)
	if most := len(rows) * len(cols); most > maxNumbers {
		return fmt.Errorf("%w: a part of %d numbers on each of %d ranks, ScaLAPACK's 32-bit integers count "+
			"to %d: take at least %d ranks",
			linalg.ErrMemory, most, size(g), int64(maxNumbers), int64(n)*int64(n)/maxNumbers+1)
	}
	node := int64(g.PerNode())
	return linalg.CheckMemory(node*(blockCyclicBytes(g, n, block)+besides), limit,
		fmt.Sprintf("a matrix of order %d over %d ranks, %d on this machine,", n, size(g), node))
}

func (k *BlockCyclic) N() int { return k.n }

// At is element (i, j), recomputed unless it is on the diagonal.
func (k *BlockCyclic) At(i, j int) float64 {
	if i == j {
		return k.diag[i]
	}
	var v [1]float64
	k.source.Block(v[:], 1, []int{max(i, j)}, []int{min(i, j)})
	return v[0]
}

// Check reports an element that is not finite, or a diagonal element below zero. It computes the matrix once.
func (k *BlockCyclic) Check() error {
	for i, v := range k.diag {
		if err := linalg.CheckDiagonal(i, v); err != nil {
			return err
		}
	}
	if k.checked {
		return nil
	}
	err := k.together(order{Op: opCheck}, nil)
	k.checked = err == nil
	return err
}

// fill writes the lower triangle of B = I + r K r, and zero above it. An element of K that is not finite is
// an *EntryError.
func (k *BlockCyclic) fill(r []float64) error {
	bad := int64(nowhere)
	for c0 := 0; c0 < len(k.cols); c0 += fillColumns {
		c1 := min(c0+fillColumns, len(k.cols))
		r0 := sort.SearchInts(k.rows, k.cols[c0])
		if r0 == len(k.rows) {
			break
		}
		k.source.Block(k.part[c0*k.stride+r0:], k.stride, k.cols[c0:c1], k.rows[r0:])
		places := make([]int64, c1-c0)
		core.Parallel(c1-c0, func(task int) {
			places[task] = k.finishColumn(c0+task, r0, r)
		})
		bad = min(bad, slices.Min(places))
	}
	// The largest value over the ranks is the first bad element's.
	if bad = nowhere - k.grid.Most(nowhere-bad); bad < nowhere {
		i, j := int(bad%int64(k.n)), int(bad/int64(k.n))
		return &linalg.EntryError{I: j, J: i, Value: k.At(i, j)}
	}
	return nil
}

// finishColumn maps elements of K, from row r0 of the part on, to elements of B in the lower triangle, and
// clears the rest. It returns the position, by columns, of the first element that is not finite, or nowhere.
func (k *BlockCyclic) finishColumn(c, r0 int, r []float64) (bad int64) {
	j, column := k.cols[c], k.column(c)
	clear(column[r0:k.below[c]])
	if at, own := k.diagonal(c); own {
		column[at] = 1 + r[j]*r[j]*k.diag[j]
	}
	bad = nowhere
	for p := k.below[c]; p < len(column); p++ {
		if v := column[p]; v-v != 0 {
			bad = min(bad, int64(j)*int64(k.n)+int64(k.rows[p]))
		}
		column[p] *= r[j] * r[k.rows[p]]
	}
	return bad
}

func (k *BlockCyclic) column(c int) []float64 {
	return k.part[c*k.stride : c*k.stride+len(k.rows)]
}

// diagonal is the row of the part at which column c meets the diagonal, if that is in the part.
func (k *BlockCyclic) diagonal(c int) (at int, own bool) {
	at = k.below[c] - 1
	return at, at >= 0 && k.rows[at] == k.cols[c]
}

// Submatrix is the principal submatrix of the listed sites, recomputed.
func (k *BlockCyclic) Submatrix(sites []int) blas64.General {
	n := len(sites)
	a := blas64.General{Rows: n, Cols: n, Stride: max(1, n), Data: make([]float64, n*n)}
	k.source.Block(a.Data, a.Stride, sites, sites)
	for i, site := range sites {
		core.Row(a, i)[i] = k.diag[site]
	}
	return a
}

// Engine is the distributed engine on k. It replaces the previous one.
func (k *BlockCyclic) Engine() linalg.Engine {
	k.together(order{Op: opEngine}, nil)
	return k.engine
}
