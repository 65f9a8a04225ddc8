package erm

import (
	"errors"
	"fmt"
	"math"

	"bootbench/linalg"
)

// Settings say how to train. The zero value trains from a = 0 to a gap of
// DefaultTolerance.
type Settings struct {
	// Tolerance is the gap that counts as converged, as a share of the sizes of
	// the terms of the objective; 0 means DefaultTolerance.
	Tolerance float64
	// MaxSteps bounds the Newton steps; 0 means DefaultMaxSteps.
	MaxSteps int
	// Start are weights of the sites to start from, length M, finite. Nil means
	// 0. It may be the A of the Trainer's last Result.
	Start []float64
}

// The defaults of the zero Settings.
const (
	DefaultTolerance = 1e-10
	DefaultMaxSteps  = 5000
)

// Trainer trains on one weighted set after the other over the M sites of a
// kernel matrix, which it only reads. It takes about 16 n^2 bytes for the
// largest number n of active sites met so far. One Trainer serves one
// goroutine; Trainers that share a kernel matrix may run at the same time.
type Trainer struct {
	kernel  *linalg.Sym
	loss    Loss
	set     examples
	system  system
	iterate iterate
	newton  newton
	result  Result
}

// NewTrainer returns a Trainer for the positive semidefinite kernel matrix k and
// loss l. An element of k that is not finite, or a negative one on its
// diagonal, is an error.
func NewTrainer(k *linalg.Sym, l Loss) (*Trainer, error) {
	if l == nil {
		return nil, errors.New("there is no loss to train with")
	}
	for i := range k.N() {
		for j, v := range k.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("kernel element (%d, %d) is %v", i+1, i+j+1, v)
			}
		}
		if v := k.At(i, i); v < 0 {
			return nil, fmt.Errorf("kernel element (%d, %d) is %v: the matrix is not positive semidefinite", i+1, i+1, v)
		}
	}
	return newTrainer(k, l), nil
}

func newTrainer(k *linalg.Sym, l Loss) *Trainer {
	return &Trainer{kernel: k, loss: l, set: examples{loss: l}}
}

// Clone returns a Trainer for the same kernel matrix and loss, without
// checking the matrix again. The two may run at the same time.
func (t *Trainer) Clone() *Trainer { return newTrainer(t.kernel, t.loss) }

// Sites is the number M of sites.
func (t *Trainer) Sites() int { return t.kernel.N() }

// Train trains on p. Without examples f = 0. The error reports bad input, or an
// *InfeasibleError; a training that ends early returns its last iterate and
// says so in Status.
//
// The gap is finite for every loss that is finite everywhere. Where the loss
// bars some f, it is that of a multiple of F; a loss whose bars no multiple near
// F meets (bounds from both sides, say) has an infinite Gap and ends Stalled.
func (t *Trainer) Train(p Problem, s Settings) (*Result, error) {
	m := t.Sites()
	if err := p.check(m); err != nil {
		return nil, err
	}
	if err := s.complete(m); err != nil {
		return nil, err
	}
	if err := t.set.gather(&p, m, func(i int) float64 { return t.kernel.At(i, i) }); err != nil {
		return nil, err
	}
	r := &t.result
	*r = Result{A: grow(r.A, m), F: grow(r.F, m)}
	t.prepare(s.Start)
	c, err := t.maximize(&s)
	if err != nil {
		return nil, err
	}
	r.Objective, r.Gap = c.primal, c.gap
	t.writeResult()
	return r, nil
}

// complete checks s and fills in the defaults.
func (s *Settings) complete(m int) error {
	switch {
	case s.Tolerance == 0:
		s.Tolerance = DefaultTolerance
	case !(s.Tolerance > 0) || math.IsInf(s.Tolerance, 1):
		return fmt.Errorf("the tolerance must be positive, got %v", s.Tolerance)
	}
	switch {
	case s.MaxSteps == 0:
		s.MaxSteps = DefaultMaxSteps
	case s.MaxSteps < 0:
		return fmt.Errorf("the step limit must be positive, got %d", s.MaxSteps)
	}
	if s.Start == nil {
		return nil
	}
	if len(s.Start) != m {
		return fmt.Errorf("%d starting weights do not fit %d sites", len(s.Start), m)
	}
	for i, a := range s.Start {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return fmt.Errorf("the starting weight of site %d is %v", i+1, a)
		}
	}
	return nil
}

