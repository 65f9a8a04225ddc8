package model

import (
	"errors"
	"fmt"

	"bootbench/gp"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/loss"
)

// checkScaLAPACK refuses what cannot be spread over ranks.
func (s *Spec) checkScaLAPACK() error {
	switch {
	case s.Storage != ScaLAPACK:
		return nil
	case s.Grid == nil:
		return errors.New("the scalapack engine needs a program built with MPI: go build -tags openblas,mpi (doc/cluster.md), run by mpirun")
	case s.Kernel.Kind == kernel.Precomputed:
		return errors.New("the scalapack engine makes the kernel matrix from inputs, a precomputed one is whole on every rank")
	case s.Bias:
		return errors.New("the scalapack engine has no bias: take --engine exact or lowrank, or a large --constant")
	case s.Block < 0:
		return fmt.Errorf("blocks of %d x %d", s.Block, s.Block)
	}
	return nil
}

// spread makes the form of the kernel matrix whose parts stand on different ranks.
func (m *Model) spread() (err error) {
	if err := m.checkAlike(); err != nil {
		return err
	}
	m.Spread, err = dist.NewBlockCyclic(m.Grid, m.training(), m.Block, m.vectorBytes(), m.MaxBytes)
	if err != nil {
		return err
	}
	return m.Spread.Check()
}

// blocks is what a kernel matrix over ranks, and training on its rows, need.
type blocks interface {
	kernel.Training
	linalg.Blocks
}

func (m *Model) training() blocks {
	if m.sparse != nil {
		return m.sparse
	}
	return m.inputs
}

// checkAlike refuses ranks that have read different data.
func (m *Model) checkAlike() error {
	own := m.Set.Digest()
	first := string(m.Grid.BroadcastBytes([]byte(own), 0))
	var err error
	if own != first {
		err = errors.New("these data are not those of rank 0")
	}
	return dist.AllErr(m.Grid, err, ErrInput)
}

// fitSpread is FullFit on ranks. The predictor of the square loss is G (d o y) at
// d = count/noise. Others are trained by rank 0 on all of K, if that fits into its memory.
func (m *Model) fitSpread() ([]float64, error) {
	if square, ok := m.Loss.(loss.Square); ok {
		count, mean := m.targets()
		return gp.FitByEngine(m.Spread, square.Noise, count, mean)
	}
	f := make([]float64, m.Sites())
	var err error
	if m.Grid.Rank() == 0 {
		var own []float64
		own, err = m.fitAlone()
		copy(f, own)
	}
	if err := dist.AllErr(m.Grid, err, ErrInput); err != nil {
		return nil, err
	}
	m.Grid.Broadcast(f, 0)
	return f, nil
}

// fitAlone is FullFit on this rank alone.
func (m *Model) fitAlone() ([]float64, error) {
	alone := *m
	alone.Spec.Storage, alone.Spread = Exact, nil
	what := fmt.Sprintf("the fit to all data, which needs the whole kernel matrix of %d distinct inputs on rank 0 for this loss,", m.Sites())
	if err := linalg.CheckMemory(alone.exactBytes(), m.MaxBytes, what); err != nil {
		return nil, err
	}
	if err := alone.gram(); err != nil {
		return nil, err
	}
	return alone.fitted()
}
