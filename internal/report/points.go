package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/internal/null"
)

// Points are values per example in the order of the file, or per new input.
// Lists that a command does not have are left out.
type Points struct {
	Names []string `json:"names,omitempty"` // of the rows
	// of one trained model, and the mean, too; of a classifier its sign says the class
	Prediction null.Floats `json:"prediction,omitempty"`
	Mean       null.Floats `json:"mean,omitempty"`
	Variance   null.Floats `json:"variance,omitempty"`
	Error      null.Floats `json:"error,omitempty"` // left-out loss; for new inputs the expected loss
	MeanSE     null.Floats `json:"mean_se,omitempty"`
	VarianceSE null.Floats `json:"variance_se,omitempty"`
	SD         null.Floats `json:"sd,omitempty"`
	Lower      null.Floats `json:"lower,omitempty"`
	Upper      null.Floats `json:"upper,omitempty"`
	// Out of bag: mean prediction over the resamples that leave an example out, and
	// the share of them that predict above 0; Vote is that share of all resamples.
	OOBMean null.Floats `json:"oob_mean,omitempty"`
	OOBVote null.Floats `json:"oob_vote,omitempty"`
	Vote    null.Floats `json:"vote,omitempty"`
	// Negative is the share of the resamples whose classifier says -1.
	Negative null.Floats `json:"p_negative,omitempty"`
	// Quantiles over resamples, a list for each of the levels.
	QuantileLevels []float64     `json:"quantile_levels,omitempty"`
	Quantiles      []null.Floats `json:"quantiles,omitempty"`
	// Probability is that of the label +1.
	Probability null.Floats `json:"probability,omitempty"`
	Target      null.Floats `json:"target,omitempty"`
	Class       []string    `json:"class,omitempty"` // predicted by the mean, as the file writes it
}

// Shift adds a constant to all predictions.
func (p *Points) Shift(by float64) {
	for _, list := range [][]float64{p.Mean, p.Lower, p.Upper, p.OOBMean} {
		floats.AddConst(by, list)
	}
}

func (p *Points) count() int { return max(len(p.Mean), len(p.Prediction), len(p.Class)) }

// name is the name of a row as a cell, or its number from 1.
func (p *Points) name(row int) string {
	if p.Names != nil {
		return textCell(p.Names[row])
	}
	return strconv.Itoa(row + 1)
}

