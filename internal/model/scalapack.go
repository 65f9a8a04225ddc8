package model

import (
	"errors"
	"fmt"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
)

// checkScaLAPACK refuses what cannot be spread over processes.
func (s *Spec) checkScaLAPACK() error {
	switch {
	case s.Storage != ScaLAPACK:
		return nil
	case s.Servants == nil:
		return dist.ErrServants
	case s.Kernel.Kind == kernel.Precomputed:
		return errors.New("the scalapack engine makes the kernel matrix from inputs: a precomputed one is whole " +
			"already")
	case s.Bias:
		return errors.New("the scalapack engine has no bias: take --engine exact or lowrank, or a large --constant")
	case s.Block < 0:
		return fmt.Errorf("blocks of %d x %d", s.Block, s.Block)
	}
	return nil
}

// spread has the servants hold the kernel matrix.
func (m choice) spread() (linalg.Kernel, error) {
	text, err := m.inputs.MarshalBinary()
	if err != nil {
		return nil, err
	}
	k, err := m.Servants.Matrix(m.inputs, text, m.Block, m.Forecast().vectorBytes(), m.MaxBytes)
	if err != nil {
		return nil, err
	}
	return k, k.Check()
}

var errNotWhole = InputError(errors.New(
	"a kernel matrix that is spread over ranks is nowhere whole: take another engine, or one process"))
