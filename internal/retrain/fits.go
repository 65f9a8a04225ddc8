package retrain

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"bootbench/blas"
	"bootbench/internal/batch"
	"bootbench/internal/train"
	"bootbench/linalg"
)

// Fit is one fit of a plan, as it is handed over.
type Fit struct {
	batch.Fit
	Kind Kind
	// Time is its share of the wall time of its block.
	Time time.Duration
}

// Kind says where the predictions of a fit come from.
type Kind int

const (
	Trained  Kind = iota
	Recalled      // by Settings.Lookup
	Empty         // of no example: the prior mean
	OneClass      // of one class, which leaves a bias without a bound: its label
)

// Worker trains blocks of fits.
type Worker interface {
	// Train trains the fits of a block that are not known, and leaves ctx's error with those that it ends.
	Train(ctx context.Context, fits []batch.Fit)
}

// Trainers are the workers of a run.
type Trainers struct {
	New     func() (Worker, error) // makes one, for a goroutine
	Block   int                    // fits in one of its blocks
	Outputs int                    // predictions of a fit; 0: at the sites and extra inputs
}

// Single trains one fit after the other. Its blocks have one.
func Single(newTrainer func() (train.Trainer, error)) Trainers {
	return Along(newTrainer, []float64{1})
}

// Along trains the fits of a path (resample.Path) one after the other, each from the solution of the last if
// the trainers can. Its blocks are paths.
func Along(newTrainer func() (train.Trainer, error), factors []float64) Trainers {
	return Trainers{Block: len(factors), New: func() (Worker, error) {
		t, err := newTrainer()
		return along{t, factors}, err
	}}
}

// Batch trains blocks as products with one matrix.
func Batch(t *batch.Trainer) Trainers {
	return Trainers{Block: t.BlockSize(), Outputs: t.Outputs(),
		New: func() (Worker, error) { return t.NewBlock(), nil }}
}

type along struct {
	train.Trainer
	factors []float64
}

// Train is Worker.Train.
func (a along) Train(ctx context.Context, fits []batch.Fit) {
	r, resumes := a.Trainer.(train.Resumer)
	for i := range fits {
		f := &fits[i]
		switch {
		case f.Known:
		case ctx.Err() != nil:
			f.Err = ctx.Err()
		case resumes && i > 0 && !fits[i-1].Known:
			f.Err = r.Resume(a.factors[i]/a.factors[i-1], f.Weight, f.Target, f.F)
		default:
			f.Err = a.Fit(f.Weight, f.Target, f.F)
		}
	}
}

// BlocksPerWorker bounds how far workers run ahead of the slowest block.
const BlocksPerWorker = 3

// run is the training of a plan's fits.
type run struct {
	problem  *Problem
	settings *Settings
	trainers Trainers
}

// block is fits that one worker trains.
type block struct {
	fits     []batch.Fit
	kind     []Kind
	duration time.Duration
}

// fits hands over the fits of the run in the order of their numbers, up to the first whose training ctx
// ended; each is valid until the next. Workers take the next block that nobody has, whose bounds follow from
// its number alone, and run ahead of the fits that were handed over by a bounded number of blocks. A panic of
// a worker, which is one of the caller's trainer or loss, is one of the loop.
func (r *run) fits(ctx context.Context, workers []Worker) iter.Seq[*Fit] {
	return func(yield func(*Fit) bool) {
		blas.SingleThreaded(func() { r.each(ctx, workers, yield) })
	}
}

func (r *run) each(ctx context.Context, workers []Worker, yield func(*Fit) bool) {
	room := len(workers)
	if room > 1 {
		room *= BlocksPerWorker
	}
	working, stop := context.WithCancel(ctx)
	free, ready := make(chan *block, room), make([]chan *block, room)
	for i := range ready {
		ready[i] = make(chan *block, 1)
		free <- r.newBlock()
	}
	var crew linalg.Crew
	var next, left atomic.Int64
	ended := make(chan struct{})
	left.Store(int64(len(workers)))
	defer func() {
		stop()
		crew.Wait()
	}()
	for _, w := range workers {
		crew.Go(func() {
			defer func() {
				if left.Add(-1) == 0 {
					close(ended)
				}
			}()
			for working.Err() == nil {
				select {
				case b := <-free:
					number := int(next.Add(1)) - 1
					if r.first(number) >= r.end() {
						return
					}
					r.train(working, w, b, number)
					ready[number%room] <- b // which the block room numbers before has left
				case <-working.Done():
				}
			}
		}, stop)
	}
	for number := 0; r.first(number) < r.end(); number++ {
		var b *block
		select {
		case b = <-ready[number%room]:
		case <-ended:
			select {
			case b = <-ready[number%room]:
			default:
				return
			}
		}
		for i := range b.fits {
			f := &Fit{b.fits[i], b.kind[i], b.duration / time.Duration(len(b.fits))}
			if errors.Is(f.Err, context.Canceled) || errors.Is(f.Err, context.DeadlineExceeded) || !yield(f) {
				return
			}
		}
		free <- b
	}
}

func (r *run) newBlock() *block {
	b := &block{}
	for range min(r.trainers.Block, r.settings.Resamples) {
		b.fits = append(b.fits, batch.Fit{Weight: make([]float64, len(r.problem.Y)),
			F: make([]float64, r.trainers.Outputs)})
	}
	return b
}

// first is the number of the first fit of a block, end the number after the last fit. Blocks begin at
// multiples of their size.
func (r *run) first(number int) int {
	if number == 0 {
		return r.settings.First
	}
	return (r.settings.First/r.trainers.Block + number) * r.trainers.Block
}

func (r *run) end() int { return r.settings.First + r.settings.Resamples }

// train makes the weights and targets of a block, and trains the fits that are not recalled. If one of them
// must be trained all are, so that each is trained in the same company in every run.
func (r *run) train(ctx context.Context, w Worker, b *block, number int) {
	start, first := time.Now(), r.first(number)
	b.fits = b.fits[:min(r.first(number+1), r.end())-first]
	b.kind = b.kind[:0]
	train := false
	for i := range b.fits {
		b.fits[i].Number = first + i
		k := r.prepare(&b.fits[i])
		b.kind = append(b.kind, k)
		train = train || k == Trained
	}
	for i, k := range b.kind {
		if train && k == Recalled {
			b.kind[i], b.fits[i].Known, b.fits[i].Err = Trained, false, nil
		}
	}
	w.Train(ctx, b.fits)
	b.duration = time.Since(start)
}

// prepare makes the weights and targets of a fit, and finds its predictions if they are known.
func (r *run) prepare(f *batch.Fit) Kind {
	p := r.problem
	f.Target = p.Plan.Fit(f.Number, f.Weight)
	f.Known, f.Err = true, nil
	label, count := classes(f.Weight, f.Target)
	inputs := f.F[:p.Sites+p.Extra]
	if p.Decided(f.Weight, f.Target) {
		for i := range inputs {
			inputs[i] = label
		}
		return [2]Kind{Empty, OneClass}[count]
	}
	if r.settings.Lookup != nil {
		if f.Known, f.Err = r.settings.Lookup(f.Number, inputs); f.Known || f.Err != nil {
			f.Known = true
			return Recalled
		}
	}
	f.Known = false
	return Trained
}

// Decided reports whether a fit predicts without training: it is of no example, or of one class, see
// OneClass.
func (p *Problem) Decided(weight, target []float64) bool {
	_, count := classes(weight, target)
	return count == 0 || count == 1 && p.OneClass
}

// classes is how many different targets a fit has, 0, 1 or 2 for more, and the target if it is one.
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
