package model

import (
	"errors"
	"fmt"
	"math"

	"bootbench/kernel"
	"bootbench/linalg/dist"
)

// shareFactor has the ranks of Spec.Grid, where there are several, hold the rows of a
// low-rank factor together. What memory allows is then the same on all of them.
func (m *Model) shareFactor() error {
	if !m.sharesFactor() {
		return nil
	}
	m.team = dist.NewTeam(m.Grid)
	if m.Set.Ranks == nil {
		if err := m.checkAlike(); err != nil {
			return err
		}
	} else if m.Sites() < m.Grid.Size() {
		return fmt.Errorf("%d distinct inputs on %d ranks: each rank needs one, take fewer ranks or one process",
			m.Sites(), m.Grid.Size())
	}
	if _, ok := m.proximal(); !ok {
		return fmt.Errorf("loss %q is not trained on a low-rank factor, and the ranks that share one have no other kernel matrix: take --engine scalapack, or one process", m.Loss.Name())
	}
	if m.Sites() < m.team.Size() {
		return fmt.Errorf("%d distinct inputs are too few for %d ranks: take fewer ranks", m.Sites(), m.team.Size())
	}
	least, err := m.Grid.Barrier("memory", -m.room())
	if err != nil {
		return err
	}
	m.Spec.MaxBytes = max(1, min(-least, math.MaxInt64)/int64(m.Grid.PerNode()))
	return nil
}

// sharesFactor reports whether several ranks hold the rows of a low-rank factor together.
func (s *Spec) sharesFactor() bool {
	return s.Storage == LowRank && s.Grid != nil && s.Grid.Size() > 1
}

// shareInputs leaves to ranks that share a factor their part of the inputs, unless these are a kernel matrix,
// and to others all of them.
func (s *Spec) shareInputs() (err error) {
	if s.sharesFactor() && s.Kernel.Kind != kernel.Precomputed {
		s.Set, err = s.Set.Spread(dist.NewTeam(s.Grid))
		return err
	}
	s.Set = s.Set.Whole()
	return nil
}

// members is the number of processes that share the factor.
func (m *Model) members() int {
	if m.team == nil {
		return 1
	}
	return m.team.Size()
}

// onRanks reports whether the kernel matrix is shared with other processes, which then do the
// same at the same time.
func (m *Model) onRanks() bool { return m.team != nil || m.Spread != nil }

var errNotWhole = inputError(errors.New(
	"a kernel matrix that is spread over ranks is nowhere whole: take another engine, or one process"))
