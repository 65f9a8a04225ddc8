package leaveout

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/svm"
)

// Estimate trains on all examples of p and finds the errors on left-out ones by the method of s. When ctx
// ends, it returns the finished outcomes. The error reports bad input, an *svm.InfeasibleError, the error of
// a training on all examples that did not converge, or, for Approximate, the error of a singular kernel
// matrix.
func Estimate(ctx context.Context, p Problem, s Settings) (*Result, error) {
	err := errors.Join(train.Default("rho", &s.Rho, defaultRho),
		train.Default("the tolerance", &s.Tolerance, DefaultTolerance))
	if err != nil {
		return nil, err
	}
	s.Method = cmp.Or(s.Method, Exact)
	e := &estimate{problem: p, settings: s, began: time.Now()}
	switch err := e.train(ctx); {
	case errors.Is(err, context.Canceled):
		e.result.Status = Cancelled
		return e.finish(), nil
	case err != nil:
		return nil, err
	}
	switch s.Method {
	case XiAlpha:
		e.xiAlpha()
	case Approximate:
		if err := e.approximate(); err != nil {
			return nil, err
		}
	case Fast:
		e.retrain(ctx, e.screen())
	case Exact:
		all := make([]int, len(p.Y))
		for i := range all {
			all[i] = i
		}
		e.retrain(ctx, all)
	}
	return e.finish(), nil
}

// estimate computes a Result.
type estimate struct {
	problem  Problem
	settings Settings
	training train.Set
	trainer  *svm.Trainer
	full     *svm.Result // of trainer, on all examples
	margin   []float64   // y_i f_i of that
	result   Result
	began    time.Time
}

// train trains on all examples.
func (e *estimate) train(ctx context.Context) (err error) {
	p, n := &e.problem, len(e.problem.Y)
	e.trainer = svm.NewTrainer(p.Kernel)
	e.training = p.Set
	e.training.Stop = train.Until(ctx)
	e.training.Weight = make([]float64, n)
	for i := range p.Y {
		e.training.Weight[i] = p.box(i)
	}
	if e.full,
		err = e.trainer.Train(e.training, train.Settings{Tolerance: e.settings.Tolerance}); err != nil {
		return err
	}
	unknown := []float64{math.NaN()}
	e.result = Result{Method: e.settings.Method, Status: Complete, Loss: slices.Repeat(unknown, n),
		Margin: slices.Repeat(unknown, n), SupportVectors: e.full.Free + e.full.Bounded,
		Violation: e.full.Violation}
	e.result.Alpha = slices.Clone(e.full.Alpha)
	r2 := p.Kernel.RadiusSquared(p.Bias)
	for i, y := range p.Y {
		e.margin = append(e.margin, y*e.full.F[p.Site.At(i)])
		xi := e.slack(i)
		e.result.Slack = append(e.result.Slack, xi)
		e.result.Bound = append(e.result.Bound, 2*e.full.Alpha[i]*r2+xi)
	}
	return e.full.Status.Err()
}

// decide records a left-out margin.
func (e *estimate) decide(i int, margin float64) {
	e.result.Margin[i], e.result.Loss[i] = margin, loss.ZeroOne{}.Value(margin, 1)
}

// minPerWorker is the number of retrainings for which another worker pays.
const minPerWorker = 16

// retrain leaves out the listed examples, in parallel. Outcomes do not depend on the worker, up to the
// tolerance.
func (e *estimate) retrain(ctx context.Context, list []int) {
	downdates := e.trainer.Downdates(len(list))
	var next atomic.Int64
	var lock sync.Mutex
	linalg.Parallel(min(runtime.GOMAXPROCS(0), 1+len(list)/minPerWorker), func(worker int) {
		one := downdates.Downdate(nil)
		if worker == 0 {
			one = downdates.Downdate(e.trainer)
		}
		for ctx.Err() == nil {
			at := int(next.Add(1)) - 1
			if at >= len(list) {
				return
			}
			left, err := one.LeaveOut(list[at])
			if ctx.Err() != nil && (err != nil || left.Status == train.Cancelled) {
				return
			}
			lock.Lock()
			e.decide(list[at], e.problem.Y[list[at]]*left.F)
			if err != nil || left.Status != train.Converged {
				e.result.Status = Inexact
			}
			e.result.Retrained++
			if e.settings.Progress != nil {
				e.settings.Progress(e.result.Retrained, len(list))
			}
			lock.Unlock()
		}
	})
	if e.result.Retrained < len(list) {
		e.result.Status = Cancelled
	}
}

// tie is the |f_-i| below which an example is a tie.
const tie = 1e-3

// finish counts the outcomes.
func (e *estimate) finish() *Result {
	r := &e.result
	known, weight, total, positive, hits, alarms := 0, 0.0, 0.0, 0.0, 0.0, 0.0
	for i, wrong := range r.Loss {
		if math.IsNaN(wrong) {
			continue
		}
		w := e.problem.weight(i)
		known++
		weight += w
		total += w * wrong
		if wrong == 1 {
			r.Errors++
		}
		if e.problem.Y[i] > 0 {
			positive += w
			hits += w * (1 - wrong)
		} else {
			alarms += w * wrong
		}
		if math.Abs(r.Margin[i]) < tie {
			r.Ties = append(r.Ties, i)
		}
	}
	r.Skipped = known - r.Retrained
	r.Error, r.Recall, r.Precision = total/weight, ratio(hits, positive), ratio(hits, hits+alarms)
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
