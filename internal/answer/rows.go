package answer

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver/adjoint"
)

// Rows compares every example's target with the predictions of models without it, the least plausible first.
func (s *Study) Rows(ctx context.Context, q Question) (*report.Rows, error) {
	if err := settle(ctx, s, &q); err != nil {
		return nil, err
	}
	r := &report.Rows{Command: "rows", Subject: s.Subject, TestLoss: s.Test.Name(), Status: Complete}
	unknown, twins := report.Number(math.NaN()), twins(s)
	for i := range s.Model.Set.N() {
		row := report.Row{Row: i, Target: unknown, Predicted: unknown, SE: unknown, Influence: unknown,
			Twin: report.Number(twins[i])}
		if s.Model.Set.RowNames != nil {
			row.Name = s.Model.Set.RowNames[i]
		}
		r.Rows = append(r.Rows, row)
	}
	var err error
	if s.classes() {
		err = doubtClasses(ctx, s, q, r)
	} else {
		for _, p := range s.parts() {
			if err = doubt(ctx, p, &q, r); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.Rows, func(a, b report.Row) int {
		return cmp.Or(cmp.Compare(b.LabelError, a.LabelError), cmp.Compare(a.Value, b.Value))
	})
	r.Time = s.Times
	return r, nil
}

// doubtClasses judges rows of several classes: value is the fraction of decisions of models without the row
// that are right.
func doubtClasses(ctx context.Context, s *Study, q Question, r *report.Rows) error {
	a, err := s.Estimate(ctx, q)
	if err != nil {
		return err
	}
	r.Status, r.TestLoss, r.Findings = a.Status, a.TestLoss, a.Findings
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Target, row.Label, row.Class = report.Number(s.Model.Set.Columns[0].Y[i]),
			a.Points.Target.Classes[i],
			a.Points.Class[i]
		row.LabelError, row.Value = report.Number(a.Points.Error[i]), report.Number(1-a.Points.Error[i])
		if p := a.Points.Probability.Of[row.Label]; p != nil {
			row.LabelError = report.Number(1 - p[i])
		}
	}
	return nil
}

// doubt judges the rows by the theory of a part and its exact resamples, with their influence on the error of
// the others. Several targets have their mean doubt, and losses in units of their variance.
func doubt(ctx context.Context, p *part, q *Question, r *report.Rows) error {
	began := time.Now()
	if err := p.solve(ctx, q); err != nil {
		return err
	}
	p.study.Times.Solve += time.Since(began).Seconds()
	found := outcome(p.model, q.Scheme).Findings
	addSolution(&found, p.solution)
	result, err := p.refine(ctx, q, blas64.General{}, nil, &found)
	r.Add(found.Checks...)
	r.Remark(found.Remarks...)
	if err != nil {
		return err
	}
	theory, share := fits.OfTheory(p.solution, []loss.Test{p.study.Test}).In(p.model.Function), 1.0
	left, se := theory.Tests[0].Examples, []float64(nil)
	if result != nil {
		t := result.Averages.In(p.model.Function).Tests[0]
		left, se = t.Examples, t.ExamplesSE
	}
	if p.study.several() {
		share = 1 / (float64(len(p.model.Functions)) * stat.PopVariance(p.targets(), p.model.Set.Weights))
	}
	wrong, err := doubts(p, theory.OutOfBag)
	if err != nil {
		return err
	}
	influence, err := adjoint.Influence(ctx, p.solution, p.study.Test)
	if err != nil && ctx.Err() == nil {
		r.Add(notComputed("no influence: %v", err))
	}
	r.Status = p.solution.Status.String()
	targets, unit := p.targets(), p.model.Unit
	for i := range r.Rows {
		row := &r.Rows[i]
		row.LabelError += report.Number(wrong[i]) / report.Number(max(1, len(p.model.Set.Columns)))
		row.Value -= report.Number(share * left[i])
		if influence != nil {
			if p.number == 0 {
				row.Influence = 0
			}
			row.Influence += report.Number(share * unit * unit * influence[i])
		}
		if p.study.several() {
			continue
		}
		row.Target, row.Predicted = report.Number(targets[i]), report.Number(theory.OutOfBag[i])
		if se != nil {
			row.SE = report.Number(se[i])
		}
		if p.labels() {
			row.Value++ // the fraction of models that are right
			row.Label, row.Class = p.names().Name(targets[i]), p.names().Name(theory.OutOfBag[i])
		}
	}
	return nil
}

