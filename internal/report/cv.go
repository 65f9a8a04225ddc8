package report

import (
	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// CrossValidation is the answer of cv: errors of examples by models that were trained without their fold.
type CrossValidation struct {
	Command string `json:"command"`
	Subject
	Folds    int    `json:"folds"`
	Repeats  int    `json:"repeats"`  // partitions into folds
	FoldsOf  string `json:"folds_of"` // what the folds are made of
	TestLoss string `json:"test_loss"`
	Quote
	ErrorSEOver  string      `json:"error_se_over"` // examples or groups: with others the error would be another
	RepeatsSE    null.Float  `json:"repeats_se"`    // with other partitions it would be another
	PValue       *null.Float `json:"p_value,omitempty"`
	Permutations int         `json:"permutations,omitempty"`
	Draws
	Quality     *calibration.Quality     `json:"quality,omitempty"`
	Metrics     *calibration.Metrics     `json:"metrics,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Points      *Points                  `json:"points,omitempty"`
	Warnings    []string                 `json:"warnings"`
	Cost
}

func (c *CrossValidation) document() *document {
	d := about("Cross-validation of", c.Subject)
	d.gap()
	d.line("left-out error", "%s over %s   (%s loss)", c.Quote, c.ErrorSEOver, c.TestLoss)
	if c.Repeats > 1 {
		d.line("partitions", "standard error %.2g over %d random partitions", c.RepeatsSE, c.Repeats)
	}
	if c.Quality != nil {
		d.baseline(c.Quality)
	}
	if c.PValue != nil {
		d.line("p-value", "%.3g by %d permutations of the targets", *c.PValue, c.Permutations)
	}
	d.judged("", c.Metrics, c.Calibration)
	d.line("folds", "%d %s: %d fits, %s%s, seed %d", c.Folds, c.FoldsOf, c.Resamples, c.Method,
		nonzero(", %d of one class", c.OneClass), c.Seed)
	d.line("status", "%s", c.Status)
	d.cost(c.Cost)
	return d
}
