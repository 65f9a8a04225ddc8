package main

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// problem is DATA and its specification, before any matrix.
type problem struct {
	spec   model.Spec
	source string // of the preset
	choice choice
	test   loss.Test
	others *dataset.Set // rows outside the sample
	readS  float64      // seconds of reading
	flags  *options
}

// loadData reads DATA, and records its digest for a journal. merge looks for files at their old place, or at
// the same relative path.
func (a *app) loadData(o *options, path string) *dataset.Set {
	kept := a.options.journal != "" || a.tasks.merging
	for _, name := range flagLists["data"] {
		if name != "unseen" && o.Given(name) && slices.Contains(dataset.Names(), path) {
			refuse("--%s: the embedded set %s is as it is; datasets --export %[2]s FILE writes it to a file",
				name, path)
		}
	}
	if path == "-" && kept {
		refuse("standard input cannot be read again, which --journal needs: save it as a file")
	}
	if o.maxMemory > 0 {
		debug.SetMemoryLimit(o.maxMemory)
	}
	place := a.tasks.place(path)
	a.reads(place)
	set := steps.Must(dataset.Load(place, o.readOptions(a.console.In)))
	limitGarbage(o.maxMemory)
	a.console.Rows = set.N()
	if set.N() < 3 {
		refuse("%s: %d rows are too few: at least 3 are needed, and about 20 for errors "+
			"that mean something", path, set.N())
	}
	if _, err := os.Stat(place); err == nil || path == "-" {
		a.found.Add(o.groupCopies(a.command.name, set)...)
	}
	if place != path {
		set.Name = path
	}
	if kept {
		a.tasks.digests = append(a.tasks.digests, set.Digest())
	}
	o.decideTask(set)
	if o.Given("blocks") {
		set.Doubts = slices.DeleteFunc(set.Doubts,
			func(d dataset.Doubt) bool { return d.Kind == dataset.TimeOrder })
	}
	a.found.Add(answer.CheckData(set)...)
	o.idleOn(a.command.name, set)
	return set
}

// read reads DATA, chooses its model unless that is given, and draws a sample of its rows: see draw.
func (a *app) read(o *options, path string, size sampler) (p *problem) {
	if o.sample.Number > 0 && o.wholeDesign() {
		refuse("--sample draws single rows: leave it out where groups, strata, " +
			"folds or blocks are given, rows have counts, or the kernel is precomputed")
	}
	a.console.Progress("reading", 0, 1)
	began := time.Now()
	set := a.loadData(o, path)
	if preset, known := model.PresetFor(set); known || !o.open() {
		p = o.given(set, preset)
	} else {
		p = a.search(o, set)
	}
	if o.nested && len(p.spec.Chosen) == 0 && a.command.name != "cv" {
		refuse("--nested makes the choice of the model again, and this one is given: " +
			"leave out --nested, or say by --chosen what DATA has chosen")
	}
	if p.readS = time.Since(began).Seconds() - p.choice.seconds; p.choice.by == "" {
		size = nil
	}
	o.draw(a.ctx, p, size)
	return p
}

// search is the problem whose model a search chooses, by cross-validation: neither the user nor a preset
// gives a loss, or the user gives one without any of its parameters.
func (a *app) search(o *options, set *dataset.Set) *problem {
	if o.Given("chosen") {
		refuse("--chosen is of a model that is given: here a search chooses, and its choice is known")
	}
	search := o.search(set)
	p := &problem{flags: o, test: search.Test}
	search.Scheme, search.Test = nil, nil
	r, chosen := a.choose(search)
	steps.Check(a.ctx.Err())
	p.spec, p.choice = r.Spec, chosen
	return p
}

