package retrain

import (
	"context"
	"time"
)

// Trainer is a learning method bound to its data. One Trainer serves one worker.
// A training that has not converged is an *UnconvergedError.
type Trainer interface {
	// Fit trains on the set that holds example i counts[i] times, at least one of
	// them positive, and overwrites f with the predictions at all sites, followed
	// by those at the extra inputs: length Sites + Extra. It keeps neither slice.
	Fit(counts []int, f []float64) error
}

// BlockTrainer trains a block of resamples together. One serves one worker.
type BlockTrainer interface {
	// Size is the number of fits that the block holds at most.
	Size() int
	// Outputs is the length of what a fit writes: the predictions of Trainer.Fit, and
	// what else there is for Settings.OnResample.
	Outputs() int
	// Start begins a fit in the place of that number, 0 to Size-1, which is free.
	// counts must not change, and f, length Outputs, is written, until it ends. Without
	// examples the fit is the prior mean 0. Where it is known f holds it, and only what
	// else Outputs has room for is to be computed.
	Start(place int, counts []int, f []float64, known bool)
	// Step works on all fits and tells of those that ended; err is that of Fit.
	Step(ended func(place int, err error))
}

// worker turns free draws into finished ones.
type worker interface {
	// work goes on until no resample is left or ctx ends.
	work(ctx context.Context, c *pool)
	// draws is the number of draws that keep the worker busy.
	draws() int
	// outputs is the length of a draw's f.
	outputs(p *Problem) int
}

// single fits one resample at a time.
type single struct{ trainer Trainer }

// DrawsPerWorker bounds how far single workers run ahead of the slowest fit.
const DrawsPerWorker = 3

func (single) draws() int             { return DrawsPerWorker }
func (single) outputs(p *Problem) int { return p.inputs() }

func (w single) work(ctx context.Context, c *pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-c.free:
			if ctx.Err() != nil {
				return
			}
			if !c.prepare(d) {
				return
			}
			if !d.known && d.err == nil {
				w.fit(d)
			}
			c.finish(d)
		}
	}
}

// fit trains on the draw. A set without examples predicts the prior mean 0.
func (w single) fit(d *draw) {
	if d.empty {
		clear(d.f)
		return
	}
	start := time.Now()
	d.err = w.trainer.Fit(d.counts, d.f)
	d.duration = time.Since(start)
}

// block fits many resamples at a time.
type block struct{ trainer BlockTrainer }

// drawsPerPlace bounds how far block workers run ahead of the slowest fit.
const drawsPerPlace = 2

func (w block) draws() int           { return drawsPerPlace * w.trainer.Size() }
func (w block) outputs(*Problem) int { return w.trainer.Outputs() }

func (w block) work(ctx context.Context, c *pool) {
	held := make([]*draw, w.trainer.Size())
	var places []int // free ones
	for place := range held {
		places = append(places, place)
	}
	more := true
	for ctx.Err() == nil {
		for more && len(places) > 0 {
			d := w.next(ctx, c, len(places) == len(held))
			if d == nil {
				break
			}
			if more = c.prepare(d); !more {
				break
			}
			if d.err != nil || d.known && len(d.f) == c.problem.inputs() {
				c.finish(d)
				continue
			}
			place := places[len(places)-1]
			places = places[:len(places)-1]
			held[place] = d
			w.trainer.Start(place, d.counts, d.f, d.known)
		}
		if len(places) == len(held) {
			return
		}
		start, fits := time.Now(), len(held)-len(places)
		var ended []*draw
		w.trainer.Step(func(place int, err error) {
			held[place].err = err
			ended = append(ended, held[place])
			places = append(places, place)
			held[place] = nil
		})
		share := time.Since(start) / time.Duration(fits)
		for _, d := range held {
			if d != nil {
				d.duration += share
			}
		}
		for _, d := range ended {
			d.duration += share
			if d.empty {
				clear(d.f[:c.problem.inputs()])
			}
			c.finish(d)
		}
	}
}

// next is a free draw, or nil where there is none: while fits are in progress the
// worker does not wait for one.
func (w block) next(ctx context.Context, c *pool, wait bool) *draw {
	if ctx.Err() != nil {
		return nil
	}
	if wait {
		select {
		case <-ctx.Done():
			return nil
		case d := <-c.free:
			return d
		}
	}
	select {
	case d := <-c.free:
		return d
	default:
		return nil
	}
}
