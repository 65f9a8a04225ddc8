package report

import (
	"cmp"
	"fmt"
)

// Training is the answer of train: a model trained on all of DATA, and its file.
type Training struct {
	Command string `json:"command"`
	Subject
	ModelFile      string `json:"model_file"`
	Format         string `json:"format"`            // json or libsvm
	Labels         []int  `json:"labels,omitempty"`  // in a file of LIBSVM, of the classes +1 and -1
	Bias           bool   `json:"bias"`              // the predictor has a bias term
	SupportVectors int    `json:"support_vectors"`   // sites of nonzero weight
	Bounded        *int   `json:"bounded,omitempty"` // of a margin loss: those with the largest weight
	TestLoss       string `json:"test_loss"`
	Apparent       Number `json:"apparent_error"` // mean test loss on DATA
	// of a margin loss: of the Kuhn-Tucker conditions, in units of y f
	Violation  *Number     `json:"violation,omitempty"`
	Threshold  *Number     `json:"threshold,omitempty"` // see Answer
	Status     string      `json:"status"`
	Support    *Support    `json:"support,omitempty"`    // of a margin loss
	Perceptron *Perceptron `json:"perceptron,omitempty"` // nil for a support vector classifier
	*Headline
	Outcome
}

// Support are the rows with a weight, by number from 1 and, if the file has them, by name: their dual weights
// and slacks max(0, 1 - y f).
type Support struct {
	Rows  []int    `json:"rows"`
	Names []string `json:"names,omitempty"`
	Alpha Numbers  `json:"alpha"`
	Slack Numbers  `json:"slack"`
}

// Perceptron describes a run of the perceptron.
type Perceptron struct {
	Form     string `json:"form"`     // primal or dual
	Mistakes []int  `json:"mistakes"` // in each pass
	// of the primal form, f = w.x + constant: the features of nonzero weight, from 1, and their weights
	Features []int   `json:"features,omitempty"`
	Weights  Numbers `json:"weights,omitempty"`
	Constant *Number `json:"constant,omitempty"`
}

// fill sets the status of the sheet.
func (t *Training) fill(s *Sheet, _ bool) { s.Status = t.Status }

func (t *Training) document() *document {
	d := about("Model of", t.Subject)
	d.Lead = fmt.Sprintf("A model of the %d rows of %s is in %s.", t.N, ShortName(t.Data), t.ModelFile)
	d.gap()
	if m := t.Perceptron; m != nil {
		mistakes := 0
		for _, count := range m.Mistakes {
			mistakes += count
		}
		d.line("training", "%s form, %d passes with %d mistakes, %d examples with a weight", m.Form,
			len(m.Mistakes), mistakes, t.SupportVectors)
	} else if t.Bounded != nil {
		d.line("training", "%d support vectors, %d of them at the bound, %s, optimal within %.1e",
			t.SupportVectors, *t.Bounded, biased(t.Bias), *t.Violation)
	} else {
		d.line("training", "a sum over %d of the distinct inputs", t.SupportVectors)
	}
	u := units(t.TestLoss)
	if h := t.Headline; h != nil {
		d.Lead += " Its error is " + h.long(u) + "."
		d.headline(h, u)
	}
	d.line("apparent error", "%s   (of the examples trained on, %s)", u.long(t.Apparent), u)
	if t.Threshold != nil {
		d.line("decision", "%s from a probability of %.3g on", t.Subject.Positive, *t.Threshold)
	}
	d.line("status", "%s", t.Status)
	labels := ""
	if t.Labels != nil {
		labels = fmt.Sprintf(", labels %d and %d", t.Labels[0], t.Labels[1])
	}
	d.line("model file", "%s (%s%s)", t.ModelFile, t.Format, labels)
	d.cost(t.Cost)
	return d
}

// Tuning is the answer of tune: the search for hyperparameters, and the estimate of the best model.
type Tuning struct {
	Search
	*Answer
	ModelFile string `json:"-"`
}

// Search is the search for hyperparameters and its result.
type Search struct {
	By            string         `json:"by"`
	Best          map[string]any `json:"best"`           // chosen values, by the name of the flag
	Objective     Number         `json:"objective"`      // its value for the best
	StandardError Number         `json:"standard_error"` // of the left-out error, over examples
	Evaluations   int            `json:"evaluations"`
	Failures      int            `json:"failures"`
	Path          []TuningStep   `json:"path"`
}

// TuningStep is an evaluation of the objective.
type TuningStep struct {
	Examples  int     `json:"examples"`
	Values    Numbers `json:"values"`              // in the order of best, with its lists flattened
	Objective *Number `json:"objective,omitempty"` // nil if it failed
	Failure   string  `json:"failure,omitempty"`
}

