package model

import (
	"fmt"
	"runtime"

	"bootbench/internal/batch"
	"bootbench/internal/gp"
	"bootbench/internal/multifidelity"
	"bootbench/internal/retrain"
	"bootbench/internal/train"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// forecast says about how many bytes runs of a model take, before they take them.
type forecast struct{ *Model }

func (m *Model) forecast() forecast { return forecast{m} }

// checkBeside refuses what takes so many bytes beside the kernel matrix, which is there, where they would not
// fit.
func (m forecast) checkBeside(bytes int64, what string) error {
	if m.MaxBytes > 0 {
		bytes += m.matrixBytes()
	}
	return linalg.CheckMemory(bytes, m.MaxBytes, what)
}

// matrixBytes is the memory of the kernel matrix with its scratch triangle, or of a factor and the
// engines on it.
func (m forecast) matrixBytes() int64 {
	switch {
	case m.Spread != nil:
		return m.heldBytes()
	case m.Factor != nil:
		return linalg.LowRankBytes(m.Sites(), m.Factor.Rank())
	}
	return linalg.SymBytes(m.Sites())
}

// trainerBytes is the most that trainers of the model's loss take: what all share beside the kernel
// matrix, and what each holds for n drawn sites, in matrices between these.
func (m forecast) trainerBytes(n int) (shared, each int64) {
	sites, room := int64(m.Sites()), int64(train.Room(n, m.Sites()))
	if _, ok := m.trainedOnFactor(); ok {
		return 0, 16 * room * int64(m.Factor.Rank())
	}
	if m.Factor != nil {
		shared = linalg.SymBytes(m.Sites()) // of Dense
	}
	matrices := 3.0
	switch m.Loss.(type) {
	case loss.Square:
		matrices = 1
	case loss.HardMargin, loss.Hinge:
		matrices, shared = 1.3, shared+8*sites*sites // between the free sites; rows in full
	case gp.Likelihood:
		matrices = 4
	}
	return shared, int64(8 * matrices * float64(room*room))
}

// FitBytes is the memory that FullFit takes beside the kernel matrix.
func (m forecast) FitBytes() int64 {
	if _, ok := m.Loss.(loss.Square); ok || m.Spread != nil {
		return 0 // in the scratch triangle, or by an engine
	}
	shared, each := m.trainerBytes(m.Sites())
	return shared + each
}

// RetrainBytes is the memory that RetrainBy takes at most beside the kernel matrix: trainers for
// the sites that a resample draws, or the theory and blocks around it; the draws that
// circulate; and the averages. The few fits that batches leave over are not counted.
func (m forecast) RetrainBytes(method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) int64 {
	workers := int64(settings.Workers)
	if workers == 0 {
		workers = int64(runtime.GOMAXPROCS(0))
	}
	n, outputs := int64(m.Set.N()), int64(m.Sites()+settings.Cross.Rows)
	averages := 8 * (retrain.NumbersPerExample(len(settings.Tests))*n + retrain.NumbersPerInput*outputs)
	if method == Batch || method == AutoMethod && m.batchPays(settings.Settings) {
		theory := m.heldBytes() - m.matrixBytes()
		return theory + max(m.marginBytes(m.solveRoom()), averages+m.batchBytes(settings, outputs))
	}
	drawn := float64(m.Sites()) * (1 - resample.ProbZero(law, m.Set.N()/m.Sites()))
	shared, each := m.trainerBytes(int(drawn))
	return averages + shared +
		workers*(each+8*(retrain.BlocksPerWorker*(n+outputs)+trainerVectors*int64(m.Sites())))
}

// trainerVectors is about how many vectors over the sites a trainer has.
const trainerVectors = 20

// copyBytes is the memory of the copy of a dense G in single precision that batches multiply by.
func (m forecast) copyBytes() int64 {
	if m.Factor != nil || m.Spread != nil {
		return 0
	}
	return 4 * int64(m.Sites()) * int64(m.Sites())
}

// batchBytes is the memory of batches beside the theory: responses of new inputs, the copy of G and
// the blocks.
func (m forecast) batchBytes(settings RetrainSettings, outputs int64) int64 {
	sites, workers := int64(m.Sites()), settings.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	bytes := 8*sites*int64(settings.Cross.Rows) + m.copyBytes()
	resamples := settings.Resamples
	if resamples == 0 {
		resamples = retrain.DefaultResamples
	}
	blocks := (resamples + batch.BlockSize - 1) / batch.BlockSize
	workers = min(workers, blocks)
	waiting := int64(min(blocks, retrain.BlocksPerWorker*workers))
	if workers == 1 {
		waiting = 1
	}
	fits := int64(min(resamples, batch.BlockSize))
	return bytes + batch.Bytes(workers, int(sites), int(fits), settings.Batch) +
		8*waiting*fits*(int64(m.Set.N())+outputs)
}

// PredictBytes is the memory that the theory's predictions at new inputs take beside its
// solution: kernel rows of a block of inputs and products of their size.
func (m forecast) PredictBytes(inputs int) int64 {
	block := 8 * int64(m.Sites()) * int64(inputsAtATime(inputs, m.Sites()))
	return predictCopies*block + 8*int64(inputs)*predictNumbers
}

const (
	predictCopies  = 2
	predictNumbers = 6 // of an input
)

// RefineBytes is the memory that Refine takes beside the solution, with kernel rows of new inputs that
// are held whole.
func (m forecast) RefineBytes(settings RefineSettings) int64 {
	outputs := int64(m.Sites() + settings.Cross.Rows)
	bytes := 8 * (multifidelity.NumbersPerPoint*outputs +
		multifidelity.NumbersPerExample*int64(m.Set.N()))
	training := RetrainSettings{Settings: retrain.Settings{Workers: settings.Workers,
		Resamples: settings.Resamples}, Cross: settings.Cross, Batch: settings.Batch}
	training.Batch.FirstIterate = true
	return bytes + m.batchBytes(training, 2*outputs)
}

// NeedToRetrain is the memory that RetrainBy takes at most beside the kernel matrix.
func (m *Model) NeedToRetrain(method RetrainMethod, law resample.CountDistribution, s RetrainSettings) int64 {
	return m.forecast().RetrainBytes(method, law, s)
}

// NeedToRefine is the memory that a fit to all, a solve and Refine with one worker take at least beside the
// kernel matrix.
func (m *Model) NeedToRefine(s RefineSettings) int64 {
	f := m.forecast()
	s.Workers = 1
	return max(f.FitBytes(), f.heldBytes()-f.matrixBytes()+f.RefineBytes(s))
}

// CheckRetrain refuses a retraining that would not fit into memory.
func (m *Model) CheckRetrain(method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) error {
	return m.forecast().checkBeside(m.forecast().RetrainBytes(method, law, settings),
		fmt.Sprintf("retraining with %d workers on %d sites", settings.Workers, m.Sites()))
}

// CheckPredict refuses the theory's predictions at new inputs that would not fit into memory.
func (m *Model) CheckPredict(inputs int) error {
	return m.forecast().checkBeside(m.forecast().PredictBytes(inputs), fmt.Sprintf("predicting at %d new inputs",
		inputs))
}

// heldBytes is the memory of the kernel matrix with its scratch triangle, or a factor
// of it, or a servant's part; its engine; and the sites. For the square loss that is
// the most that low-rank updates take, which few solves make.
func (m forecast) heldBytes() int64 {
	if m.Spread != nil {
		return m.Servants.Bytes(m.Sites(), m.Block) + m.vectorBytes()
	}
	if m.Factor != nil {
		return linalg.LowRankBytes(m.Sites(), m.Factor.Rank()) + m.vectorBytes()
	}
	return m.exactBytes()
}

// marginBytes is what a solve takes beside them, if room bytes are left to it.
func (m forecast) marginBytes(room int64) int64 {
	if m.quadratic() {
		return 0
	}
	return solver.WorkspaceBytes(m.Sites(), m.Factor == nil && m.Spread == nil, room)
}

// solveRoom is what MaxBytes leaves to a solve of a loss that is not quadratic
// beside the kernel matrix and its engine: 0 where nothing bounds it, negative where
// nothing is left.
func (m forecast) solveRoom() int64 {
	if m.Spread != nil {
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

// exactBytes is the memory of a kernel matrix that is held whole, its engine and the
// sites, and for the square loss of updates of G.
func (m forecast) exactBytes() int64 {
	sites, moved := len(m.First), 0
	if m.quadratic() {
		moved = sites / 16
	}
	return linalg.DenseBytes(sites, moved) + m.vectorBytes()
}

// vectorBytes estimates the memory of the sites and of the solver's vectors.
func (m forecast) vectorBytes() int64 {
	sites, maps := int64(len(m.First)), int64(0)
	if !m.quadratic() {
		maps = siteBytes * int64(m.Sites())
	}
	if m.Set.Sparse != nil {
		return maps + 320*sites + 32*int64(m.Set.Sparse.Entries()) + 16*int64(m.Set.D())
	}
	return maps + 8*sites*int64(41+2*m.Set.D()) // targets, the map to sites, the solver's vectors, read-outs
}

// buildBytes is the least that a solve takes, with the matrix over all examples that a
// precomputed kernel with merged examples is cut from.
func (m forecast) buildBytes() int64 {
	least := m.exactBytes() + m.marginBytes(-1)
	if m.Kernel.Kind == kernel.Precomputed && m.Merged() > 0 {
		return least + linalg.SymBytes(m.Set.N())
	}
	return least
}

// siteBytes is about what the losses' site maps over the counts take at a site.
const siteBytes = 1536

// spreadRoom is the memory for matrices that are whole on this machine beside a part of a spread one: those
// of Newton's method for some thousand sites.
const spreadRoom = 128 << 20
