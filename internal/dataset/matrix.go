package dataset

import (
	"strconv"

	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix is a dense row-major matrix. Matrices made by this package have Stride = Cols.
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

func (m Matrix) column(j int) []float64 {
	column := make([]float64, m.Rows)
	for i := range column {
		column[i] = m.At(i, j)
	}
	return column
}

// gather copies the elements of a list with the given numbers; nil stays nil.
func gather[T any](list []T, rows []int) []T {
	if list == nil {
		return nil
	}
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = list[i]
	}
	return some
}

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
// zero, and matrices of this package store no zeros.
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
		m.append(x.Row(i))
	}
	return m
}

func (m *CSR) append(row []float64) {
	for j, v := range row {
		if v != 0 {
			m.Index, m.Value = append(m.Index, int32(j)), append(m.Value, v)
		}
	}
	m.Start = append(m.Start, len(m.Index))
	m.Rows++
}
