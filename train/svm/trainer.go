package svm

import (
	"errors"
	"math"

	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// DefaultTolerance is LIBSVM's bound on the violation of the Kuhn-Tucker conditions, in units of y f.
const DefaultTolerance = 1e-3

// Trainer trains on one weighted set after the other over the M sites of a kernel matrix. It fetches rows as
// needed. Once its workspaces are large enough, Train allocates nothing. One Trainer serves one goroutine.
type Trainer struct {
	sides  sides
	dual   dual
	free   freeSet
	result Result
	full   fullSolution
}

// NewTrainer returns a Trainer for the positive semidefinite kernel matrix k, which Trainers may share.
func NewTrainer(k *Rows) *Trainer {
	t := &Trainer{}
	t.dual.whole, t.dual.everywhere = k, make([]float64, k.N())
	for i := range k.N() {
		t.dual.largestK = max(t.dual.largestK, k.Diag(i))
	}
	return t
}

// Train trains on p, also on one class; without examples f = 0. The error reports bad input, or an
// *InfeasibleError; a training that ends early returns its last iterate and says so in Status.
func (t *Trainer) Train(p train.Set, s train.Settings) (*Result, error) {
	m, n := t.dual.whole.N(), len(p.Y)
	if err := errors.Join(check(&p, m), s.Default(DefaultTolerance, 100000+200*n)); err != nil {
		return nil, err
	}
	if err := t.sides.gather(&p, t.dual.whole); err != nil {
		return nil, err
	}
	r := &t.result
	*r = Result{Result: workspace.Reuse(&r.Result, m), Alpha: workspace.Resize(r.Alpha, n)}
	if resumed := t.dual.begin(&t.sides, p.Bias, p.Resume); !resumed {
		t.free.reset(&t.dual)
	}
	t.full.set, t.full.settings, t.full.current = p, s, false
	r.Status = t.maximize(&s, true)
	t.finish(&p)
	return r, nil
}

// maximize runs coordinate steps (SMO) and active-set steps in turn until the violation is within the
// tolerance; if fresh is set, the one of a recomputed f. Else it begins near a solution, whose factor nearly
// fits, and takes active-set steps as often as it may. It fills in the Result's counts.
func (t *Trainer) maximize(s *train.Settings, fresh bool) train.Status {
	q, r := &t.dual, &t.result
	start := q.violation()
	steps := 0 // coordinate steps since the last active-set step, when the violation was start
	var progress workspace.Progress
	for {
		made := q.ascend(s.Tolerance, min(checkInterval, s.Limit-r.Iterations))
		r.Iterations += made
		r.Operations += float64(made) * t.stepOperations()
		steps += made
		violation := q.violation()
		if violation <= s.Tolerance {
			if fresh {
				q.recomputeF()
				violation = q.violation()
			}
			if violation <= s.Tolerance {
				return train.Converged
			}
		}
		switch {
		case r.Iterations >= s.Limit:
			return train.IterationLimit
		case t.full.set.Stopped():
			return train.Cancelled
		}
		if fresh && !t.worthNewton(float64(steps), start/violation, violation/s.Tolerance) {
			continue
		}
		steps = 0
		r.Operations += t.newtonCost() * t.stepOperations()
		if !t.free.maximize(q) {
			return train.Diverged
		}
		start = q.violation()
		idle := progress.Update(start, q.objective())
		if idle >= patience {
			return train.Stalled
		}
		if idle > 0 {
			q.recomputeF() // rounding in f may be what prevents progress
		}
	}
}

const (
	checkInterval = 32 // coordinate steps between decisions about an active-set step
	patience      = 10 // active-set steps without progress that count as a stall
)

// worthNewton reports whether an active-set step is cheaper than more coordinate steps. These have reduced
// the violation by the factor reduction and must reduce it further by the factor remaining. It is worth
// taking if the steps made exceed 0.4 of its cost, and those that remain at this rate half of it.
func (t *Trainer) worthNewton(steps, reduction, remaining float64) bool {
	cost := t.newtonCost()
	if steps < 0.4*cost {
		return false
	}
	return reduction <= 1 || steps*math.Log(remaining)/math.Log(reduction) > 0.5*cost
}

// newtonCost is roughly the number of coordinate steps that cost as much as an active-set step: the factor's
// update or refactorisation, two solves, and K times the step.
func (t *Trainer) newtonCost() float64 {
	joined, left, free := t.free.countChanges(&t.dual)
	m, n := float64(free), float64(len(t.dual.active))
	factor := min(m/24, float64(joined+left)) * m * m
	return 16 + (factor+2*m*m+m*n/2)/t.stepOperations()
}

// stepOperations is the number of multiplications of a coordinate step: f moves, and all gains are compared.
func (t *Trainer) stepOperations() float64 { return 2*float64(len(t.dual.active)) + 1 }
