package report

import (
	"cmp"
	"fmt"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
	"bootbench/kernel"
)

// Prediction is the answer of predict.
type Prediction struct {
	Command string `json:"command"`
	Subject
	Resampling
	Convergence
	Test  string `json:"test"` // the new inputs
	Count int    `json:"test_n"`
	Interval
	OnTargets                            // of the test loss averaged over resamples and inputs
	BaggedError *null.Float              `json:"bagged_error,omitempty"` // of the mean prediction
	Calibration *calibration.Reliability `json:"calibration,omitempty"`  // of the probabilities of labels
	Refined     *Refined                 `json:"refined,omitempty"`
	Points      *Points                  `json:"points,omitempty"`
	Outcome
	Covariances `json:"-"`
}

// OnTargets has the errors of predictions at new inputs with targets; else it is empty.
type OnTargets struct {
	TestLoss  string               `json:"test_loss,omitempty"`
	TestError *null.Float          `json:"test_error,omitempty"`
	Quality   *calibration.Quality `json:"quality,omitempty"`
	Metrics   *calibration.Metrics `json:"metrics,omitempty"`
}

// Interval describes the intervals at new inputs, from lower to upper.
type Interval struct {
	Interval string  `json:"interval"` // "estimator" or "observation"
	Level    float64 `json:"level"`
	// For observations: the unit of residuals, and the standard deviation of the coverage over data sets of this
	// size.
	Residuals  string  `json:"residuals,omitempty"`
	CoverageSD float64 `json:"coverage_sd,omitempty"`
	// If the new inputs have targets: the fraction of these in their intervals, and the intervals' mean width.
	Coverage *float64 `json:"coverage,omitempty"`
	Width    *float64 `json:"mean_width,omitempty"`
}

// details is brief, then a row per new input.
func (r *Prediction) details() *document {
	d := r.brief()
	d.resampling(r.Resampling, r.N)
	if r.TestError != nil {
		u := units(r.TestLoss)
		error := NewQuote(r.TestLoss, *r.TestError, r.Quality, nil)
		d.line("over resamples", "error %s, %s of the mean prediction", error.long(u), u.long(*r.BaggedError))
		d.quality(r.Quality, u)
	}
	d.judged("", r.Metrics, r.Calibration)
	if r.Refined != nil {
		d.line("refined", "by %d exact resamples in %s s", r.Refined.Resamples, seconds(r.Refined.Time.Total))
		d.contradicted(r.Refined)
		d.judged("refined", nil, r.Refined.Calibration)
	}
	d.convergence(r.Convergence)
	d.cost(r.Cost)
	d.perInput(r.Points, r.Positive)
	return d
}

// document is the short form: numbers with their interval, labels with their probability.
func (r *Prediction) document() *document {
	d := r.brief()
	d.perInput(r.Points.brief(), r.Positive)
	return d
}

// brief begins a document, without the table.
func (r *Prediction) brief() *document {
	d := short("Predictions from", r.Subject, r.asked())
	d.modelled(r.Subject)
	d.line("new rows", "%s: %d", r.Test, r.Count)
	if u := units(r.TestLoss); r.TestError != nil {
		d.line("test error", "%s (%s) of the mean prediction", u.text(*r.BaggedError), u)
	}
	d.Lead = d.meant(&r.Interval, r.target(), r.Calibration)
	return d
}

