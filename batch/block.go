package batch

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Block is resamples in training together, for one goroutine. Fits enter and leave it at
// any step.
type Block struct {
	rows    rows
	trainer *Trainer
	exact   Exact // made when first needed
}

// rows is a block in either precision.
type rows interface {
	start(r resample)
	iterate(ended func(r resample, residual float64))
}

// resample is one resample: its place and counts, and where its outputs go. Where the fit
// is known only the first iterate is missing.
type resample struct {
	place  int
	counts []int
	f      []float64
	known  bool
}

// NewBlock makes an empty block.
func (t *Trainer) NewBlock() *Block {
	if t.double != nil {
		return &Block{trainer: t, rows: newBlock(t, t.double)}
	}
	return &Block{trainer: t, rows: newBlock(t, t.single)}
}

// Size is the number of resamples that the block holds at most.
func (b *Block) Size() int { return b.trainer.settings.Size }

// Outputs is Trainer.Outputs.
func (b *Block) Outputs() int { return b.trainer.Outputs() }

// Start begins to train on counts. place is the caller's number for this fit; counts must not change, and f,
// length Outputs, is written, until Step says that the fit has ended. Of a fit that is known, f holding it,
// only the first iterate is computed.
func (b *Block) Start(place int, counts []int, f []float64, known bool) {
	b.rows.start(resample{place, counts, f, known})
}

// Step takes one iteration of all fits, and tells of those that ended with it. err is that
// of the exact trainer, to which fits are left that do not reach the tolerance.
func (b *Block) Step(ended func(place int, err error)) {
	b.rows.iterate(func(r resample, residual float64) {
		var err error
		switch {
		case r.known:
		case residual <= b.trainer.settings.Tolerance && !b.trainer.examples.leave(r.counts):
			b.trainer.counts.fits.Add(1)
		default:
			b.trainer.counts.left.Add(1)
			err = b.fitExactly(r)
		}
		ended(r.place, err)
	})
}

func (b *Block) fitExactly(r resample) (err error) {
	if b.exact == nil {
		if b.exact, err = b.trainer.newExact(); err != nil {
			return err
		}
	}
	return b.exact.Fit(r.counts, r.f[:b.trainer.inputs()])
}

// block is the rows of a Block.
type block[T number] struct {
	trainer *Trainer
	*precision[T]
	rows   []row[T] // those in use first
	active int
	x, f   matrix[T] // xi - g and f - m = G (xi - g), a row a resample

	h, fitted    []float64 // workspace over the sites
	move         []T       // the same
	coefficients []T       // workspace over Settings.Depth
	small        []float64
	sums         []float64 // over the rows
}

// row is one resample in training.
type row[T number] struct {
	resample
	weight     []float64 // count of each site
	weighted   []T       // residual of the last iterate, in standard deviations of f
	history    anderson[T]
	iterations int
	residual   float64 // the largest over sites, infinite where one is no number
}

func newBlock[T number](t *Trainer, p *precision[T]) *block[T] {
	size, sites, depth := t.settings.Size, t.Sites(), t.settings.Depth
	return &block[T]{
		trainer: t, precision: p, rows: make([]row[T], size),
		x: newMatrix[T](size, sites), f: newMatrix[T](size, sites),
		h: make([]float64, sites), fitted: make([]float64, sites),
		move:         make([]T, sites),
		coefficients: make([]T, depth), small: make([]float64, depth*depth+depth),
		sums: make([]float64, 2*depth*size),
	}
}

// start puts a resample into a row of its own. Its first point is x = 0, where every
// site's cavity is the average one.
func (b *block[T]) start(r resample) {
	row := &b.rows[b.active]
	if row.weight == nil {
		row.weight, row.weighted = make([]float64, b.x.cols), make([]T, b.x.cols)
		row.history = newAnderson[T](b.trainer.settings.Depth, b.x.cols)
	}
	row.resample, row.iterations = r, 0
	row.history.reset()
	b.trainer.examples.weigh(row.weight, r.counts)
	clear(b.x.row(b.active))
	clear(b.f.row(b.active))
	clear(row.weighted)
	b.evaluate(b.active)
	b.advance(b.active, 0)
	b.active++
}