// table has a row per example or new input below the names of the columns: its name or number, and the lists
// that there are.
func (p *Points) table(format func(float64) string) [][]string {
	names, lists := []string{"row"}, []null.Floats{}
	for _, f := range fieldsOf("", reflect.TypeFor[Points](), nil) {
		list, ok := reflect.ValueOf(p).Elem().FieldByIndex(f.index).Interface().(null.Floats)
		if ok && len(list) > 0 && !(f.name == "mean" && p.Prediction != nil) { // which is the same
			names, lists = append(names, f.name), append(lists, list)
		}
	}
	for k, list := range p.Quantiles {
		names, lists = append(names, fmt.Sprintf("q%v", p.QuantileLevels[k])), append(lists, list)
	}
	if p.Class != nil {
		names = append(names, "class")
	}
	rows := [][]string{names}
	for i := range p.count() {
		row := []string{p.name(i)}
		for _, list := range lists {
			row = append(row, format(list[i]))
		}
		if p.Class != nil {
			row = append(row, textCell(p.Class[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// WriteCSV writes one line per example or new input. What is not known is an empty cell.
func (p *Points) WriteCSV(w io.Writer) error { return writeCSV(w, p.table(numberCell[float64])) }

// quantile interpolates between the order statistics, NaN for none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Rows of a table of new inputs: the first, and the least certain of the others.
const (
	firstRows     = 10
	uncertainRows = 3
)

// perInput is a table of new inputs: all if they are few, else the first and the least certain. Probabilities
// are of the class positive.
func (d *document) perInput(points *Points, positive string) {
	if points == nil {
		return
	}
	table := points.table(number[float64])
	if at := slices.Index(table[0], "probability"); at >= 0 && positive != "" {
		table[0][at] = "P(" + positive + ")"
	}
	d.inputs(table, points.uncertain())
}

// inputs is a table of new inputs, of whose rows after the first ones some come first.
func (d *document) inputs(table [][]string, first []int) {
	rows, shown := table[1:], ""
	if count := len(rows); count > firstRows+uncertainRows {
		rows, shown = slices.Clone(rows[:firstRows]), fmt.Sprintf("the first %d of %d rows", firstRows, count)
		if first != nil {
			for _, i := range first[:uncertainRows] {
				rows = append(rows, table[1+i])
			}
			shown += fmt.Sprintf(", and the %d least certain others", uncertainRows)
		}
	}
	heads := make([]head, len(table[0]))
	for i, name := range table[0] {
		if heads[i] = head(name); name == "class" {
			heads[i] = "<class"
		}
	}
	d.gap()
	d.table(heads, rows)
	if shown != "" {
		d.paragraph(shown + ": --csv FILE has all")
	}
}

// uncertain has the numbers of the rows after the first ones, the widest interval, or the probability nearest
// one half, first; nil where neither is known.
func (p *Points) uncertain() (order []int) {
	doubt := func(i int) float64 { return p.Upper[i] - p.Lower[i] }
	if p.Probability != nil {
		doubt = func(i int) float64 { return -math.Abs(p.Probability[i] - 0.5) }
	} else if p.Lower == nil {
		return nil
	}
	for i := firstRows; i < p.count(); i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(doubt(j), doubt(i)) })
	return order
}

// PointFigures show the values per example: the spread of the predictor over
// resamples against its mean, and the left-out errors in rising order.
func PointFigures(p *Points) []*Figure {
	if p == nil || len(p.Mean) == 0 {
		return nil
	}
	spread := Series{Mark: Dots}
	for i, m := range p.Mean {
		spread.Add(m, math.Sqrt(p.Variance[i]))
	}
	figures := []*Figure{NewFigure("points-spread", "spread of the predictor over resamples",
		"Standard deviation over resamples of the prediction at every example, against its mean.",
		Axis{Label: "mean prediction"}, Axis{Label: "standard deviation"}, spread)}
	if len(p.Target) > 0 && len(p.OOBMean) > 0 && p.OOBVote == nil {
		figures = append([]*Figure{targetFigure(p)}, figures...)
	}
	if len(p.Error) == 0 {
		return figures
	}
	sorted := slices.Clone(p.Error)
	slices.Sort(sorted)
	errors := Series{Mark: Line}
	for i, e := range sorted {
		errors.Add(100*(float64(i)+0.5)/float64(len(sorted)), e)
	}
	return append(figures, NewFigure("points-errors", "errors of the examples",
		"Expected loss of every example over the resamples that leave it out, in rising order.",
		Axis{Label: "share of the examples, %", Max: 100}, Axis{Label: "left-out loss"}, errors))
}

// targetFigure sets the left-out predictions of a regression against the targets.
func targetFigure(p *Points) *Figure {
	at := Series{Label: "example, with two standard deviations over resamples", Mark: Dots}
	for i, y := range p.Target {
		at.AddErr(y, p.OOBMean[i], 2*math.Sqrt(p.Variance[i]))
	}
	if len(p.Target) > manyPoints {
		at.Label, at.Err = "example", nil
	}
	return NewFigure("points-target", "left-out prediction against target",
		"Mean prediction of every example over the resamples that leave it out, against its target; the "+
			"line is where they are equal.",
		Axis{Label: "target"}, Axis{Label: "left-out prediction"}, at,
		equality("equal", slices.Min(p.Target), slices.Max(p.Target)))
}

// Worst are the examples that a model errs on most, by name.
type Worst struct {
	Points *Points
	Labels *dataset.Classes // nil for -1 and +1
}

// order has the numbers of the count worst examples.
func (w *Worst) order(count int) (order []int) {
	p := w.Points
	for i, e := range p.Error {
		if !math.IsNaN(e) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.Error[j], p.Error[i]) })
	return order[:min(count, len(order))]
}

func (w *Worst) document() *document {
	p := w.Points
	predicted := "left-out prediction"
	if p.OOBVote != nil {
		predicted = "share of left-out predictions " + w.Labels.Name(1)
	}
	var rows [][]string
	for _, i := range w.order(10) {
		target, of := number(p.Target[i]), "-"
		if p.OOBVote != nil {
			target, of = w.Labels.Name(p.Target[i]), fmt.Sprintf("%.0f%%", 100*p.OOBVote[i])
		} else if p.OOBMean != nil {
			of = number(p.OOBMean[i])
		}
		rows = append(rows, []string{p.name(i), target, of, number(p.Error[i])})
	}
	d := &document{title: "Worst examples"}
	d.paragraph("The examples with the largest left-out errors:")
	d.table([]head{"<row", "target", head(predicted), "left-out error"}, rows)
	return d
}
