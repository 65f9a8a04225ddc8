package kernel

import (
	"fmt"
	"math"
)

// CSR is a sparse matrix in compressed rows. Row i holds the entries
// Start[i] to Start[i+1]-1: entry k is Value[k] in column Index[k], counted from
// 0. Columns ascend within a row; what is not stored is zero.
type CSR struct {
	Rows, Cols int
	Start      []int // length Rows+1, from 0
	Index      []int32
	Value      []float64
}

// Row is row i (from 0): its columns and their values, views.
func (x CSR) Row(i int) (index []int32, value []float64) {
	first, end := x.Start[i], x.Start[i+1]
	return x.Index[first:end], x.Value[first:end]
}

// Check reports the first thing wrong with x: lengths that do not fit, columns
// that do not ascend or lie outside, values that are not finite.
func (x CSR) Check() error {
	if x.Rows < 0 || x.Cols < 0 || len(x.Start) != x.Rows+1 || x.Start[0] != 0 {
		return fmt.Errorf("%d row starts do not make a sparse matrix of %d x %d", len(x.Start), x.Rows, x.Cols)
	}
	for i := range x.Rows {
		if x.Start[i+1] < x.Start[i] {
			return fmt.Errorf("sparse row %d ends before it starts", i+1)
		}
	}
	if end := x.Start[x.Rows]; end != len(x.Index) || end != len(x.Value) {
		return fmt.Errorf("a sparse matrix of %d entries has %d columns and %d values", end, len(x.Index),
			len(x.Value))
	}
	for i := range x.Rows {
		index, value := x.Row(i)
		previous := -1
		for k, c := range index {
			if int(c) <= previous || int(c) >= x.Cols {
				return fmt.Errorf("sparse row %d: column %d after %d, of %d columns, which must ascend", i+1, int(c)+1,
					previous+1, x.Cols)
			}
			previous = int(c)
			if math.IsNaN(value[k]) || math.IsInf(value[k], 0) {
				return fmt.Errorf("input row %d, feature %d is %v", i+1, int(c)+1, value[k])
			}
		}
	}
	return nil
}

// columns is the same matrix in compressed columns: column c holds the entries
// start[c] to start[c+1]-1, rows ascending.
type columns struct {
	start []int
	row   []int32
	value []float64
}

// transpose sorts the entries of x, with the given values, by column.
func transpose(x CSR, value []float64) columns {
	t := columns{start: make([]int, x.Cols+1), row: make([]int32, len(x.Index)),
		value: make([]float64, len(x.Index))}
	for _, c := range x.Index {
		t.start[c+1]++
	}
	for c := range x.Cols {
		t.start[c+1] += t.start[c]
	}
	for i := range x.Rows {
		for k := x.Start[i]; k < x.Start[i+1]; k++ {
			c := x.Index[k]
			place := t.start[c]
			t.row[place], t.value[place] = int32(i), value[k]
			t.start[c]++
		}
	}
	copy(t.start[1:], t.start) // each start has moved to the end of its column
	t.start[0] = 0
	return t
}
