package fits

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/train"
)

// BlockSize is the number of resamples in a block for few sites.
const BlockSize = 64

// SizeOfBlock is the number for the given sites: large blocks of 10^5 sites would take gigabytes.
func SizeOfBlock(sites int) int { return max(8, min(BlockSize, BlockSize<<16/max(1, sites))) }

// Fit is one weighted training set with its predictions.
type Fit struct {
	Number         int       // in its plan
	Weight, Target []float64 // of the examples
	F              []float64 // length Blocks.Outputs
	Kind           Kind
	Time           time.Duration // part of the wall time of its block
	Err            error         // why there are no predictions
}

// Kind is the origin of a fit's predictions. Unless it is Trained, F holds them before training.
type Kind int

const (
	Trained  Kind = iota
	Recalled      // known from an earlier run
	Empty         // of no example: the prior mean
	OneClass      // of one class, with an unbounded bias: its label
)

// newBlocks makes blocks in precision T: each trains at most BlockSize fits at a time, for one goroutine. For
// known fits it computes the first iterate only, if requested. When ctx ends, fits in progress get its error.
func newBlocks[T number](t *Blocks) func() func(ctx context.Context, fits []Fit) {
	p := &precision[T]{newProduct[T](t.surrogate.engine), newScales[T](t.surrogate)}
	return func() func(ctx context.Context, fits []Fit) { return newBlock(t, p).train }
}

// precision holds what depends on the precision of a block.
type precision[T number] struct {
	product product[T]
	scales  scales[T]
}

// block is fits in training together.
type block[T number] struct {
	trainer *Blocks
	*precision[T]
	one    sync.Mutex
	exact  train.Trainer // made at its first use, for one fit at a time
	rows   []row[T]      // rows in use first
	active int
	x, p   matrix[T]     // xi - g, and its product with G without the diagonal, a row a resample
	rooms  chan *room[T] // one for each row that is worked on at a time
}

// room is workspace for a row.
type room[T number] struct {
	h, fitted    []float64 // over the sites
	move         []T       // over the sites
	coefficients []T       // of length depth
	small        []float64
}

// row is one resample in training.
type row[T number] struct {
	fit *Fit
	sites
	weighted   []T // residual of the last iterate, in standard deviations of f
	history    anderson[T]
	iterations int
}

func newBlock[T number](t *Blocks, p *precision[T]) *block[T] {
	b, sites, rooms := &block[T]{trainer: t, precision: p}, t.Sites(), 1
	if t.wide {
		rooms = runtime.GOMAXPROCS(0)
	}
	b.rooms = make(chan *room[T], rooms)
	for range rooms {
		b.rooms <- &room[T]{h: make([]float64, sites), fitted: make([]float64, sites),
			move: make([]T, sites), coefficients: make([]T, depth),
			small: make([]float64, depth*depth+3*depth)}
	}
	return b
}

// eachRow calls f for the active rows, in parallel if the block is wide.
func (b *block[T]) eachRow(f func(i int, room *room[T])) {
	eachOf(b.active, b.trainer.wide, func(i int) {
		room := <-b.rooms
		f(i, room)
		b.rooms <- room
	})
}

func (b *block[T]) train(ctx context.Context, fits []Fit) {
	b.reserve(len(fits))
	b.active = 0
	for i := range fits {
		if f := &fits[i]; f.Err == nil && (f.Kind == Trained || b.trainer.settings.FirstIterate) {
			b.rows[b.active].fit = f
			b.active++
		}
	}
	b.eachRow(b.start)
	for b.active > 0 {
		if err := ctx.Err(); err != nil {
			for _, r := range b.rows[:b.active] {
				r.fit.Err = err
			}
			return
		}
		b.iterate()
	}
}

// reserve allocates count rows.
func (b *block[T]) reserve(count int) {
	n := b.trainer.Sites()
	if count > b.x.rows {
		b.x, b.p = newMatrix[T](count, n), newMatrix[T](count, n)
	}
	for len(b.rows) < count {
		b.rows = append(b.rows, row[T]{weighted: make([]T, n),
			history: newAnderson[T](n)})
	}
}

// start begins row i. Its first point is x = 0: every site's cavity is the theory's average.
func (b *block[T]) start(i int, room *room[T]) {
	row := &b.rows[i]
	row.iterations = 0
	row.history.reset()
	b.trainer.examples.gather(&row.sites, row.fit)
	clear(b.x.row(i))
	clear(b.p.row(i))
	clear(row.weighted)
	b.evaluate(i, room)
	b.step(i, 0, room)
}

