package answer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// fitsAround reports whether the fits to all data follow a solve: on a factor with a loss with kinks, for
// which Newton's method is slow.
func fitsAround(m *model.Model) bool {
	_, square := m.Loss.(loss.Square)
	return m.TrainedOnFactor() && !square
}

// fitFirst is fitFull before a solve, unless the fits follow that.
func (s *Study) fitFirst(ctx context.Context) error {
	if fitsAround(s.Model) {
		return nil
	}
	return s.fitFull(ctx)
}

// fitFull trains every function once on all data by the loss's trainer, unless that is done. It must precede
// a solve, whose scratch triangle it uses.
func (s *Study) fitFull(ctx context.Context) error {
	if s.full[0] != nil {
		return nil
	}
	defer func(began time.Time) { s.Times.Fit += time.Since(began).Seconds() }(time.Now())
	s.Progress("fit to all data", 0, 1)
	var models []*model.Model
	for k := range s.Model.Functions {
		models = append(models, s.Model.Of(k))
	}
	full, err := model.FullFits(ctx, models)
	if err == nil {
		s.full = full
	}
	return err
}

// fitAround trains the part on all data around its solution, or by the loss's trainer if that fails.
func (p *part) fitAround(ctx context.Context) (err error) {
	full := &p.study.full[p.number]
	if !fitsAround(p.model) || *full != nil {
		return nil
	}
	defer func(began time.Time) { p.study.Times.Fit += time.Since(began).Seconds() }(time.Now())
	*full, err = p.model.FullFit(ctx, p.solution)
	return err
}

// Solve solves the theory of the first function.
func (s *Study) Solve(ctx context.Context, q Question) error {
	if err := settle(ctx, s, &q); err != nil {
		return err
	}
	return s.part(0).solve(ctx, &q)
}

// solve solves the theory, on a kernel matrix of sufficient rank; roughly, if only exact resamples count.
func (p *part) solve(ctx context.Context, q *Question) (err error) {
	settings, label := q.Solve, cmp.Or(q.Label, "solve")
	if p.study.several() {
		label += " " + p.model.Function.Name
	}
	settings.Progress = func(sweep solver.Sweep) {
		done := 100 * math.Log(sweep.Residual) / math.Log(settings.Tolerance)
		p.study.Progress(fmt.Sprintf("%s: sweep %d, residual %.1e", label, sweep.Number, sweep.Residual),
			int(max(0, min(100, done))), 100)
	}
	p.study.Progress(label, 0, 100)
	if k, ok := q.Scheme.(resample.KFold); ok && k.Folds == k.N && q.Theory != No {
		// Given that an example is left out, all others are there: for the square loss this is exact.
		once := settings
		once.From = nil
		if p.left, err = p.model.Solve(ctx, resample.Bernoulli{Rate: 1}, once); err != nil {
			return err
		}
	}
	_, generated := q.Scheme.(resample.Generated)
	if first := p.study.Solution; p.number > 0 && shares(p.model) && first != nil && !generated {
		p.model = p.study.Model.Of(p.number) // whose rank may have been raised
		p.solution, err = first.Retarget(p.model.Y, q.Solve.Tolerance)
		return err
	}
	settled, solution, err := p.model.Settle(ctx, q.Scheme, settings)
	if err == nil && settled != p.model {
		settings.From, p.model = nil, settled
		if !p.study.several() || shares(settled) {
			p.study.Model, p.study.full = settled, make([][]float64, len(p.study.full))
			if !p.study.classes() {
				err = p.study.fitFirst(ctx)
			}
		}
	}
	switch {
	case err != nil || solution != nil:
	case q.Theory == No && (longTheory(p.study, q.Scheme) || !resample.IsDependent(q.Scheme)):
		solution, err = p.model.SolveRoughly(ctx, q.Scheme, settings)
	default:
		solution, err = p.model.Solve(ctx, q.Scheme, settings)
	}
	if err != nil {
		return err
	}
	if p.solution = solution; p.number == 0 {
		p.study.Solution = solution
	}
	if p.study.classes() {
		return nil
	}
	return p.fitAround(ctx)
}

// addConvergence adds to an answer how the part was solved, and how accurately.
func (p *part) addConvergence(a *report.Answer) {
	a.Method, a.Status = p.solution.Method.String(), p.solution.Status.String()
	a.Convergence = &report.Convergence{Engine: p.model.Form().String(), Solve: report.NewSolve(p.solution),
		Rank: p.model.Rank(), RankError: report.Number(p.model.RankError(p.solution))}
	if factor := p.model.Factor(); factor != nil {
		a.RankResidual, a.RankLargest = factor.Accuracy()
	}
}

// errOnlyExact: without exact resamples there is no answer.
var errOnlyExact = model.InputError(errors.New("there are no exact resamples, and the theory was not " +
	"solved, or does not hold where groups or blocks are drawn: exact resamples are needed"))

// Path asks a study questions that differ in the scheme. PathLength solves in a row each start from the last
// one. The next solve starts independently, so that answers depend neither on interruptions nor on shards,
// which have complete rows.
type Path struct {
	*Study
	Questions []Question
	next      int // number of the question that may start from the last solution
}

// PathLength is the number of solves that start from each other.
const PathLength = 5

// At is question number i with its start. Previous ones whose answers are known are solved again.
func (p *Path) At(ctx context.Context, i int) (Question, error) {
	switch {
	case i%PathLength == 0 || p.several():
		if p.Solution = nil; p.Model != p.built { // the solve changed its factor
			p.Model, p.full = p.built, make([][]float64, len(p.Model.Functions))
		}
	case p.next != i:
		last, err := p.At(ctx, i-1)
		if err == nil {
			err = p.Solve(ctx, last)
		}
		if err != nil {
			return last, err
		}
	}
	p.next = i + 1
	q := p.Questions[i]
	if s := p.Solution; s != nil && s.Status == solver.Converged {
		q.Solve.From = s
	}
	return q, nil
}
