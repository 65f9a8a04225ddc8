package linalg

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Design is a design matrix: inputs with the same features, one a row. It is sparse if Sparse is not nil.
type Design struct {
	X      Matrix
	Sparse *CSR
}

// N is the number of inputs.
func (x Design) N() int {
	if x.Sparse != nil {
		return x.Sparse.Rows
	}
	return x.X.Rows
}

// D is the number of features.
func (x Design) D() int {
	if x.Sparse != nil {
		return x.Sparse.Cols
	}
	return x.X.Cols
}

// Stored is a view of the features of input i; of a sparse one, of those that are not zero.
func (x Design) Stored(i int) []float64 {
	if x.Sparse != nil {
		_, values := x.Sparse.Row(i)
		return values
	}
	return x.X.Row(i)
}

// Gather copies the inputs with the given numbers (from 0), in that order.
func (x Design) Gather(rows []int) Design {
	if x.Sparse != nil {
		return Design{Sparse: x.Sparse.Gather(rows)}
	}
	return Design{X: x.X.Gather(rows)}
}

// Check reports the first error: a shape that does not match the data, columns of a sparse row that do not
// ascend or are out of range, values that are not finite.
func (x Design) Check() error {
	check := x.X.Check
	if x.Sparse != nil {
		check = x.Sparse.check
	}
	if err := check(); err != nil {
		return err
	}
	for i := range x.N() {
		for k, v := range x.Stored(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				if x.Sparse != nil {
					k = int(x.Sparse.Index[x.Sparse.Start[i]+k])
				}
				return fmt.Errorf("input row %d, feature %d is %v", i+1, k+1, v)
			}
		}
	}
	return nil
}

// Matrix is a dense row-major matrix. Matrices made by its functions have Stride = Cols.
type Matrix blas64.General

// NewMatrix returns a zero matrix of rows x cols, both >= 0.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols), Stride: cols}
}

// Row is row i (from 0), a view of length Cols.
func (m Matrix) Row(i int) []float64 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// At is element (i, j), counted from 0.
func (m Matrix) At(i, j int) float64 { return m.Row(i)[j] }

// Dims and T make m a mat.Matrix of gonum.
func (m Matrix) Dims() (rows, cols int) { return m.Rows, m.Cols }
func (m Matrix) T() mat.Matrix          { return mat.Transpose{Matrix: m} }

// Gather copies the rows with the given numbers (from 0), in that order, into a new matrix.
func (m Matrix) Gather(rows []int) Matrix {
	g := NewMatrix(len(rows), m.Cols)
	for k, i := range rows {
		copy(g.Row(k), m.Row(i))
	}
	return g
}

// CSR is a sparse matrix in compressed rows. Row i holds the entries Start[i] to Start[i+1]-1: entry k is
// Value[k] in column Index[k], counted from 0. Columns ascend within a row; entries that are not stored are
// zero, and NewCSR and Append store no zeros.
type CSR struct {
	Rows  int       `json:"rows"`
	Cols  int       `json:"cols"`
	Start []int     `json:"start"` // length Rows+1, from 0
	Index []int32   `json:"index"`
	Value []float64 `json:"value"`
}

// Row is row i (from 0): its columns and their values, views.
func (m *CSR) Row(i int) (index []int32, value []float64) {
	first, end := m.Start[i], m.Start[i+1]
	return m.Index[first:end:end], m.Value[first:end:end]
}

// AppendRow appends row i to a text in LIBSVM's format: for each entry a blank, its column from 1, a colon
// and its value in the shortest form that reads back unchanged.
func (m *CSR) AppendRow(text []byte, i int) []byte {
	index, value := m.Row(i)
	for k, j := range index {
		text = append(strconv.AppendInt(append(text, ' '), int64(j)+1, 10), ':')
		text = strconv.AppendFloat(text, value[k], 'g', -1, 64)
	}
	return text
}

// Gather copies the rows with the given numbers (from 0), in that order, into a new matrix.
func (m *CSR) Gather(rows []int) *CSR {
	g := &CSR{Rows: len(rows), Cols: m.Cols, Start: make([]int, 1, len(rows)+1)}
	for _, i := range rows {
		index, value := m.Row(i)
		g.Index, g.Value = append(g.Index, index...), append(g.Value, value...)
		g.Start = append(g.Start, len(g.Index))
	}
	return g
}

// Dense spreads the entries over a matrix of 8 Rows Cols bytes.
func (m *CSR) Dense() Matrix {
	x := NewMatrix(m.Rows, m.Cols)
	for i := range m.Rows {
		to := x.Row(i)
		index, value := m.Row(i)
		for k, c := range index {
			to[c] = value[k]
		}
	}
	return x
}

// NewCSR stores the nonzero entries of a dense matrix.
func NewCSR(x Matrix) *CSR {
	m := &CSR{Cols: x.Cols, Start: []int{0}}
	for i := range x.Rows {
		m.Append(x.Row(i))
	}
	return m
}

// Append appends a row of Cols numbers.
func (m *CSR) Append(row []float64) {
	for j, v := range row {
		if v != 0 {
			m.Index, m.Value = append(m.Index, int32(j)), append(m.Value, v)
		}
	}
	m.Start = append(m.Start, len(m.Index))
	m.Rows++
}

// Check reports a shape that does not match the data.
func (m Matrix) Check() error {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols ||
		m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		return fmt.Errorf("%d numbers do not hold %d x %d with stride %d", len(m.Data), m.Rows, m.Cols,
			m.Stride)
	}
	return nil
}

// check reports lengths that do not match, and columns that do not ascend or are out of range.
func (m *CSR) check() error {
	if m.Rows < 0 || m.Cols < 0 || len(m.Start) != m.Rows+1 || m.Start[0] != 0 {
		return fmt.Errorf("%d row starts do not make a sparse matrix of %d x %d", len(m.Start), m.Rows,
			m.Cols)
	}
	for i := range m.Rows {
		if m.Start[i+1] < m.Start[i] {
			return fmt.Errorf("sparse row %d ends before it starts", i+1)
		}
	}
	if end := m.Start[m.Rows]; end != len(m.Index) || end != len(m.Value) {
		return fmt.Errorf("a sparse matrix of %d entries has %d columns and %d values", end, len(m.Index),
			len(m.Value))
	}
	for i := range m.Rows {
		index, _ := m.Row(i)
		previous := -1
		for _, c := range index {
			if int(c) <= previous || int(c) >= m.Cols {
				return fmt.Errorf("sparse row %d: column %d after %d, of %d columns, which must ascend", i+1,
					int(c)+1, previous+1, m.Cols)
			}
			previous = int(c)
		}
	}
	return nil
}