// meant prints the meaning of intervals and probabilities, and returns it as a sentence.
func (d *document) meant(i *Interval, target string, c *calibration.Reliability) string {
	switch {
	case i.Interval == "observation" && i.CoverageSD == 0:
		return fmt.Sprintf("A prediction of the %s of every new row; the rows are too few for an "+
			"interval of %.3g%%.", target, 100*i.Level)
	case i.Interval == "observation":
		d.line("interval", "the %s of a new row is between lower and upper with probability %.3g%%", target,
			100*i.Level)
		if i.Coverage != nil {
			d.line("coverage", "%.1f%% of the new targets, mean width %s", 100**i.Coverage, number(*i.Width))
		}
		return fmt.Sprintf("The %s of a new row is in its interval with probability %.3g%%.", target, 100*i.Level)
	case c != nil:
		leftOut := scores(c.LogLoss, c.Brier, " of rows left out")
		d.line("probabilities", "%s", cmp.Or(leftOut, "as often as they say"))
		return fmt.Sprintf("The %s of every new row, and its probability.", target)
	}
	if i.Interval != "" {
		d.line("interval", "of the estimator: %.3g%% of the resamples predict within it", 100*i.Level)
	}
	return fmt.Sprintf("A prediction of the %s of every new row.", target)
}

// brief are the lists of the short form.
func (p *Points) brief() *Points {
	if p == nil {
		return nil
	}
	b := &Points{Names: p.Names, Target: p.Target, QuantileLevels: p.QuantileLevels, Quantiles: p.Quantiles}
	if p.Class != nil && p.Probability != nil {
		b.Probability, b.Class = p.Probability, p.Class
	} else {
		b.Prediction, b.Lower, b.Upper = either(p.Prediction != nil, p.Prediction, p.Mean), p.Lower, p.Upper
	}
	return b
}

// ModelPrediction is the answer of predict --model: one trained model at new inputs.
type ModelPrediction struct {
	AtInputs
	TrainedOn
	*Interval // nil: no intervals
	OnTargets
	Points *Points `json:"points,omitempty"`
	Outcome
}

// TrainedOn describes the model of a model file and its training data.
type TrainedOn struct {
	Data     string      `json:"data"`
	N        int         `json:"n"`
	D        int         `json:"d"`
	Task     string      `json:"task"`
	Target   string      `json:"target"`
	Labels   *Labels     `json:"labels,omitempty"`
	Positive string      `json:"positive,omitempty"` // the class that probabilities are of
	Loss     string      `json:"loss"`
	Kernel   kernel.Spec `json:"kernel"`
	// SupportVectors is the number of sites of nonzero weight.
	SupportVectors int `json:"support_vectors"`
}

func (t *TrainedOn) text() string {
	return fmt.Sprintf("%s loss, a sum over %d sites, trained on %d examples of %s", t.Loss, t.SupportVectors,
		t.N, t.Data)
}

func (p *ModelPrediction) document() *document {
	d := &document{Title: "Predictions of " + ShortName(p.Model)}
	d.line("model", "%s: %s", p.Model, p.TrainedOn.text())
	d.line("kernel", "%s", KernelText(p.Kernel))
	d.source(Subject{Target: p.Target, Labels: p.Labels})
	d.line("new inputs", "%s: %d", p.Test, p.Count)
	d.gap()
	if p.TestError != nil {
		u := units(p.TestLoss)
		error := NewQuote(p.TestLoss, *p.TestError, p.Quality, nil)
		d.line("test error", "%s", error.long(u))
		d.quality(p.Quality, u)
		d.judged("", p.Metrics, nil)
	}
	d.Lead = d.meant(cmp.Or(p.Interval, &Interval{}), cmp.Or(p.Target, "y"), nil)
	d.perInput(p.Points.brief(), p.Positive)
	return d
}

// AtInputs begins an answer of a trained model at new inputs, with the file of the model, unless it was
// trained for the answer.
type AtInputs struct {
	Command   string `json:"command"`
	Model     string `json:"model,omitempty"`      // as ModelFile
	ModelFile string `json:"model_file,omitempty"` // other answers have the hyperparameters under model
	Test      string `json:"test"`                 // the new inputs
	Count     int    `json:"test_n"`
}

// Read sets the file of the model.
func (a *AtInputs) Read(path string) { a.Model, a.ModelFile = path, path }

// ByModel is the answer of a trained model.
type ByModel interface {
	Answer
	Read(path string)
}
