package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bootbench/internal/dataset"
)

// Examples are those that a model errs on most.
type Examples struct {
	Points *Points
	Labels *dataset.Classes // nil for -1 and +1
}

// worst is how many examples are named.
const worst = 10

func (e *Examples) document() *document {
	d, p := &document{title: "Worst examples"}, e.Points
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
