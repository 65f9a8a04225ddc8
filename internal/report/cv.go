package report

import (
	"fmt"

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
	e := &Estimate{Subject: c.Subject, Quote: Quote{Error: c.Error}, Errors: Errors{TestLoss: c.TestLoss},
		Convergence: Convergence{Status: c.Status}}
	if c.Quality != nil {
		q := *c.Quality
		q.ExampleSE, e.Quality = *c.ErrorSE, &q
	}
	d := Brief{e}.document()
	of := "by " + c.FoldsOf
	if c.Repeats > 1 {
		of += fmt.Sprintf("; over %d partitions the error has standard error %.2g", c.Repeats, c.RepeatsSE)
	}
	d.line("folds", "%d, %s", c.Folds, of)
	if c.PValue != nil {
		d.line("p-value", "%.3g by %d permutations of the targets", *c.PValue, c.Permutations)
	}
	d.judged("", c.Metrics, c.Calibration)
	d.line("fits", "%d, %s, in %s s, seed %d", c.Resamples, c.Method, seconds(c.Time.Retrain), c.Seed)
	return d
}