// doubts are the theory's probabilities, with the example left out, that its label is wrong. For a number it
// is the fraction of examples with a target nearer to the prediction of models without them, in units of the
// spread there.
func doubts(p *part, mean []float64) ([]float64, error) {
	doubt := make([]float64, len(mean))
	if p.labels() {
		all, err := ProbabilitiesOf(p.model, p.solution)
		if err != nil {
			return nil, err
		}
		for i, y := range p.model.Y {
			switch {
			case all.LeftOut == nil:
				doubt[i] = loss.ZeroOne{}.Value(mean[i], y)
			case y > 0:
				doubt[i] = 1 - all.LeftOut[i]
			default:
				doubt[i] = all.LeftOut[i]
			}
		}
		return doubt, nil
	}
	typical, square := p.solution.LeftOut(loss.SquareTest{})
	outOfBag := p.solution.OutOfBag().Mean
	off, order := make([]float64, len(mean)), make([]int, len(mean))
	for i, y := range p.model.Y {
		distance := y - outOfBag[i]
		variance := math.Max(0, square[i]-distance*distance)
		off[i] = math.Abs(distance) / math.Sqrt(variance+typical)
	}
	floats.ArgsortStable(off, order)
	for rank, i := range order {
		doubt[i] = float64(rank) / float64(len(order))
	}
	return doubt, nil
}

// twins are the numbers of the first example with the same input and another class, for every example; NaN
// for none.
func twins(s *Study) []float64 {
	twins := slices.Repeat([]float64{math.NaN()}, len(s.Model.Site))
	if s.Model.Set.AreNumbers() {
		return twins
	}
	class, members := s.classOf(), make([][]int, s.Model.Sites())
	for i, site := range s.Model.Site {
		members[site] = append(members[site], i)
	}
	for i, site := range s.Model.Site {
		other := slices.IndexFunc(members[site], func(k int) bool { return class[k] != class[i] })
		if other >= 0 {
			twins[i] = float64(members[site][other])
		}
	}
	return twins
}

// LeftOut are the left-out errors of the examples by the theory, and by exact resamples if the loss has them;
// of several classes by these alone, and of several targets in units of their variances. Their influences,
// and interactions if requested, are the theory's, nil if that has no derivative.
func (s *Study) LeftOut(ctx context.Context, q Question, interactions bool) (theory, exact report.Examples,
	row *report.ComparedModel, err error) {
	row = &report.ComparedModel{Loss: s.Subject.Loss, Kernel: report.KernelText(s.Subject.Kernel),
		TestLoss: s.Test.Name()}
	if s.several() {
		a, err := s.Estimate(ctx, q)
		if err != nil {
			return theory, exact, nil, err
		}
		row.TestLoss, row.TestError, row.Status, row.Findings = a.TestLoss, a.Error, a.Status, a.Findings
		return a.Examples, exact, row, nil
	}
	p := s.part(0)
	if err := settle(ctx, s, &q); err != nil {
		return theory, exact, nil, err
	}
	if err := p.solve(ctx, &q); err != nil {
		return theory, exact, nil, err
	}
	row.Findings = outcome(p.model, q.Scheme).Findings
	addSolution(&row.Findings, p.solution)
	refined, err := p.refine(ctx, &q, blas64.General{}, nil, &row.Findings)
	if err != nil {
		return theory, exact, nil, err
	}
	mean, left := p.solution.LeftOut(p.study.Test)
	row.Status, row.TestError = p.solution.Status.String(), report.Number(mean)
	theory.Each, theory.Weights = left, p.model.Set.Weights
	if theory.Influence, err = adjoint.Influence(ctx, p.solution, p.study.Test); ctx.Err() != nil {
		return theory, exact, nil, ctx.Err()
	} else if err == nil && interactions {
		if theory.Interactions, err = adjoint.Interactions(p.solution, p.study.Test,
			theory.Influence); err != nil {
			return theory, exact, nil, err
		}
	}
	exact = theory
	if exact.Each = nil; refined != nil {
		t := refined.Tests[0]
		row.Refined, row.SE, exact.Each = report.NumberOf(t.Error), report.NumberOf(t.SE), t.Examples
		exact.Noise = t.SE * t.SE
	}
	return theory, exact, row, nil
}
