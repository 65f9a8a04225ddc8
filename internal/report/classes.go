package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"bootbench/internal/null"
)

// Classes is the answer of estimate and cv about several classes: of the joint decision, the class of the
// largest field of each class against the others.
type Classes struct {
	Command string `json:"command"`
	Subject
	Classes []string `json:"classes"`
	Quote
	ExampleSE  null.Float       `json:"example_se"` // of the error: with other examples it would be another
	TestLoss   string           `json:"test_loss"`
	Baseline   null.Float       `json:"baseline"` // error of always taking the largest class
	Constant   string           `json:"constant"` // that class
	Balanced   null.Float       `json:"balanced_error"`
	LogLoss    *null.Float      `json:"log_loss,omitempty"`
	Brier      *null.Float      `json:"brier,omitempty"`
	Confusion  [][]int          `json:"confusion"` // rows: true class; columns: majority of left-out decisions
	Each       []ClassError     `json:"each"`
	Multiclass string           `json:"multiclass,omitempty"` // "ovo": pairs of classes vote
	Folds      int              `json:"folds,omitempty"`
	Repeats    int              `json:"repeats,omitempty"`
	FoldsOf    string           `json:"folds_of,omitempty"`
	OneClass   int              `json:"one_class,omitempty"` // fits that lack a class, which is then never taken
	Resampling *ClassResampling `json:"resampling,omitempty"`
	Status     string           `json:"status"`
	Points     *ClassPoints     `json:"points,omitempty"`
	Warnings   []string         `json:"warnings"`
	Cost
}

// ClassResampling says which resamples were trained.
type ClassResampling struct {
	Resampling
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
}

// ClassError is what is known of one class.
type ClassError struct {
	Class    string     `json:"class"`
	Examples int        `json:"n"`
	Error    null.Float `json:"error"` // share of its examples that are taken for others
	// Of the class against the others: the left-out error by the theory and by exact resamples.
	Theory  *null.Float `json:"theory_against_others,omitempty"`
	Refined *null.Float `json:"refined_against_others,omitempty"`
}

// ClassPoints are values per example or new input.
type ClassPoints struct {
	Names       []string               `json:"names,omitempty"`
	Class       []string               `json:"class"`
	Target      []string               `json:"target,omitempty"`
	Error       null.Floats            `json:"error,omitempty"` // share of left-out decisions that are wrong
	Probability map[string]null.Floats `json:"probability,omitempty"`
}

func (c *Classes) document() *document {
	d := short("Error on new rows of", c.Subject,
		fmt.Sprintf("%d classes of %s", len(c.Classes), cmp.Or(c.Target, "y")))
	headline := fmt.Sprintf("%s +- %s of new rows get the wrong class; %s if all are taken for %s",
		share(c.Error), share(c.ExampleSE), share(c.Baseline), c.Constant)
	d.lead = headline + "."
	d.line("error", "%s", headline)
	d.line("balanced error", "%s, the mean over the classes", share(c.Balanced))
	if c.LogLoss != nil {
		d.line("probabilities", "log loss %s, Brier score %s of left-out rows", number(*c.LogLoss),
			number(*c.Brier))
	}
	if c.Points != nil {
		d.line("worst rows", "%s", c.Points.worst(3))
	}
	by := fmt.Sprintf("%d folds, %d times", c.Folds, c.Repeats)
	if r := c.Resampling; r != nil {
		by = fmt.Sprintf("%d resamples", r.Resamples)
	}
	of := "each class against the others"
	if c.Multiclass != "" {
		of = "each pair of classes, which vote"
	}
	d.line("by", "exact fits of %s: %s%s", of, by,
		nonzero("; in %d a class was missing", c.OneClass))
	d.modelled(c.Subject)
	d.gap()
	d.confusion(c.Classes, c.Confusion)
	return d
}

// confusion is a table of true classes against those that examples are taken for.
func (d *document) confusion(classes []string, counts [][]int) {
	heads := []head{"<class, taken for"}
	var rows [][]string
	for _, name := range classes {
		heads = append(heads, head(name))
	}
	for k, name := range classes {
		row := []string{name}
		for _, count := range counts[k] {
			row = append(row, fmt.Sprint(count))
		}
		rows = append(rows, row)
	}
	d.table(heads, rows)
}

// name is the name of a row, or its number from 1.
func (p *ClassPoints) name(row int) string { return (&Points{Names: p.Names}).name(row) }

// worst names the rows with the largest errors.
func (p *ClassPoints) worst(count int) string {
	w := Worst{Points: &Points{Error: p.Error}}
	var names []string
	for _, i := range w.order(count) {
		names = append(names, fmt.Sprintf("%s (%s, taken for %s)", p.name(i), p.Target[i], p.Class[i]))
	}
	return strings.Join(names, ", ")
}

// table has a row per example or new input below the names of the columns.
func (p *ClassPoints) table(format func(float64) string) [][]string {
	var classes []string
	for name := range p.Probability {
		classes = append(classes, name)
	}
	slices.Sort(classes)
	rows := [][]string{{"row", "class"}}
	if p.Target != nil {
		rows[0] = append(rows[0], "target")
	}
	for _, name := range classes {
		rows[0] = append(rows[0], "P("+textCell(name)+")")
	}
	for i, class := range p.Class {
		row := []string{p.name(i), textCell(class)}
		if p.Target != nil {
			row = append(row, textCell(p.Target[i]))
		}
		for _, name := range classes {
			row = append(row, format(p.Probability[name][i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// WriteCSV writes one line per example or new input.
func (p *ClassPoints) WriteCSV(w io.Writer) error { return writeCSV(w, p.table(numberCell[float64])) }

// ClassPrediction is the answer of predict by a model of several classes.
type ClassPrediction struct {
	Command string `json:"command"`
	FromFile
	TrainedOn
	Classes []string `json:"classes"`
	Test    string   `json:"test"` // the new inputs
	Count   int      `json:"test_n"`
	// Known where the new inputs have targets.
	TestLoss  string       `json:"test_loss,omitempty"`
	TestError *null.Float  `json:"test_error,omitempty"`
	LogLoss   *null.Float  `json:"log_loss,omitempty"`
	Brier     *null.Float  `json:"brier,omitempty"`
	Confusion [][]int      `json:"confusion,omitempty"`
	Points    *ClassPoints `json:"points,omitempty"`
	Warnings  []string     `json:"warnings"`
	Cost
}

func (p *ClassPrediction) document() *document {
	d := &document{title: "Classes by " + ShortName(cmp.Or(p.Model, p.Data))}
	d.line("model", "%s loss, a sum over %d sites, trained on %d examples of %s", p.Loss, p.SupportVectors, p.N,
		p.Data)
	d.lead = fmt.Sprintf("The class of each of %d rows of %s, and the probability of every class.", p.Count,
		p.Test)
	d.line("new inputs", "%s: %d", p.Test, p.Count)
	if p.TestError != nil {
		d.line("test error", "%s get the wrong class", share(*p.TestError))
	}
	if p.Points != nil {
		d.inputs(p.Points.table(number[float64]), nil)
	}
	return d
}
