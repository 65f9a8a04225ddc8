package main

import (
	"os"
	"time"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// runPredict reads DATA and the new inputs, predicts and prints.
func runPredict(a *app, o *options, data []string) error {
	if o.model != "" {
		return predictByFile(a, o)
	}
	p, q, err := a.asked(o, data[0])
	if err != nil {
		return err
	}
	in, err := o.loadInputs(a, p.spec.Set.Encoding())
	if err != nil {
		return err
	}
	return a.ask(p, func(s *answer.Study) (report.Result, error) { return s.Predict(a.ctx, in, q) })
}

// loadInputs reads new inputs for a model of data, whose targets must be in the range of numbers.
func (o *options) loadInputs(a *app, data *dataset.Encoding) (*dataset.Inputs, error) {
	place := a.tasks.place(o.inputs)
	if err := a.reads(place); err != nil {
		return nil, err
	}
	in, err := data.LoadInputs(place, o.readOptions(a.console.In))
	if err != nil {
		return nil, err
	}
	if place != o.inputs {
		in.Name = o.inputs
	}
	for _, column := range in.Columns {
		if err := model.CheckTargets(column.Y); err != nil {
			return nil, usage.Errorf("--test: %w", err)
		}
	}
	return in, nil
}

// modelPredictFlags are the flags of predict that apply with --model; the file determines the others.
var modelPredictFlags = []string{"test", "model", "csv", "missing", "unseen", "no-header",
	"max-memory", "test-loss", "no-points", "metrics", "level", "sets",
	"json", "out", "ignore", "quiet", "threads", "backend", "cpuprofile", "memprofile", "help"}

// predictByFile predicts at new inputs by a model file.
func predictByFile(a *app, o *options) error {
	began := time.Now()
	p, err := openModel(o.model)
	if err != nil {
		return err
	}
	in, err := o.loadInputs(a, p.Encoding)
	if err != nil {
		return err
	}
	test, err := o.test(&dataset.Set{Columns: p.Encoding.Targets}, o.model)
	if err != nil {
		return err
	}
	r, err := answer.PredictBy(p, in, test, &o.asked)
	if err != nil {
		return err
	}
	r.ModelFile, r.Time.Predict = o.model, time.Since(began).Seconds()
	return a.answer(r, nil)
}

// openModel reads a model file.
func openModel(path string) (*model.Predictor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage.Errorf("--model: %w", err)
	}
	defer f.Close()
	p, err := model.ReadPredictor(f)
	if err != nil {
		return nil, usage.Errorf("--model: %s: %w", path, err)
	}
	return p, nil
}
