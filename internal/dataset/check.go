package dataset

import "fmt"

// CheckInputs reports the first error in inputs that no reader made: a shape that does not match the data,
// columns of a sparse row that do not ascend or are out of range, values that are not finite.
func (s *Set) CheckInputs() error {
	check := s.X.Check
	if s.Sparse != nil {
		check = s.Sparse.check
	}
	if err := check(); err != nil {
		return err
	}
	for i := range s.N() {
		for k, v := range s.Stored(i) {
			if checkFinite(v) != nil {
				if s.Sparse != nil {
					k = int(s.Sparse.Index[s.Sparse.Start[i]+k])
				}
				return fmt.Errorf("input row %d, feature %d is %v", i+1, k+1, v)
			}
		}
	}
	return nil
}

// Stored is a view of the features of example i; of sparse inputs, the nonzero ones.
func (s *Set) Stored(i int) []float64 {
	if s.Sparse != nil {
		_, values := s.Sparse.Row(i)
		return values
	}
	return s.X.Row(i)
}

// Check reports a shape that does not match the data.
func (m Matrix) Check() error {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols ||
		m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		return fmt.Errorf("%d numbers do not hold %d x %d with stride %d", len(m.Data), m.Rows, m.Cols, m.Stride)
	}
	return nil
}

// check reports lengths that do not match, and columns that do not ascend or are out of range.
func (m *CSR) check() error {
	if m.Rows < 0 || m.Cols < 0 || len(m.Start) != m.Rows+1 || m.Start[0] != 0 {
		return fmt.Errorf("%d row starts do not make a sparse matrix of %d x %d", len(m.Start), m.Rows, m.Cols)
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
				return fmt.Errorf("sparse row %d: column %d after %d, of %d columns, which must ascend", i+1, int(c)+1,
					previous+1, m.Cols)
			}
			previous = int(c)
		}
	}
	return nil
}
