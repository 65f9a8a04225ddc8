package svm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bootbench/linalg"
)

// Settings say how to train. The zero value trains from a = 0 to a violation
// of DefaultTolerance.
type Settings struct {
	// Tolerance is the largest violation of the Kuhn-Tucker conditions, in units
	// of y f, that counts as converged; 0 means DefaultTolerance.
	Tolerance float64
	// MaxIterations bounds the coordinate steps; 0 means 100000 + 200 N.
	MaxIterations int
	// Start are dual weights to start from, length N; they are clipped to the
	// boxes. Nil means 0. It may be the Alpha of the Trainer's last Result.
	Start []float64
}

// DefaultTolerance is that of the zero Settings, LIBSVM's.
const DefaultTolerance = 1e-3

// Trainer trains on one weighted set after the other over the M sites of a
// kernel matrix, whose rows it fetches as it needs them. With sizes settled,
// Train allocates nothing. One Trainer serves one goroutine.
type Trainer struct {
	kernel      Rows
	largestK    float64
	boxes       boxes
	dual        dual
	free        freeSet
	scratch     []float64
	result      Result
	leaveOneOut leaveOneOutState
}

// NewTrainer returns a Trainer for the positive semidefinite kernel matrix k,
// which must not change any more. The rows that trainings use, at most 8 M^2
// bytes, are kept in full beside it. An element that is not finite, or a
// negative one on the diagonal, is an error; so are rows that would not fit
// into memory.
func NewTrainer(k *linalg.Sym) (*Trainer, error) {
	rows, err := NewRows(k)
	if err != nil {
		return nil, err
	}
	return newTrainer(rows), nil
}

// NewRowTrainer returns a Trainer for the kernel matrix behind k. An element of
// the diagonal that is negative or not finite is an error; the rest is the
// maker's to guarantee. While a training set leaves sites empty, the rows used
// are copied in part.
func NewRowTrainer(k Rows) (*Trainer, error) {
	for i := range k.N() {
		if v := k.Diag(i); !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("kernel element (%d, %d) is %v: the matrix is not positive semidefinite", i+1, i+1, v)
		}
	}
	return newTrainer(k), nil
}

func newTrainer(kernel Rows) *Trainer {
	t := &Trainer{kernel: kernel}
	t.dual.whole = kernel
	// Of other rows the parts between active sites would have to be stored.
	_, dense := kernel.(*denseRows)
	t.boxes.all = !dense
	for i := range kernel.N() {
		t.largestK = max(t.largestK, kernel.Diag(i))
	}
	return t
}

// Clone returns a Trainer on the same kernel matrix, which may run at the
// same time as t. It is nil where the matrix cannot be shared: where it came
// as Rows without a method Another.
func (t *Trainer) Clone() *Trainer {
	if shared, ok := t.kernel.(interface{ Clone() Rows }); ok {
		return newTrainer(shared.Clone())
	}
	return nil
}

// Sites is the number M of sites.
func (t *Trainer) Sites() int { return t.kernel.N() }

// Train trains on p. Labels of one sign only are nothing special, and without
// examples f = 0. The error reports bad input, or an *InfeasibleError; a
// training that ends early returns its last iterate and says so in Status.
func (t *Trainer) Train(p Problem, s Settings) (*Result, error) {
	if err := p.check(t.Sites()); err != nil {
		return nil, err
	}
	if err := s.complete(&p); err != nil {
		return nil, err
	}
	if err := t.boxes.sum(&p, t.kernel); err != nil {
		return nil, err
	}
	r := &t.result
	m := t.Sites()
	n := len(p.Y)
	*r = Result{Alpha: grow(r.Alpha, n), Slack: grow(r.Slack, n), Beta: grow(r.Beta, m), F: grow(r.F, m)}
	t.prepare(&p, s.Start)
	r.Status = t.maximize(&p, &s, true)
	t.finish(&p)
	t.leaveOneOut.of(p, s)
	return r, nil
}

