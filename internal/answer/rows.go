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
	set := s.Model.Set
	for i, twin := range twinsOf(s.Model.Site, set.Columns[0].Y) {
		row := report.Row{Row: i, Target: unknown, Predicted: unknown, SE: unknown, Influence: unknown,
			Twin: unknown}
		if twin >= 0 && !set.AreNumbers() {
			row.Twin = report.Number(twin)
		}
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

// doubtClasses judges rows of several classes: value is the share of right decisions of models without it.
func doubtClasses(ctx context.Context, s *Study, q Question, r *report.Rows) error {
	a, err := s.Estimate(ctx, q)
	if err != nil {
		return err
	}
	r.Status, r.TestLoss, r.Findings = a.Status, a.TestLoss, a.Findings
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Target, row.Label, row.Class = report.Number(s.Model.Set.Columns[0].Y[i]),
			a.Points.Target.Classes[i], a.Points.Class[i]
		row.LabelError, row.Value = report.Number(a.Points.Error[i]), report.Number(1-a.Points.Error[i])
		if p := a.Points.Probability.Of[row.Label]; p != nil {
			row.LabelError = report.Number(1 - p[i])
		}
	}
	return nil
}

// rowErrors are the averages of a part that judge the rows: of the theory, and of exact resamples, nil
// without; with the influences of the rows on the theory's left-out error, in units of the target, which
// uninfluenced says why there are none of. The findings are added to f.
type rowErrors struct {
	theory, exact *fits.Averages
	influence     []float64
	uninfluenced  error
}

func (p *part) rowErrors(ctx context.Context, q *Question, f *report.Findings) (r rowErrors, err error) {
	began := time.Now()
	if err := p.solve(ctx, q); err != nil {
		return r, err
	}
	p.study.Times.Solve += time.Since(began).Seconds()
	addModel(f, p.model, q.Scheme)
	addSolution(f, p.solution)
	refined, err := p.refine(ctx, q, blas64.General{}, nil, f)
	if err != nil {
		return r, err
	}
	if refined != nil {
		r.exact = refined.Averages.In(p.model.Function)
	}
	r.theory = fits.OfTheory(p.solution, nil, []loss.Test{p.study.Test}).In(p.model.Function)
	r.influence, r.uninfluenced = p.influence(ctx)
	return r, nil
}

// influence are the influences of the rows on the left-out error of the theory, in units of the target.
func (p *part) influence(ctx context.Context) ([]float64, error) {
	influence, err := adjoint.Influence(ctx, p.solution, p.study.Test)
	if err == nil {
		floats.Scale(p.model.Unit*p.model.Unit, influence)
	}
	return influence, err
}

// doubt judges the rows by the theory of a part and its exact resamples, with their influence on the error of
// the others. Several targets have their mean doubt, and losses in units of their variance.
func doubt(ctx context.Context, p *part, q *Question, r *report.Rows) error {
	of, err := p.rowErrors(ctx, q, &r.Findings)
	if err != nil {
		return err
	}
	share, left, predicted := 1.0, &of.theory.Tests[0], of.theory.OutOfBag
	if of.exact != nil {
		left = &of.exact.Tests[0]
	}
	if p.study.several() {
		share = 1 / (float64(len(p.model.Functions)) * stat.PopVariance(p.targets(), p.model.Set.Weights))
	}
	wrong, err := doubts(p, predicted)
	if err != nil {
		return err
	}
	if of.uninfluenced != nil && ctx.Err() == nil {
		r.Add(notComputed("no influence: %v", of.uninfluenced))
	}
	r.Status = p.solution.Status.String()
	for i := range r.Rows {
		row := &r.Rows[i]
		row.LabelError += report.Number(wrong[i]) / report.Number(max(1, len(p.model.Set.Columns)))
		row.Value -= report.Number(share * left.Examples[i])
		if of.influence != nil {
			if p.number == 0 {
				row.Influence = 0
			}
			row.Influence += report.Number(share * of.influence[i])
		}
		if p.study.several() {
			continue
		}
		target := p.targets()[i]
		row.Target, row.Predicted = report.Number(target), report.Number(predicted[i])
		if left.ExamplesSE != nil {
			row.SE = report.Number(left.ExamplesSE[i])
		}
		if p.labels() {
			row.Value++ // the fraction of models that are right
			row.Label, row.Class = p.labelled().Level(target), p.labelled().Level(predicted[i])
		}
	}
	return nil
}

// doubts are the theory's probabilities, with the example left out, that its label is wrong. For a number it
// is the fraction of examples with a target nearer to the prediction of models without them, in units of the
// spread there.
func doubts(p *part, predicted []float64) ([]float64, error) {
	doubt := make([]float64, len(predicted))
	if p.labels() {
		all, err := ProbabilitiesOf(p.model, p.solution)
		if err != nil {
			return nil, err
		}
		for i, y := range p.model.Y {
			switch {
			case all.LeftOut == nil:
				doubt[i] = loss.ZeroOne{}.Value(predicted[i], y)
			case y > 0:
				doubt[i] = 1 - all.LeftOut[i]
			default:
				doubt[i] = all.LeftOut[i]
			}
		}
		return doubt, nil
	}
	typical, _ := p.solution.LeftOut(loss.SquareTest{})
	mean, variance := leftOutMoments(p.model, p.solution)
	off, order := make([]float64, len(mean)), make([]int, len(mean))
	for i, y := range p.model.Y {
		off[i] = math.Abs(y-mean[i]) / math.Sqrt(variance[i]+typical)
	}
	floats.ArgsortStable(off, order)
	for rank, i := range order {
		doubt[i] = float64(rank) / float64(len(order))
	}
	return doubt, nil
}

// LeftOut are the left-out errors of the examples by the theory, and by exact resamples if the loss has them;
// of several classes by these alone, and of several targets in units of their variances. Their influences,
// and interactions if requested, are the theory's, nil if that has no derivative.
func (s *Study) LeftOut(ctx context.Context, q Question, interactions bool) (theory, exact report.Examples,
	row *report.ComparedModel, err error) {
	row = &report.ComparedModel{Loss: s.Subject.Loss, Kernel: report.KernelText(s.Subject.Kernel),
		Text: s.Subject.ModelText(), TestLoss: s.Test.Name()}
	if s.several() {
		a, err := s.Estimate(ctx, q)
		if err != nil {
			return theory, exact, nil, err
		}
		row.TestLoss, row.TestError, row.Status, row.Findings = a.TestLoss, a.Error, a.Status, a.Findings
		return a.Examples, exact, row, nil
	}
	p, of := s.part(0), rowErrors{}
	if err = settle(ctx, s, &q); err == nil {
		of, err = p.rowErrors(ctx, &q, &row.Findings)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return theory, exact, nil, err
	}
	left := of.theory.Tests[0]
	row.Status, row.TestError = p.solution.Status.String(), report.Number(left.Error)
	theory.Each, theory.Weights, theory.Influence = left.Examples, p.model.Set.Weights, of.influence
	if of.influence != nil && interactions {
		if theory.Interactions, err = adjoint.Interactions(p.solution, p.study.Test,
			theory.Influence); err != nil {
			return theory, exact, nil, err
		}
	}
	exact = theory
	if exact.Each = nil; of.exact != nil {
		t := of.exact.Tests[0]
		row.Refined, row.SE, exact.Each = report.NumberOf(t.Error), report.NumberOf(t.SE), t.Examples
		exact.Noise = t.SE * t.SE
	}
	return theory, exact, row, nil
}
