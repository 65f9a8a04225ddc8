package retrain

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
	p, err := p.withDefaults()
	if err != nil {
		return nil, err
	}
	if s, err = s.withDefaults(resample.Period(p.Scheme)); err != nil {
		return nil, err
	}
	trainers, err := makeTrainers(s.Workers, newTrainer)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	r := newRecord(&p, &s)
	blas.SingleThreaded(func() { err = newCrew(&p, &s).run(ctx, trainers, r) })
	if err != nil {
		return nil, err
	}
	result := r.result()
	result.Stats.Elapsed = time.Since(start)
	return result, nil
}

func makeTrainers(workers int, newTrainer func() (Trainer, error)) ([]Trainer, error) {
	var trainers []Trainer
	for range workers {
		t, err := newTrainer()
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		trainers = append(trainers, t)
	}
	return trainers, nil
}

// draw is one resample. Draws circulate: from the free ones to a worker, which
// numbers, draws and fits it, to the collector, and back.
type draw struct {
	at       int // place in the run: resample b is number b - First
	b        int
	counts   []int
	f        []float64
	empty    bool
	known    bool // recalled, not fitted
	duration time.Duration
	err      error
}

// crew is the workers and the collector that puts their fits in order.
//
// A worker takes a free draw first and a number b second. All numbers from the
// first uncollected one upwards are then held by different draws, so the
// collector finds room for each at its place modulo the number of draws, and the
// lowest number is always being worked on.
type crew struct {
	problem    *Problem
	settings   *Settings
	next       atomic.Int64 // number of the next resample
	free, done chan *draw
}

// drawsPerWorker bounds how far the workers run ahead of the slowest fit.
const drawsPerWorker = 3

func newCrew(p *Problem, s *Settings) *crew {
	draws := min(drawsPerWorker*s.Workers, s.Resamples)
	c := &crew{problem: p, settings: s, free: make(chan *draw, draws), done: make(chan *draw, draws)}
	for range draws {
		c.free <- &draw{counts: make([]int, len(p.Y)), f: make([]float64, p.Sites+p.Extra)}
	}
	return c
}

// run fits and records until all resamples are done, one fails or ctx ends.
func (c *crew) run(ctx context.Context, trainers []Trainer, r *record) error {
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for _, t := range trainers {
		workers.Add(1)
		go func() {
			defer workers.Done()
			c.work(working, t)
		}()
	}
	queue := &queue{crew: c, record: r, waiting: make([]*draw, cap(c.done))}
	err := queue.collect(ctx)
	stop()
	workers.Wait()
	if err != nil {
		return err
	}
	return queue.drain()
}

// work fits resamples until none is left or ctx ends.
func (c *crew) work(ctx context.Context, t Trainer) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-c.free:
			d.at = int(c.next.Add(1)) - 1
			if d.at >= c.settings.Resamples || ctx.Err() != nil {
				return
			}
			d.b = c.settings.First + d.at
			resample.Draw(c.problem.Scheme, c.settings.Seed, d.b, d.counts)
			d.fit(t, c.settings.Lookup)
			c.done <- d // has room for all draws
		}
	}
}

// fit trains on the draw, unless the outcome is known. A set without examples
// predicts the prior mean 0.
func (d *draw) fit(t Trainer, recall func(b int, f []float64) (bool, error)) {
	d.empty, d.known, d.err, d.duration = isEmpty(d.counts), false, nil, 0
	if d.empty {
		clear(d.f)
		return
	}
	if recall != nil {
		if d.known, d.err = recall(d.b, d.f); d.known || d.err != nil {
			return
		}
	}
	start := time.Now()
	d.err = t.Fit(d.counts, d.f)
	d.duration = time.Since(start)
}

func isEmpty(counts []int) bool {
	for _, k := range counts {
		if k != 0 {
			return false
		}
	}
	return true
}

// queue is the collector: it records finished draws in the order of b.
type queue struct {
	crew    *crew
	record  *record
	waiting []*draw // finished ahead of their turn, draw b at b mod len
}

// collect records until all resamples are done, the next one failed or ctx ends.
func (q *queue) collect(ctx context.Context) error {
	for q.record.done < q.crew.settings.Resamples && ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case d := <-q.crew.done:
			if err := q.take(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain records what the workers finished before they stopped.
func (q *queue) drain() error {
	close(q.crew.done)
	for d := range q.crew.done {
		if err := q.take(d); err != nil {
			return err
		}
	}
	return nil
}

// take accepts a finished draw and records those whose turn has come.
func (q *queue) take(d *draw) error {
	q.waiting[d.at%len(q.waiting)] = d
	for {
		turn := &q.waiting[q.record.done%len(q.waiting)]
		d := *turn
		if d == nil {
			return nil
		}
		*turn = nil
		if d.err == nil {
			q.record.add(d)
		} else if err := q.record.skip(d); err != nil {
			return err
		}
		q.crew.free <- d
	}
}
