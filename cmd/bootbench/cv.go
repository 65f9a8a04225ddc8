package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/resample"
)

func cvCommand() *command {
	return &command{
		name: "cv",
		takes: slices.Concat(problemNames, []string{"folds/cv", "repeats", "groups", "strata", "fold-column",
			"blocks/cv", "permutations", "nested", "seed", "workers", "method/retrain", "test-loss", "metrics",
			"no-points",
			"csv"}),
		out: ", points.csv",
		run: runCV,
	}
}

// foldCount is the value of --folds of cv: a number, or 0 for leave-one-out.
type foldCount int

// leaveOneOut is the word for it.
const leaveOneOut = "loo"

// Set takes a whole number from 2 on, or loo.
func (f *foldCount) Set(text string) error {
	n, err := strconv.Atoi(text)
	if text != leaveOneOut && (err != nil || n < 2) {
		return fmt.Errorf("is %q, must be loo or a whole number from 2 on", text)
	}
	*f = foldCount(n)
	return nil
}

func (f *foldCount) String() string {
	if *f == 0 {
		return leaveOneOut
	}
	return strconv.Itoa(int(*f))
}
func (f *foldCount) Type() string { return "string" }

// blockLength is the value of --blocks: rows, or 0 for none.
type blockLength int

// autoBlocks leaves the length to the number of rows.
const autoBlocks blockLength = -1

// Set takes a whole number, or auto.
func (b *blockLength) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case text == "auto":
		n = int(autoBlocks)
	case err != nil || n < 1:
		return fmt.Errorf("is %q, must be auto or a whole number of rows from 1 on", text)
	}
	*b = blockLength(n)
	return nil
}

func (b *blockLength) String() string {
	switch *b {
	case 0:
		return ""
	case autoBlocks:
		return "auto"
	}
	return strconv.Itoa(int(*b))
}
func (b *blockLength) Type() string { return "string" }

// runCV reads DATA, cross-validates and prints.
func runCV(a *app, o *options, data []string) error {
	switch {
	case o.csv == "-" && a.outputs.json == "-":
		return usage.Errorf("--csv and --json cannot both take standard output")
	case slices.Contains(o.metrics, calibration.Jackknife):
		return usage.Errorf("--metrics %s is the theory's: estimate has it", calibration.Jackknife)
	}
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
	}
	v, err := o.validation(p.spec.Set)
	if err != nil {
		return err
	}
	j, err := a.build(p)
	if err != nil {
		return err
	}
	if o.nested {
		if v.Choose, err = o.chooser(p); err != nil {
			return err
		}
		j.Subject.CommandLine = a.commandLine()
	}
	r, err := j.CrossValidate(a.ctx, v)
	if err != nil {
		return err
	}
	points := r.Points
	if o.noPoints {
		r.Points = nil
	}
	return o.deliverPredictions(a, points, given{document: r, warnings: r.Warnings, cost: &r.Cost,
		status: r.Status, figures: report.ReliabilityFigure(r.Calibration)})
}

// validation is what the flags say of folds.
func (o *options) validation(set *dataset.Set) (v answer.Validation, err error) {
	n := set.N()
	v = answer.Validation{Design: resample.Design{N: n, Group: set.Groups, Stratum: set.Strata,
		Block: int(o.blocks)}, Given: set.Folds, Folds: int(o.leaveOut),
		Repeats: o.repeats, Permutations: o.permutations, Seed: o.seed, Metrics: o.metrics,
		Workers: cmp.Or(o.workers, runtime.GOMAXPROCS(0))}
	if o.blocks == autoBlocks {
		v.Design.Block = max(1, n/(v.Folds+1))
	}
	v.Method, _ = refit.ParseRetrainMethod(o.method)
	switch {
	case o.Given("fold-column") && o.Given("folds", "blocks", "groups", "strata"):
		return v, usage.Errorf(
			"--fold-column says what the folds are: --folds, --blocks, --groups and --strata do not " +
				"go with it")
	case o.Given("repeats") && !v.Random():
		return v, usage.Errorf("--repeats is for random folds: these are always the same")
	}
	return v, usage.Wrap(v.Check())
}

// chooser chooses a model of rows as it was chosen of all.
func (o *options) chooser(p *problem) (func(context.Context, *dataset.Set) (model.Spec, error), error) {
	if p.choice.by == "" {
		return nil, usage.Errorf(
			"--nested chooses the model in every fold, and this one is given: leave out --loss, " +
				"or --nested")
	}
	search, err := o.search(p.spec.Set)
	return func(ctx context.Context, set *dataset.Set) (model.Spec, error) {
		part := *search
		part.Spec.Set, part.Scheme, part.Test = set, nil, nil
		r, err := tune.Run(ctx, part, tune.Settings{})
		if err != nil {
			return model.Spec{}, err
		}
		return r.Spec, nil
	}, err
}
