package retrain

import (
	"context"
	"fmt"
	"time"

	"bootbench/batch"
	"bootbench/blas"
	"bootbench/train"
)

// Run retrains on resamples of p and averages. newTrainer is called once per
// worker, before anything is drawn.
//
// When ctx ends, Run waits for the fits in progress and returns what is then
// finished with Status Cancelled and no error; Result.Resamples may be 0. An
// error means that there is no answer: bad input, a trainer that could not be
// made, or a *FitError.
//
// While it runs the bound BLAS uses one thread per call, a setting of the whole
// process that is put back at the end.
func Run(ctx context.Context, p Problem, newTrainer func() (train.Trainer, error), s Settings) (*Result,
	error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	a, err := run(ctx, p, s, 1, p.inputs(), func() (worker, error) {
		t, err := newTrainer()
		return single{t}, err
	}, true)
	if err != nil {
		return nil, err
	}
	return a.result(), nil
}

// RunBatch is Run with a trainer of many resamples at a time. When ctx ends, those of a block that have
// ended count as far as they follow each other.
func RunBatch(ctx context.Context, p Problem, t *batch.Trainer, s Settings) (*Result, error) {
	a, err := runBatch(ctx, p, t, s, true)
	if err != nil {
		return nil, err
	}
	return a.result(), nil
}

// VisitBatch trains as RunBatch does but averages nothing: Settings.OnFit takes what there is. It
// returns how many resamples were of one class.
func VisitBatch(ctx context.Context, p Problem, t *batch.Trainer, s Settings) (status Status, oneClass int,
	err error) {
	a, err := runBatch(ctx, p, t, s, false)
	if err != nil {
		return Cancelled, 0, err
	}
	return a.status(), a.oneClass, nil
}

func runBatch(ctx context.Context, p Problem, t *batch.Trainer, s Settings,
	averaging bool) (*accumulator, error) {
	newWorker := func() (worker, error) { return t.NewBlock(), nil }
	return run(ctx, p, s, batch.BlockSize, t.Outputs(), newWorker, averaging)
}

// run has workers train blocks of a size, each fit with so many outputs, until the accumulator, averaging or
// not, has all resamples.
func run(ctx context.Context, p Problem, s Settings, size, outputs int, newWorker func() (worker, error),
	averaging bool) (*accumulator, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(p.Plan.Period()); err != nil {
		return nil, err
	}
	var workers []worker
	for range min(s.Workers, (s.Resamples+size-1)/size) {
		w, err := newWorker()
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		workers = append(workers, w)
	}
	start := time.Now()
	a := &accumulator{problem: &p, settings: &s}
	if averaging {
		a.averages = newAverages(&p, &s)
	}
	r := &blocks{problem: &p, settings: &s, size: size, outputs: outputs}
	blas.SingleThreaded(func() { err = r.run(ctx, workers, a) })
	a.elapsed = time.Since(start)
	return a, err
}
