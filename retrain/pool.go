package retrain

import (
	"context"
	"sync/atomic"
	"time"

	"bootbench/linalg"
	"bootbench/resample"
)

// draw is one resample on its way. Draws circulate: from the free ones to a worker,
// which numbers, draws and fits it, to the reorder buffer, and back.
type draw struct {
	at       int // place in the run: resample b is number b - First
	b        int
	counts   []int
	f        []float64
	empty    bool
	known    bool // looked up, not fitted
	duration time.Duration
	err      error
}

// pool is the draws and the workers among which they circulate.
//
// A worker takes a free draw first and a number b second. All numbers from the first
// uncollected one upwards are then held by different draws, so the reorder buffer has
// room for each at its place modulo the number of draws, and the lowest number is always
// being worked on.
type pool struct {
	problem    *Problem
	settings   *Settings
	next       atomic.Int64 // number of the next resample
	free, done chan *draw
	finish     func(*draw) // takes a finished draw
}

// newPool makes as many draws as keep workers like w busy.
func newPool(p *Problem, s *Settings, w worker) *pool {
	draws := min(w.draws()*s.Workers, s.Resamples)
	c := &pool{problem: p, settings: s, free: make(chan *draw, draws), done: make(chan *draw, draws)}
	for range draws {
		c.free <- &draw{counts: make([]int, len(p.Y)), f: make([]float64, w.outputs(p))}
	}
	c.finish = func(d *draw) { c.done <- d } // has room for all draws
	return c
}

// runInStep is run with one worker, which accumulates what it has finished at once.
func (c *pool) runInStep(ctx context.Context, w worker, a *accumulator) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	buffer := &reorderBuffer{pool: c, into: a, waiting: make([]*draw, cap(c.done))}
	var failed error
	c.finish = func(d *draw) {
		if failed == nil {
			failed = buffer.take(d)
		}
		if failed != nil {
			stop()
		}
	}
	w.work(working, c)
	return failed
}

// run fits and accumulates until all resamples are done, one fails or ctx ends. A panic
// of a worker, which is one of the caller's trainer or loss, is one of run.
func (c *pool) run(ctx context.Context, workers []worker, a *accumulator) error {
	working, stop := context.WithCancel(ctx)
	var crew linalg.Crew
	for _, w := range workers {
		crew.Go(func() { w.work(working, c) }, stop)
	}
	defer func() { // where a callback of the collecting goroutine panics
		stop()
		crew.Wait()
	}()
	buffer := &reorderBuffer{pool: c, into: a, waiting: make([]*draw, cap(c.done))}
	err := buffer.collect(working)
	stop()
	crew.Wait()
	if err != nil {
		return err
	}
	return buffer.drain()
}

// prepare numbers a free draw, draws it and looks it up. It reports whether a number was
// left.
func (c *pool) prepare(d *draw) bool {
	d.at = int(c.next.Add(1)) - 1
	if d.at >= c.settings.Resamples {
		return false
	}
	d.b = c.settings.First + d.at
	d.empty, d.known, d.err, d.duration = c.draw(d), false, nil, 0
	if c.settings.Lookup != nil && !d.empty {
		d.known, d.err = c.settings.Lookup(d.b, d.f[:c.problem.inputs()])
	}
	return true
}

// draw draws the counts, and reports whether all are 0.
func (c *pool) draw(d *draw) (empty bool) {
	resample.Draw(c.problem.Scheme, c.settings.Seed, d.b, d.counts)
	return isEmpty(d.counts)
}

func isEmpty(counts []int) bool {
	for _, k := range counts {
		if k != 0 {
			return false
		}
	}
	return true
}

// reorderBuffer accumulates finished draws in the order of b.
type reorderBuffer struct {
	pool    *pool
	into    *accumulator
	waiting []*draw // finished ahead of their turn, draw b at b mod len
}

// collect accumulates until all resamples are done, the next one failed or ctx ends.
func (q *reorderBuffer) collect(ctx context.Context) error {
	for q.into.done < q.pool.settings.Resamples && ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case d := <-q.pool.done:
			if err := q.take(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain accumulates what the workers have finished.
func (q *reorderBuffer) drain() error {
	for {
		select {
		case d := <-q.pool.done:
			if err := q.take(d); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// take accepts a finished draw and accumulates those whose turn has come.
func (q *reorderBuffer) take(d *draw) error {
	q.waiting[d.at%len(q.waiting)] = d
	for {
		turn := &q.waiting[q.into.done%len(q.waiting)]
		d := *turn
		if d == nil {
			return nil
		}
		*turn = nil
		if d.err == nil {
			q.into.add(d)
		} else if err := q.into.skip(d); err != nil {
			return err
		}
		q.pool.free <- d
	}
}