// complete checks s and fills in the defaults.
func (s *Settings) complete(p *Problem) error {
	switch {
	case s.Tolerance == 0:
		s.Tolerance = DefaultTolerance
	case !(s.Tolerance > 0) || math.IsInf(s.Tolerance, 1):
		return fmt.Errorf("the tolerance must be positive, got %v", s.Tolerance)
	}
	switch {
	case s.MaxIterations == 0:
		s.MaxIterations = 100000 + 200*len(p.Y)
	case s.MaxIterations < 0:
		return fmt.Errorf("the iteration limit must be positive, got %d", s.MaxIterations)
	}
	if s.Start == nil {
		return nil
	}
	if len(s.Start) != len(p.Y) {
		return fmt.Errorf("%d starting weights do not fit %d labels", len(s.Start), len(p.Y))
	}
	for i, a := range s.Start {
		if !(a >= 0) || math.IsInf(a, 1) {
			return fmt.Errorf("the starting weight of example %d is %v, must be finite and not negative", i+1, a)
		}
	}
	return nil
}

// prepare sets up the dual problem and its starting point.
func (t *Trainer) prepare(p *Problem, start []float64) {
	q, b := &t.dual, &t.boxes
	q.choose(b.active)
	q.resize(q.n)
	q.biased = p.Bias
	t.free.reset(q.n)
	t.free.setBias(p.Bias, t.largestK)
	beta := t.bySite()
	for i, a := range start {
		beta[p.site(i)] += p.Y[i] * min(a, p.C[i])
	}
	for i, s := range b.active {
		plus, minus := b.plus[s], b.minus[s]
		q.setBox(i, minus, plus)
		q.invSqrtDiag[i] = 1 / math.Sqrt(q.diag[i])
		q.setBeta(i, min(max(beta[s], -minus), plus))
	}
	if start == nil {
		clear(q.f)
		clear(t.result.F)
		return
	}
	t.recomputeF()
	q.projectToZeroSum()
}

// bySite is scratch space, zero, one place a site.
func (t *Trainer) bySite() []float64 {
	t.scratch = grow(t.scratch, t.Sites())
	clear(t.scratch)
	return t.scratch
}

// recomputeF computes f = K beta anew, for all sites in the Result's F.
func (t *Trainer) recomputeF() {
	f := t.result.F
	clear(f)
	addRows(f, t.kernel.Row, t.boxes.active, t.dual.beta)
	for i, s := range t.boxes.active {
		t.dual.f[i] = f[s]
	}
}

// maximize runs coordinate ascent and exact climbs in turn until the violation
// is within the tolerance; if anew is set, by an f computed anew.
func (t *Trainer) maximize(p *Problem, s *Settings, anew bool) Status {
	q, r := &t.dual, &t.result
	began := q.violation()
	spent := 0 // steps since the last climb, where the violation was began
	record := progress{violation: math.Inf(1), objective: math.Inf(-1)}
	for {
		made := q.smo(s.Tolerance, min(checkInterval, s.MaxIterations-r.Iterations))
		r.Iterations += made
		spent += made
		now := q.violation()
		if now <= s.Tolerance {
			if anew {
				t.recomputeF()
				now = q.violation()
			}
			if now <= s.Tolerance {
				return Converged
			}
		}
		if r.Iterations >= s.MaxIterations {
			return IterationLimit
		}
		if !t.worthNewton(float64(spent), began/now, now/s.Tolerance) {
			continue
		}
		spent = 0
		r.ActiveSetSteps++
		if ray := t.free.maximize(q, t.maxSize()); ray >= 0 || q.size() > t.maxSize() {
			t.infeasibilityWitness(p, ray)
			return Diverged
		}
		began = q.violation()
		if record.stalls(began, q.objective()) {
			return Stalled
		}
		if record.idle > 0 {
			t.recomputeF() // rounding in f may be what stands in the way
		}
	}
}

