package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"bootbench/internal/null"
)

// Classes is the answer of estimate and cv for several classes, with errors of the joint decision: the class
// of the largest field of each class against the others.
type Classes struct {
	Command string `json:"command"`
	Subject
	Classes []string `json:"classes"`
	Quote
	ExampleSE      null.Float   `json:"example_se"` // of the error, over examples
	TestLoss       string       `json:"test_loss"`
	Baseline       null.Float   `json:"baseline"` // error of the largest class as a constant decision
	Constant       string       `json:"constant"` // the largest class
	Balanced       null.Float   `json:"balanced_error"`
	ClassDecisions              // the majority of left-out ones
	Each           []ClassError `json:"each"`
	Multiclass     string       `json:"multiclass,omitempty"` // "ovo": pairs of classes vote
	Folding
	OneClass   int              `json:"one_class,omitempty"` // fits that lack a class
	Resampling *ClassResampling `json:"resampling,omitempty"`
	Status     string           `json:"status"`
	Outcome
}

// ClassDecisions are decisions between classes, and their errors if the classes are known.
type ClassDecisions struct {
	LogLoss   *null.Float  `json:"log_loss,omitempty"`
	Brier     *null.Float  `json:"brier,omitempty"`
	Confusion [][]int      `json:"confusion,omitempty"` // rows: true class; columns: decision
	Points    *ClassPoints `json:"points,omitempty"`
}

// ClassResampling describes the resamples.
type ClassResampling struct {
	Resampling
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
}

// ClassError is the errors of one class.
type ClassError struct {
	Class    string     `json:"class"`
	Examples int        `json:"n"`
	Error    null.Float `json:"error"` // fraction of its examples that are misclassified
	// Left-out errors of the class against the others, by the theory and by exact resamples.
	Theory  *null.Float `json:"theory_against_others,omitempty"`
	Refined *null.Float `json:"refined_against_others,omitempty"`
}

// ClassPoints are values per example or new input.
type ClassPoints struct {
	Names       []string               `json:"names,omitempty"`
	Class       []string               `json:"class"`
	Target      []string               `json:"target,omitempty"`
	Error       null.Floats            `json:"error,omitempty"` // fraction of wrong left-out decisions
	Probability map[string]null.Floats `json:"probability,omitempty"`
}

func (c *Classes) document() *document {
	d := short("Error on new rows of", c.Subject, fmt.Sprintf("%d classes of %s", len(c.Classes), c.target()))
	headline := fmt.Sprintf("%s of new rows get the wrong class; %s if all are taken for %s",
		c.Quote.text(units(c.TestLoss)), share(c.Baseline), c.Constant)
	d.Lead = headline + "."
	d.line("error", "%s", headline)
	d.line("balanced error", "%s, the mean over the classes", share(c.Balanced))
	d.line("probabilities", "%s", scores(c.LogLoss, c.Brier, " of left-out rows"))
	if p := c.Points; p != nil {
		names := ""
		for _, i := range worst(p.Error, 3) {
			names = join(names, fmt.Sprintf("%s (%s, taken for %s)", rowName(p.Names, i), p.Target[i], p.Class[i]))
		}
		d.line("worst rows", "%s", names)
	}
	by := fmt.Sprintf("%d %s, %d times", c.Folds, c.FoldsOf, c.Repeats)
	if r := c.Resampling; r != nil {
		by = fmt.Sprintf("%d resamples", r.Resamples)
	}
	d.line("by", "exact fits of %s: %s%s",
		either(c.Multiclass == "", "each class against the others", "each pair of classes, which vote"), by,
		nonzero("; in %d a class was missing", c.OneClass))
	d.modelled(c.Subject)
	heads, rows := []head{"<class, taken for"}, make([][]string, len(c.Classes))
	for k, name := range c.Classes {
		heads, rows[k] = append(heads, head(name)), []string{name}
		for _, count := range c.Confusion[k] {
			rows[k] = append(rows[k], fmt.Sprint(count))
		}
	}
	d.gap()
	d.table(heads, rows)
	return d
}

// table has a row per example or new input.
func (p *ClassPoints) table(format func(float64) string) [][]string {
	rows := namedRows(p.Names, len(p.Class))
	addColumn(rows, "class", p.Class, textCell)
	addColumn(rows, "target", p.Target, textCell)
	for _, name := range slices.Sorted(maps.Keys(p.Probability)) {
		addColumn(rows, "P("+textCell(name)+")", p.Probability[name], format)
	}
	return rows
}

// ClassPrediction is the answer of predict by a model of several classes.
type ClassPrediction struct {
	AtInputs
	TrainedOn
	Classes []string `json:"classes"`
	// Set if the new inputs have targets.
	TestLoss  string      `json:"test_loss,omitempty"`
	TestError *null.Float `json:"test_error,omitempty"`
	ClassDecisions
	Outcome
}

func (p *ClassPrediction) document() *document {
	d := &document{Title: "Classes by " + ShortName(cmp.Or(p.Model, p.Data))}
	d.Lead = fmt.Sprintf("The class of each of %d rows of %s, and the probability of every class.", p.Count,
		p.Test)
	d.line("model", "%s", p.TrainedOn.text())
	d.line("new inputs", "%s: %d", p.Test, p.Count)
	if p.TestError != nil {
		d.line("test error", "%s get the wrong class", share(*p.TestError))
	}
	if p.Points != nil {
		d.inputs(p.Points.table(number[float64]), nil)
	}
	return d
}
