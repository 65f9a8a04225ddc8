package fits

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"
)

// Worker trains the unknown fits of a slot; fits that ctx interrupts get its error.
type Worker func(ctx context.Context, fits []Fit)

// Trainers are the workers of a run.
type Trainers struct {
	New     func() (Worker, error) // makes a worker for a goroutine
	Block   int                    // fits in a slot
	Outputs int                    // predictions of a fit; 0: at the sites and extra inputs
	Wide    bool                   // the only worker runs in parallel inside
}

// Single trains one fit after the other, in blocks of one.
func Single(newTrainer func() (train.Trainer, error)) Trainers {
	return Along(newTrainer, []float64{1})
}

// Along trains the fits of a path (resample.Path) one after the other, each from the solution of the last if
// the trainers can. A slot is a path.
func Along(newTrainer func() (train.Trainer, error), factors []float64) Trainers {
	return Trainers{Block: len(factors), New: func() (Worker, error) {
		t, err := newTrainer()
		return func(ctx context.Context, fits []Fit) { trainAlong(ctx, t, factors, fits) }, err
	}}
}

func trainAlong(ctx context.Context, t train.Trainer, factors []float64, fits []Fit) {
	for i := range fits {
		f := &fits[i]
		switch {
		case f.Kind != Trained:
		case ctx.Err() != nil:
			f.Err = ctx.Err()
		default:
			set := train.Set{Y: f.Target, Weight: f.Weight}
			if i > 0 && fits[i-1].Kind == Trained {
				set.Resume = factors[i] / factors[i-1]
			}
			f.Err = t.Fit(set, f.F)
		}
	}
}

// Batch trains blocks as products with one matrix.
func Batch(t *Blocks) Trainers {
	return Trainers{Block: t.BlockSize(), Outputs: t.Outputs(), Wide: t.wide,
		New: func() (Worker, error) { return t.NewBlock(), nil }}
}

// BlocksPerWorker bounds the blocks in the ring, finished ones behind the slowest slot included.
const BlocksPerWorker = 3

// run is the training of a plan's fits.
type run struct {
	problem  *Problem
	settings *Settings
	trainers Trainers
}

// slot is fits that one worker trains.
type slot struct {
	number int
	fits   []Fit
	ready  chan struct{} // closed after training
}

// fits yields the fits of the run in the order of their numbers, up to the first that ctx interrupted; each
// is valid until the next. The bounds of a slot depend only on its number. A panic of a worker, from the
// caller's trainer or loss, is passed to the loop.
func (r *run) fits(ctx context.Context, workers []Worker) iter.Seq[*Fit] {
	return func(yield func(*Fit) bool) {
		blas.SingleThreaded(func() { r.each(ctx, workers, yield) })
	}
}

// each passes a ring of blocks through the workers: a slot is reused for later fits after its fits were
// yielded.
func (r *run) each(ctx context.Context, workers []Worker, yield func(*Fit) bool) {
	ring := make([]*slot, len(workers))
	if len(workers) > 1 {
		ring = make([]*slot, BlocksPerWorker*len(workers))
	}
	ctx, stop := context.WithCancel(ctx)
	queue, failed := make(chan *slot, len(ring)), make(chan struct{})
	fail := sync.OnceFunc(func() { close(failed) })
	var crew blas.Crew
	defer func() {
		stop()
		close(queue)
		crew.Wait()
	}()
	for _, w := range workers {
		crew.Go(func() {
			for b := range queue {
				r.train(ctx, w, b)
				b.ready <- struct{}{}
			}
		}, fail)
	}
	send := func(number int) {
		if b := ring[number%len(ring)]; r.first(number) < r.end() {
			b.number = number
			queue <- b
		}
	}
	for i := range ring {
		ring[i] = r.newBlock()
		send(i)
	}
	for number := 0; r.first(number) < r.end(); number++ {
		b := ring[number%len(ring)]
		select {
		case <-b.ready:
		case <-failed:
			return
		}
		for i := range b.fits {
			f := &b.fits[i]
			if errors.Is(f.Err, context.Canceled) || errors.Is(f.Err, context.DeadlineExceeded) || !yield(f) {
				return
			}
		}
		send(number + len(ring))
	}
}

func (r *run) newBlock() *slot {
	b := &slot{ready: make(chan struct{}, 1)}
	for range min(r.trainers.Block, r.settings.Resamples) {
		b.fits = append(b.fits, Fit{Weight: make([]float64, len(r.problem.Y)),
			F: make([]float64, r.trainers.Outputs)})
	}
	return b
}

// first is the number of the first fit of a slot, end the number after the last fit. Blocks begin at
// multiples of their size.
func (r *run) first(number int) int {
	if number == 0 {
		return r.settings.First
	}
	return (r.settings.First/r.trainers.Block + number) * r.trainers.Block
}

func (r *run) end() int { return r.settings.First + r.settings.Resamples }

// train makes the weights and targets of a slot, and trains the fits that are not recalled. If one must be
// trained, all are, so that the results of a slot do not depend on the run.
func (r *run) train(ctx context.Context, work Worker, b *slot) {
	start, first := time.Now(), r.first(b.number)
	b.fits = b.fits[:min(r.first(b.number+1), r.end())-first]
	eachOf(len(b.fits), r.trainers.Wide, func(i int) {
		b.fits[i].Number = first + i
		if b.fits[i].Err = ctx.Err(); b.fits[i].Err == nil {
			r.prepare(&b.fits[i])
		}
	})
	train := slices.ContainsFunc(b.fits, func(f Fit) bool { return f.Kind == Trained })
	for i := range b.fits {
		if f := &b.fits[i]; train && f.Kind == Recalled {
			f.Kind, f.Err = Trained, nil
		}
	}
	work(ctx, b.fits)
	for i := range b.fits {
		b.fits[i].Time = time.Since(start) / time.Duration(len(b.fits))
	}
}

// eachOf calls f for the numbers below n, in parallel or not.
func eachOf(n int, parallel bool, f func(i int)) {
	if parallel {
		linalg.Parallel(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

// prepare makes the weights and targets of a fit, and looks up its predictions.
func (r *run) prepare(f *Fit) {
	p := r.problem
	f.Target = p.Plan.Fit(f.Number, f.Weight)
	f.Kind, f.Err = Trained, nil
	label, count := classes(f.Weight, f.Target)
	inputs := f.F[:p.inputs()]
	if count == 0 || count == 1 && p.OneClass {
		for i := range inputs {
			inputs[i] = label
		}
		f.Kind = [2]Kind{Empty, OneClass}[count]
	} else if r.settings.Memory != nil {
		var known bool
		if known, f.Err = r.settings.Memory.Recall(f.Number, inputs); known || f.Err != nil {
			f.Kind = Recalled
		}
	}
}

// classes is the number of different targets of a fit, 2 for more, and the target if there is one.
func classes(weight, y []float64) (target float64, count int) {
	for i, w := range weight {
		switch {
		case w == 0:
		case count == 0:
			target, count = y[i], 1
		case y[i] != target:
			return 0, 2
		}
	}
	return target, count
}
