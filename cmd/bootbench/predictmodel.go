package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// modelPredictFlags are the flags of predict that mean something with --model: what the
// others say stands in the file.
var modelPredictFlags = []string{"test", "model", "csv", "missing", "unseen", "zero-based", "no-header",
	"max-memory", "test-loss", "no-points", "metrics",
	"json", "out", "quiet", "threads", "backend", "cpuprofile", "memprofile", "help"}

// dataOrModel refuses anything but one DATA, or --model.
func dataOrModel(cmd *cobra.Command, args []string) error {
	if cmd.Flag("model").Value.String() == "" {
		return oneData(cmd, args)
	}
	if len(args) > 0 {
		return usage.Errorf("predict takes DATA or --model FILE, not both")
	}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(modelPredictFlags, f.Name) {
			err = usage.Errorf("--%s has no meaning with --model: the file holds a model that is trained once, and "+
				"its preprocessing", f.Name)
		}
	})
	return err
}

// predictByFile predicts at new inputs by a model file.
func predictByFile(a *app, m *modelFlags, p *predictFlags, t *testFlags) error {
	path := p.model
	began := time.Now()
	predictor, err := loadPredictor(path)
	if err != nil {
		return err
	}
	inputs, err := predictor.Encoding.LoadInputs(p.inputs, m.options(a.console.In))
	if err != nil {
		return err
	}
	if err := model.CheckTargets(inputs.Y); err != nil {
		return usage.Errorf("--test: %w", err)
	}
	test, err := t.of(&dataset.Set{Name: path, Task: predictor.Encoding.Task})
	if err != nil {
		return err
	}
	times := report.Times{Read: time.Since(began).Seconds()}
	began = time.Now()
	f, err := predictor.Predict(inputs)
	if err != nil {
		return err
	}
	times.Predict = time.Since(began).Seconds()
	r := predictionByFile(path, predictor, inputs, f)
	if inputs.Y != nil {
		r.Judge(test, inputs.Y)
		r.Metrics = t.ofPredictions(f, inputs.Y, predictor.Encoding.Task)
	}
	r.Warnings = append(r.Warnings, inputs.Notes...)
	points := r.Points
	if t.noPoints {
		r.Points = nil
	}
	r.Cost = a.cost(times)
	return deliverPredictions(a, r, fmt.Sprintf("The predictions of a trained model at %d new inputs.", r.Count),
		points, p.csv, r.Warnings, nil)
}

// loadPredictor reads a model file.
func loadPredictor(path string) (*model.Predictor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("--model: %w", err)
	}
	defer f.Close()
	p, err := model.ReadPredictor(f)
	if errors.Is(err, model.ErrInput) {
		return nil, usage.Errorf("--model: %s: %w", path, err)
	}
	return p, err
}

// predictionByFile is the answer without a judgement.
func predictionByFile(path string, p *model.Predictor, inputs *dataset.Inputs,
	f []float64) *report.ModelPrediction {
	e := p.Encoding
	r := &report.ModelPrediction{
		Command: "predict", Model: path, ModelFile: path,
		TrainedOn: report.TrainedOn{Data: e.Name, N: p.Training.Examples, D: e.Features, Task: e.Task.String(),
			Target: e.Target, Labels: e.Labels.Names(),
			Loss: p.Loss, Kernel: p.Kernel, SupportVectors: len(p.Weight)},
		Test: inputs.Name, Count: len(f),
		Points: &report.Points{Names: inputs.RowNames, Prediction: f}, Warnings: []string{},
	}
	if e.Task == dataset.Classification {
		for _, v := range f {
			r.Points.Class = append(r.Points.Class, r.Labels.Name(v))
		}
	}
	return r
}
