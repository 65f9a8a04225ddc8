package model

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"bootbench/fits"
	"bootbench/resample"
)

// NeedToRetrain bounds the memory of Retrain without the kernel matrix: trainers for the sites of a resample,
// or the theory and blocks; the draws in progress; and the averages. It ignores the exact trainer of fits
// that do not converge in blocks.
func NeedToRetrain(m *Model, method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) int64 {
	workers := int64(cmp.Or(settings.Workers, runtime.GOMAXPROCS(0)))
	n, outputs := int64(m.Set.N()), int64(m.Sites()+settings.Cross.Rows)
	averages := 8 * (fits.NumbersPerExample(len(settings.Tests))*n + fits.NumbersPerInput*outputs)
	if method == Downdate {
		return averages + 8*n*n + 8*workers*(2*n+n*n/4)
	}
	blocks := method == Batch || method == AutoMethod && blocksPay(context.Background(), m, nil,
		settings.Settings)
	inBlocks := m.heldBytes() - m.matrixBytes() +
		max(m.solveBytes(m.solveRoom()), averages+blockBytes(m, settings, outputs))
	if blocks && !(method == AutoMethod && counts(m)) {
		return inBlocks
	}
	drawn := float64(m.Sites()) * (1 - resample.ProbZero(law, m.Set.N()/m.Sites()))
	shared, each := m.trainerBytes(int(drawn))
	singly := averages + shared +
		workers*(each+8*(fits.BlocksPerWorker*(n+outputs)+trainerVectors*int64(m.Sites())))
	if blocks {
		return max(singly, inBlocks)
	}
	return singly
}

// trainerVectors is the approximate number of vectors over the sites in a trainer.
const trainerVectors = 20

// CheckRetrain refuses a retraining that would not fit into memory.
func CheckRetrain(m *Model, method RetrainMethod, law resample.CountDistribution,
	settings RetrainSettings) error {
	return m.CheckBeside(NeedToRetrain(m, method, law, settings),
		fmt.Sprintf("retraining with %d workers on %d sites", settings.Workers, m.Sites()))
}

// NeedToRefine is the least memory of a fit to all, a solve and Refine with one worker, without the kernel
// matrix.
func NeedToRefine(m *Model, resamples int) int64 {
	settings := RetrainSettings{Settings: fits.Settings{Resamples: resamples, Workers: 1}}
	return max(m.fitBytes(), refineBytes(m, settings))
}

// refineBytes is the memory of the theory and Refine without the kernel matrix, with the kernel rows of all
// new inputs.
func refineBytes(m *Model, settings RetrainSettings) int64 {
	outputs := int64(m.Sites() + settings.Cross.Rows)
	return m.heldBytes() - m.matrixBytes() + blockBytes(m, settings, 2*outputs) +
		8*(fits.ControlledPerPoint*outputs+fits.ControlledPerExample*int64(m.Set.N()))
}

// blockBytes is the memory of blocks of fits without the theory: responses of new inputs, the copy of a dense
// G in single precision and the blocks.
func blockBytes(m *Model, settings RetrainSettings, outputs int64) int64 {
	sites, resamples := int64(m.Sites()), cmp.Or(settings.Resamples, fits.DefaultResamples)
	size := fits.SizeOfBlock(m.Sites())
	blocks := (resamples + size - 1) / size
	workers := min(cmp.Or(settings.Workers, runtime.GOMAXPROCS(0)), blocks)
	waiting := min(blocks, fits.BlocksPerWorker*workers)
	if workers == 1 {
		waiting = 1
	}
	count := min(resamples, size)
	bytes := 8*sites*int64(settings.Cross.Rows) + fits.BlockBytes(workers, m.Sites(), count) +
		8*int64(waiting*count)*(int64(m.Set.N())+outputs)
	if m.Form() == Exact {
		bytes += 4 * sites * sites
	}
	return bytes
}
