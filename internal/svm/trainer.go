package svm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bootbench/internal/train"
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
	kernel      *Rows
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
	return NewRowTrainer(rows), nil
}

// NewRowTrainer returns a Trainer for the kernel matrix in k, whose rows it may share with others.
func NewRowTrainer(k *Rows) *Trainer {
	t := &Trainer{kernel: k}
	t.dual.whole = k
	for i := range k.N() {
		t.largestK = max(t.largestK, k.Diag(i))
	}
	return t
}

// Clone returns a Trainer on the same kernel matrix, which may run at the
// same time as t.
func (t *Trainer) Clone() *Trainer { return NewRowTrainer(t.kernel) }

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
	*r = Result{Alpha: train.Resize(r.Alpha, n), Slack: train.Resize(r.Slack, n), Beta: train.Resize(r.Beta, m),
		F: train.Resize(r.F, m)}
	t.prepare(&p, s.Start)
	r.Status = t.maximize(&p, &s, true)
	t.finish(&p)
	t.leaveOneOut.of(p, s)
	return r, nil
}

// complete checks s and fills in the defaults.
func (s *Settings) complete(p *Problem) error {
	if err := train.Default("the tolerance", &s.Tolerance, DefaultTolerance); err != nil {
		return err
	}
	if err := train.Default("the iteration limit", &s.MaxIterations, 100000+200*len(p.Y)); err != nil {
		return err
	}
	if s.Start != nil && len(s.Start) != len(p.Y) {
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
	t.free.reset(q.n, p.Bias, t.largestK)
	beta := t.bySite()
	for i, a := range start {
		beta[p.Site.At(i)] += p.Y[i] * min(a, p.C[i])
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

// bySite returns scratch space of one number per site, all 0.
func (t *Trainer) bySite() []float64 {
	t.scratch = train.Resize(t.scratch, t.Sites())
	clear(t.scratch)
	return t.scratch
}

// recomputeF computes f = K beta from beta alone, without the rounding errors of the
// updates, for all sites in the Result's F.
func (t *Trainer) recomputeF() {
	f := t.result.F
	clear(f)
	addRows(f, t.kernel.Row, t.boxes.active, t.dual.beta)
	for i, s := range t.boxes.active {
		t.dual.f[i] = f[s]
	}
}

// maximize runs coordinate steps (SMO) and active-set steps in turn until the
// violation is within the tolerance; with fresh set, by an f computed from beta
// alone. It fills in the Result's counts, and Conflict on divergence.
func (t *Trainer) maximize(p *Problem, s *Settings, fresh bool) train.Status {
	q, r := &t.dual, &t.result
	start := q.violation()
	steps := 0 // coordinate steps since the last active-set step, where the violation was start
	var progress train.Progress
	for {
		made := q.smo(s.Tolerance, min(checkInterval, s.MaxIterations-r.Iterations))
		r.Iterations += made
		steps += made
		violation := q.violation()
		if violation <= s.Tolerance {
			if fresh {
				t.recomputeF()
				violation = q.violation()
			}
			if violation <= s.Tolerance {
				return train.Converged
			}
		}
		if r.Iterations >= s.MaxIterations {
			return train.IterationLimit
		}
		if !t.worthNewton(float64(steps), start/violation, violation/s.Tolerance) {
			continue
		}
		steps = 0
		r.ActiveSetSteps++
		if ray := t.free.maximize(q, t.maxSize()); ray >= 0 || q.size() > t.maxSize() {
			t.infeasibilityWitness(p, ray)
			return train.Diverged
		}
		start = q.violation()
		idle := progress.Update(start, q.objective())
		if idle >= patience {
			return train.Stalled
		}
		if idle > 0 {
			t.recomputeF() // rounding in f may be what prevents progress
		}
	}
}

const (
	checkInterval = 32 // coordinate steps between decisions about an active-set step
	patience      = 10 // active-set steps without progress that count as a stall
)

// maxSize is the size sum |beta| at which rounding errors in f reach 0.01.
func (t *Trainer) maxSize() float64 { return 0.01 / (0x1p-53 * t.largestK) }

// worthNewton reports whether an active-set step is cheaper than more coordinate
// steps: the given number of steps has cut the violation by the factor reduction,
// and it has the factor ahead to go. It is worth its cost if the steps left at this
// rate are many beside it, and those made as well.
func (t *Trainer) worthNewton(steps, reduction, ahead float64) bool {
	cost := t.newtonCost()
	if steps < 0.4*cost {
		return false
	}
	return reduction <= 1 || steps*math.Log(ahead)/math.Log(reduction) > 0.5*cost
}

// newtonCost is roughly the number of coordinate steps that cost as much as an
// active-set step: the factor's update or refactorisation, two solves, and K times
// the step.
func (t *Trainer) newtonCost() float64 {
	joined, left, free := t.free.countChanges(&t.dual)
	m, n := float64(free), float64(t.dual.n)
	factor := min(m/24, float64(joined+left)) * m * m
	return 16 + (factor+2*m*m+m*n/2)/(2*n+1)
}

// infeasibilityWitness lists in Conflict the hard examples that drive the dual to
// infinity: those along the direction that the active-set step found, ray and the
// members of the free set, or with ray < 0 those of the largest weights.
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
		if math.IsInf(c, 1) && weight[p.Site.At(i)] > 0 {
			conflict = append(conflict, i)
		}
	}
	slices.SortStableFunc(conflict, func(i, j int) int {
		return cmp.Compare(weight[p.Site.At(j)], weight[p.Site.At(i)])
	})
	t.result.Conflict = conflict[:min(conflictLength, len(conflict))]
}

// finish distributes the site weights over the examples and certifies the result.
func (t *Trainer) finish(p *Problem) {
	r, q := &t.result, &t.dual
	if r.Status != train.Converged {
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
		r.Slack[i] = max(0, 1-y*r.F[p.Site.At(i)])
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
