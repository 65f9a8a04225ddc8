package retrain

import (
	"context"
	"time"

	"bootbench/batch"
	"bootbench/linalg"
	"bootbench/train"
)

// worker trains blocks of fits.
type worker interface {
	// Train trains all fits of a block that are not known, and need not have those of which ctx ends the
	// training.
	Train(ctx context.Context, fits []batch.Fit)
}

// single trains one resample after the other. Its blocks hold one.
type single struct{ train.Trainer }

// Train is worker.Train.
func (s single) Train(_ context.Context, fits []batch.Fit) {
	for i := range fits {
		if f := &fits[i]; !f.Known {
			f.Err = s.Fit(f.Weight, f.Target, f.F)
		}
	}
}

// blocks trains consecutive blocks of resamples, each with bounds that follow from its place alone.
type blocks struct {
	problem       *Problem
	settings      *Settings
	size, outputs int
}

// block is resamples that one worker trains.
type block struct {
	fits     []batch.Fit
	kind     []kind
	duration time.Duration
	complete bool
	done     chan struct{}
}

// kind says where the predictions of a resample come from.
type kind int

const (
	trained  kind = iota
	recalled      // by Settings.Lookup
	empty         // of a resample without examples: the prior mean
	oneClass      // of a resample of one class, where that leaves a bias without a bound: its label
)

// BlocksPerWorker bounds how far workers run ahead of the slowest block.
const BlocksPerWorker = 3

func (r *blocks) newBlock() *block {
	b := &block{done: make(chan struct{}, 1)}
	for range r.size {
		b.fits = append(b.fits, batch.Fit{Weight: make([]float64, len(r.problem.Y)),
			F: make([]float64, r.outputs)})
	}
	return b
}

// run trains and accumulates until all resamples are done, one fails or ctx ends.
func (r *blocks) run(ctx context.Context, workers []worker, a *accumulator) error {
	if len(workers) == 1 {
		b := r.newBlock()
		for first := r.settings.First; first < r.end() && ctx.Err() == nil; first = r.next(first) {
			r.train(ctx, workers[0], b, first)
			<-b.done
			if more, err := a.addBlock(b); err != nil || !more {
				return err
			}
		}
		return nil
	}
	return r.runTogether(ctx, workers, a)
}

// end is the number after the last resample, next that of the first one in the next block.
func (r *blocks) end() int           { return r.settings.First + r.settings.Resamples }
func (r *blocks) next(first int) int { return (first/r.size + 1) * r.size }

// runTogether has workers train blocks at the same time, and accumulates them in their order. A panic of a
// worker, which is one of the caller's trainer or loss, is one of runTogether.
func (r *blocks) runTogether(ctx context.Context, workers []worker, a *accumulator) error {
	working, stop := context.WithCancel(ctx)
	var crew linalg.Crew
	defer func() {
		stop()
		crew.Wait()
	}()
	type task struct {
		*block
		first int
	}
	room := BlocksPerWorker * len(workers)
	tasks, begun, free := make(chan task), make(chan *block, room), make(chan *block, room)
	crew.Go(func() {
		defer close(begun)
		defer close(tasks)
		for first, made := r.settings.First, 0; first < r.end() && working.Err() == nil; first = r.next(first) {
			var b *block
			if made < room {
				b = r.newBlock()
				made++
			} else {
				select {
				case b = <-free:
				case <-working.Done():
					return
				}
			}
			select {
			case tasks <- task{b, first}:
				begun <- b
			case <-working.Done():
				return
			}
		}
	}, stop)
	for _, w := range workers {
		crew.Go(func() {
			for t := range tasks {
				r.train(ctx, w, t.block, t.first)
			}
		}, stop)
	}
	for b := range begun {
		if <-b.done; !b.complete {
			return nil // crew.Wait panics
		}
		if more, err := a.addBlock(b); err != nil || !more {
			return err
		}
		free <- b
	}
	return nil
}

// train draws the block of resamples from number first on, and trains those that are not recalled. If one
// of them must be trained all are, so that each is trained in the same company in every run.
func (r *blocks) train(ctx context.Context, w worker, b *block, first int) {
	b.complete = false
	defer func() { b.done <- struct{}{} }()
	start := time.Now()
	b.fits = b.fits[:min(r.next(first), r.end())-first]
	b.kind = b.kind[:0]
	train := false
	for i := range b.fits {
		b.fits[i].Number = first + i
		k := r.prepare(&b.fits[i])
		b.kind = append(b.kind, k)
		train = train || k == trained
	}
	for i, k := range b.kind {
		if train && k == recalled {
			b.kind[i], b.fits[i].Known, b.fits[i].Err = trained, false, nil
		}
	}
	w.Train(ctx, b.fits)
	b.duration, b.complete = time.Since(start), true
}

// prepare draws a resample, and finds its predictions if they are known.
func (r *blocks) prepare(f *batch.Fit) kind {
	p := r.problem
	f.Target = p.Plan.Fit(f.Number, f.Weight)
	f.Known, f.Err = true, nil
	label, count := classes(f.Weight, f.Target)
	if p.Decided(f.Weight, f.Target) {
		for i := range f.F[:p.inputs()] {
			f.F[i] = label
		}
		return [2]kind{empty, oneClass}[count]
	}
	if r.settings.Lookup != nil {
		if f.Known, f.Err = r.settings.Lookup(f.Number, f.F[:p.inputs()]); f.Known || f.Err != nil {
			f.Known = true
			return recalled
		}
	}
	f.Known = false
	return trained
}

// Decided reports whether a resample predicts without training: it is empty, or of one class, see OneClass.
func (p *Problem) Decided(weight, target []float64) bool {
	_, classes := classes(weight, target)
	return classes == 0 || classes == 1 && p.OneClass
}

// classes is how many different targets a fit has, 0, 1 or 2 for more, and the target if it is one.
func classes(weight, y []float64) (target float64, classes int) {
	for i, w := range weight {
		switch {
		case w == 0:
		case classes == 0:
			target, classes = y[i], 1
		case y[i] != target:
			return 0, 2
		}
	}
	return target, classes
}
