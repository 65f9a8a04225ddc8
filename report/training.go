package report

// Perceptron says how the perceptron was run.
type Perceptron struct {
	Form     string `json:"form"`     // primal or dual
	Mistakes []int  `json:"mistakes"` // in each pass
}

// Training is the answer of train: one support vector classifier, or perceptron, of
// all of DATA.
type Training struct {
	Command string `json:"command"`
	Subject
	Model          string      `json:"model"`  // its file
	Labels         [2]int      `json:"labels"` // in the file, of the classes +1 and -1
	Bias           bool        `json:"bias"`   // the predictor has a bias term
	SupportVectors int         `json:"support_vectors"`
	Bounded        int         `json:"bounded"`        // of these, with the largest weight
	Apparent       float64     `json:"apparent_error"` // share of DATA that is misclassified
	Violation      float64     `json:"violation"`      // of the Kuhn-Tucker conditions, in units of y f
	Status         string      `json:"status"`
	Perceptron     *Perceptron `json:"perceptron,omitempty"` // nil for a support vector classifier
	Warnings       []string    `json:"warnings"`
	Cost
}

// Title names the training.
func (t *Training) Title() string {
	if t.Perceptron != nil {
		return "Perceptron of " + ShortName(t.Data)
	}
	return "Support vector classifier of " + ShortName(t.Data)
}

func (t *Training) document() *document {
	d := &document{}
	d.subject(t.Subject)
	d.gap()
	if m := t.Perceptron; m != nil {
		total := 0
		for _, c := range m.Mistakes {
			total += c
		}
		d.line("training", "%s form, %d passes with %d mistakes, %d examples with a weight", m.Form, len(m.Mistakes), total, t.SupportVectors)
	} else {
		d.line("training", "%d support vectors, %d of them at the bound, %s, Kuhn-Tucker violation %.1e", t.SupportVectors, t.Bounded, biased(t.Bias), t.Violation)
	}
	d.line("apparent error", "%s   (of the examples trained on)", number(t.Apparent))
	d.line("status", "%s", t.Status)
	d.line("model", "%s, labels %d and %d", t.Model, t.Labels[0], t.Labels[1])
	d.cost(t.Cost)
	return d
}
