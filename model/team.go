package model

import (
	"errors"
	"fmt"
	"math"

	"bootbench/linalg/dist"
)

// shareFactor has the ranks of Spec.Grid, where there are several, hold the rows of a
// low-rank factor together. What memory allows is then the same on all of them.
func (m *Model) shareFactor() error {
	if m.Spec.Storage != LowRank || m.Grid == nil || m.Grid.Size() == 1 {
		return nil
	}
	if err := m.checkAlike(); err != nil {
		return err
	}
	m.team = dist.NewTeam(m.Grid)
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

var errNotWhole = inputError(errors.New("a kernel matrix that is spread over ranks is nowhere whole: take another engine, or one process"))