// iterate computes f at the x of every row and moves those that go on to their next x.
func (b *block[T]) iterate(ended func(r resample, residual float64)) {
	b.product(b.f.top(b.active), b.x.top(b.active))
	b.trainer.counts.iterations.Add(int64(b.active))
	s := &b.trainer.settings
	for i := range b.active {
		r := &b.rows[i]
		r.iterations++
		if s.FirstIterate && r.iterations == 1 {
			b.write(i, r.f[b.trainer.inputs():])
		}
		if !r.known {
			b.evaluate(i)
		}
	}
	for i := b.active - 1; i >= 0; i-- { // from behind: remove moves the last row
		r := &b.rows[i]
		if !r.known {
			if r.residual > s.Tolerance && r.iterations < s.MaxIterations {
				continue
			}
			b.write(i, r.f)
		}
		ended(r.resample, r.residual)
		b.remove(i)
	}
	b.advanceAll()
}

// advanceAll moves x of all rows, none of which is new.
func (b *block[T]) advanceAll() {
	depth := b.trainer.settings.Depth
	for i := range b.active {
		row := &b.rows[i]
		row.history.products(b.sums[2*depth*i:][:2*depth], row.weighted, b.coefficients)
	}
	for i := range b.active {
		row := &b.rows[i]
		b.advance(i, row.history.close(b.sums[2*depth*i:][:2*depth], b.coefficients, b.small))
	}
}

// remove takes row i out; the last one takes its place.
func (b *block[T]) remove(i int) {
	b.active--
	if i != b.active {
		b.rows[i], b.rows[b.active] = b.rows[b.active], b.rows[i]
		copy(b.x.row(i), b.x.row(b.active))
		copy(b.f.row(i), b.f.row(b.active))
	}
}

// evaluate computes the residual xi(h(x, f)) - x of row i, and its size. In units of f,
// times chi, it is f_s(h) - f: by so much the site would move of its own.
func (b *block[T]) evaluate(i int) {
	s, row := b.trainer.surrogate, &b.rows[i]
	x := b.x.row(i)
	f, h, cavity := b.f.row(i)[:len(x)], b.h[:len(x)], s.cavity[:len(x)]
	inverseB, chiOverB := b.scales.inverseB[:len(x)], b.scales.chiOverB[:len(x)]
	for j, v := range x {
		h[j] = cavity[j] + float64(f[j]*inverseB[j]-v*chiOverB[j])
	}
	fitted, mean := b.fitted[:len(x)], s.mean[:len(x)]
	for j, v := range f {
		fitted[j] = mean[j] + float64(v) // where a map that iterates may start
	}
	b.trainer.examples.relax(fitted, s.c, h, row.weight, row.counts)
	difference, image := row.history.open()
	difference, image, weighted := difference[:len(x)], image[:len(x)], row.weighted[:len(x)]
	perDeviation, force := b.scales.perDeviation[:len(x)], b.scales.force[:len(x)]
	worst := T(0)
	for j, v := range f {
		scaled := (T(fitted[j]-mean[j]) - v) * perDeviation[j]
		change := scaled - weighted[j]
		weighted[j], difference[j] = scaled, change
		image[j] += change * force[j]
		if square := scaled * scaled; !(square <= worst) {
			worst = square
			if square != square {
				worst = T(math.Inf(1))
			}
		}
	}
	row.residual = math.Sqrt(float64(worst))
}

// advance moves x of row i, whose residual evaluate has just left, by Anderson's step, of which the first n
// coefficients are there.
func (b *block[T]) advance(i, n int) {
	row, x := &b.rows[i], b.x.row(i)
	for j, v := range row.weighted {
		b.move[j] = v * b.scales.force[j]
	}
	if n > 0 {
		subMulVec(b.move, row.history.image.top(n), b.coefficients[:n])
	}
	_, image := row.history.open()
	copy(image, b.move)
	for j, v := range b.move {
		x[j] += v
	}
}

// write leaves the predictions of row i, at the sites and at the new inputs, in f.
func (b *block[T]) write(i int, f []float64) {
	t := b.trainer
	for j, v := range b.f.row(i) {
		f[j] = t.surrogate.mean[j] + float64(v)
	}
	if t.extra.Rows == 0 {
		return
	}
	for j, v := range b.x.row(i) {
		b.h[j] = t.surrogate.g[j] + float64(v)
	}
	extra := f[t.Sites():t.inputs()]
	blas64.Gemv(gblas.NoTrans, 1, t.extra, vector64(b.h), 0, vector64(extra))
}
