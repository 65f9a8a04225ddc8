package svm

import (
	"fmt"
	"math"

	"bootbench/linalg"
)

// square is K with both triangles, row by row.
type square struct {
	n    int
	data []float64
}

// newSquare copies k, in blocks of rows and in parallel. It refuses elements
// that are not finite and negative ones on the diagonal.
func newSquare(k *linalg.Sym) (*square, error) {
	n := k.N()
	s := &square{n: n, data: make([]float64, n*n)}
	blocks := (n + tile - 1) / tile
	bad := make([]error, blocks)
	linalg.Parallel(blocks, func(b int) { bad[b] = s.fill(k, b*tile, min(n, (b+1)*tile)) })
	for _, err := range bad {
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// tile is the side of the blocks that are transposed at a time.
const tile = 32

// fill copies rows first to last-1 and checks the upper triangle there.
func (s *square) fill(k *linalg.Sym, first, last int) error {
	from := k.Raw()
	for left := 0; left < first; left += tile {
		for i := first; i < last; i++ {
			to := s.row(i)[left : left+tile]
			for j := range to {
				to[j] = from.Data[(left+j)*from.Stride+i]
			}
		}
	}
	for i := first; i < last; i++ {
		upper := s.row(i)[i:]
		copy(upper, k.Row(i))
		for j, v := range upper {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("kernel element (%d, %d) is %v", i+1, i+j+1, v)
			}
		}
		if upper[0] < 0 {
			return fmt.Errorf("kernel element (%d, %d) is %v: the matrix is not positive semidefinite", i+1, i+1, upper[0])
		}
		for j := i + 1; j < last; j++ {
			s.data[j*s.n+i] = upper[j-i]
		}
	}
	return nil
}

// row is row i of K.
func (s *square) row(i int) []float64 { return s.data[i*s.n : (i+1)*s.n] }

// rows is K between the active sites. A row is gathered from the whole matrix
// when it is first asked for; with all sites active nothing is.
type rows struct {
	n        int
	whole    *square
	active   []int // the sites, ascending
	all      bool
	gathered []bool
	data     []float64
	diag     []float64 // K_ii
}

// choose makes the listed sites the active ones.
func (r *rows) choose(active []int) {
	r.n, r.active, r.all = len(active), active, len(active) == r.whole.n
	r.diag = grow(r.diag, r.n)
	for p, i := range active {
		r.diag[p] = r.whole.data[i*r.whole.n+i]
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
		return r.whole.row(i)
	}
	row := r.data[i*r.n : (i+1)*r.n]
	if !r.gathered[i] {
		r.gathered[i] = true
		from := r.whole.row(r.active[i])
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
