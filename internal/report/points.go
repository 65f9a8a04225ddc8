package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
)

// Points are values per example in the order of the file, or per new input. Lists that a command lacks are
// omitted.
type Points struct {
	Names []string `json:"names,omitempty"` // of the rows
	// of one trained model, equal to Mean; its sign is the class of a classifier
	Prediction Numbers `json:"prediction,omitempty"`
	Mean       Numbers `json:"mean,omitempty"`
	// over resamples, where Mean is the prediction of the trained model
	BootstrapMean Numbers `json:"bootstrap_mean,omitempty"`
	// of new inputs: the largest kernel with a row of the data, of the kernel with itself
	Support  Numbers `json:"support,omitempty"`
	Variance Numbers `json:"variance,omitempty"`
	// average over resamples of the variance of the posterior of f, of losses that have one (M03-33)
	Posterior  Numbers `json:"posterior_variance,omitempty"`
	Error      Numbers `json:"error,omitempty"` // left-out loss; for new inputs the expected loss
	MeanSE     Numbers `json:"mean_se,omitempty"`
	VarianceSE Numbers `json:"variance_se,omitempty"`
	SD         Numbers `json:"sd,omitempty"`
	// of loo: dual weights and slacks of the training on all rows, 2 a R^2 + xi, and left-out y f, NaN where
	// bounds decide without it
	Alpha  Numbers `json:"alpha,omitempty"`
	Slack  Numbers `json:"slack,omitempty"`
	Bound  Numbers `json:"bound,omitempty"`
	Margin Numbers `json:"margin,omitempty"`
	Bias   Numbers `json:"bias,omitempty"` // of generated targets: Mean minus the generating prediction
	Lower  Numbers `json:"lower,omitempty"`
	Upper  Numbers `json:"upper,omitempty"`
	// Out of bag: mean prediction over the resamples that leave an example out, and the fraction of positive
	// ones; Vote is that fraction over all resamples.
	OOBMean Numbers `json:"oob_mean,omitempty"`
	OOBVote Numbers `json:"oob_vote,omitempty"`
	Vote    Numbers `json:"vote,omitempty"`
	// Negative is the fraction of the resamples that predict -1.
	Negative Numbers `json:"p_negative,omitempty"`
	// Quantiles over resamples, a list for each of the levels.
	QuantileLevels []float64   `json:"quantile_levels,omitempty"`
	Quantiles      []Numbers   `json:"quantiles,omitempty"`
	Probability    Probability `json:"probability,omitzero"`
	Target         Target      `json:"target,omitzero"`
	Class          []string    `json:"class,omitempty"` // predicted, named as in the file; "" for none
	Set            [][]string  `json:"set,omitempty"`   // classes among which a new label is: Sets
}

// Probability has the probabilities of the label +1 or, of several classes, of each class by its name.
type Probability struct {
	Positive Numbers
	Of       map[string]Numbers
}

// MarshalJSON is a list, or an object of lists.
func (p Probability) MarshalJSON() ([]byte, error) {
	return json.Marshal(either[any](p.Of != nil, p.Of, p.Positive))
}

// UnmarshalJSON reads either.
func (p *Probability) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, either[any](text[0] == '{', &p.Of, &p.Positive))
}

// Target is numbers, labels -1 and +1 included, or the names of several classes.
type Target struct {
	Numbers Numbers
	Classes []string
}

// MarshalJSON is a list of numbers or of names.
func (t Target) MarshalJSON() ([]byte, error) {
	return json.Marshal(either[any](t.Classes != nil, t.Classes, t.Numbers))
}

// UnmarshalJSON reads either.
func (t *Target) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, either[any](strings.Contains(string(text), `"`), &t.Classes, &t.Numbers))
}

func (p *Points) count() int {
	return max(len(p.Mean), len(p.Prediction), len(p.Class), len(p.Error), len(p.Alpha))
}

