package model

import (
	"context"
	"fmt"

	"bootbench/fits"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

// CheckBeside returns an error if bytes would not fit in addition to the kernel matrix, which is already
// allocated.
func (m *Model) CheckBeside(bytes int64, what string) error {
	if m.MaxBytes > 0 {
		bytes += matrixBytes(m)
	}
	return linalg.CheckMemory(bytes, m.MaxBytes, what)
}

// matrixBytes is the memory of the kernel matrix with its scratch triangle, of a factor and the engines on
// it, or of a rank's part.
func matrixBytes(m *Model) int64 {
	switch m.Form() {
	case ScaLAPACK:
		return m.Servants.Bytes(m.Sites(), m.Block)
	case LowRank:
		return linalg.LowRankBytes(m.Sites(), m.Rank())
	}
	return linalg.SymBytes(m.Sites())
}

// trainerBytes bounds the memory of trainers of the model's loss: shared is common to all, without the kernel
// matrix, and each is the one for n drawn sites.
func trainerBytes(m *Model, n int) (shared, each int64) {
	sites, room := int64(m.Sites()), int64(train.Room(n, m.Sites()))
	if m.TrainedOnFactor() {
		return 0, 16 * room * int64(m.Rank())
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
		matrices = 4 // K and S, and the last fit's until garbage collection
	case t.Margin:
		matrices, shared = 1.3, shared+8*sites*sites // between the free sites; rows in full
	}
	return shared, int64(8 * matrices * float64(room*room))
}

// heldBytes is the memory of a solution: the kernel matrix, its engine and the sites. For the square loss it
// includes the largest rank updates, which few solves need.
func heldBytes(m *Model) int64 {
	bytes, moved := matrixBytes(m)+vectorBytes(m), 0
	if form := m.Form(); form == ScaLAPACK || form == LowRank {
		return bytes
	}
	if loss.TraitsOf(m.Loss).Quadratic {
		moved = m.Sites() / 16
	}
	return bytes + linalg.DenseBytes(m.Sites(), moved) - linalg.SymBytes(m.Sites())
}

// solveBytes is the memory of a solve in addition to Held, if room bytes are available.
func solveBytes(m *Model, room int64) int64 {
	if loss.TraitsOf(m.Loss).Quadratic {
		return 0
	}
	return solver.WorkspaceBytes(m.Sites(), m.Form() == LowRank, room)
}

// solveRoom is the part of MaxBytes for a solve of a loss that is not quadratic, after the kernel matrix and
// its engine: 0 if unlimited, negative if nothing remains.
func solveRoom(m *Model) int64 {
	if m.Form() == ScaLAPACK {
		return spreadRoom
	}
	if m.MaxBytes <= 0 {
		return 0
	}
	if room := m.MaxBytes - heldBytes(m); room > 0 {
		return room
	}
	return -1
}

// vectorBytes estimates the memory of the sites and of the solver's vectors.
func vectorBytes(m *Model) int64 {
	sites, maps := int64(len(m.First)), int64(0)
	if !loss.TraitsOf(m.Loss).Quadratic {
		maps = siteBytes * int64(m.Sites())
	}
	if m.Set.Sparse != nil {
		return maps + 320*sites + 32*int64(len(m.Set.Sparse.Index)) + 16*int64(m.Set.D())
	}
	return maps + 8*sites*int64(41+2*m.Set.D()) // targets, the map to sites, the solver's vectors, read-outs
}

// theoryBytes is the memory of a solution and a solve, if room bytes are available, or of what follows it.
func theoryBytes(m *Model, room, then int64) int64 {
	return heldBytes(m) - matrixBytes(m) + max(solveBytes(m, room), then)
}

// buildBytes is the least memory of a solve on a dense kernel matrix, with the matrix over all examples of a
// precomputed kernel with merged examples.
func buildBytes(m *Model) int64 {
	exact := on(m, nil)
	least := matrixBytes(exact) + theoryBytes(exact, -1, 0)
	if m.Kernel.Kind == kernel.Precomputed && m.Merged() > 0 {
		return least + linalg.SymBytes(m.Set.N())
	}
	return least
}

// siteBytes is the approximate memory of a loss's tables at a site.
const siteBytes = 1536

// spreadRoom is the memory for local matrices in addition to the part of a distributed one: the matrices of
// Newton's method for about a thousand sites.
const spreadRoom = 128 << 20

// trainerVectors is the approximate number of vectors over the sites in a trainer.
const trainerVectors = 20

// singleBytes is the memory of fits of so many sites one by one, of which each has outputs beside its
// examples.
func singleBytes(m *Model, sites, outputs, workers int) int64 {
	shared, each := trainerBytes(m, sites)
	waiting := fits.BlocksPerWorker*(m.Set.N()+outputs) + trainerVectors*m.Sites()
	return shared + int64(workers)*(each+8*int64(waiting))
}

// fitBytes is the memory of FullFit without the kernel matrix.
func fitBytes(m *Model) int64 {
	if loss.TraitsOf(m.Loss).Quadratic || m.Form() == ScaLAPACK {
		return 0 // in the scratch triangle, or by an engine
	}
	return singleBytes(m, m.Sites(), 0, 1)
}

// NeedToRetrain bounds the memory of Retrain, and of the fit to all beside it, without the kernel matrix. It
// ignores the exact trainer of fits that do not converge in blocks. With M sites, n rows, a factor of rank r
// and w workers it is, apart from terms of M and n, 8 M r for a solution on a factor; 16 M^2 for Newton's
// method on a whole matrix; w times trainers of 8 to 32 M^2, or 16 M r on a factor; or 4 M^2 + w times
// blocks of 64 fits.
func NeedToRetrain(m *Model, method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) int64 {
	settings = settings.complete()
	rows, workers, outputs := int64(m.Set.N()), int64(settings.Workers), m.Sites()+settings.Cross.Rows
	averages := 8 * (fits.NumbersPerExample(len(settings.Tests))*rows + fits.NumbersPerInput*int64(outputs))
	if method == AutoMethod && !(counts(m) && mayBlock(m, settings.Resamples)) {
		method = Cheapest(context.Background(), m, law, nil, settings.Resamples, false)
	}
	need := fitBytes(m)
	if method == Single || method == AutoMethod { // the first fits decide
		sites := int(float64(m.Sites()) * kept(m, law))
		need = max(need, averages+singleBytes(m, sites, outputs, settings.Workers))
	}
	if method == Batch || method == AutoMethod {
		need = max(need, theoryBytes(m, solveRoom(m), averages+blockBytes(m, settings, outputs)))
	}
	if method == Downdate {
		need = max(need, averages+8*rows*rows+8*workers*(2*rows+rows*rows/4))
	}
	return need
}

// CheckRetrain refuses a retraining that would not fit into memory.
func CheckRetrain(m *Model, method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) error {
	return m.CheckBeside(NeedToRetrain(m, method, law, settings),
		fmt.Sprintf("retraining with %d workers on %d sites", settings.complete().Workers, m.Sites()))
}

// NeedToRefine is the least memory of a fit to all, a solve and Refine with one worker, without the kernel
// matrix.
func NeedToRefine(m *Model, resamples int) int64 {
	settings := RetrainSettings{Settings: fits.Settings{Resamples: resamples, Workers: 1}}
	return max(fitBytes(m), refineBytes(m, settings))
}

// refineBytes is the memory of the theory and Refine without the kernel matrix, with the kernel rows of all
// new inputs.
func refineBytes(m *Model, settings RetrainSettings) int64 {
	outputs := m.Sites() + settings.Cross.Rows
	averages := fits.ControlledBytes(int64(outputs), int64(m.Set.N()), settings.Resamples)
	return theoryBytes(m, -1, averages+blockBytes(m, settings, 2*outputs))
}

// blockBytes is the memory of blocks of fits without the theory: responses of new inputs, the copy of a dense
// G in single precision and the blocks.
func blockBytes(m *Model, settings RetrainSettings, outputs int) int64 {
	sites, size := int64(m.Sites()), fits.SizeOfBlock(m.Sites())
	blocks, count := (settings.Resamples+size-1)/size, min(settings.Resamples, size)
	workers := min(settings.Workers, blocks)
	if fits.Wide(m.Sites(), m.Form() == Exact) {
		workers = 1
	}
	waiting := 1
	if workers > 1 {
		waiting = min(blocks, fits.BlocksPerWorker*workers)
	}
	bytes := 8*sites*int64(settings.Cross.Rows) + fits.BlockBytes(workers, m.Sites(), count) +
		8*int64(waiting*count)*int64(m.Set.N()+outputs)
	if m.Form() == Exact {
		bytes += 4 * sites * sites
	}
	return bytes
}
