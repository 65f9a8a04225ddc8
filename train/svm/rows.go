package svm

import (
	"errors"
	"math"
	"sync/atomic"

	"bootbench/linalg"
	"bootbench/train/internal/workspace"

	"gonum.org/v1/gonum/floats"
)

// Rows is a kernel matrix of order N in full rows, which goroutines may share. A row is gathered from the
// stored triangle at its first use, and kept: gathering all would cost more than a short training.
type Rows struct {
	k    *linalg.Sym
	full []atomic.Pointer[[]float64]
}

// NewRows is the Rows of k, which must not change afterwards: at most 8 N^2 bytes. An element that is not
// finite, a negative diagonal element, and rows that would not fit into memory are errors.
func NewRows(k *linalg.Sym) (*Rows, error) {
	if k == nil {
		return nil, errors.New("there is no kernel matrix")
	}
	n := int64(k.N())
	if err := linalg.CheckMemory(8*n*n, 0, "the rows of the kernel matrix for training"); err != nil {
		return nil, err
	}
	return &Rows{k: k, full: make([]atomic.Pointer[[]float64], k.N())}, k.Check()
}

// N is the order, and Diag is K_ii.
func (m *Rows) N() int             { return m.k.N() }
func (m *Rows) Diag(i int) float64 { return m.k.At(i, i) }

// Row is row i of K, read-only. Several goroutines may gather the same row at once.
func (m *Rows) Row(i int) []float64 {
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

// rows is K between the active sites, those that hold examples. A row is gathered at its first use; with all
// sites active it is a row of the Rows.
type rows struct {
	whole    *Rows
	active   []int // the sites, ascending
	gathered []bool
	data     []float64
	stride   int
	diag     []float64 // K_ii
}

// prepare makes room for the rows between the active sites.
func (r *rows) prepare() {
	n, m := len(r.active), r.whole.N()
	r.diag = workspace.Resize(r.diag, n)
	for p, i := range r.active {
		r.diag[p] = r.whole.Diag(i)
	}
	if n < m {
		r.stride = workspace.ResizeSquare(&r.data, n, m)
		r.gathered = workspace.Resize(r.gathered, n)
		clear(r.gathered)
	}
}

// row is row i of K between the active sites.
func (r *rows) row(i int) []float64 {
	n := len(r.active)
	if n == r.whole.N() {
		return r.whole.Row(i)
	}
	row := r.data[i*r.stride : i*r.stride+n]
	if !r.gathered[i] {
		r.gathered[i] = true
		from := r.whole.Row(r.active[i])
		for p, j := range r.active {
			row[p] = from[j]
		}
	}
	return row
}

// RadiusSquared is the R^2 of leave-one-out bounds (theory 12): max K_ii, and with a bias max K_ii - min
// K_ij, half the square of a distance that no two inputs exceed in feature space.
func (m *Rows) RadiusSquared(bias bool) float64 {
	largest, least := 0.0, math.Inf(1)
	for i := range m.N() {
		largest = max(largest, m.Diag(i))
		if bias {
			least = min(least, floats.Min(m.k.Row(i))) // from the diagonal on
		}
	}
	if bias {
		return largest - least
	}
	return largest
}
