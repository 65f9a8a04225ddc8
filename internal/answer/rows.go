package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// Rows compares every example's target with the predictions of models without it, the least plausible first,
// with its influence on the error of the others.
func (j *Job) Rows(ctx context.Context, s Settings) (*report.Rows, error) {
	solution, result, warnings, err := j.solveRefined(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	r := &report.Rows{Command: "rows", Subject: j.Subject, Status: solution.Status.String(),
		TestLoss: j.Test.Name(),
		Outcome:  outcome(j.Model, s.Scheme, append(warnings, solution.Warnings...)...)}
	mean := solution.OutOfBag().Mean
	_, each := solution.LeftOut(j.Test)
	wrong, err := doubt(j, solution, mean)
	if err != nil {
		return nil, err
	}
	influence, err := adjoint.Influence(ctx, solution, j.Test)
	if err != nil && ctx.Err() == nil {
		warn(&r.Warnings, "no influence: "+err.Error())
	}
	twins, targets := twinsOf(j), j.targets()
	r.Rows = rowsOf(j.Set, func(i int, row *report.Row) {
		y := targets[i]
		row.Target, row.Predicted = null.Float(y), null.Float(mean[i]+j.shift())
		row.LabelError, row.Value, row.Twin = null.Float(wrong[i]), null.Float(-each[i]), null.Float(twins[i])
		if result != nil {
			test := result.Tests[0]
			row.Value, row.SE = null.Float(-test.Examples[i]), null.Float(test.ExamplesSE[i])
		}
		if j.labels() {
			row.Value++ // the fraction of models that are right
			row.Label, row.Class = r.Labels.Name(y), r.Labels.Name(mean[i])
		}
		if influence != nil {
			row.Influence = null.Float(influence[i])
		}
	})
	r.Time = j.Times
	return r, nil
}

// rowsOf are the rows of a set, completed by fill, the least plausible first.
func rowsOf(set *dataset.Set, fill func(i int, row *report.Row)) []report.Row {
	rows, unknown := make([]report.Row, set.N()), null.Float(math.NaN())
	for i := range rows {
		rows[i] = report.Row{Row: i, Predicted: unknown, SE: unknown, Influence: unknown, Twin: unknown}
		if set.RowNames != nil {
			rows[i].Name = set.RowNames[i]
		}
		fill(i, &rows[i])
	}
	slices.SortStableFunc(rows, func(a, b report.Row) int {
		return cmp.Or(cmp.Compare(b.LabelError, a.LabelError), cmp.Compare(a.Value, b.Value))
	})
	return rows
}

// Rows compares the class of every example with the decisions of models without it: value is the fraction of
// these that are right.
func (c *Classes) Rows(ctx context.Context, s Settings) (*report.Rows, error) {
	joint, err := c.Estimate(ctx, s)
	if err != nil {
		return nil, err
	}
	e := joint.(*report.Classes)
	r := &report.Rows{Command: "rows", Subject: e.Subject, TestLoss: e.TestLoss, Status: e.Status,
		Outcome: report.Outcome{Warnings: e.Warnings}}
	r.Rows = rowsOf(c.Set, func(i int, row *report.Row) {
		row.Target, row.Label, row.Class = null.Float(c.Set.Columns[0].Y[i]), e.Points.Target[i],
			e.Points.Class[i]
		row.LabelError, row.Value = null.Float(e.Points.Error[i]), null.Float(1-e.Points.Error[i])
		if p := e.Points.Probability[row.Label]; p != nil {
			row.LabelError = null.Float(1 - p[i])
		}
	})
	r.Time = e.Time
	return r, nil
}

// doubt is the theory's probability, with the example left out, that its label is wrong. For a number it is
// the fraction of examples with a target nearer to the prediction of models without them, in units of the
// spread there.
func doubt(j *Job, solution *solver.Solution, mean []float64) ([]float64, error) {
	doubt := make([]float64, len(mean))
	if j.labels() {
		p, err := predict.ProbabilitiesOf(j.Model, solution)
		if err != nil {
			return nil, err
		}
		for i, y := range j.Y {
			switch {
			case p.LeftOut == nil:
				doubt[i] = loss.ZeroOne{}.Value(mean[i], y)
			case y > 0:
				doubt[i] = 1 - p.LeftOut[i]
			default:
				doubt[i] = p.LeftOut[i]
			}
		}
		return doubt, nil
	}
	typical, square := solution.LeftOut(loss.SquareTest{})
	off, order := make([]float64, len(mean)), make([]int, len(mean))
	for i, y := range j.Y {
		distance := y - mean[i]
		variance := math.Max(0, square[i]-distance*distance)
		off[i] = math.Abs(distance) / math.Sqrt(variance+typical)
	}
	floats.ArgsortStable(off, order)
	for rank, i := range order {
		doubt[i] = float64(rank) / float64(len(order))
	}
	return doubt, nil
}

// twinsOf are the numbers of the first example with the same input and another label, for every example; NaN
// for none.
func twinsOf(j *Job) []float64 {
	twins, first := slices.Repeat([]float64{math.NaN()}, len(j.Site)), map[[2]int]int{}
	if !j.labels() {
		return twins
	}
	for i, site := range j.Site {
		key := [2]int{site, int(j.Y[i])}
		if _, seen := first[key]; !seen {
			first[key] = i
		}
	}
	for i, site := range j.Site {
		if other, seen := first[[2]int{site, -int(j.Y[i])}]; seen {
			twins[i] = float64(other)
		}
	}
	return twins
}
