package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bootbench/internal/dataset"
)

// Examples tells which examples a model errs on: those with the largest left-out errors
// and, for labels, the confusion matrix.
type Examples struct {
	Points *Points
	Labels *dataset.Classes // nil for -1 and +1
}

// worst is how many examples are named.
const worst = 10

func (e *Examples) document() *document {
	d, p := &document{title: "Worst examples"}, e.Points
	if p.OOBVote != nil {
		e.confusion(d)
	}
	var order []int
	for i, v := range p.Error {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.Error[j], p.Error[i]) })
	var rows [][]string
	for _, i := range order[:min(worst, len(order))] {
		target, of := number(p.Target[i]), "-"
		if p.OOBVote != nil {
			target, of = e.Labels.Name(p.Target[i]), fmt.Sprintf("%.0f%%", 100*p.OOBVote[i])
		} else if p.OOBMean != nil {
			of = number(p.OOBMean[i])
		}
		rows = append(rows, []string{p.Name(i), target, of, number(p.Error[i])})
	}
	predicted := "left-out prediction"
	if p.OOBVote != nil {
		predicted = "share of left-out predictions " + e.Labels.Name(1)
	}
	d.paragraph("The examples with the largest left-out errors:")
	d.table([]head{"<row", "target", head(predicted), "left-out error"},
		rows)
	return d
}

// confusion counts the examples of either label by what resamples predict that leave them
// out: expected numbers, as resamples need not agree.
func (e *Examples) confusion(d *document) {
	var count [2][2]float64
	for i, y := range e.Points.Target {
		share := e.Points.OOBVote[i]
		if math.IsNaN(share) {
			continue
		}
		of := 0
		if y > 0 {
			of = 1
		}
		count[of][0] += 1 - share
		count[of][1] += share
	}
	var rows [][]string
	for of, label := range []float64{-1, 1} {
		all := count[of][0] + count[of][1]
		rows = append(rows, []string{e.Labels.Name(label), fmt.Sprintf("%.1f", count[of][0]),
			fmt.Sprintf("%.1f", count[of][1]), fmt.Sprintf("%.1f%%", 100*count[of][1-of]/max(all, 1))})
	}
	d.paragraph("Examples by label and by left-out prediction, averaged over resamples:")
	d.table([]head{"<label", head("predicted " + e.Labels.Name(-1)), head("predicted " + e.Labels.Name(1)),
		"wrong"}, rows)
}

// targetFigure sets the left-out predictions of a regression against the targets.
func targetFigure(name string, p *Points) *Figure {
	at := Series{Label: "example, with two standard deviations over resamples", Mark: Dots}
	for i, y := range p.Target {
		if len(p.Target) > manyPoints {
			at.Add(y, p.OOBMean[i])
		} else {
			at.AddErr(y, p.OOBMean[i], 2*math.Sqrt(p.Variance[i]))
		}
	}
	if at.Err == nil {
		at.Label = "example"
	}
	ends := []float64{slices.Min(p.Target), slices.Max(p.Target)}
	return NewFigure(name+"-target", "left-out prediction against target",
		"Mean prediction of every example over the resamples that leave it out, against its target; the "+
			"line is where they are equal.",
		Axis{Label: "target"}, Axis{Label: "left-out prediction"}, at,
		Series{Label: "equal", Mark: Dashed, Colour: 6, X: ends, Y: ends})
}