// prepare gathers the kernel and sets the weights that the first sweep starts
// from.
func (t *Trainer) prepare(start []float64) {
	t.system.gather(t.kernel, t.set.site, t.Sites())
	q := &t.iterate
	q.resize(t.system.n)
	clear(q.a)
	for i, s := range t.set.site {
		q.c[i] = 1 / t.system.diag[i]
		if start != nil {
			q.a[i] = start[s]
		}
	}
	t.newton.ridge, t.newton.shortStep = firstRidge, false
	t.recomputeF()
}

// recomputeF computes f = K a anew.
func (t *Trainer) recomputeF() {
	clear(t.iterate.f)
	t.system.addProduct(t.iterate.f, t.iterate.a)
}

// writeResult writes the weights and the predictor at all sites into the Result. At
// the active ones f is known; the others take one pass over the triangle of K.
func (t *Trainer) writeResult() {
	r, q := &t.result, &t.iterate
	clear(r.A)
	for i, s := range t.set.site {
		r.A[s] = q.a[i]
	}
	clear(r.F)
	if len(t.set.site) < len(r.F) {
		next := 0
		for s := range r.F {
			later := t.kernel.Row(s)[1:]
			if next < len(t.set.site) && t.set.site[next] == s {
				addOne(r.F[s+1:], later, r.A[s])
				next++
				continue
			}
			r.F[s] += dot(later, r.A[s+1:])
		}
	}
	for i, s := range t.set.site {
		r.F[s] = q.f[i]
	}
}

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// maximize runs coordinate sweeps and Newton steps in turn until the gap is
// within the tolerance, by an f computed anew.
func (t *Trainer) maximize(s *Settings) (certificate, error) {
	r := &t.result
	record := progress{gap: math.Inf(1), dual: math.Inf(-1)}
	for range firstSweeps {
		if err := t.coordinateSweep(); err != nil {
			return certificate{}, err
		}
	}
	for {
		c := t.certify()
		if c.gap <= s.Tolerance*c.scale {
			t.recomputeF()
			if c = t.certify(); c.gap <= s.Tolerance*c.scale {
				r.Status = Converged
				return c, nil
			}
		}
		switch {
		case r.Steps >= s.MaxSteps:
			r.Status = StepLimit
		case math.IsInf(c.gap, 1) && t.iterate.roundingLimited():
			r.Status = Diverged
		case record.stalls(c.gap, t.iterate.dual()):
			r.Status = Stalled
		default:
			if err := t.advance(); err != nil {
				return c, err
			}
			continue
		}
		t.recomputeF()
		return t.certify(), nil
	}
}

// firstSweeps is the number of sweeps before the first Newton step, and
// sweepShare the share of one below which another sweep looks for the pieces
// that the sites belong on.
const (
	firstSweeps = 3
	sweepShare  = 0.04
)

// advance takes a Newton step, and a sweep where that was cut short.
func (t *Trainer) advance() error {
	share, err := t.newtonStep()
	if err != nil {
		return err
	}
	if share == 1 {
		t.newton.decreaseRidge()
	}
	if share < shortShare {
		t.newton.increaseRidge()
		t.newton.shortStep = true
	}
	if share >= sweepShare {
		return nil
	}
	t.recomputeF()
	return t.coordinateSweep()
}

// roundingLimited reports weights so large that rounding errors in f reach a hundredth
// of its size.
func (q *iterate) roundingLimited() bool {
	rounding, size := 0.0, 0.0
	for i, a := range q.a {
		rounding += 0x1p-53 * math.Abs(a) / math.Sqrt(q.c[i])
		size = max(size, math.Abs(q.p[i])*math.Sqrt(q.c[i]))
	}
	return rounding > 0.01*size
}

// progress is the best that steps have reached.
type progress struct {
	gap, dual float64
	idle      int // steps since then
}

// patience is the number of steps without progress that are taken for a stall.
const patience = 40

// stalls notes what a step reached and reports whether it is time to give up.
func (b *progress) stalls(gap, dual float64) bool {
	better := gap < 0.9*b.gap || dual > b.dual+1e-14*math.Abs(b.dual)
	b.gap, b.dual = min(b.gap, gap), max(b.dual, dual)
	if b.idle++; better {
		b.idle = 0
	}
	return b.idle >= patience
}

// Train is NewTrainer and Trainer.Train in one.
func Train(k *linalg.Sym, l Loss, p Problem, s Settings) (*Result, error) {
	t, err := NewTrainer(k, l)
	if err != nil {
		return nil, err
	}
	return t.Train(p, s)
}
