package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
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

func (t *Training) fill(s *Sheet, _ bool) {
	u := units(t.TestLoss)
	s.Status, s.Figures = t.Status, t.Headline.intervals(u, plain(t.Apparent).row("apparent", u, besideRow))
}

func (t *Training) document(bool) *document {
	d, u := about("Model of", t.Subject), units(t.TestLoss)
	d.Lead = fmt.Sprintf("A model of the %d rows of %s is in %s.", t.N, ShortName(t.Data), t.ModelFile)
	if h := t.Headline; h != nil {
		d.Lead += " Its error is " + h.sentence(h.Trained, h.Targets != nil, u) + "."
		d.headline(h, u)
	}
	d.line("apparent error", onOwnRows, u.text(t.Apparent))
	d.decision(t.Threshold, t.Subject.Positive)
	d.model(t.Subject, nil)
	switch m := t.Perceptron; {
	case m != nil:
		mistakes := 0
		for _, count := range m.Mistakes {
			mistakes += count
		}
		d.line("training", "%s form, %d passes with %d mistakes, %d rows with a weight", m.Form,
			len(m.Mistakes), mistakes, t.SupportVectors)
	case t.Bounded != nil:
		d.training(t.SupportVectors, t.Bounded, t.Bias, *t.Violation)
	default:
		d.line("training", "%d inputs have a weight", t.SupportVectors)
	}
	d.line("status", "%s", unfinished(t.Status))
	labels := strings.Join(each(t.Labels, strconv.Itoa), " and ")
	d.line("model file", "%s (%s)", t.ModelFile, join(t.Format, nonzero("labels %s", labels)))
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

// document is the answer, and with all numbers the search. Interrupted, there is the search alone.
func (t *Tuning) document(full bool) *document {
	d, interrupted := about("Hyperparameters of", t.Subject), t.TestLoss == ""
	if interrupted {
		d.model(t.Subject, nil)
	} else {
		of := t.Answer.document(full)
		d.Lead, d.Blocks = of.Lead, of.Blocks
	}
	if full || interrupted {
		objective := units(either(t.By == "evidence", "", t.TestLoss)).text(t.Objective)
		d.Lead = fmt.Sprintf("The best of %d models by %s: %s.", t.Evaluations, t.By, objective)
		d.line("objective", "%s, the lowest value of %s in the search%s", objective, t.By,
			nonzero("; %d models failed", t.Failures))
	}
	d.line("model file", "%s", t.ModelFile)
	return d
}

func (t *Tuning) fill(s *Sheet, _ bool) {
	s.addParts(t.Answer)
	if s.Status = t.Status; t.TestLoss != "" { // not interrupted
		of := SheetOf(t.Answer, false)
		s.Figures, s.Worst = of.Figures, of.Worst
	}
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
	Text      string  `json:"-"` // loss and kernel with their hyperparameters
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

func (c *ModelComparison) fill(s *Sheet, _ bool) {
	s.Figures = c.intervals()
	for i := range c.Models {
		s.parts = append(s.parts, &c.Models[i].Findings)
	}
}

func (c *ModelComparison) document(bool) *document {
	d := &document{Title: "Two models on " + ShortName(c.Data)}
	d.line("data", "%s: %d rows", c.Data, c.N)
	u, best := units(c.Models[0].TestLoss), cmp.Or(c.Trained, c.Refined, c.Theory)
	better, by, what := either(best.Value < 0, c.Models[0].Model, c.Models[1].Model), "", "errors"
	if u.root() {
		what = "mean squares"
	}
	of := []string{what, what, what}
	if m := c.Models[0].Measured; m != nil {
		name, _ := m.loss()
		by, what, of[0] = " by "+m.By, "values of "+name, name
	}
	verdict := better + " is better" + by
	if float64(best.PValue) > 1-c.Level {
		verdict = "these rows do not show which model is better"
	}
	d.line("verdict", "%s", verdict)
	for k, p := range []*Difference{c.Trained, c.Theory, c.Refined} {
		if p != nil {
			d.line([]string{"difference", "of resamples", "refined"}[k], "%s, of %s",
				p.text(either(of[k] == "errors", u, ""), c.Level), of[k])
		}
	}
	d.line("sign", "above 0 the first model is worse; resamples have fewer distinct rows")
	for _, m := range c.Models {
		d.gap()
		d.line("model", "%s: %s", m.Model, m.Text)
		d.headline(m.Headline, u)
		d.measured(m.Measured, c.Level)
		refined := ""
		if m.Refined != nil {
			refined = fmt.Sprintf(", %s (standard error %s) by exact resamples", u.text(*m.Refined),
				u.se(*m.Refined, *m.SE))
		}
		d.line("left-out error", "%s by the theory%s", u.text(m.TestError), refined)
		d.line("status", "%s", unfinished(m.Status))
	}
	d.Lead = fmt.Sprintf("%s and %s: %s. Their %s differ by %s.", c.Models[0].Model, c.Models[1].Model,
		verdict, what, best.text(either(what == "errors", u, ""), c.Level))
	return d
}

// text is the difference with its interval. Errors of labels are shares, others in units of the test loss.
func (p *Difference) text(u units, level float64) string {
	shown := func(v Number) string {
		return either(u.share(), fmt.Sprintf("%.2f%%", 100*v), digits(v, 4))
	}
	return fmt.Sprintf("%s (%.3g%% interval %s to %s), p = %.2g, by %s", shown(p.Value), 100*level,
		shown(p.Low), shown(p.High), p.PValue, strings.NewReplacer("jackknife",
			"the jackknife", "examples", "rows").Replace(p.By))
}