// given is the problem of a data set with the model that a preset and the flags give.
func (o *options) given(set *dataset.Set, preset model.Preset) *problem {
	if o.kernel == autoKernel {
		refuse("--kernel %s is found by a search: leave out --loss or its parameters, or take tune",
			autoKernel)
	}
	p := &problem{flags: o}
	p.spec, p.source = o.spec(set, preset)
	p.spec.Chosen = o.chosen
	names, _ := p.spec.Searched()
	for _, name := range names {
		if _, err := p.spec.Hyperparameters(name); err != nil {
			refuse("--chosen %s: %v", name, err)
		}
	}
	p.test = o.test(set, set.Name)
	return p
}

// open reports whether the flags leave the model to a search: no loss, or one with none of its parameters.
func (o *options) open() bool {
	about, _ := loss.About(o.loss)
	return o.loss != perceptronLoss && !o.Given(about.Takes...)
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

// upTo draws 2000 of more than so many rows.
func upTo(most int) sampler {
	return func(_ context.Context, spec model.Spec) int {
		if n := spec.Set.N(); n <= most {
			return n
		}
		return 2000
	}
}

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

func (a *app) build(ctx context.Context, p *problem) *answer.Study {
	a.console.Progress("kernel matrix", 0, 1)
	if p.spec.Storage == model.ScaLAPACK {
		p.spec.Servants = steps.Must(a.servants())
	}
	s := steps.Must(a.kernels.New(ctx, p.spec, p.test))
	limitGarbage(p.spec.MaxBytes)
	addOrigin(a, s, p)
	steps.Check(ctx.Err())
	return s
}

// addOrigin adds the origin of its problem to a study.
func addOrigin(a *app, study *answer.Study, p *problem) {
	study.Progress, study.Times.Read = func(label string, done, total int) {
		if done > 0 && !strings.Contains(label, ": sweep ") { // a sweep is no part of an answer
			a.mustFinish()
		}
		a.console.Progress(label, done, total)
	}, p.readS
	study.Times.Choose, study.Nested = p.choice.seconds, p.flags.nested
	s := &study.Subject
	if p.others != nil {
		study.Others, s.Sample, s.RowsTotal = p.others, s.N, s.N+p.others.N()
	}
	s.Preset, s.ChosenBy = p.source, p.choice.by
	s.Reading = p.flags.Settings(func(name string) bool { return slices.Contains(flagLists["data"], name) })
	switch {
	case a.tasks.merging && a.tasks.Head.Chosen != "":
		s.ChosenBy, s.CommandLine = a.tasks.Head.Chosen, a.tasks.Head.String()
	case p.choice.by != "":
		s.CommandLine = a.repeat(p)
	}
}

// ask builds the study of a problem, opens the journal for its exact fits, and delivers its answer.
func (a *app) ask(p *problem, question func(s *answer.Study) report.Result) {
	s := a.build(a.ctx, p)
	a.openJournal(p)
	a.keepFits(s)
	a.deliver(question(s))
}

// row is a complete estimate as a row of a table.
func row(a *app, s *answer.Study, q answer.Question) *report.Answer {
	began := time.Now()
	e := steps.Must(s.Estimate(a.ctx, q))
	if e.Status == answer.Cancelled { // an incomplete solve is not kept
		steps.Check(a.ctx.Err())
	}
	if e.Time.Solve == 0 {
		e.Time.Solve = time.Since(began).Seconds()
	}
	a.spent(&e.Cost)
	return e
}

// Garbage may take someGarbage bytes, or a share of the memory of large data or a large model, in per cent.
// Above largeModel the memory of its construction is freed.
const (
	someGarbage  = 8 << 20
	largeModel   = 64 << 20
	largeModelGC = 10
)

// limitGarbage limits garbage with large data or a large model, and total memory by --max-memory. Collections
// are cheap: these are a few arrays of numbers. First it frees the memory of the model's construction: up to
// half of a low-rank factor.
func limitGarbage(limit int64) {
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(min(100, max(largeModelGC, int(100*someGarbage/m.HeapAlloc))))
	}
	if m.HeapAlloc > largeModel {
		debug.FreeOSMemory()
	}
}
