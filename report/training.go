package report

// Training is the answer of train: one support vector classifier of all of DATA.
type Training struct {
	Command string `json:"command"`
	Subject
	Model          string   `json:"model"`  // its file
	Labels         [2]int   `json:"labels"` // in the file, of the classes +1 and -1
	Bias           bool     `json:"bias"`   // the predictor has a bias term
	SupportVectors int      `json:"support_vectors"`
	Bounded        int      `json:"bounded"`        // of these, with the largest weight
	Apparent       float64  `json:"apparent_error"` // share of DATA that is misclassified
	Violation      float64  `json:"violation"`      // of the Kuhn-Tucker conditions, in units of y f
	Status         string   `json:"status"`
	Warnings       []string `json:"warnings"`
	Cost
}

// Title names the training.
func (t *Training) Title() string { return "Support vector classifier of " + ShortName(t.Data) }

func (t *Training) document() *document {
	d := &document{}
	d.subject(t.Subject)
	d.gap()
	d.line("training", "%d support vectors, %d of them at the bound, %s, Kuhn-Tucker violation %.1e", t.SupportVectors, t.Bounded, biased(t.Bias), t.Violation)
	d.line("apparent error", "%s   (of the examples trained on)", number(t.Apparent))
	d.line("status", "%s", t.Status)
	d.line("model", "%s, labels %d and %d", t.Model, t.Labels[0], t.Labels[1])
	d.cost(t.Cost)
	return d
}
