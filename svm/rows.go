package svm

import (
	"fmt"
	"math"
	"sync/atomic"

	"bootbench/linalg"
)

// Rows is a kernel matrix of order N, handed out row by row. A row that was
// asked for stays valid until at least KeptRows others have been; nobody writes
// to it. One Rows serves one goroutine, unless it has a method Another() Rows
// that makes one for another goroutine.
type Rows interface {
	N() int
	Row(i int) []float64 // K_i0 ... K_i,N-1
	Diag(i int) float64  // K_ii
}

// KeptRows is how many rows of a Rows a training holds at a time.
const KeptRows = 8

// denseRows is the Rows of a matrix stored in one triangle. A row is gathered when
// it is first asked for, and kept: first use of memory is what a short training
// would pay most for. Any number of goroutines may share it.
type denseRows struct {
	k    *linalg.Sym
	full []atomic.Pointer[[]float64]
}

// NewRows is the Rows of k, which must not change any more. Any number of
// goroutines may share it. It gathers the rows in full as they are asked for, at
// most 8 N^2 bytes, and keeps them. An element that is not finite, or a negative
// one on the diagonal, is an error; so are rows that would not fit into memory.
func NewRows(k *linalg.Sym) (Rows, error) {
	n := int64(k.N())
	if err := linalg.CheckMemory(8*n*n, 0, "the rows of the kernel matrix for training"); err != nil {
		return nil, err
	}
	m, err := newDenseRows(k)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// newDenseRows checks k. It refuses elements that are not finite and negative
// ones on the diagonal.
func newDenseRows(k *linalg.Sym) (*denseRows, error) {
	n := k.N()
	blocks := (n + tile - 1) / tile
	bad := make([]error, blocks)
	check := func(b int) {
		for i := b * tile; i < min(n, (b+1)*tile) && bad[b] == nil; i++ {
			bad[b] = checkRow(k, i)
		}
	}
	if n > smallMatrix {
		linalg.Parallel(blocks, check)
	} else {
		for b := range blocks {
			check(b)
		}
	}
	for _, err := range bad {
		if err != nil {
			return nil, err
		}
	}
	return &denseRows{k: k, full: make([]atomic.Pointer[[]float64], n)}, nil
}

// tile is the number of rows that one task checks, and smallMatrix the order up
// to which one goroutine is faster.
const (
	tile        = 32
	smallMatrix = 1024
)

// checkRow reports what is wrong with the upper part of row i.
func checkRow(k *linalg.Sym, i int) error {
	row := k.Row(i)
	if row[0] < 0 {
		return fmt.Errorf("kernel element (%d, %d) is %v: the matrix is not positive semidefinite", i+1, i+1, row[0])
	}
	if finite(row) {
		return nil
	}
	for j, v := range row {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("kernel element (%d, %d) is %v", i+1, i+j+1, v)
		}
	}
	return nil
}

// finite reports whether all of x is: v - v is 0 for such and NaN for others.
func finite(x []float64) bool {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += x[0] - x[0]
		b += x[1] - x[1]
		c += x[2] - x[2]
		d += x[3] - x[3]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}

func (m *denseRows) N() int { return m.k.N() }

func (m *denseRows) Diag(i int) float64 { return m.k.At(i, i) }

func (m *denseRows) Clone() Rows { return m }

// Row is row i of K. Two goroutines that ask for it first may both gather it;
// what they gather is the same.
func (m *denseRows) Row(i int) []float64 {
	if row := m.full[i].Load(); row != nil {
		return *row
	}
	row := make([]float64, m.k.N())
	from := m.k.Raw()
	for j, at := 0, i; j < i; j, at = j+1, at+from.Stride {
		row[j] = from.Data[at]
	}
	copy(row[i:], m.k.Row(i))
	m.full[i].Store(&row)
	return row
}

// rows is K between the active sites. A row is gathered from the whole matrix
// when it is first asked for; with all sites active nothing is.
type rows struct {
	n        int
	whole    Rows
	active   []int // the sites, ascending
	all      bool
	gathered []bool
	data     []float64
	diag     []float64 // K_ii
}

// choose makes the listed sites the active ones.
func (r *rows) choose(active []int) {
	r.n, r.active, r.all = len(active), active, len(active) == r.whole.N()
	r.diag = grow(r.diag, r.n)
	for p, i := range active {
		r.diag[p] = r.whole.Diag(i)
	}
	if !r.all {
		r.data = grow(r.data, r.n*r.n)
		r.gathered = grow(r.gathered, r.n)
		clear(r.gathered)
	}
}

// row is row i of K between the active sites.
func (r *rows) row(i int) []float64 {
	if r.all {
		return r.whole.Row(i)
	}
	row := r.data[i*r.n : (i+1)*r.n]
	if !r.gathered[i] {
		r.gathered[i] = true
		from := r.whole.Row(r.active[i])
		for p, j := range r.active {
			row[p] = from[j]
		}
	}
	return row
}

// addRows adds sum_p x_p row(index_p) to dst, four rows at a time. Zero
// coefficients cost nothing.
func addRows(dst []float64, row func(int) []float64, index []int, x []float64) {
	var batch [4][]float64
	var c [4]float64
	m := 0
	for p, v := range x {
		if v == 0 {
			continue
		}
		batch[m], c[m] = row(index[p]), v
		if m++; m == len(batch) {
			addFour(dst, &batch, &c)
			m = 0
		}
	}
	for p := range m {
		addOne(dst, batch[p], c[p])
	}
}

func addFour(dst []float64, row *[4][]float64, x *[4]float64) {
	n := len(dst)
	r0, r1, r2, r3 := row[0][:n], row[1][:n], row[2][:n], row[3][:n]
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for j := range dst {
		dst[j] += (x0*r0[j] + x1*r1[j]) + (x2*r2[j] + x3*r3[j])
	}
}

func addOne(dst, row []float64, x float64) {
	row = row[:len(dst)]
	for j := range dst {
		dst[j] += x * row[j]
	}
}