// document is the short form of the answer.
func (t *Tuning) document() *document {
	if t.TestLoss == "" { // interrupted
		return t.details()
	}
	d := t.Answer.document()
	d.Title = "Hyperparameters of " + ShortName(t.Data)
	d.line("model file", "%s", t.ModelFile)
	return d
}

// fill sets the status of the sheet.
func (t *Tuning) fill(s *Sheet, _ bool) { s.Status = t.Status }

func (t *Tuning) details() *document {
	d := about("Hyperparameters of", t.Subject)
	if t.TestLoss != "" { // not interrupted
		d.Blocks = t.Answer.details().Blocks
	}
	objective := units(either(t.By == "evidence", "", t.TestLoss)).long(t.Objective)
	d.Lead = fmt.Sprintf("The best of %d models by %s: %s.", t.Evaluations, t.By, objective)
	d.line("objective", "%s by %s%s", objective, t.By, nonzero("; %d models failed", t.Failures))
	d.line("model file", "%s", t.ModelFile)
	return d
}

// ModelComparison is the comparison of two models.
type ModelComparison struct {
	Command string          `json:"command"`
	Data    string          `json:"data"`
	N       int             `json:"n"`
	Models  []ComparedModel `json:"models"`
	Level   float64         `json:"level"`
	// Trained is the error of the first model trained on all rows, corrected for its choice, minus the
	// second's, by the same folds; nil without exact fits. By another measure it is by how much that is
	// worse.
	Trained *Difference `json:"error_difference,omitempty"`
	// Theory and Refined are the first model's left-out error minus the second's, paired over examples.
	Theory  *Difference `json:"difference"`
	Refined *Difference `json:"refined_difference,omitempty"`
	Outcome
}

// ComparedModel is one of the models.
type ComparedModel struct {
	Model     string  `json:"file"`
	Loss      string  `json:"loss"`
	Kernel    string  `json:"kernel"`
	TestLoss  string  `json:"test_loss"`
	TestError Number  `json:"test_error"`
	Refined   *Number `json:"refined_test_error,omitempty"`
	SE        *Number `json:"standard_error,omitempty"` // of Refined, over resamples
	Status    string  `json:"status"`
	*Headline
	Measured *Measured `json:"judged,omitempty"` // nil: by the error
	Findings
}

// Add adds a model and its findings.
func (c *ModelComparison) Add(m ComparedModel) {
	c.Models = append(c.Models, m)
	c.AddOf(m.Model, &m.Findings)
}

// parts are the findings of the models.
func (c *ModelComparison) parts() (all []*Findings) {
	for i := range c.Models {
		all = append(all, &c.Models[i].Findings)
	}
	return all
}

func (c *ModelComparison) document() *document {
	d := &document{Title: "Two models on " + ShortName(c.Data)}
	d.line("data", "%s: %d rows", c.Data, c.N)
	first, second, best := c.Models[0].Model, c.Models[1].Model, cmp.Or(c.Trained, c.Refined, c.Theory)
	verdict, differ, of := either(best.Value < 0, first, second)+" errs less", "errors", ""
	if m := c.Models[0].Measured; m != nil {
		name, _ := m.loss()
		verdict, differ = either(best.Value < 0, first, second)+" is better by "+m.By, "values of "+name
		of = " of " + name
	}
	if float64(best.PValue) > 1-c.Level {
		verdict = "these rows cannot tell which is better"
	}
	d.line("verdict", "%s", verdict)
	for _, m := range c.Models {
		refined := ""
		if m.Refined != nil {
			refined = fmt.Sprintf(", refined %s (Monte Carlo error %.2g)", number(*m.Refined), *m.SE)
		}
		d.line(m.Model, "%s loss, %s", m.Loss, m.Kernel)
		if m.Headline != nil {
			d.line("  trained", "%s", m.Headline.long(units(m.TestLoss)))
		}
		if m.Measured != nil {
			d.line("  judged by", "%s", m.Measured.text())
		}
		d.line("  left out", "error %s (%s loss)%s, %s", number(m.TestError), m.TestLoss, refined, m.Status)
	}
	for k, p := range []*Difference{c.Trained, c.Theory, c.Refined} {
		if p != nil {
			d.line([]string{"difference", "left out", "refined"}[k],
				"%s%s, standard error %s (by the %s), %.3g%% interval %s to %s, p = %.2g", number(p.Value),
				either(k == 0, of, ""), number(p.StandardError), p.By, 100*c.Level, number(p.Low),
				number(p.High), p.PValue)
		}
	}
	d.Lead = fmt.Sprintf("%s and %s: %s. Their %s differ by %s +- %s (p = %.2g).", first, second, verdict,
		differ, number(best.Value), number(best.StandardError), best.PValue)
	d.cost(c.Cost)
	return d
}