// rowName is the name of a row as a cell, or its number from 1.
func rowName(names []string, row int) string {
	if names != nil {
		return textCell(names[row])
	}
	return strconv.Itoa(row + 1)
}

// addColumn adds a list to a table, unless it is empty.
func addColumn[T any](t *Table, name string, list []T, cell func(T) string) {
	if len(list) == 0 {
		return
	}
	t.Heads = append(t.Heads, head(name))
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], cell(list[i]))
	}
}

// Columns of tables of rows, of new inputs, and of these in brief, by their names in JSON.
const (
	rowColumns = `mean quantiles probability class set target error alpha slack bound margin variance mean_se
		variance_se sd lower upper oob_mean oob_vote vote p_negative`
	newColumns   = "prediction lower upper sd support probability class set target error quantiles"
	briefColumns = "prediction lower upper quantiles probability class set target"
)

// table has a row per example or new input and a column for every list that there is. A brief one has
// predictions only where these say more than the classes. Probabilities are of the class positive.
func (p *Points) table(positive string, newRows, brief bool, format func(float64) string) *Table {
	t, likely := &Table{[]head{"row"}, make([][]string, p.count())}, p.Probability
	for i := range t.Rows {
		t.Rows[i] = []string{rowName(p.Names, i)}
	}
	add := func(name string, list Numbers) { addColumn(t, name, list, format) }
	columns := either(brief, briefColumns, either(newRows, newColumns, rowColumns))
	if brief && p.Class != nil && (likely.Positive != nil || likely.Of != nil || p.Mean == nil) {
		columns = strings.TrimPrefix(columns, "prediction lower upper ")
	}
	lists := map[string]Numbers{}
	for _, f := range fields("", reflect.TypeFor[Points](), reflect.ValueOf(*p)) {
		lists[f.name], _ = f.value.Interface().(Numbers)
	}
	for name := range strings.FieldsSeq(columns) {
		switch name {
		case "prediction":
			add(name, either(p.Prediction != nil, p.Prediction, p.Mean))
		case "quantiles":
			for k, list := range p.Quantiles {
				add(fmt.Sprintf("q%v", p.QuantileLevels[k]), list)
			}
		case "probability":
			add(either(positive != "", "P("+textCell(positive)+")", name), likely.Positive)
			for _, class := range slices.Sorted(maps.Keys(likely.Of)) {
				add("P("+textCell(class)+")", likely.Of[class])
			}
		case "class":
			addColumn(t, "<class", p.Class, textCell)
		case "set":
			addColumn(t, "<set", p.Set,
				func(names []string) string { return textCell(strings.Join(names, " or ")) })
		case "target":
			add(name, p.Target.Numbers)
			addColumn(t, name, p.Target.Classes, textCell)
		default:
			add(name, lists[name])
		}
	}
	return t
}

// Rows of a table of new inputs: the first ones, and the least certain others.
const (
	firstRows     = 10
	uncertainRows = 3
)

// inputs prints the table of new inputs: all if they are few, else the first rows and the least certain ones.
func (d *document) inputs(a *Answer, brief bool) {
	table := a.pointTable(brief, shortNumber)
	if table == nil {
		return
	}
	rows, shown := table.Rows, ""
	if count := len(rows); count > firstRows+uncertainRows {
		rows, shown = slices.Clone(rows[:firstRows]), fmt.Sprintf("The first %d of %d rows", firstRows, count)
		if others := a.Points.uncertain(); others != nil {
			for _, i := range others[:uncertainRows] {
				rows = append(rows, table.Rows[i])
			}
			shown += fmt.Sprintf(", and the %d least certain others", uncertainRows)
		}
	}
	d.table(table.Heads, rows)
	if shown != "" {
		d.paragraph(shown + "; Sheet.Table has all.")
	}
}

