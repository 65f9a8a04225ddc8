package retrain

import (
	"context"
	"fmt"
	"time"

	"bootbench/blas"
	"bootbench/resample"
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
func Run(ctx context.Context, p Problem, newTrainer func() (Trainer, error), s Settings) (*Result, error) {
	return averaged(ctx, p, s, func() (worker, error) {
		t, err := newTrainer()
		return single{t}, err
	})
}

// RunBlocks is Run with trainers that train many resamples at a time. When ctx
// ends it waits for the step in progress; of the resamples in a block those that
// have ended count.
func RunBlocks(ctx context.Context, p Problem, newTrainer func() (BlockTrainer, error), s Settings) (*Result,
	error) {
	return averaged(ctx, p, s, blocks(newTrainer))
}

// VisitBlocks trains as RunBlocks does but averages nothing: Settings.OnResample takes
// what there is.
func VisitBlocks(ctx context.Context, p Problem, newTrainer func() (BlockTrainer, error), s Settings) (Status,
	error) {
	a, err := run(ctx, p, s, blocks(newTrainer), false)
	if err != nil {
		return Cancelled, err
	}
	return a.status(), nil
}

func blocks(newTrainer func() (BlockTrainer, error)) func() (worker, error) {
	return func() (worker, error) {
		t, err := newTrainer()
		return block{t}, err
	}
}

// averaged is Run with workers of any kind.
func averaged(ctx context.Context, p Problem, s Settings, newWorker func() (worker, error)) (*Result, error) {
	a, err := run(ctx, p, s, newWorker, true)
	if err != nil {
		return nil, err
	}
	return a.result(), nil
}

// run lets workers of any kind work until the accumulator, averaging or not, has all
// resamples.
func run(ctx context.Context, p Problem, s Settings, newWorker func() (worker, error),
	averaging bool) (*accumulator, error) {
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(resample.Period(p.Scheme)); err != nil {
		return nil, err
	}
	workers, err := makeWorkers(s.Workers, newWorker)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	a := &accumulator{problem: &p, settings: &s}
	if averaging {
		a.averages = newAverages(&p, &s)
	}
	pool := newPool(&p, &s, workers[0])
	if s.InStep {
		err = pool.runInStep(ctx, workers[0], a)
	} else {
		blas.SingleThreaded(func() { err = pool.run(ctx, workers, a) })
	}
	a.elapsed = time.Since(start)
	return a, err
}

func makeWorkers(count int, newWorker func() (worker, error)) ([]worker, error) {
	var workers []worker
	for range count {
		w, err := newWorker()
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		workers = append(workers, w)
	}
	return workers, nil
}
