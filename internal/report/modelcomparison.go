package report

import (
	"fmt"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// ModelComparison is the answer of compare --models.
type ModelComparison struct {
	Command string          `json:"command"`
	Data    string          `json:"data"`
	N       int             `json:"n"`
	Models  []ComparedModel `json:"models"`
	Level   float64         `json:"level"`
	// Theory and Refined are the first model's left-out error less the second's, paired over
	// examples.
	Theory  *calibration.Difference `json:"difference"`
	Refined *calibration.Difference `json:"refined_difference,omitempty"`
	Cost
}

// ComparedModel is one of the models.
type ComparedModel struct {
	Model     string      `json:"file"`
	Loss      string      `json:"loss"`
	Kernel    string      `json:"kernel"`
	TestLoss  string      `json:"test_loss"`
	TestError null.Float  `json:"test_error"`
	Refined   *null.Float `json:"refined_test_error,omitempty"`
	SE        *null.Float `json:"standard_error,omitempty"` // of Refined, over resamples
	Status    string      `json:"status"`
	Warnings  []string    `json:"warnings"`
}

// Warnings are those of both models.
func (c *ModelComparison) Warnings() []string {
	all := []string{}
	for _, m := range c.Models {
		for _, w := range m.Warnings {
			all = append(all, m.Model+": "+w)
		}
	}
	return all
}

func (c *ModelComparison) document() *document {
	d := &document{title: "Two models on " + ShortName(c.Data)}
	d.line("data", "%s: %d examples", c.Data, c.N)
	for _, m := range c.Models {
		refined := ""
		if m.Refined != nil {
			refined = fmt.Sprintf(", refined %s +- %.2g", number(*m.Refined), *m.SE)
		}
		d.line(m.Model, "%s loss, %s", m.Loss, m.Kernel)
		d.line("  left out", "error %s (%s loss)%s, %s", number(m.TestError), m.TestLoss, refined, m.Status)
	}
	show := func(label string, p *calibration.Difference) {
		d.line(label, "%s, standard error %s (by the %s), %.3g%% interval %s to %s, p = %.2g", number(p.Value),
			number(p.StandardError), p.By, 100*c.Level, number(p.Low), number(p.High), p.PValue)
	}
	show("difference", c.Theory)
	best := c.Theory
	if c.Refined != nil {
		best = c.Refined
		show("refined", best)
	}
	switch {
	case float64(best.PValue) > 1-c.Level:
		d.line("verdict", "these examples cannot tell which is better")
	case best.Value < 0:
		d.line("verdict", "%s errs less", c.Models[0].Model)
	default:
		d.line("verdict", "%s errs less", c.Models[1].Model)
	}
	d.cost(c.Cost)
	return d
}
