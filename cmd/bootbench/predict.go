package main

import (
	"os"
	"time"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// runPredict reads DATA and the new inputs, predicts and prints.
func runPredict(a *app, o *options, data []string) {
	if o.model != "" {
		predictByFile(a, o)
		return
	}
	p, q := a.asked(o, data[0])
	in := o.loadInputs(a, p.spec.Set.Encoding())
	a.ask(p, func(s *answer.Study) report.Result { return steps.Must(s.Predict(a.ctx, in, q)) })
}

// loadInputs reads new inputs for a model of data, whose targets must be in the range of numbers.
func (o *options) loadInputs(a *app, data *dataset.Encoding) *dataset.Inputs {
	place := a.tasks.place(o.inputs)
	a.reads(place)
	in := steps.Must(data.LoadInputs(place, o.readOptions(a.console.In)))
	limitGarbage(o.maxMemory)
	if place != o.inputs {
		in.Name = o.inputs
	}
	for _, column := range in.Columns {
		if err := model.CheckTargets(column.Y); err != nil {
			refuse("--test: %w", err)
		}
	}
	return in
}

// predictByFile predicts at new inputs by a model file.
func predictByFile(a *app, o *options) {
	began := time.Now()
	p := openModel(o.model)
	in := o.loadInputs(a, p.Encoding)
	test := o.test(&dataset.Set{Columns: p.Encoding.Targets}, o.model)
	r := steps.Must(answer.PredictBy(p, in, test, &o.asked))
	r.ModelFile, r.Time.Predict = o.model, time.Since(began).Seconds()
	a.answer(r)
}

// openModel reads a model file.
func openModel(path string) *model.Predictor {
	f, err := os.Open(path)
	if err != nil {
		refuse("--model: %w", err)
	}
	defer f.Close()
	p, err := model.ReadPredictor(f)
	if err != nil {
		refuse("--model: %s: %w", path, err)
	}
	return p
}
