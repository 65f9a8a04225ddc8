package kernel

import (
	"bytes"
	"encoding/gob"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// description is all that prepared inputs follow from.
type description struct {
	Spec   Spec
	Dense  blas64.General
	Sparse *CSR // nil for dense inputs
}

// MarshalBinary describes the covariance function and the inputs, for Unmarshal in another process.
func (in *Inputs) MarshalBinary() ([]byte, error) {
	d := description{Spec: in.spec}
	switch p := in.train.(type) {
	case *densePoints:
		d.Dense = p.raw
	case *sparsePoints:
		d.Sparse = &p.raw
	}
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(d)
	return text.Bytes(), err
}

// Unmarshal prepares the inputs that MarshalBinary has described.
func Unmarshal(text []byte) (linalg.Blocks, error) {
	var d description
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		return nil, err
	}
	if d.Sparse != nil {
		return d.Spec.PrepareSparse(*d.Sparse)
	}
	return d.Spec.Prepare(d.Dense)
}
