package model

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
)

// Storage is the form of the kernel matrix.
type Storage int

// Exact stores K, 8 M^2 bytes. LowRank stores K ~ R R' + diag(residual), 8 M r bytes at rank r, and never
// forms K. Auto takes LowRank if it is faster, or only it fits into memory. ScaLAPACK distributes K over
// ranks. Primal has no K: such a model can only be trained, as a perceptron (train/svm.TrainPrimal).
const (
	Exact Storage = iota
	LowRank
	Auto
	ScaLAPACK
	Primal
)

var engineNames = [...]string{"exact", "lowrank", "auto", "scalapack", "primal"}

func (e Storage) String() string {
	if e < 0 || int(e) >= len(engineNames) {
		return fmt.Sprintf("Engine(%d)", int(e))
	}
	return engineNames[e]
}

// checkStorage refuses invalid settings of the kernel matrix.
func (s *Spec) checkStorage() error {
	spread := s.Storage == ScaLAPACK
	switch {
	case s.Storage < 0 || int(s.Storage) >= len(engineNames):
		return fmt.Errorf("no engine %d", int(s.Storage))
	case !(s.RankTol >= 0 && s.RankTol < 1):
		return fmt.Errorf("the rank tolerance is %v, must be above 0 and below 1", s.RankTol)
	case !(s.RankError >= 0 && s.RankError < 1):
		return fmt.Errorf("the rank error is %v, must be above 0 and below 1", s.RankError)
	case s.MaxRank < 0:
		return fmt.Errorf("the largest rank is %d, must be at least 1", s.MaxRank)
	case spread && s.Servants == nil:
		return scalapack.ErrServants
	case spread && s.Kernel.Kind == kernel.Precomputed:
		return errors.New("the scalapack engine makes the kernel matrix from inputs: a precomputed one is " +
			"whole already")
	case spread && s.Bias:
		return errors.New("the scalapack engine has no bias: take Spec.Storage exact or lowrank, or a " +
			"large Kernel.Constant")
	case s.Block < 0:
		return fmt.Errorf("blocks of %d x %d", s.Block, s.Block)
	}
	return nil
}

// Form is the form of the kernel matrix: Exact, LowRank, ScaLAPACK or Primal.
func (m *Model) Form() Storage {
	switch m.K.(type) {
	case *linalg.LowRankPlusDiag:
		return LowRank
	case *scalapack.BlockCyclic:
		return ScaLAPACK
	case nil: // not held yet, if it will be
		if m.Spec.Storage == Primal {
			return Primal
		}
	}
	return Exact
}

// Gram is the kernel matrix if it is dense, else nil.
func (m *Model) Gram() *linalg.Sym {
	k, _ := m.K.(*linalg.Sym)
	return k
}

// Factor is the kernel matrix if it is a factor, else nil.
func (m *Model) Factor() *linalg.LowRankPlusDiag {
	k, _ := m.K.(*linalg.LowRankPlusDiag)
	return k
}

// Matrix is the kernel matrix with the bias.
func (m *Model) Matrix() linalg.Kernel {
	if m.Bias {
		return linalg.WithBias(m.K)
	}
	return m.K
}

// hold sets the kernel matrix of the model.
func hold(m *Model, k linalg.Kernel) {
	m.K, m.dense = k, sync.OnceValues(func() (*linalg.Sym, error) {
		what := fmt.Sprintf("training on %d distinct inputs, which needs the whole kernel matrix,", m.Sites())
		if err := linalg.CheckMemory(linalg.SymBytes(m.Sites()), m.MaxBytes, what); err != nil {
			return nil, err
		}
		return m.Factor().Dense(), nil
	})
}

// on is the model with another kernel matrix.
func on(m *Model, k linalg.Kernel) *Model {
	other := *m
	hold(&other, k)
	return &other
}

// Dense is the dense kernel matrix, for Monte-Carlo retraining and training a support vector machine. A
// low-rank matrix is multiplied out, if that fits into memory, and kept.
func (m *Model) Dense() (*linalg.Sym, error) {
	switch m.Form() {
	case Exact:
		return m.Gram(), nil
	case ScaLAPACK:
		return nil, InputError(errors.New("a kernel matrix that is spread over ranks is nowhere whole: " +
			"take another engine, or one process"))
	}
	return m.dense()
}

// Rank is the rank of a factor; 0 without.
func (m *Model) Rank() int {
	if factor := m.Factor(); factor != nil {
		return factor.Rank()
	}
	return 0
}

// Warnings are warnings about the model for the user of an answer.
func (m *Model) Warnings() []string {
	if m.Form() != LowRank || m.Spec.Storage != Auto {
		return m.notes
	}
	residual, _ := m.Factor().Accuracy()
	return append(slices.Clone(m.notes),
		fmt.Sprintf("the lowrank engine was chosen because %s: rank %d for %d distinct inputs, mean "+
			"residual %.1e of the kernel's variance, kept as a variance of each input's own; Spec.Storage "+
			"exact computes without it", m.reason, m.Rank(), m.Sites(), residual))
}
