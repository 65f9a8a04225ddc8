package main

import (
	"bytes"
	"os"
	"time"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

func runEstimate(a *app, o *options, data []string) {
	p, q := a.asked(o, data[0])
	q.Verdict = true
	a.ask(p, func(s *answer.Study) report.Result { return steps.Must(s.Estimate(a.ctx, q)) })
}

func runRows(a *app, o *options, data []string) {
	o.alike = true
	p, q := a.asked(o, data[0])
	a.ask(p, func(s *answer.Study) report.Result { return steps.Must(s.Rows(a.ctx, q)) })
}

func runColumns(a *app, o *options, data []string) { // 2500 rows take some minutes
	a.ask(a.read(o, data[0], upTo(2500)), func(s *answer.Study) report.Result {
		return steps.Must(s.Columns(a.ctx, o.asked.Seed, o.asked.Level))
	})
}

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

func predictByFile(a *app, o *options) {
	began := time.Now()
	p := openModel(o.model)
	in := o.loadInputs(a, p.Encoding)
	test := o.test(&dataset.Set{Columns: p.Encoding.Targets}, o.model)
	r := steps.Must(answer.PredictBy(p, in, test, &o.asked))
	r.ModelFile, r.Time.Predict = o.model, time.Since(began).Seconds()
	a.deliver(r)
}

func openModel(path string) *model.Predictor {
	text, err := os.ReadFile(path)
	if err != nil {
		refuse("--model: %w", err)
	}
	p, err := model.ReadPredictor(bytes.NewReader(text))
	if err != nil {
		refuse("--model: %s: %w", path, err)
	}
	return p
}
