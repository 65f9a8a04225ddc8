package model

import (
	"errors"
	"fmt"

	"bootbench/internal/gp"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/loss"
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
func (m *Model) spread() (linalg.Kernel, error) {
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

// fitSpread is FullFit on a matrix that is spread. The predictor of the square loss is G (d o y) at
// d = count/noise. Others are trained on all of K, if that fits into this machine's memory.
func (m *Model) fitSpread() ([]float64, error) {
	if square, ok := m.Loss.(loss.Square); ok {
		count, mean := m.targets()
		return gp.FitByEngine(m.K, square.Noise, count, mean)
	}
	whole := *m
	whole.Spec.Storage, whole.K = Exact, (*linalg.Sym)(nil)
	what := fmt.Sprintf("the fit to all data, which needs the whole kernel matrix of %d distinct inputs for "+
		"this loss,",
		m.Sites())
	if err := linalg.CheckMemory(whole.Forecast().exactBytes(), m.MaxBytes, what); err != nil {
		return nil, err
	}
	var err error
	if whole.K, err = (choice{&whole}).whole(); err != nil {
		return nil, err
	}
	return whole.fitted()
}

var errNotWhole = InputError(errors.New(
	"a kernel matrix that is spread over ranks is nowhere whole: take another engine, or one process"))
