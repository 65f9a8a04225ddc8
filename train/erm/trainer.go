package erm

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// The defaults of train.Settings.
const (
	DefaultTolerance = 1e-10 // largest gap of a converged training, relative to the objective's terms
	defaultLimit     = 5000  // Newton steps
)

// Trainer trains on one weighted set after the other over the M sites of a kernel matrix, which it only
// reads. A dense matrix takes about 16 n^2 bytes for the largest number n of active sites so far, and n^3/3
// flops per Newton step; a low-rank one 8 n r bytes and n r^2 flops. One Trainer serves one goroutine;
// Trainers that share a kernel matrix may run at the same time.
type Trainer struct {
	diag    []float64 // of the kernel matrix
	set     siteLosses
	system  system
	iterate iterate
	newton  newton
	result  Result
	flat    flat // of a bias
}

// Result is a trained predictor. With a bias its weights sum to 0 within the tolerance.
type Result struct {
	train.Result
	// Objective is (T1) at F.
	Objective float64
	// Gap is Objective minus the dual objective, a lower bound of the optimum up to rounding. The optimum has
	//	|F_i - f*_i| <= (2 K_ii Gap)^1/2.
	Gap float64
	// Steps counts the Newton steps, and Sweeps the passes of coordinate steps, of all values of the bias.
	Steps, Sweeps int
}

// NewTrainer returns a Trainer for the positive semidefinite kernel matrix k, a *linalg.Sym or a
// *linalg.LowRankPlusDiag, which it checks, and loss l.
func NewTrainer(k linalg.Kernel, l Loss) (*Trainer, error) {
	if l == nil {
		return nil, errors.New("there is no loss to train with")
	}
	t := &Trainer{set: siteLosses{loss: l}}
	switch k := k.(type) {
	case *linalg.Sym:
		t.system = &dense{kernel: k}
	case *linalg.LowRankPlusDiag:
		t.system = &lowRank{kernel: k}
	default:
		return nil, fmt.Errorf("there is no trainer for a kernel matrix in the form %T", k)
	}
	t.diag = linalg.Diagonal(k)
	return t, k.Check()
}

// Train trains on p. Without examples f = 0. The error reports bad input, a loss without a finite value, or
// ErrNoFiniteBias; a training that ends early returns its last iterate and says so in Status.
func (t *Trainer) Train(p train.Set, s train.Settings) (*Result, error) {
	if p.Bias {
		return t.trainWithBias(p, s)
	}
	return t.train(p, s, nil)
}

// train is Train with K + flat.constant and the loss of f + flat.bias, from weights of the sites, nil for 0.
func (t *Trainer) train(p train.Set, s train.Settings, start []float64) (*Result, error) {
	m := len(t.diag)
	if err := errors.Join(p.Check(m, false), s.Default(DefaultTolerance, defaultLimit)); err != nil {
		return nil, err
	}
	t.set.bias = t.flat.bias
	t.set.gather(&p, m, func(i int) float64 { return t.diag[i] + t.flat.constant })
	r := &t.result
	*r = Result{Result: workspace.Reuse(&r.Result, m)}
	t.prepare(start)
	c, err := t.maximize(&p, &s)
	if err != nil {
		return nil, err
	}
	r.Objective, r.Gap = c.primal, c.gap
	t.writeResult()
	return r, nil
}

// prepare gathers the kernel and sets the weights that the first sweep starts from.
func (t *Trainer) prepare(start []float64) {
	t.system.gather(t.set.Active, len(t.diag))
	q := &t.iterate
	workspace.ResizeAll(len(t.set.Active), q.vectors()...)
	clear(q.a)
	for i, s := range t.set.Active {
		q.c[i] = 1 / (t.diag[s] + t.flat.constant)
		if start != nil {
			q.a[i] = start[s]
		}
	}
	t.newton.ridge, t.newton.shortStep = firstRidge, false
	t.recomputeF()
}

// recomputeF computes f = K a afresh, without the rounding errors of the updates.
func (t *Trainer) recomputeF() {
	clear(t.iterate.f)
	t.system.mulAdd(t.iterate.f, t.iterate.a)
}

// writeResult writes the weights and the predictor at all sites into the Result.
func (t *Trainer) writeResult() {
	r, q := &t.result, &t.iterate
	clear(r.Weight)
	for i, s := range t.set.Active {
		r.Weight[s] = q.a[i]
	}
	t.system.spread(r.F, t.set.Active, r.Weight)
	r.Bias = t.flat.bias + t.flat.constant*floats.Sum(q.a)
	floats.AddConst(r.Bias, r.F)
	for i, s := range t.set.Active {
		r.F[s] = q.f[i] + t.flat.bias
	}
}

// maximize takes coordinate sweeps, then Newton steps until the gap at f = K a is within the tolerance.
func (t *Trainer) maximize(p *train.Set, s *train.Settings) (certificate, error) {
	r := &t.result
	var progress workspace.Progress
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
				r.Status = train.Converged
				return c, nil
			}
		}
		switch {
		case p.Stopped():
			r.Status = train.Cancelled
		case r.Steps >= s.Limit:
			r.Status = train.IterationLimit
		case progress.Update(c.gap, t.iterate.dual()) >= patience:
			r.Status = train.Stalled
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

// certificate bounds the optimum.
type certificate struct {
	primal, gap float64
	scale       float64 // magnitude of the objectives' terms
}

// certify computes the objectives and, term by term, the gap between them (Fenchel-Young, see the package).
func (t *Trainer) certify() certificate {
	q, square := &t.iterate, 0.0
	c := certificate{primal: t.set.fixed, scale: math.Abs(t.set.fixed)}
	for i, f := range q.f {
		v := t.set.value(i, f)
		square += q.a[i] * f
		c.primal += v
		c.scale += math.Abs(q.value[i])
		c.gap += max(0, v-q.value[i]+q.a[i]*(f-q.p[i]))
	}
	c.primal += square / 2
	c.scale += square / 2
	return c
}

const (
	firstSweeps = 3    // coordinate sweeps before the first Newton step
	sweepShare  = 0.04 // Newton steps below this fraction are followed by a sweep
	patience    = 40   // steps without progress that count as a stall
)

// advance takes a Newton step, and a coordinate sweep if that was shortened.
func (t *Trainer) advance() error {
	share, err := t.newtonStep()
	if err != nil {
		return err
	}
	if share == 1 {
		if t.newton.ridge /= 10; t.newton.ridge < 1e-13 {
			t.newton.ridge = leastRidge
		}
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