// iterate multiplies the x of every row by G, removes the rows that are done, in order, and steps the others.
func (b *block[T]) iterate() {
	b.product(b.p.top(b.active), b.x.top(b.active))
	b.trainer.counts.iterations.Add(int64(b.active))
	ended := make([]bool, b.active)
	b.eachRow(func(i int, room *room[T]) {
		row := &b.rows[i]
		row.iterations++
		if ended[i] = b.ends(i, room); !ended[i] {
			b.step(i, row.history.coefficients(room.coefficients, row.weighted, room.small), room)
		}
	})
	kept := 0
	for i, ended := range ended {
		if ended {
			continue
		}
		if kept < i {
			b.rows[kept], b.rows[i] = b.rows[i], b.rows[kept]
			copy(b.x.row(kept), b.x.row(i))
		}
		kept++
	}
	b.active = kept
}

// ends evaluates row i and reports whether its fit is done.
func (b *block[T]) ends(i int, room *room[T]) bool {
	t, r := b.trainer, &b.rows[i]
	if t.settings.FirstIterate && r.iterations == 1 {
		b.writeFirst(i, room.h, r.fit.F[t.inputs():])
	}
	if r.fit.Kind != Trained {
		return true
	}
	if t.settings.Single {
		b.fitExactly(r.fit)
		return true
	}
	residual := b.evaluate(i, room)
	if residual > t.settings.Tolerance && r.iterations < t.settings.MaxIterations {
		return false
	}
	if decided := b.write(i, residual, room, r.fit.F); residual <= t.settings.Tolerance && decided {
		t.counts.fits.Add(1)
	} else {
		b.fitExactly(r.fit)
	}
	return true
}

// fitExactly trains a fit by the exact trainer.
func (b *block[T]) fitExactly(f *Fit) {
	b.trainer.counts.left.Add(1)
	b.one.Lock()
	defer b.one.Unlock()
	if b.exact == nil {
		if b.exact, f.Err = b.trainer.newExact(); f.Err != nil {
			return
		}
	}
	f.Err = b.exact.Fit(train.Set{Y: f.Target, Weight: f.Weight}, f.F[:b.trainer.inputs()])
}

// evaluate computes h, f_s(h) and the residual xi(h) - xi of row i, and returns the residual's size. Times
// chi it is f_s(h) - G xi, in units of f.
func (b *block[T]) evaluate(i int, room *room[T]) (worst float64) {
	s, row := b.trainer.surrogate, &b.rows[i]
	x := b.x.row(i)
	p, h, cavity := b.p.row(i)[:len(x)], room.h[:len(x)], s.cavity[:len(x)]
	inverseB, chi := s.unitOverB[:len(x)], b.scales.chi[:len(x)]
	fitted, mean := room.fitted[:len(x)], s.mean[:len(x)]
	for j, v := range x {
		h[j] = cavity[j] + float64(p[j])*inverseB[j]
		fitted[j] = mean[j] + s.unit*float64(p[j]+chi[j]*v) // guess for maps that iterate
	}
	b.trainer.examples.relax(fitted, s.c, h, &row.sites)
	difference, image := row.history.open()
	difference, image, weighted := difference[:len(x)], image[:len(x)], row.weighted[:len(x)]
	perDeviation, force := b.scales.perDeviation[:len(x)], b.scales.force[:len(x)]
	perUnit, largest := 1/s.unit, T(0)
	for j, v := range x {
		scaled := (T((fitted[j]-mean[j])*perUnit) - (p[j] + chi[j]*v)) * perDeviation[j]
		change := scaled - weighted[j]
		weighted[j], difference[j] = scaled, change
		image[j] += change * force[j]
		if square := scaled * scaled; !(square <= largest) {
			largest = square
			if square != square {
				largest = T(math.Inf(1))
			}
		}
	}
	return math.Sqrt(float64(largest))
}

// step updates x of row i by its residual and the first n of Anderson's coefficients.
func (b *block[T]) step(i, n int, room *room[T]) {
	row, x := &b.rows[i], b.x.row(i)
	for j, v := range row.weighted {
		room.move[j] = v * b.scales.force[j]
	}
	if n > 0 {
		gemv(gblas.Trans, -1, row.history.image.top(n), room.coefficients[:n], 1, room.move)
	}
	_, image := row.history.open()
	copy(image, room.move)
	for j, v := range room.move {
		x[j] += v
	}
}

// writeFirst writes the predictions of row i's first iterate, f = m + G x, into f. xi is workspace.
func (b *block[T]) writeFirst(i int, xi, f []float64) {
	t, s := b.trainer, b.trainer.surrogate
	x, p, weight := b.x.row(i), b.p.row(i), b.rows[i].weight
	for j, v := range x {
		f[j] = s.mean[j] + s.unit*float64(p[j]+b.scales.chi[j]*v)
		if weight[j] == 0 { // chi x = m_c - m, without cancellation
			f[j] = s.cavity[j] + s.unit*float64(p[j])
		}
		xi[j] = s.g[j] + s.unit*float64(v)
	}
	t.respond(f[t.Sites():t.inputs()], xi)
}

// respond writes the predictions at the new inputs by forces xi into f.
func (t *Blocks) respond(f, xi []float64) {
	if t.extra.Rows > 0 {
		blas64.Gemv(gblas.NoTrans, 1, t.extra, vector64(xi), 0, vector64(f))
	}
}
