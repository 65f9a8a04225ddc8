package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
)

// loadData reads DATA.
func loadData(a *app, m *modelFlags, path string) (*dataset.Set, error) {
	decides := func(name string) bool { return name != "unseen" && m.given(name) }
	if asked := slices.IndexFunc(dataFlagNames, decides); asked >= 0 && slices.Contains(dataset.Names(), path) {
		return nil, usage.Errorf(
			"--%s: the embedded set %s is as it is; datasets --export %s FILE writes it to a file",
			dataFlagNames[asked], path, path)
	}
	return a.readData(path, m.options(a.console.In))
}

// readProblem reads DATA and says what is modelled.
func readProblem(a *app, m *modelFlags, t *testFlags, path string) (*problem, error) {
	a.console.Progress("reading", 0, 1)
	began := time.Now()
	set, err := loadData(a, m, path)
	if err != nil {
		return nil, err
	}
	var p *problem
	if _, known := model.PresetFor(set); !known && !m.given("loss") {
		p, err = chooseModel(a, m, t, set)
	} else {
		p, err = newProblem(m, t, set)
	}
	if err != nil {
		return nil, err
	}
	p.readS = time.Since(began).Seconds()
	return p, nil
}

// largeModel is the memory of a model from which on garbage is collected early: GOGC is then largeModelGC.
const (
	largeModel   = 64 << 20
	largeModelGC = 10
)

// limitGarbage lets Go hold little garbage beside a large model, and none beyond the
// limit that --max-memory sets. Collections cost little: such models are a few arrays of numbers. What
// the model was made in goes back to the system first: as much as half of a low-rank factor.
func limitGarbage(a *app, limit int64) {
	if limit > 0 {
		before := debug.SetMemoryLimit(limit)
		a.process.undoing = append(a.process.undoing, func() { debug.SetMemoryLimit(before) })
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc <= largeModel {
		return
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(largeModelGC)
	}
	debug.FreeOSMemory()
}

// buildJob computes the kernel matrix.
func buildJob(a *app, p *problem) (*job, error) {
	a.console.Progress("kernel matrix", 0, 1)
	spec := p.spec
	if spec.Storage == model.ScaLAPACK {
		servants, err := a.servants()
		if err != nil {
			return nil, err
		}
		spec.Servants = servants
	}
	built, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	limitGarbage(a, spec.MaxBytes)
	subject := subjectReport(built, p.source)
	subject.Reading = p.reading
	switch subject.ChosenBy = p.choice.by; {
	case a.tasks.merging && a.tasks.Head.Chosen != "":
		subject.ChosenBy, subject.CommandLine = a.tasks.Head.Chosen, a.tasks.Head.String()
	case p.choice.by != "":
		subject.CommandLine = a.commandLine(p.choice.flags...)
	}
	return &job{
		Model: built, test: p.test, report: subject, choice: p.choice,
		times: report.Times{Read: p.readS, Gram: built.GramTime.Seconds()},
	}, a.ctx.Err()
}

// readJob reads DATA and builds its model.
func readJob(a *app, m *modelFlags, path string) (*job, error) {
	p, err := readProblem(a, m, &testFlags{}, path)
	if err != nil {
		return nil, err
	}
	return buildJob(a, p)
}

// fitAll trains once on all data.
func fitAll(a *app, j *job) ([]float64, error) {
	a.console.Progress("fit to all data", 0, 1)
	began := time.Now()
	fitted, err := j.FullFit()
	j.times.Fit += time.Since(began).Seconds()
	j.full = fitted
	return fitted, err
}
