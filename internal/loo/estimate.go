package loo

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bootbench/internal/svm"
	"bootbench/internal/train"
	"bootbench/linalg"
)

// Estimate trains on all examples of p and finds the errors on left-out ones by
// the method of s. When ctx ends, it returns what is finished. The error reports
// bad input, an *svm.InfeasibleError, the error of a training on all examples
// that did not converge, or, for Approximate, a *linalg.PivotError.
func Estimate(ctx context.Context, p Problem, s Settings) (*Result, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	e := &estimate{problem: p, settings: s, began: time.Now()}
	if err := e.train(); err != nil {
		return nil, err
	}
	if err := e.classify(ctx); err != nil {
		return nil, err
	}
	return e.finish(), nil
}

// estimate is a Result in the making.
type estimate struct {
	problem  Problem
	settings Settings
	training svm.Problem
	trainer  *svm.Trainer
	full     *svm.Result
	result   Result
	began    time.Time
}

// train trains on all examples.
func (e *estimate) train() (err error) {
	e.trainer = svm.NewRowTrainer(e.problem.Kernel)
	n := len(e.problem.Y)
	e.training = svm.Problem{Y: e.problem.Y, Site: e.problem.Site, C: make([]float64, n), Bias: e.problem.Bias}
	for i, y := range e.problem.Y {
		e.training.C[i] = e.problem.cost(y)
	}
	if e.full, err = e.trainer.Train(e.training, svm.Settings{Tolerance: e.settings.Tolerance}); err != nil {
		return err
	}
	if err := e.full.Status.Err(); err != nil {
		return err
	}
	e.result = Result{
		Method: e.settings.Method, Outcome: make([]Outcome, n), Margin: make([]float64, n),
		SupportVectors: e.full.Free + e.full.Bounded, Violation: e.full.Violation, Train: time.Since(e.began),
	}
	for i, y := range e.problem.Y {
		e.result.Margin[i] = y * e.full.F[e.problem.Site.At(i)]
	}
	return nil
}

// classify finds every example's outcome.
func (e *estimate) classify(ctx context.Context) error {
	switch e.settings.Method {
	case XiAlpha:
		e.xiAlpha()
	case Approximate:
		return e.approximate()
	case Fast:
		e.retrain(ctx, e.screen())
	case Exact:
		all := make([]int, len(e.problem.Y))
		for i := range all {
			all[i] = i
		}
		e.retrain(ctx, all)
	}
	return nil
}

// retrain leaves out the listed examples in turn, in parallel. The outcome of one
// does not depend on which worker leaves it out, up to the tolerance.
func (e *estimate) retrain(ctx context.Context, list []int) {
	var next, done atomic.Int64
	var crew linalg.Crew
	var lock sync.Mutex
	alpha := slices.Clone(e.full.Alpha)
	for w, trainer := range e.workers(len(list)) {
		crew.Go(func() {
			if w > 0 && !e.trainFrom(trainer, alpha) {
				return
			}
			for ctx.Err() == nil && !crew.Failed() {
				at := int(next.Add(1)) - 1
				if at >= len(list) {
					return
				}
				e.leaveOut(trainer, list[at], &lock)
				finished := int(done.Add(1))
				if e.settings.Progress != nil {
					lock.Lock()
					e.settings.Progress(finished, len(list))
					lock.Unlock()
				}
			}
		}, nil)
	}
	crew.Wait()
	e.result.Retrained = int(done.Load())
	if e.result.Retrained < len(list) {
		e.result.Status = Cancelled
	}
}

// workers are the trainers for a number of retrainings: that of all examples, and
// clones of it where the kernel allows them.
func (e *estimate) workers(retrainings int) []*svm.Trainer {
	most := e.settings.Workers
	if most == 0 {
		most = runtime.GOMAXPROCS(0)
	}
	list := []*svm.Trainer{e.trainer}
	for len(list) < min(most, 1+retrainings/minPerWorker) {
		clone := e.trainer.Clone()
		if clone == nil {
			break
		}
		list = append(list, clone)
	}
	return list
}

// minPerWorker is the number of retrainings from which on another worker pays.
const minPerWorker = 16

// trainFrom brings another trainer to the solution of all examples.
func (e *estimate) trainFrom(trainer *svm.Trainer, alpha []float64) bool {
	r, err := trainer.Train(e.training, svm.Settings{Tolerance: e.settings.Tolerance, Start: alpha})
	return err == nil && r.Status == train.Converged
}

// leaveOut retrains without example i.
func (e *estimate) leaveOut(trainer *svm.Trainer, i int, lock *sync.Mutex) {
	left, err := trainer.LeaveOut(i)
	if err != nil || left.Status != train.Converged {
		lock.Lock()
		e.result.Unfinished = append(e.result.Unfinished, i)
		lock.Unlock()
	}
	margin := e.problem.Y[i] * left.F
	e.result.Margin[i] = margin
	e.result.Outcome[i] = outcomeOf(margin)
}

// finish counts the outcomes.
func (e *estimate) finish() *Result {
	r := &e.result
	known, loss, positive, hits, alarms := 0, 0.0, 0, 0.0, 0.0
	for i, o := range r.Outcome {
		if o == Pending {
			continue
		}
		known++
		wrong := o.zeroOne()
		loss += wrong
		switch {
		case wrong == 1:
			r.Errors++
		case o == Tied:
			r.Tied++
		}
		if e.problem.Y[i] > 0 {
			positive++
			hits += 1 - wrong
		} else {
			alarms += wrong
		}
		if o >= Correct && o <= Tied && math.Abs(r.Margin[i]) < e.settings.Tie {
			r.Ties = append(r.Ties, i)
		}
	}
	r.Skipped = known - r.Retrained
	r.Error, r.Recall, r.Precision = ratio(loss, float64(known)), ratio(hits, float64(positive)),
		ratio(hits, hits+alarms)
	slices.Sort(r.Unfinished)
	if len(r.Unfinished) > 0 && r.Status == Complete {
		r.Status = Inexact
	}
	r.Elapsed = time.Since(e.began)
	return r
}

// ratio is a/b, 0 for b = 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
