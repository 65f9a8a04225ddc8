package main

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
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

// columnsSample is the number of rows for which that takes some minutes.
func columnsSample(_ context.Context, spec model.Spec) int {
	if n := spec.Set.N(); n <= 2500 {
		return n
	}
	return 2000
}

func runColumns(a *app, o *options, data []string) {
	a.ask(a.read(o, data[0], columnsSample), func(s *answer.Study) report.Result {
		return steps.Must(s.Columns(a.ctx, o.asked.Seed, o.asked.Level))
	})
}

// asked reads DATA for the question of the flags, of which it sets the scheme. It prepares the exact
// resamples: their memory, and their journal.
func (a *app) asked(o *options, data string) (p *problem, q answer.Question) {
	q = o.question()
	p = a.read(o, data, func(ctx context.Context, spec model.Spec) int {
		scheme, err := o.schemeOver(resample.Design{N: spec.Set.N()}, o.scheme, o.ratio)
		if err != nil {
			return spec.Set.N() // the design has the same error
		}
		q.Scheme = scheme
		return q.DefaultSample(ctx, spec)
	})
	q.Scheme = o.designed(o.ratio, p.spec.Set)
	_, exact := p.spec.Loss.(loss.Proximal)
	if exact && q.Exact != answer.No {
		p.spec.Then = func(m *model.Model) int64 { return model.NeedToRefine(m, q.Resamples) }
	}
	o.keepable(p, q, o.journal != "" || a.tasks.merging || o.shard.count > 0)
	return p, q
}

// keepable refuses to keep or to share exact resamples that there are none of.
func (o *options) keepable(p *problem, q answer.Question, wanted bool) {
	_, exact := p.spec.Loss.(loss.Proximal)
	switch {
	case !wanted || len(p.spec.Set.Levels()) > 2: // which always use exact resamples
	case q.Exact == answer.No:
		refuse("--journal keeps the exact resamples of --refine, and there are none: give " +
			"--refine R, or leave out --journal")
	case q.Accuracy > 0 && o.shard.count > 0:
		refuse("--shard needs to know how many exact resamples there are, which --accuracy " +
			"decides on the way: give --refine R instead")
	case !exact:
		refuse("--journal keeps exact resamples, which loss %s does not have: leave it out",
			p.spec.Loss.Name())
	}
}

// standard are the settings of estimate by default, which also decide the size of the sample of commands that
// train models: of the same rows, they train the model that estimate judges.
var standard = answer.Question{Scheme: resample.Poisson{Ratio: 1}, Theory: answer.IfPossible,
	Exact: answer.IfPossible, Resamples: autoResamples}

// sampler is the number of rows to draw for a model that a search has chosen.
type sampler = func(context.Context, model.Spec) int

// wholeDesign reports whether a sample of single rows would divide what the flags say of the rows.
func (o *options) wholeDesign() bool {
	return o.grouped() || o.Given("strata", "blocks", "counts", "fold-column") ||
		o.kernel == kernel.Precomputed.String()
}

// draw takes a random sample of the rows, of size --sample, or, if there is no design, of size byDefault, nil
// for all rows.
func (o *options) draw(ctx context.Context, p *problem, byDefault sampler) {
	set := p.spec.Set
	n, size := set.N(), set.N()
	switch {
	case o.sample.Number > 0:
		size = min(o.sample.Number, n)
	case !o.sample.Word && byDefault != nil && !o.wholeDesign():
		if size = byDefault(ctx, p.spec); size < n {
			p.choice.sample = size
		}
	}
	if size == n {
		return
	}
	order := rand.New(rand.NewPCG(o.asked.Seed, 2)).Perm(n)
	if size = together(order, size, set.Groups); size == n {
		return
	}
	drawn := order[:size]
	slices.Sort(drawn)
	p.spec.Set, p.others = set.Split(drawn, order[size:])
	if p.spec.Set.RowNames == nil {
		for _, row := range drawn {
			p.spec.Set.RowNames = append(p.spec.Set.RowNames, strconv.Itoa(row+1))
		}
	}
}

// together sorts the rows of a group behind the first of them in a random order, and returns the size, at
// least as large, at which no group is divided.
func together(order []int, size int, group []int) int {
	if group == nil {
		return size
	}
	first := make([]int, len(order)) // place of each group's first row
	for at, row := range slices.Backward(order) {
		first[group[row]] = at
	}
	slices.SortStableFunc(order, func(i, j int) int { return first[group[i]] - first[group[j]] })
	for size < len(order) && group[order[size]] == group[order[size-1]] {
		size++
	}
	return size
}

func writeMatrix(path string, rows, columns int, data []float64) {
	x := linalg.Matrix{Rows: rows, Cols: columns, Stride: columns, Data: data}
	steps.Check(files.Replace(path, func(w io.Writer) error { return dataset.WriteArray(w, x) }))
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
	a.answer(r)
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
