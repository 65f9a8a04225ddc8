package dataset

// Matrix is a dense row-major matrix. Its fields are those of gonum's
// blas64.General, so that blas64.General(m) is a plain conversion. Matrices
// made by this package have Stride = Cols.
type Matrix struct {
	Rows, Cols int
	Data       []float64
	Stride     int
}

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

// Gather copies the rows with the given numbers (from 0), in that order, into
// a new matrix. With the list first of Distinct it is the matrix of distinct
// inputs.
func (m Matrix) Gather(rows []int) Matrix {
	g := NewMatrix(len(rows), m.Cols)
	for k, i := range rows {
		copy(g.Row(k), m.Row(i))
	}
	return g
}
