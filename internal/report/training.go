package report

import (
	"fmt"

	"bootbench/internal/null"
)

// Perceptron says how the perceptron was run.
type Perceptron struct {
	Form     string `json:"form"`     // primal or dual
	Mistakes []int  `json:"mistakes"` // in each pass
}

// Training is the answer of train: one model of all of DATA, and its file.
type Training struct {
	Command string `json:"command"`
	Subject
	Model          string     `json:"model"`             // its file, as ModelFile
	ModelFile      string     `json:"model_file"`        // other answers have the hyperparameters under model
	Format         string     `json:"format"`            // json or libsvm
	Labels         []int      `json:"labels,omitempty"`  // in a file of LIBSVM, of the classes +1 and -1
	Bias           bool       `json:"bias"`              // the predictor has a bias term
	SupportVectors int        `json:"support_vectors"`   // sites of which the predictor is a sum
	Bounded        *int       `json:"bounded,omitempty"` // of a margin loss: those with the largest weight
	TestLoss       string     `json:"test_loss"`
	Apparent       null.Float `json:"apparent_error"` // mean test loss on DATA
	// of a margin loss: of the Kuhn-Tucker conditions, in units of y f
	Violation  *null.Float `json:"violation,omitempty"`
	Status     string      `json:"status"`
	Perceptron *Perceptron `json:"perceptron,omitempty"` // nil for a support vector classifier
	Warnings   []string    `json:"warnings"`
	Cost
}

func (t *Training) document() *document {
	d := about("Model of", t.Subject)
	d.gap()
	if m := t.Perceptron; m != nil {
		total := 0
		for _, c := range m.Mistakes {
			total += c
		}
		d.line("training", "%s form, %d passes with %d mistakes, %d examples with a weight", m.Form,
			len(m.Mistakes), total, t.SupportVectors)
	} else if t.Bounded != nil {
		d.line("training", "%d support vectors, %d of them at the bound, %s, Kuhn-Tucker violation %.1e",
			t.SupportVectors, *t.Bounded, biased(t.Bias), *t.Violation)
	} else {
		d.line("training", "a sum over %d of the sites", t.SupportVectors)
	}
	d.line("apparent error", "%s   (of the examples trained on, %s loss)", number(t.Apparent), t.TestLoss)
	d.line("status", "%s", t.Status)
	labels := ""
	if t.Labels != nil {
		labels = fmt.Sprintf(", labels %d and %d", t.Labels[0], t.Labels[1])
	}
	d.line("model file", "%s (%s%s)", t.Model, t.Format, labels)
	d.cost(t.Cost)
	return d
}