// checkInterval is the number of coordinate steps between thoughts of climbing.
const checkInterval = 32

// maxSize is the size sum |beta| at which rounding errors in f reach 0.01.
func (t *Trainer) maxSize() float64 { return 0.01 / (0x1p-53 * t.largestK) }

// worthNewton reports whether a climb is better than more coordinate steps.
// spent steps since the last one cut the violation by the factor fallen, and
// it has the factor ahead to go: if the steps left at this rate are many beside
// the price of a climb, and those made as well, it is time.
func (t *Trainer) worthNewton(spent, fallen, ahead float64) bool {
	price := t.newtonCost()
	if spent < 0.4*price {
		return false
	}
	return fallen <= 1 || spent*math.Log(ahead)/math.Log(fallen) > 0.5*price
}

// newtonCost is roughly the number of coordinate steps that cost as much as a climb
// from here.
func (t *Trainer) newtonCost() float64 {
	joined, left, free := t.free.countChanges(&t.dual)
	m, n := float64(free), float64(t.dual.n)
	factor := min(m/24, float64(joined+left)) * m * m
	return 16 + (factor+2*m*m+m*n/2)/(2*n+1)
}

// progress is the best that climbs have reached.
type progress struct {
	violation, objective float64
	idle                 int // climbs since then
}

// patience is the number of climbs without progress that are taken for a stall.
const patience = 10

// stalls notes what a climb reached and reports whether it is time to give up.
func (b *progress) stalls(violation, objective float64) bool {
	better := violation < 0.9*b.violation || objective > b.objective+1e-14*math.Abs(b.objective)
	b.violation, b.objective = min(b.violation, violation), max(b.objective, objective)
	if b.idle++; better {
		b.idle = 0
	}
	return b.idle >= patience
}

// infeasibilityWitness lists the hard examples that drive the dual to infinity: those in the
// direction that the climb found, else those of the largest weights.
func (t *Trainer) infeasibilityWitness(p *Problem, ray int) {
	active, weight := t.boxes.active, t.bySite()
	if ray >= 0 {
		weight[active[ray]] = math.Inf(1)
		for k, i := range t.free.index {
			weight[active[i]] = math.Abs(t.free.step[k])
		}
	} else {
		for i, s := range active {
			weight[s] = math.Abs(t.dual.beta[i])
		}
	}
	var conflict []int
	for i, c := range p.C {
		if math.IsInf(c, 1) && weight[p.site(i)] > 0 {
			conflict = append(conflict, i)
		}
	}
	slices.SortStableFunc(conflict, func(i, j int) int {
		return cmp.Compare(weight[p.site(j)], weight[p.site(i)])
	})
	t.result.Conflict = conflict[:min(conflictLength, len(conflict))]
}

// finish shares the weights among the examples and certifies them.
func (t *Trainer) finish(p *Problem) {
	r, q := &t.result, &t.dual
	if r.Status != Converged {
		t.recomputeF()
	}
	clear(r.Beta)
	for i, s := range t.boxes.active {
		r.Beta[s] = q.beta[i]
		t.boxes.alphaPlus[s], t.boxes.alphaMinus[s] = q.parts(i)
	}
	for i := range p.C {
		a := t.boxes.alphaOf(p, i)
		r.Alpha[i] = a
		switch {
		case a > 0 && a < p.C[i]:
			r.Free++
		case a > 0:
			r.Bounded++
		}
	}
	r.Bias = q.bias()
	for s := range r.F {
		r.F[s] += r.Bias
	}
	for i, y := range p.Y {
		r.Slack[i] = max(0, 1-y*r.F[p.site(i)])
	}
	r.Certificate = certify(p, r)
}

// Train is NewTrainer and Trainer.Train in one.
func Train(k *linalg.Sym, p Problem, s Settings) (*Result, error) {
	t, err := NewTrainer(k)
	if err != nil {
		return nil, err
	}
	return t.Train(p, s)
}
