package model

import (
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

// CheckBeside returns an error if bytes would not fit in addition to the kernel matrix, which is already
// allocated.
func (m *Model) CheckBeside(bytes int64, what string) error {
	if m.MaxBytes > 0 {
		bytes += m.matrixBytes()
	}
	return linalg.CheckMemory(bytes, m.MaxBytes, what)
}

// matrixBytes is the memory of the kernel matrix with its scratch triangle, or of a factor and the engines on
// it.
func (m *Model) matrixBytes() int64 {
	switch {
	case m.Form() == ScaLAPACK:
		return m.heldBytes()
	case m.Form() == LowRank:
		return linalg.LowRankBytes(m.Sites(), m.Factor().Rank())
	}
	return linalg.SymBytes(m.Sites())
}

// trainerBytes bounds the memory of trainers of the model's loss: shared is common to all, without the kernel
// matrix, and each is that of one for n drawn sites.
func (m *Model) trainerBytes(n int) (shared, each int64) {
	sites, room := int64(m.Sites()), int64(train.Room(n, m.Sites()))
	if _, ok := m.TrainedOnFactor(); ok {
		return 0, 16 * room * int64(m.Factor().Rank())
	}
	if m.Form() == LowRank {
		shared = linalg.SymBytes(m.Sites()) // of Dense
	}
	matrices := 3.0
	_, likelihood := m.Loss.(gp.Likelihood)
	switch t := loss.TraitsOf(m.Loss); {
	case t.Quadratic:
		matrices = 1
	case likelihood:
		matrices = 4 // K and S, and those of the last fit until garbage collection
	case t.Margin:
		matrices, shared = 1.3, shared+8*sites*sites // between the free sites; rows in full
	}
	return shared, int64(8 * matrices * float64(room*room))
}

// fitBytes is the memory of FullFit without the kernel matrix.
func (m *Model) fitBytes() int64 {
	if loss.TraitsOf(m.Loss).Quadratic || m.Form() == ScaLAPACK {
		return 0 // in the scratch triangle, or by an engine
	}
	shared, each := m.trainerBytes(m.Sites())
	return shared + each
}

// heldBytes is the memory of the kernel matrix with its scratch triangle, or a factor, or a rank's part; its
// engine; and the sites. For the square loss it includes the largest rank updates, which few solves need.
func (m *Model) heldBytes() int64 {
	if m.Form() == ScaLAPACK {
		return m.Servants.Bytes(m.Sites(), m.Block) + m.vectorBytes()
	}
	if m.Form() == LowRank {
		return m.matrixBytes() + m.vectorBytes()
	}
	moved := 0
	if quadratic(m.Loss) {
		moved = m.Sites() / 16
	}
	return linalg.DenseBytes(m.Sites(), moved) + m.vectorBytes()
}

// solveBytes is the memory of a solve in addition to Held, if room bytes are available.
func (m *Model) solveBytes(room int64) int64 {
	if quadratic(m.Loss) {
		return 0
	}
	return solver.WorkspaceBytes(m.Sites(), m.Form() == Exact, room)
}

// solveRoom is the part of MaxBytes for a solve of a loss that is not quadratic, after the kernel matrix and
// its engine: 0 if unlimited, negative if nothing remains.
func (m *Model) solveRoom() int64 {
	if m.Form() == ScaLAPACK {
		return spreadRoom
	}
	if m.MaxBytes <= 0 {
		return 0
	}
	if room := m.MaxBytes - m.heldBytes(); room > 0 {
		return room
	}
	return -1
}

// vectorBytes estimates the memory of the sites and of the solver's vectors.
func (m *Model) vectorBytes() int64 {
	sites, maps := int64(len(m.First)), int64(0)
	if !quadratic(m.Loss) {
		maps = siteBytes * int64(m.Sites())
	}
	if m.Set.Sparse != nil {
		return maps + 320*sites + 32*int64(len(m.Set.Sparse.Index)) + 16*int64(m.Set.D())
	}
	return maps + 8*sites*int64(41+2*m.Set.D()) // targets, the map to sites, the solver's vectors, read-outs
}

// buildBytes is the least memory of a solve on a dense kernel matrix, with the matrix over all examples of a
// precomputed kernel with merged examples.
func (m *Model) buildBytes() int64 {
	exact := m.on(nil)
	least := exact.heldBytes() + exact.solveBytes(-1)
	if m.Kernel.Kind == kernel.Precomputed && m.Merged() > 0 {
		return least + linalg.SymBytes(m.Set.N())
	}
	return least
}

// siteBytes is the approximate memory of a loss's tables at a site.
const siteBytes = 1536

// spreadRoom is the memory for local matrices in addition to the part of a distributed one: those of Newton's
// method for about a thousand sites.
const spreadRoom = 128 << 20
