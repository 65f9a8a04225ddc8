package report

import (
	"fmt"
	"strings"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// Refined are unbiased estimates from exact resamples, which stand beside the theory's.
type Refined struct {
	Resamples   int        `json:"resamples"`
	Method      string     `json:"method"`              // by which they were trained
	OneClass    int        `json:"one_class,omitempty"` // those of one class, which predict its label
	TestError   null.Float `json:"test_error"`
	SE          null.Float `json:"standard_error"` // of TestError
	Err632      null.Float `json:"err632"`
	Err632Plus  null.Float `json:"err632plus"`
	BaggedError null.Float `json:"bagged_error"`
	BaggedSE    null.Float `json:"bagged_error_se"`
	// EquivalentResamples is the number of plain retrainings with the same standard error.
	EquivalentResamples null.Float `json:"equivalent_resamples"`
	// VarianceRatio is the median over inputs of the theory's variance over the refined one.
	VarianceRatio null.Float `json:"variance_ratio"`
	// Contradicts says where these values contradict the theory.
	Contradicts []string                 `json:"contradicts,omitempty"`
	Calibration *calibration.Reliability `json:"calibration,omitempty"` // of the probabilities of labels
	Metrics     *calibration.Metrics     `json:"metrics,omitempty"`
	Points      *Points                  `json:"points,omitempty"`
	Time        RefinedTime              `json:"time"`
}

// RefinedTime is what this process has spent: wall times in seconds, and how many iterations.
type RefinedTime struct {
	Fits  float64 `json:"fits"`
	Total float64 `json:"total"` // with the set-up
	// of all fits that were trained, and how many of them were left to the loss's own trainer
	Iterations int `json:"iterations"`
	Exact      int `json:"exact,omitempty"`
}

// String is the error with its standard error, where that is known.
func (q Quote) String() string {
	if q.ErrorSE == nil {
		return number(q.Error)
	}
	return withError(q.Error, *q.ErrorSE)
}

// refined prints what exact resamples took, and the theory's errors beside theirs.
func (d *document) refined(e *Estimate) {
	r := e.Refined
	if r == nil {
		return
	}
	worth := ""
	if r.EquivalentResamples > 0 { // else their errors tell nothing
		worth = fmt.Sprintf(", worth %.0f plain retrainings", r.EquivalentResamples)
	}
	d.line("refined by", "%d exact resamples in %s s%s", r.Resamples, seconds(r.Time.Total), worth)
	theory := number(e.TestError)
	if r.TestError > 0 {
		theory += fmt.Sprintf(", off by %+.1f%% (standard error %.1f%%)", 100*(e.TestError/r.TestError-1),
			100*r.SE/r.TestError)
	}
	if e.Is632Applicable {
		theory += fmt.Sprintf("; .632 %s, .632+ %s", number(e.Err632), number(e.Err632Plus))
	}
	d.line("theory", "%s; bagged error %s", theory, number(e.BaggedError))
}

// Warning says in a sentence where exact resamples contradict the theory; "" where they do
// not.
func (r *Refined) Warning() string {
	if r == nil || len(r.Contradicts) == 0 {
		return ""
	}
	return "the exact resamples contradict the theory: " + strings.Join(r.Contradicts, ", and ") +
		"; trust the refined values"
}