// uncertain lists the rows after the first ones by decreasing width of the interval, or distance of the
// probability from one half; nil if both are unknown.
func (p *Points) uncertain() (order []int) {
	if p == nil {
		return nil
	}
	doubt := func(i int) float64 { return p.Upper[i] - p.Lower[i] }
	if probability := p.Probability.Positive; probability != nil {
		doubt = func(i int) float64 { return -math.Abs(probability[i] - 0.5) }
	} else if p.Lower == nil {
		return nil
	}
	for i := firstRows; i < p.count(); i++ {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(doubt(j), doubt(i)) })
	return order
}

// leftOutPredictions are the predictions of numbers by models without them, nil if unknown.
func (a *Answer) leftOutPredictions() Numbers {
	return either(a.Validation != nil, a.Points.Mean, a.Points.OOBMean)
}

// targetFigure shows left-out predictions of numbers against the numbers, of one of several targets by name.
func targetFigure(a *Answer, name string) []*Figure {
	p, left := a.Points, a.leftOutPredictions()
	target := p.Target.Numbers
	if len(target) == 0 || len(left) == 0 || p.OOBVote != nil || p.Class != nil {
		return nil
	}
	at := Series{Label: "row, two standard deviations", Mark: Dots, X: target, Y: left, Err: deviations(2,
		p.Variance)}
	if len(target) > manyPoints || p.Variance == nil {
		at.Label, at.Err = "row", nil
	}
	return []*Figure{NewFigure("points-target"+nonzero("-%s", fileName(name)), nonzero("%s: ", name)+
		"predicted against actual", "Mean prediction of every row by models without it, against its target"+
		either(at.Err != nil, ", with two standard deviations over resamples", "")+
		". On the line they are equal.", Axis{Label: "target"}, Axis{Label: "left-out prediction"}, at,
		equality("equal", slices.Min(target), slices.Max(target)))}
}

// pointFigures show the values per row: left-out predictions against targets, the standard deviation of the
// predictor over resamples against its mean, and the sorted left-out errors.
func pointFigures(a *Answer) []*Figure {
	p, u, figures := a.Points, units(a.TestLoss), targetFigure(a, "")
	if len(p.Mean) > 0 && len(p.Variance) > 0 {
		figures = append(figures, NewFigure("points-spread", "spread of the predictor over resamples",
			"Standard deviation over resamples of the prediction of every row, against its mean.",
			Axis{Label: "mean prediction"}, Axis{Label: "standard deviation"},
			Series{Mark: Dots, X: p.Mean, Y: deviations(1, p.Variance)}))
	}
	if len(p.Error) == 0 || a.single() {
		return figures
	}
	errors := Series{Mark: Line}
	for i, e := range slices.Sorted(slices.Values(p.Error)) {
		errors.Add(100*(float64(i)+0.5)/float64(len(p.Error)), float64(u.shown(Number(e))))
	}
	return append(figures, NewFigure("points-errors", "errors of the rows",
		"Expected error of every row by models without it, in rising order.",
		Axis{Label: "share of the rows, %", Max: 100}, Axis{Label: "left-out error, " + u.String()}, errors))
}

func deviations(count float64, variance []float64) (all []float64) {
	for _, v := range variance {
		all = append(all, count*math.Sqrt(v))
	}
	return all
}

// doubts are the probabilities that the rows are of other classes than their own; nil if unknown.
func (p *Points) doubts() (all []float64) {
	for i, y := range p.Target.Numbers[:min(len(p.Target.Numbers), len(p.Probability.Positive))] {
		all = append(all, (1+y)/2-y*p.Probability.Positive[i])
	}
	for i, name := range p.Target.Classes {
		if of := p.Probability.Of[name]; of != nil {
			all = append(all, 1-of[i])
		}
	}
	return all
}

