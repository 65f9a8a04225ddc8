package model

import (
	"bootbench/kernel"
)

// notStandardized is the warning for sparse data that were to be standardised.
const notStandardized = "sparse features are taken as they are: to subtract their means would fill the matrix"

// prepareSparse is prepare for sparse inputs, which are never standardised.
func (m *Model) prepareSparse() (err error) {
	if m.Standardize {
		m.Standardize = false
		m.notes = append(m.notes, notStandardized)
	}
	m.inputs, err = m.Kernel.PrepareSparse(kernel.CSR(*m.Set.Sparse.Gather(m.First)))
	return err
}
