package report

import (
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/null"
	"bootbench/kernel"
	"bootbench/loss"
)

// ModelPrediction is the answer of predict --model: one trained model at new inputs.
type ModelPrediction struct {
	Command   string `json:"command"`
	Model     string `json:"model"` // its file, as ModelFile
	ModelFile string `json:"model_file"`
	TrainedOn
	Test  string `json:"test"` // the new inputs
	Count int    `json:"test_n"`
	// Known where the new inputs have targets.
	TestLoss  string               `json:"test_loss,omitempty"`
	TestError *null.Float          `json:"test_error,omitempty"`
	Quality   *calibration.Quality `json:"quality,omitempty"`
	Metrics   *calibration.Metrics `json:"metrics,omitempty"`
	Points    *Points              `json:"points,omitempty"`
	Warnings  []string             `json:"warnings"`
	Cost
}

// TrainedOn is what a model file says of its model and the data that it was trained on.
type TrainedOn struct {
	Data   string           `json:"data"`
	N      int              `json:"n"`
	D      int              `json:"d"`
	Task   string           `json:"task"`
	Target string           `json:"target"`
	Labels *dataset.Classes `json:"labels,omitempty"`
	Loss   string           `json:"loss"`
	Kernel kernel.Spec      `json:"kernel"`
	// SupportVectors is the number of sites of which the predictor is a sum.
	SupportVectors int `json:"support_vectors"`
}

// Judge adds what the targets of the new inputs say.
func (p *ModelPrediction) Judge(test loss.Test, targets []float64) {
	p.TestLoss, p.Points.Target = test.Name(), targets
	total := 0.0
	for i, y := range targets {
		e := test.Value(p.Points.Prediction[i], y)
		p.Points.Error = append(p.Points.Error, e)
		total += e / float64(len(targets))
	}
	p.TestError = null.Of(total)
	p.Quality = calibration.NewQuality(test, *p.TestError, targets, p.Points.Error, p.Labels)
	if warning := p.Quality.Warning(*p.TestError); warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
}

func (p *ModelPrediction) document() *document {
	d := &document{title: "Predictions of " + ShortName(p.Model)}
	d.line("model", "%s: %s loss, a sum over %d sites, trained on %d examples of %s", p.Model, p.Loss,
		p.SupportVectors, p.N, p.Data)
	d.line("kernel", "%s", KernelText(p.Kernel))
	d.source(Subject{Target: p.Target, Labels: p.Labels})
	d.line("new inputs", "%s: %d", p.Test, p.Count)
	d.gap()
	if p.TestError != nil {
		d.line("test error", "%s   (%s loss)", number(*p.TestError), p.TestLoss)
		d.quality(p.Quality)
		d.judged("", p.Metrics, nil)
	}
	d.cost(p.Cost)
	d.perInput(p.Points)
	return d
}