// predictionFigure shows predictions of new rows in rising order, with intervals, or probabilities of a
// class, and targets if they are known; of one of several targets by name.
func predictionFigure(a *Answer, name string) []*Figure {
	p, within := a.Points, ""
	values, targets, lower, upper := p.Mean, p.Target.Numbers, p.Lower, p.Upper
	axis, hit, miss := Axis{Label: "prediction"}, "prediction", "target"
	if q := p.Probability; q.Positive != nil {
		axis = Axis{Label: "probability of " + cmp.Or(a.Positive, "+1"), Max: 1}
		values, targets = q.Positive, each(targets, func(y float64) float64 { return (1 + y) / 2 })
		lower, upper, hit = nil, nil, "probability"
	} else if q.Of != nil {
		axis, values = Axis{Label: "probability of the predicted class", Max: 1}, nil
		for _, of := range q.Of {
			values = append(values, make(Numbers, len(of)-len(values))...)
			for i, v := range of {
				values[i] = max(values[i], v)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	order, shown := make([]int, len(values)), slices.Clone(values)
	floats.ArgsortStable(slices.Clone(values), order)
	if own := p.Target.Classes; own != nil {
		hit, miss, targets = "right class", "wrong class", slices.Clone(values)
		for i, class := range p.Class {
			either(class == own[i], targets, shown)[i] = math.NaN()
		}
	}
	if lower != nil {
		within = either(cmp.Or(a.Interval, &Interval{}).Interval == "observation", "new observations",
			"the resamples")
	}
	series := func(label string, mark Mark, colour int, list Numbers) Series {
		s := Series{Label: label, Mark: mark, Colour: colour}
		for at, i := range order[:len(list)] {
			s.Add(float64(at+1), list[i])
		}
		return s
	}
	return []*Figure{NewFigure("predict"+nonzero("-%s", fileName(name)), nonzero("%s: ", name)+
		"predictions of new rows", "New rows in rising order"+nonzero(", with the interval of %s", within)+
		".", Axis{Label: "new row, by " + axis.Label}, axis, series(hit, Dots, 0, shown), series(miss,
		Triangles, 1, targets), series(fmt.Sprintf("%.3g%% of %s", 100*a.Level, within), Line, 2, lower),
		series("", Line, 2, upper))}
}

// reliabilityFigure shows the observed shares of a class against its probabilities; none if these are
// unknown.
func reliabilityFigure(c *Reliability, name, class string) []*Figure {
	if c == nil || c.LogLoss == nil {
		return nil
	}
	shares := Series{Label: "rows left out, two standard errors", Mark: Joined}
	for i, p := range c.Predicted {
		o, n := c.Observed[i], float64(c.Count[i])
		shares.AddErr(p, o, 2*math.Sqrt(p*(1-p)/n)) // of a binomial fraction, if p is right
	}
	return []*Figure{NewFigure(name, "calibration: P("+class+")",
		"Share of "+class+" among left-out rows of about that probability, with two standard errors; on the "+
			"line the probabilities are right.", Axis{Label: "predicted probability of " + class, Max: 1},
		Axis{Label: "observed share of " + class, Max: 1}, shares, equality("as predicted", 0, 1))}
}

// AddROC adds a figure of the shares of both labels with mean predictions above a threshold, and of the area
// under the curve; none for one class, whose curve is nil.
func (a *Answer) AddROC(x, y []float64, area float64) {
	if x == nil {
		return
	}
	above := func(label float64) Axis {
		return Axis{Label: "share of " + a.Labels.Name(label) + " above", Max: 1}
	}
	a.Figures = []*Figure{NewFigure("roc", fmt.Sprintf("receiver operating characteristic: area %.3f", area),
		"Of the rows of either label, the share whose left-out mean prediction is above a threshold.",
		above(-1), above(1), Series{Mark: Line, X: x, Y: y}, equality("", 0, 1))}
}

// worst lists the count rows with the largest errors.
func worst(errors []float64, count int) (order []int) {
	for i, e := range errors {
		if !math.IsNaN(e) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(errors[j], errors[i]) })
	return order[:min(count, len(order))]
}
